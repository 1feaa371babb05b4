"""`limnograph plan`: lists plans of maintenance and decides on them, on the server's machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
import msgspec

from limnograph.cli.plan_view import breaker_lines, plan_line, plan_lines
from limnograph.domain.errors import InvalidInput, NotFound
from limnograph.domain.maintenance.states import OPEN, STATES
from limnograph.settings import CONFIG_ENV, Settings, load

if TYPE_CHECKING:
    from limnograph.domain.advice.plans import PlanDecision
    from limnograph.domain.facts.plans import PlanFact
    from limnograph.wiring.decisions.local_plans import LocalPlans

_EPILOG = (
    "PLAN is the id of a plan or its beginning, as far as it is unique. Decisions are recorded under the name of the "
    "user of this machine, in the plan's history and in the audit log. They need the right to write into the state "
    "folder.\n\n"
    "Nothing runs here: `limnograph maintain` does, and its own file may forbid what was approved.\n\n"
    "Exit status: 0 done; 1 unknown, moved on or refused; 2 wrong usage.\n\n"
    "\b\nExamples:\n  limnograph plan list --config limnograph.toml\n"
    "  limnograph plan show 3f2a9c\n"
    "  limnograph plan approve 3f2a9c --reason 'agreed with team-sales'\n"
    "  limnograph plan list --json | jq -r 'select(.state == \"proposed\") | .plan_id'"
)
_LEAST_DIGITS = 4
_MOST_NAMED = 5
_config = click.option("--config", type=click.Path(dir_okay=False), help=f"Settings file; default ${CONFIG_ENV}.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_reason = click.option("--reason", help="Why, for the others: plain text of at most 1,000 characters.")
_plan = click.argument("plan")


@click.group(help="List plans of maintenance, and decide on them.", epilog=_EPILOG)
def command() -> None:
    """One verb per decision."""


def _example(line: str) -> str:
    return f"\b\nExample:\n  limnograph plan {line}"


@command.command("list", epilog=_example("list --state proposed,approved --table lake.sales.orders"))
@click.option("--state", help="Comma-separated states; `all`: every state. Default: those that are open.")
@click.option("--table", metavar="NAME", help="Only this table: catalog.namespace.table.")
@_json
@_config
def listed(state: str | None, table: str | None, config: str | None, *, as_json: bool) -> None:
    """List plans, the newest first. With --json: one JSON object per plan and line."""
    from limnograph.services.plans.views import plan_view

    found = _opened(load(config)).desk.plans(_states(state))
    chosen = [fact for fact in found if not table or f"{fact.catalog}.{fact.namespace}.{fact.table}" == table]
    for fact in chosen:
        click.echo(msgspec.json.encode(plan_view(fact)).decode() if as_json else plan_line(fact))
    if not chosen and not as_json:
        click.echo("No plan is in these states.", err=True)


@command.command("show", epilog=_example("show 3f2a9c --json"))
@_plan
@_json
@_config
def show(plan: str, config: str | None, *, as_json: bool) -> None:
    """Show one plan: what it would do, its promise and its result, and its history."""
    plans = _opened(load(config))
    detail = plans.pages.detail(_found(plans, plan).plan_id, plans.caller)
    click.echo(msgspec.json.encode(detail).decode() if as_json else "\n".join(plan_lines(detail)))


@command.command("approve", epilog=_example("approve 3f2a9c --reason 'agreed with team-sales'"))
@_plan
@_reason
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@_json
@_config
def approve(plan: str, reason: str | None, config: str | None, *, yes: bool, as_json: bool) -> None:
    """Print what would run, and approve exactly that after a confirmation."""
    plans = _deciding(load(config))
    found = _found(plans, plan)
    detail = plans.pages.detail(found.plan_id, plans.caller)
    click.echo("\n".join(plan_lines(detail)), err=True)
    if "approve" not in detail.can:
        raise InvalidInput("PLAN", f"is {detail.state}; only a proposed plan can be approved")
    if not yes:
        click.confirm(f"Approve exactly these arguments (SHA-256 {detail.arguments_sha256})?", abort=True, err=True)
    _decide("approve", plans, found, reason, as_json=as_json)


def _decision(name: PlanDecision, text: str, *, prompt: str) -> click.Command:
    """A command that takes one decision."""

    def decide(plan: str, reason: str | None, config: str | None, *, as_json: bool) -> None:
        plans = _deciding(load(config))
        _decide(name, plans, _found(plans, plan), reason, as_json=as_json)

    made: Callable[..., Any] = decide
    for option in (_config, _json, _reason, _plan):
        made = option(made)
    return command.command(name, help=text, epilog=_example(prompt))(made)


dismiss = _decision(
    "dismiss",
    "Decide against a proposed plan. The rules do not propose it again for seven days; anyone else may.",
    prompt="dismiss 3f2a9c --reason 'the table is dropped next week'",
)
withdraw = _decision(
    "withdraw",
    "Take back a plan that you proposed, also after its approval.",
    prompt="withdraw 3f2a9c --reason 'wrong week'",
)
cancel = _decision(
    "cancel",
    "Cancel an approved plan, or stop one that runs. What was committed until then stays.",
    prompt="cancel 3f2a9c --reason 'the month is being closed'",
)


@command.command("propose", epilog=_example("propose 3f2a9c --reason 'the hold has ended'"))
@_plan
@_reason
@_json
@_config
def propose(plan: str, reason: str | None, config: str | None, *, as_json: bool) -> None:
    """Propose a plan that ended once more, for example one that was dismissed."""
    plans = _deciding(load(config))
    found = _found(plans, plan)
    with plans.audited("plan propose", f"plan={found.plan_id}"):
        _tell(plans.pages.propose(found.plan_id, plans.caller, reason), as_json=as_json)


@command.command("breakers", epilog=_example("breakers --json"))
@_json
@_config
def breakers(config: str | None, *, as_json: bool) -> None:
    """List what stopped itself, why, and how it starts again. With --json: one JSON object per breaker and line."""
    plans = _opened(load(config))
    found = plans.pages.breakers(plans.caller).breakers
    for each in found:
        click.echo(msgspec.json.encode(each).decode() if as_json else "\n".join(breaker_lines(each)))
    if not found and not as_json:
        click.echo("No breaker is open.", err=True)


@command.command("close", epilog=_example("close fleet::verification"))
@click.argument("key")
@_config
def close(key: str, config: str | None) -> None:
    """Close the breaker KEY, as `limnograph plan breakers` prints it. If its condition persists, it opens again."""
    plans = _deciding(load(config))
    with plans.audited("plan close breaker", f"key={key[:200]}"):
        plans.pages.close_breaker(key, plans.caller)
    click.echo(f"breaker {key} is closed", err=True)


def _opened(settings: Settings) -> LocalPlans:
    from limnograph.wiring.decisions.local_plans import local_plans

    return local_plans(settings)


def _deciding(settings: Settings) -> LocalPlans:
    """As `_opened`, for a user who may decide. Raises Forbidden."""
    from limnograph.wiring.decisions.local_plans import check_rights

    plans = _opened(settings)
    check_rights(plans, settings)
    return plans


def _found(plans: LocalPlans, text: str) -> PlanFact:
    """The plan whose id is or begins with a text. Raises InvalidInput, NotFound."""
    if re.fullmatch(r"[0-9a-f]{32}", text):
        return plans.desk.plan(text)
    if not re.fullmatch(f"[0-9a-f]{{{_LEAST_DIGITS},31}}", text):
        raise InvalidInput("PLAN", f"must be an id of 32 hexadecimal digits, or at least its first {_LEAST_DIGITS}")
    found = [fact for fact in plans.desk.plans() if fact.plan_id.startswith(text)]
    if not found:
        raise NotFound(f"no plan begins with {text}; `limnograph plan list --state all` lists them")
    if len(found) > 1:
        named = ", ".join(fact.plan_id for fact in found[:_MOST_NAMED])
        raise InvalidInput("PLAN", f"{text} begins {len(found)} ids ({named}); write more digits")
    return found[0]


def _decide(name: PlanDecision, plans: LocalPlans, seen: PlanFact, reason: str | None, *, as_json: bool) -> None:
    from limnograph.domain.advice.plans import PlanDecisionIn

    digest = seen.arguments_sha256 or ""
    body = PlanDecisionIn(arguments_sha256=digest, seq=seen.seq, reason=reason)
    with plans.audited(f"plan {name}", f"plan={seen.plan_id} arguments_sha256={digest} seq={seen.seq}"):
        _tell(plans.pages.decide(name, seen.plan_id, body, plans.caller), as_json=as_json)


def _tell(fact: PlanFact, *, as_json: bool) -> None:
    from limnograph.services.plans.views import plan_view

    if as_json:
        click.echo(msgspec.json.encode(plan_view(fact)).decode())
    else:
        click.echo(f"plan {fact.plan_id} is {fact.state}", err=True)


def _states(text: str | None) -> frozenset[str]:
    """Raises InvalidInput."""
    if text is None:
        return frozenset(OPEN)
    asked = {part.strip() for part in text.split(",") if part.strip()}
    if asked == {"all"}:
        return frozenset()
    if not asked or (unknown := asked.difference(STATES)):
        what = repr(min(unknown)) if asked else "nothing"
        raise InvalidInput("--state", f"{what} is not a state; choose from {', '.join(STATES)}, or write all")
    return frozenset(asked)
