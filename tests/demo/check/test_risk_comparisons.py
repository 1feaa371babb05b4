"""The check of the demo's forecast: what must hold, and what makes it fail."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from limnograph.demo.check.risks import MetricRisk, one_table_is_at_risk

WARNED = MetricRisk("lake.ops.access_logs", "small_files", "at_risk", 0.9)
ALIKE = MetricRisk("lake.ops.error_logs", "small_files", "not_at_risk", 0.1)
SHORT = MetricRisk("lake.sales.refunds", "small_files", "cannot_say", None)


class Listed:
    """Port RiskReader: rows as the server lists them."""

    def __init__(self, *rows: MetricRisk) -> None:
        self._rows = rows

    def rows(self) -> Sequence[MetricRisk]:
        return self._rows


class Counted:
    """Port WarningCounter: as many warnings as another engine counts."""

    def __init__(self, warnings: int) -> None:
        self._warnings = warnings

    def warnings(self) -> int:
        return self._warnings


@pytest.mark.parametrize(
    ("rows", "counted", "holds"),
    [
        ((WARNED, SHORT, ALIKE), 1, [True, True, True]),
        ((), 0, [False, False, False]),
        ((WARNED._replace(state="cannot_say"), ALIKE), 0, [False, True, True]),
        ((WARNED, WARNED._replace(metric="manifests"), ALIKE), 2, [False, True, True]),
        ((WARNED, ALIKE._replace(state="at_risk")), 2, [False, False, True]),
        ((WARNED, ALIKE._replace(state="cannot_say")), 1, [True, False, True]),
        ((WARNED, SHORT), 1, [True, False, True]),
        ((WARNED, ALIKE), 2, [True, True, False]),
    ],
)
def test_one_table_is_at_risk_its_look_alike_is_not_and_the_counts_are_equal(
    rows: Sequence[MetricRisk], counted: int, holds: list[bool]
) -> None:
    assert [one.ok for one in one_table_is_at_risk(Listed(*rows), Counted(counted))] == holds
