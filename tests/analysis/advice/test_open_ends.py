"""Every finding leads to a plan, to `not worth it` with a reason, or to what is missing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from advised_facts import DAY, EU, MIB, MINUTE, US, AdviceFacts, commits, facts, group, metadata, plan, survey
from limnograph.analysis.advice.deletes import compact_deletes
from limnograph.analysis.advice.open_ends import MISSING, RULES_OF, open_ends
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.advice.rules import ICEBERG, answers
from limnograph.analysis.advice.writing import writer
from limnograph.domain.advice.document import NotKnown, NotWorth, TableBytes
from limnograph.domain.finding_codes import FindingCode
from limnograph.domain.metadata.table import TableMetadata

CODES = [code for part in get_args(FindingCode) for code in (get_args(part) or [part])]
DELETED = group(EU, files=10, delete_files=2, deleted=5, every=plan(10), written=DAY)
ERASES = {"limnograph.erasure-days": "30"}


def table(**fields: Any) -> TableMetadata:
    return metadata(commits(DAY), **fields)


def ends(found: AdviceFacts) -> dict[str, NotWorth | NotKnown]:
    """Answers for findings that the rules of Iceberg leave open, by rule."""
    return {each.rule: each for each in open_ends(found, answers(found, ICEBERG))}


@pytest.mark.parametrize("code", CODES)
def test_a_code_without_a_plan_has_a_reason_of_its_own(code: str) -> None:
    found = facts(survey(group(EU)), codes=[code])
    given = answers(found, ICEBERG)
    led = [each for each in given if isinstance(each, PlannedAction) and code in each.because]
    rules = RULES_OF.get(code, (code,))
    told = [each for each in (*given, *open_ends(found, given)) if each.rule in rules]
    assert led or told, code
    assert code in MISSING or code in RULES_OF


def test_the_dashboard_knows_the_same_rules() -> None:
    text = " ".join((Path(__file__).parents[3] / "frontend/src/lib/maintenance/next.ts").read_text().split())
    table = re.search(r"RULES_OF: .*?= \[(.*?)\];", text)
    assert table is not None
    pairs = re.findall(r"\[ ?'([a-z_ ]+)', '([a-z_ ]+)',? ?\]", table[1])
    assert {code: tuple(rules.split()) for codes, rules in pairs for code in codes.split()} == dict(RULES_OF)


def test_a_rule_that_answers_is_not_answered_again() -> None:
    busy = survey(group(EU, compact=plan(40), written=MINUTE), group(US))
    given = answers(facts(busy, codes=["small_files"]), ICEBERG)
    assert [each.rule for each in given if isinstance(each, NotWorth)] == ["compact"]
    assert open_ends(facts(busy, codes=["small_files"]), given) == []


def test_no_finding_needs_no_reason() -> None:
    assert ends(facts(survey(group(EU)))) == {}


def test_deletes_of_a_partition_that_is_being_written_wait() -> None:
    found = ends(facts(survey(group(EU, files=10, delete_files=2, written=MINUTE)), codes=["equality_deletes"]))
    assert found["compact_deletes"] == NotWorth(
        rule="compact_deletes", text="1 partition with delete files was written within the last 15 min, and left out"
    )


def test_few_deletes_are_counted() -> None:
    found = ends(facts(survey(DELETED, rows=1_000, delete_files=2), codes=["equality_deletes"]))
    assert isinstance(found["compact_deletes"], NotWorth)
    assert found["compact_deletes"].text.startswith("2 delete files with 0.5% of the rows: ")


def test_a_tag_that_holds_bytes_is_named() -> None:
    held = TableBytes(live=MIB, held=9 * MIB, metadata=1, by_ref={"audit": 8 * MIB, "old": MIB}, by_age=[])
    found = ends(facts(survey(group(EU)), codes=["held_bytes"], held=held))
    missing = "whether branch or tag audit is still needed: without it an expiry would free 8.0 MiB more"
    assert found["expire"] == NotKnown(rule="expire", missing=missing)


@pytest.mark.parametrize(("properties", "planned"), [({}, 0), (ERASES, 1)])
def test_a_promised_erasure_makes_each_delete_due(properties: dict[str, str], planned: int) -> None:
    found = facts(survey(DELETED), table(properties=properties), codes=["deletes_not_materialized"])
    plans = [each for each in compact_deletes(found) if isinstance(each, PlannedAction)]
    assert [each.options.get("rewrite-all") for each in plans] == ["true"] * planned
    assert all(each.because == ["deletes_not_materialized"] for each in plans)


def test_a_promise_that_is_kept_so_far_makes_nothing_due() -> None:
    assert compact_deletes(facts(survey(DELETED), table(properties=ERASES))) == []


@pytest.mark.parametrize(
    ("version", "properties", "set_"),
    [
        (2, {}, {"write.delete.mode", "write.merge.mode", "write.update.mode"}),
        (2, {"write.merge.mode": "merge-on-read"}, {"write.delete.mode", "write.update.mode"}),
        (1, {}, set()),
    ],
)
def test_a_write_mode_that_does_not_fit_is_changed(version: int, properties: dict[str, str], set_: set[str]) -> None:
    of = table(properties=properties, format_version=version)
    found = facts(survey(group(EU)), of, codes=["write_mode_mismatch"])
    plans = [each for each in writer(found) if isinstance(each, PlannedAction)]
    assert {key for each in plans for key in each.properties} == set_
    assert all(each.because == ["write_mode_mismatch"] and not each.guards[0].ok for each in plans)
