"""The longest run of a table's writers, from transitions in any order."""

from typing import Any

import pytest

from limnograph.analysis.maintenance.run_lengths import longest_runs_us
from limnograph.domain.facts.events import RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros

ORDERS, NOW = TableName("lake", "sales", "orders"), Micros(1_000)


def run(run_id: str = "r", status: str = "ok", role: str = "writes", **fields: Any) -> RunFact:
    table = RunTable(catalog="lake", namespace="sales", table="orders", role=role)
    return RunFact(run_id=run_id, status=status, **{"tables": [table], **fields})


@pytest.mark.parametrize(
    ("runs", "longest"),
    [
        ([run(started_at=Micros(100), ended_at=Micros(150))], 50),
        ([run(started_at=Micros(100), at=Micros(160))], 60),
        ([run(status="running", started_at=Micros(100), at=Micros(100))], 900),
        ([run(status="failed", ended_at=Micros(300)), run(status="running", started_at=Micros(100))], 200),
        ([run("a", started_at=Micros(0), ended_at=Micros(9)), run("b", started_at=Micros(0), ended_at=Micros(5))], 9),
        ([run(role="reads", started_at=Micros(0), ended_at=Micros(9))], None),
        ([run(ended_at=Micros(9))], None),
        ([run(started_at=Micros(0), ended_at=Micros(9), tables=None)], None),
        ([run(started_at=Micros(9), ended_at=Micros(5))], 0),
    ],
)
def test_the_longest_run_counts(runs: list[RunFact], longest: int | None) -> None:
    for each in (runs, runs[::-1]):
        assert longest_runs_us(each, {ORDERS: "u"}.get, NOW) == ({} if longest is None else {"u": longest})
