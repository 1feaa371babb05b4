"""Placeholder until the cost model is merged: the interface that the rules use."""

from __future__ import annotations

from limnograph.domain.advice.document import Estimate, MonthlyCost, TableBytes
from limnograph.domain.advice.prices import Prices

GB = 2**30
GETS, OPEN_SECONDS = 3, 0.02


def rewrite_cost(
    *,
    bytes_in: int,
    files_in: int,
    files_out: int,
    seconds: Estimate,
    cores: int,
    retention_days: float,
    prices: Prices,
) -> Estimate:
    fixed = (files_in * GETS * prices.get_1000 + files_out * 2 * prices.put_1000) / 1_000
    fixed += bytes_in / GB * prices.storage_gb_month * retention_days / 30

    def of(value: float) -> float:
        return value / 3_600 * cores * prices.vcpu_hour + fixed

    return Estimate(low=of(seconds.low), mid=of(seconds.mid), high=of(seconds.high))


def rewrite_saving(files_in: int, files_out: int, scans_per_day: float, prices: Prices) -> float:
    fewer = (files_in - files_out) * scans_per_day * 30
    return fewer * (GETS * prices.get_1000 / 1_000 + OPEN_SECONDS / 3_600 * prices.vcpu_hour)


def expiry_saving(freed: int, prices: Prices) -> float:
    return freed / GB * prices.storage_gb_month


def monthly_cost(
    held: TableBytes | None, live_files: int | None, reads_per_day: float | None, prices: Prices
) -> MonthlyCost | None:
    if held is None:
        return None
    storage = (held.live + held.metadata) / GB * prices.storage_gb_month
    kept = held.held / GB * prices.storage_gb_month
    return MonthlyCost(storage=storage, held=kept, requests=None, total=None)


def payback_days(cost: float, saving: float) -> float | None:
    return cost / saving * 30 if saving > 0 else None
