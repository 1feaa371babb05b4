"""The check of the demo's maintainer: what must hold after an approved plan, and what makes it fail."""

from __future__ import annotations

import pytest

from limnograph.demo.check.maintained import ApprovedPlan, PlanEnd, approved_plan_is_executed

PLAN = ApprovedPlan("p", 30, 1)
VERIFIED = PlanEnd("verified", None, 30, 1)


class Table:
    """Port MaintainedTable: files and rows before and after."""

    def __init__(self, files: tuple[int, int] = (32, 3), rows: tuple[str, str] = ("300 rows", "300 rows")) -> None:
        self._files, self._rows = list(files), list(rows)
        self.filled = False

    def fill(self) -> None:
        self.filled = True

    def data_files(self) -> int:
        return self._files.pop(0)

    def digest(self) -> str:
        return self._rows.pop(0)


class Decisions:
    """Port PlanDecisions."""

    def __init__(self, plan: ApprovedPlan | None = PLAN, end: PlanEnd = VERIFIED) -> None:
        self._plan, self._end = plan, end

    def approve(self, table: str, rule: str) -> ApprovedPlan | None:
        assert (table, rule) == ("lake.lab.backlog", "compact")
        return self._plan

    def end(self, plan_id: str) -> PlanEnd:
        assert plan_id == PLAN.plan_id
        return self._end


def test_a_plan_that_is_verified_and_keeps_its_promise_holds() -> None:
    table = Table()
    found = list(approved_plan_is_executed(Decisions(), table))
    assert table.filled
    assert [one.ok for one in found] == [True, True, True]


@pytest.mark.parametrize(
    ("decisions", "table", "holds"),
    [
        (Decisions(None), Table(), [False]),
        (Decisions(end=PlanEnd("failed", "2 rows differ", 30, 1)), Table(), [False, True, True]),
        (Decisions(), Table(files=(32, 4)), [True, False, True]),
        (Decisions(end=PlanEnd("verified", None, 29, 1)), Table(), [True, False, True]),
        (Decisions(), Table(rows=("300 rows", "299 rows")), [True, True, False]),
    ],
)
def test_a_broken_promise_is_a_failed_comparison(decisions: Decisions, table: Table, holds: list[bool]) -> None:
    assert [one.ok for one in approved_plan_is_executed(decisions, table)] == holds
