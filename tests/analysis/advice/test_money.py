"""Costs and savings: the three worked tables of docs/cost.md, and unknown inputs."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from limnograph.analysis.advice.money import (
    GB,
    comparison,
    expiry_saving,
    monthly_cost,
    payback_days,
    read_cost,
    rewrite_cost,
    rewrite_saving,
)
from limnograph.domain.advice.document import Estimate, MonthlyCost, TableBytes
from limnograph.domain.advice.prices import Prices

PRICES = Prices()
GETS_ONLY, OPENING_ONLY = Prices(vcpu_hour=0), Prices(get_1000=0)


class Worked(NamedTuple):
    """A table and a compaction of it. `scans`: per day."""

    gb: int
    files: int
    target: int
    held_gb: int
    scans: int

    @property
    def size(self) -> TableBytes:
        return TableBytes(live=self.gb * GB, held=self.held_gb * GB, metadata=0, by_ref={}, by_age=[])

    @property
    def run(self) -> Estimate:
        """Cost of the compaction at 60 core seconds per GB and 60 to start, with its output stored for no time."""
        seconds = self.gb * 60 + 60.0
        return rewrite_cost(
            seconds=Estimate(low=seconds / 2, mid=seconds, high=seconds * 2),
            cores=1,
            files_in=self.files,
            files_out=self.target,
            bytes_in=self.gb * GB,
            retention_days=0,
            prices=PRICES,
        )

    @property
    def saving(self) -> float:
        fewer = rewrite_saving(self.files, self.target, self.scans, PRICES)
        assert fewer is not None
        return fewer + expiry_saving(self.held_gb * GB, PRICES)


SMALL = Worked(gb=100, files=50_000, target=200, held_gb=100, scans=24)
LARGE = Worked(gb=120, files=1_200, target=235, held_gb=10, scans=1)
TINY = Worked(gb=10, files=200_000, target=20, held_gb=40, scans=288)


def test_50_000_small_files_read_hourly_cost_more_to_read_than_to_store() -> None:
    cost = monthly_cost(SMALL.size, SMALL.files, SMALL.scans, PRICES)
    assert (round(cost.storage or 0, 2), round(cost.held or 0, 2)) == (2.30, 2.30)
    assert round(read_cost(SMALL.files, GETS_ONLY, SMALL.scans * 30), 2) == 43.20
    assert round(read_cost(SMALL.files, OPENING_ONLY, SMALL.scans * 30), 2) == 10.00
    assert cost.requests == pytest.approx(53.20)
    assert cost.total == pytest.approx(57.80)
    assert round(SMALL.run.mid, 2) == 0.15
    assert 1.5 < (payback_days(SMALL.run.mid, SMALL.saving) or 0) * 24 < 2.5


def test_1_200_large_files_read_daily_are_not_worth_a_compaction() -> None:
    assert round(LARGE.saving, 2) == 0.27
    assert LARGE.run.mid == pytest.approx(0.105, abs=0.001)
    fewer = rewrite_saving(LARGE.files, LARGE.target, LARGE.scans, PRICES)
    assert (payback_days(LARGE.run.mid, fewer) or 0) > 60


def test_200_000_tiny_files_read_every_five_minutes_cost_thousands() -> None:
    assert round(read_cost(TINY.files, GETS_ONLY, TINY.scans * 30)) == 2074


def test_a_rewrite_pays_for_its_output_until_the_old_snapshots_expire() -> None:
    seconds = Estimate(low=3_600, mid=7_200, high=14_400)
    numbers = {"cores": 4, "files_in": 1_000, "files_out": 10, "bytes_in": 100 * GB}
    soon = rewrite_cost(seconds=seconds, retention_days=0, prices=PRICES, **numbers)
    late = rewrite_cost(seconds=seconds, retention_days=15, prices=PRICES, **numbers)
    requests = 1_000 * 3 / 1_000 * 0.0004 + 10 * 2 / 1_000 * 0.005
    assert (soon.low, soon.mid, soon.high) == pytest.approx((0.2 + requests, 0.4 + requests, 0.8 + requests))
    assert late.mid - soon.mid == pytest.approx(100 * 0.023 / 2)


def test_what_is_unknown_has_no_cost() -> None:
    nothing = MonthlyCost(storage=None, held=None, requests=None, total=None)
    assert monthly_cost(None, None, None, PRICES) == nothing
    assert monthly_cost(None, 10, None, PRICES) == nothing
    unread = monthly_cost(SMALL.size, SMALL.files, None, PRICES)
    assert (unread.requests, unread.total) == (None, None)
    assert unread.storage == pytest.approx(2.30)
    assert monthly_cost(SMALL.size, SMALL.files, 0, PRICES).requests == 0
    assert rewrite_saving(9, 1, None, PRICES) is None
    assert payback_days(None, 1.0) is None
    assert payback_days(SMALL.run.mid, None) is None
    assert payback_days(SMALL.run.mid, 0.0) is None


def test_metadata_is_stored_too() -> None:
    size = TableBytes(live=0, held=0, metadata=GB, by_ref={}, by_age=[])
    assert monthly_cost(size, 0, 0, PRICES).storage == pytest.approx(0.023)


def test_the_comparison_says_what_each_action_would_leave() -> None:
    rows = comparison(SMALL.size, SMALL.files, SMALL.target, SMALL.scans, PRICES)
    totals = {row.situation: row.cost.total for row in rows}
    assert totals["now"] == pytest.approx(57.80)
    assert totals["expired"] == pytest.approx(55.50)
    assert totals["compacted"] == pytest.approx(2.30 + 2.30 + 53.20 * 200 / 50_000)
    assert totals["expired_and_compacted"] == pytest.approx(2.30 + 53.20 * 200 / 50_000)
    assert rows[0].per_gb_month == pytest.approx(0.578)


def test_an_unknown_part_leaves_the_rest_of_the_comparison() -> None:
    rows = comparison(SMALL.size, SMALL.files, None, SMALL.scans, PRICES)
    assert [row.cost.total is None for row in rows] == [False, False, True, True]
    assert all(row.per_gb_month is None for row in comparison(None, 1, 1, 1, PRICES))
    empty = TableBytes(live=0, held=0, metadata=1, by_ref={}, by_age=[])
    assert comparison(empty, 0, 0, 1, PRICES)[0].per_gb_month is None
