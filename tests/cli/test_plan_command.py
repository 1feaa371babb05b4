"""`limnograph plan`: what is decided on the server's machine, by whom, and what was seen."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from limnograph.adapters.inbox.database import InboxDatabase
from limnograph.adapters.inbox.plan_states import SqlPlanStates
from limnograph.cli.plan import command
from limnograph.domain.errors import Forbidden, InvalidInput, LimnographError, NotFound, PlanMoved
from limnograph.domain.maintenance.moves import following
from limnograph.settings import load
from planned_lake import BREAKER, DIGEST, PLAN

USER = pwd.getpwuid(os.getuid()).pw_name
OTHER = replace(PLAN, plan_id="3f2a" + "0" * 28, table="clicks\x1b[2J", proposed_by=USER)


class Installation:
    """Settings, their database of plans, and the command."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "limnograph.toml"
        uri, warehouse = f"sqlite:///{folder}/catalog.db", f"file://{folder}/wh"
        self.file.write_text(f'[catalogs.lake]\ntype = "sql"\nuri = "{uri}"\nwarehouse = "{warehouse}"\n')
        self.states = SqlPlanStates(InboxDatabase(load(str(self.file)).inbox_url))
        self.states.record([PLAN, OTHER])

    def run(self, *arguments: str, given: str | None = None) -> Result:
        """The outcome; errors of Limnograph are raised, as `limnograph` prints them."""
        found = CliRunner().invoke(command, [*arguments, "--config", str(self.file)], input=given)
        if isinstance(found.exception, LimnographError):
            raise found.exception
        return found

    def audit(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / ".limnograph/audit.log").read_text().splitlines()]

    def state(self) -> tuple[int, str | None, str | None]:
        found = self.states.plan(PLAN.plan_id)
        assert found is not None
        return found.seq, found.state, found.actor


@pytest.fixture
def made(tmp_path: Path) -> Installation:
    return Installation(tmp_path)


def test_plans_are_listed_and_shown_as_text_and_as_json(made: Installation) -> None:
    lines = made.run("list").stdout.splitlines()
    assert len(lines) == 2
    assert "\x1b" not in "".join(lines)
    rows = [json.loads(line) for line in made.run("list", "--json", "--table", "lake.sales.orders").stdout.splitlines()]
    assert [(row["plan_id"], row["state"], row["arguments_sha256"]) for row in rows] == [
        (PLAN.plan_id, "proposed", DIGEST)
    ]
    assert made.run("list", "--state", "approved").stdout == ""
    shown = made.run("show", PLAN.plan_id[:8]).stdout
    assert PLAN.statement in shown
    assert DIGEST in shown
    assert "40 files (1000 B) become 1 file (900 B), takes 1 to 4 s" in shown
    detail = json.loads(made.run("show", PLAN.plan_id, "--json").stdout)
    assert ([each["seq"] for each in detail["history"]], detail["can"]) == ([1], ["approve", "dismiss"])


def test_an_approval_prints_what_would_run_and_needs_a_confirmation(made: Installation) -> None:
    declined = made.run("approve", PLAN.plan_id[:8], given="n\n")
    assert (declined.exit_code, made.state()) == (1, (1, "proposed", "limnograph"))
    assert made.run("approve", PLAN.plan_id[:8], given="").exit_code == 1
    approved = made.run("approve", PLAN.plan_id[:8], "--reason", "agreed", given="y\n")
    assert approved.exit_code == 0
    assert PLAN.statement in approved.stderr
    assert f"SHA-256 {DIGEST}" in approved.stderr
    assert made.state() == (2, "approved", USER)
    (line,) = made.audit()
    assert (line["who"], line["what"], line["outcome"]) == (USER, "plan approve", "ok")
    assert line["detail"] == f"plan={PLAN.plan_id} arguments_sha256={DIGEST} seq=1"


def test_decisions_follow_each_other_and_each_is_audited(made: Installation) -> None:
    printed = json.loads(made.run("approve", PLAN.plan_id, "--yes", "--json").stdout)
    assert (printed["state"], printed["approved_by"]) == ("approved", USER)
    for verb, state in (("cancel", "cancelled"), ("propose", "proposed"), ("withdraw", "withdrawn")):
        assert json.loads(made.run(verb, PLAN.plan_id, "--json").stdout)["state"] == state
    made.run("propose", PLAN.plan_id, "--reason", "the hold has ended")
    made.run("dismiss", PLAN.plan_id, "--reason", "no")
    with pytest.raises(PlanMoved):
        made.run("cancel", PLAN.plan_id)
    with pytest.raises(InvalidInput, match="is dismissed"):
        made.run("approve", PLAN.plan_id, "--yes")
    assert made.state() == (7, "dismissed", USER)
    outcomes = [(line["what"].removeprefix("plan "), line["outcome"]) for line in made.audit()]
    assert outcomes == [
        *((verb, "ok") for verb in ("approve", "cancel", "propose", "withdraw", "propose", "dismiss")),
        ("cancel", "conflict"),
    ]


def test_a_plan_that_moved_between_the_question_and_the_answer_is_not_approved(made: Installation) -> None:
    from limnograph.cli import plan as module

    plans = module._deciding(load(str(made.file)))
    seen = plans.desk.plan(PLAN.plan_id)
    made.states.record([following(PLAN, "superseded", "limnograph")])
    with pytest.raises(PlanMoved):
        module._decide("approve", plans, seen, None, as_json=False)
    assert made.state()[1] == "superseded"


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("3f2a", InvalidInput, "begins 2 ids"),
        ("3f2", InvalidInput, "at least its first 4"),
        ("x" * 32, InvalidInput, "hexadecimal"),
        ("abcdef", NotFound, "plan list --state all"),
        ("0" * 32, NotFound, "unknown"),
    ],
)
def test_the_beginning_of_an_id_must_be_unique(
    text: str, error: type[Exception], said: str, made: Installation
) -> None:
    with pytest.raises(error, match=said):
        made.run("show", text)
    with pytest.raises(InvalidInput, match="not a state"):
        made.run("list", "--state", "done")


def test_breakers_are_listed_and_closed(made: Installation) -> None:
    made.states.open_breaker(BREAKER)
    assert BREAKER.text in made.run("breakers").stdout
    assert json.loads(made.run("breakers", "--json").stdout)["key"] == BREAKER.key
    assert made.run("close", BREAKER.key).exit_code == 0
    assert made.run("breakers").stdout == ""
    with pytest.raises(NotFound):
        made.run("close", BREAKER.key)
    assert [line["outcome"] for line in made.audit()] == ["ok", "not-found"]


def test_the_name_of_the_user_is_not_believed_from_the_environment(
    made: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "bob")
    made.run("dismiss", PLAN.plan_id)
    assert made.state() == (2, "dismissed", USER)


def test_who_may_not_write_into_the_state_folder_may_not_decide(made: Installation) -> None:
    from limnograph.domain.advice.plans import PlanCaller
    from limnograph.wiring.decisions.local_plans import check_rights, local_plans

    settings = load(str(made.file))
    stranger = local_plans(settings)._replace(caller=PlanCaller(actor="eve", may_propose=False, may_approve=False))
    with pytest.raises(Forbidden, match="may not write into"):
        check_rights(stranger, settings)


@pytest.mark.parametrize("verb", ["", *sorted(command.commands)])
def test_each_verb_has_an_example_that_can_be_copied(verb: str) -> None:
    told = CliRunner().invoke(command, [*([verb] if verb else []), "--help"], terminal_width=80).stdout
    assert "\n    limnograph plan " in told
