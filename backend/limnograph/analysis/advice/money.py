"""What tables, plans and savings cost, in the currency of the prices (docs/cost.md). Unknown inputs give None, never 0.

Sources: prices are settings. A scan reads the footer of a file twice and one range of columns: 3 requests. Spark's open
cost of 4 MB (`spark.sql.files.openCostInBytes`) takes 20 ms at 200 MB/s. A month has 30 days, a GB 2^30 bytes.
"""

from __future__ import annotations

from limnograph.domain.advice.comparison import ComparedCost, Situation
from limnograph.domain.advice.document import Estimate, MonthlyCost, TableBytes
from limnograph.domain.advice.prices import Prices

GB = 2**30
MONTH_DAYS = 30
GETS_PER_FILE = 3
"""Reading requests per file and scan, or per file that a rewrite reads."""
PUTS_PER_FILE = 2
"""Writing requests per file that a rewrite writes."""
OPEN_SECONDS = 0.02
"""Seconds of one core to open a file."""
_SECONDS_PER_HOUR = 3_600


def storage_cost(size: int, prices: Prices, days: float = MONTH_DAYS) -> float:
    """Cost of storing `size` bytes for some days."""
    return size / GB * prices.storage_gb_month * days / MONTH_DAYS


def read_cost(files: int, prices: Prices, scans: float) -> float:
    """Cost of the requests, and of the time of one core to open the files, of scans that read all of `files`."""
    opened = files * scans
    requests = opened * GETS_PER_FILE / 1_000 * prices.get_1000
    return requests + opened * OPEN_SECONDS / _SECONDS_PER_HOUR * prices.vcpu_hour


def monthly_cost(
    size: TableBytes | None, live_files: int | None, reads_per_day: float | None, prices: Prices
) -> MonthlyCost:
    """Cost of a table for a month of 30 days.

    storage   live files and metadata
    held      bytes that only older snapshots, branches and tags reach
    requests  what reads cost because of the number of files: requests, and the time to open files, if each of
              `reads_per_day` scans reads all live files; a scan that skips files costs less
    total     the sum; null unless all of them are known
    """
    storage = None if size is None else storage_cost(size.live + size.metadata, prices)
    held = None if size is None else storage_cost(size.held, prices)
    known = live_files is not None and reads_per_day is not None
    requests = read_cost(live_files or 0, prices, (reads_per_day or 0) * MONTH_DAYS) if known else None
    parts = [part for part in (storage, held, requests) if part is not None]
    return MonthlyCost(storage=storage, held=held, requests=requests, total=sum(parts) if len(parts) == 3 else None)


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
    """Cost of a rewrite, once; bounds are those of `seconds`, for which all `cores` are paid.

    A rewrite first adds its output to storage: about `bytes_in` more bytes are stored until the snapshots that hold its
    input expire, `retention_days` later.
    """
    reads, writes = files_in * GETS_PER_FILE * prices.get_1000, files_out * PUTS_PER_FILE * prices.put_1000
    fixed = (reads + writes) / 1_000 + storage_cost(bytes_in, prices, retention_days)
    each = cores / _SECONDS_PER_HOUR * prices.vcpu_hour
    return Estimate(low=fixed + seconds.low * each, mid=fixed + seconds.mid * each, high=fixed + seconds.high * each)


def rewrite_saving(files_in: int, files_out: int, reads_per_day: float | None, prices: Prices) -> float | None:
    """What fewer files save per month: requests and opening time. None: how often the table is read is unknown. The
    faster jobs themselves are not counted here, because only a measurement knows them.
    """
    if reads_per_day is None:
        return None
    return read_cost(files_in - files_out, prices, reads_per_day * MONTH_DAYS)


def expiry_saving(bytes_freed: int, prices: Prices) -> float:
    """What freed bytes save per month."""
    return storage_cost(bytes_freed, prices)


def payback_days(cost: float | None, saving: float | None) -> float | None:
    """Days until savings per month reach the cost. None: one is unknown, or nothing is saved."""
    if cost is None or saving is None or saving <= 0:
        return None
    return cost / saving * MONTH_DAYS


def comparison(
    size: TableBytes | None,
    live_files: int | None,
    target_files: int | None,
    reads_per_day: float | None,
    prices: Prices,
) -> list[ComparedCost]:
    """A table's cost now and after maintenance. `target_files`: data files that a compaction would leave."""
    expired = None if size is None else _without_held(size)
    cases: tuple[tuple[Situation, TableBytes | None, int | None], ...] = (
        ("now", size, live_files),
        ("expired", expired, live_files),
        ("compacted", size, target_files),
        ("expired_and_compacted", expired, target_files),
    )
    return [_compared(case, monthly_cost(left, files, reads_per_day, prices), left) for case, left, files in cases]


def _without_held(size: TableBytes) -> TableBytes:
    return TableBytes(live=size.live, held=0, metadata=size.metadata, by_ref={}, by_age=[])


def _compared(situation: Situation, cost: MonthlyCost, size: TableBytes | None) -> ComparedCost:
    live = 0 if size is None else size.live
    per_gb = None if cost.total is None or not live else cost.total / (live / GB)
    return ComparedCost(situation=situation, cost=cost, per_gb_month=per_gb)
