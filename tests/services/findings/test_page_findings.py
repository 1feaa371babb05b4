"""Findings that belong to a commit, and to a job in a range."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from limnograph.domain.facts.findings import FindingEffectFact, FindingFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.services.findings.board import FindingsBoard
from limnograph.services.findings.of_pages import JobRange, finding_of_job, findings_of_commit
from serving_kit import HOUR, NOW

ORDERS = TableName("lake", "sales", "orders")
START, END = Micros(NOW - 6 * HOUR), NOW


def finding(name: str, code: str = "file_burst", opened: int = NOW - HOUR, **fields: Any) -> FindingFact:
    table = {"catalog": "lake", "namespace": "sales", "table": "orders", "table_uuid": "u1"}
    fixed: dict[str, Any] = {"finding_id": name, "seq": 1, "code": code, "state": "open", "severity": "warning"}
    return FindingFact(**{**fixed, "subject": "", "opened_at": Micros(opened), **table, **fields})


def effects(verdict: str, job: str = "churn") -> dict[str, Any]:
    return {"effects": [FindingEffectFact(job_name=job, verdict=verdict)]}


def test_a_commit_shows_what_it_caused_and_what_it_ended() -> None:
    board = FindingsBoard(
        [
            finding("caused", cause_snapshot_ids=[7, 8]),
            finding("ended", state="closed", closed_at=NOW, closed_by="7"),
            finding("other", cause_snapshot_ids=[9]),
            finding("withdrawn", state="closed", closed_at=NOW, closed_by="retracted", cause_snapshot_ids=[7]),
            finding("run", "job_failing", state="closed", closed_at=NOW, closed_by="7"),
            finding("elsewhere", table_uuid="u2", cause_snapshot_ids=[7]),
        ]
    )
    assert [each.finding_id for each in findings_of_commit(board, "u1", 7)] == ["caused", "ended"]
    assert findings_of_commit(board, "u3", 7) == []


class Case(NamedTuple):
    findings: list[FindingFact]
    expected: str | None
    commits: tuple[str, ...] = ()


CASES = {
    "the finding of the commit that is blamed": Case(
        [finding("slower", "partition_skew", **effects("slower")), finding("blamed", cause_snapshot_ids=[7])],
        "blamed",
        ("7",),
    ),
    "what slowed the job, before that it is slow": Case(
        [finding("slow", "job_slower", subject="churn"), finding("burst", **effects("slower"))], "burst"
    ),
    "M3: a job that fell silent": Case([finding("silent", "job_silent", subject="churn")], "silent"),
    "M2: no data yet, also where no change stands out": Case([finding("burst", **effects("no_data_yet"))], "burst"),
    "not yet measured, but from before the range": Case(
        [finding("old", opened=START - HOUR, **effects("no_data_yet"))], None
    ),
    "what had no effect on the job": Case([finding("burst", **effects("none"))], None),
    "what slowed another job": Case([finding("burst", **effects("slower", "revenue"))], None),
    "another job is silent": Case([finding("silent", "job_silent", subject="revenue")], None),
    "what ended before the range": Case(
        [finding("over", opened=START - 9 * HOUR, state="closed", closed_at=Micros(START - HOUR), **effects("slower"))],
        None,
    ),
    "what opened after the range": Case([finding("later", opened=END + HOUR, **effects("slower"))], None),
    "a table of another name that slowed the job": Case(
        [finding("far", table="carts", table_uuid="u9", **effects("slower"))], "far"
    ),
    "the one that is still open, of two": Case(
        [
            finding("over", state="closed", closed_at=NOW, severity="critical", **effects("slower")),
            finding("open", **effects("slower")),
        ],
        "open",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_finding_of_a_job_in_a_range(case: Case) -> None:
    asked = JobRange("churn", START, END, case.commits, (ORDERS,))
    found = finding_of_job(FindingsBoard(case.findings), asked)
    assert (None if found is None else found.finding_id) == case.expected
