"""Cases of readers: stale ones, filters that skip nothing, engines that refuse a table, tables with two pointers."""

from __future__ import annotations

import random

import numpy as np

from findings_cases.cases import fault, look_alike
from findings_cases.scene import DAY, HOUR, MINUTE, START
from limnograph.analysis.behind import MainMoves
from limnograph.analysis.engine_support import TableFeatures
from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.filters import FilteredScans, unpruned_filters
from limnograph.analysis.findings.observed.engines import SeenEngine, incompatible_levels
from limnograph.analysis.findings.pointers import ParallelPointers, Pointer, two_pointers
from limnograph.analysis.findings.stale_readers import LateRead, stale_readers
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros

CACHES = "https://github.com/apache/iceberg/issues/2319"
REFRESH = "https://github.com/StarRocks/starrocks/pull/47948"
FILTERS = "https://github.com/apache/iceberg/issues/12888"
LAYOUT = "https://github.com/apache/iceberg/issues/3494"
V3 = "https://github.com/trinodb/trino/pull/27788"
EQUALITY = "https://github.com/apache/iceberg-python/issues/3270"
COPIES = "https://github.com/apache/iceberg/issues/1485"
LIMITS = FindingLimits()


def _open(found: list[Episode]) -> bool:
    return any(each.stretch.closed is None for each in found)


def _stale(rng: random.Random, reads: list[tuple[int, int]], until: int) -> bool:
    """A table with a commit every five minutes for ten hours. `reads`: minute of each, and commits behind."""
    moves = MainMoves([Micros(START + place * 5 * MINUTE) for place in range(120)], list(range(120)))
    late = []
    for at, behind in reads:
        when = Micros(START + at * MINUTE + rng.randint(0, 30_000_000))
        found = moves.behind(max(0, at // 5 - behind), when)
        if found is not None and found.is_stale:
            late.append(LateRead(when, "job", "spark", at // 5 - behind, found))
    span = {"since": Micros(START - DAY), "until": Micros(START + until * MINUTE)}
    return _open(stale_readers(late, {}, **span, limits=LIMITS))


@fault("stale_reader", CACHES)
def a_session_with_a_cached_table(rng: random.Random) -> bool:
    first = rng.randint(200, 300)
    return _stale(rng, [(first + step * rng.randint(2, 9), 12 + step) for step in range(6)], first + 90)


@look_alike("stale_reader", REFRESH)
def a_cache_that_is_refreshed_in_time(rng: random.Random) -> bool:
    return _stale(rng, [(200 + step * 5, rng.randint(0, 1)) for step in range(40)], 420)


@look_alike("stale_reader", "https://github.com/apache/iceberg/issues/1702")
def an_occasional_look_at_yesterday(rng: random.Random) -> bool:
    gap = rng.randint(45, 70)
    return _stale(rng, [(200 + step * gap, 30) for step in range(6)], 200 + 5 * gap + 30)


@look_alike("stale_reader", CACHES)
def a_session_that_was_refreshed(rng: random.Random) -> bool:
    reads = [(100 + step * 5, 12 + step) for step in range(6)]
    return _stale(rng, reads, 130 + rng.randint(25, 40) * 60)


def _filters(rng: random.Random, scans: int, share: float, opened: float, column: str = "user_id") -> bool:
    times = np.sort(np.array([START - rng.randrange(6 * DAY) for _ in range(scans)], np.int64))
    hits = np.array([rng.random() < share for _ in range(scans)], np.bool_)
    shares = np.clip(np.where(hits, opened, 0.02) * np.array([rng.uniform(0.95, 1.05) for _ in range(scans)]), 0, 1)
    columns = {column: hits} if column else {}
    return _open(unpruned_filters(FilteredScans(times, shares, columns), {}, until=Micros(START), limits=LIMITS))


@fault("filter_not_pruned", FILTERS)
def filters_of_another_column(rng: random.Random) -> bool:
    return _filters(rng, rng.randint(40, 400), rng.uniform(0.75, 1), rng.uniform(0.6, 1))


@look_alike("filter_not_pruned", LAYOUT)
def filters_of_the_sort_column(rng: random.Random) -> bool:
    return _filters(rng, rng.randint(40, 400), 0.9, 0.9, "")


@look_alike("filter_not_pruned", LAYOUT)
def filters_that_statistics_serve(rng: random.Random) -> bool:
    return _filters(rng, rng.randint(40, 400), rng.uniform(0.75, 1), rng.uniform(0.01, 0.4))


@look_alike("filter_not_pruned", FILTERS)
def a_handful_of_queries(rng: random.Random) -> bool:
    return _filters(rng, rng.randint(1, 18), 1, 1)


@look_alike("filter_not_pruned", FILTERS)
def a_minority_of_the_queries(rng: random.Random) -> bool:
    return _filters(rng, rng.randint(100, 400), rng.uniform(0.05, 0.25), rng.uniform(0.6, 1))


def _engines(seen: list[tuple[str, str | None, float]], features: TableFeatures) -> bool:
    """`seen`: engine, version, days ago."""
    at = [SeenEngine(engine, version, Micros(START - round(days * DAY))) for engine, version, days in seen]
    return any(each.is_over for each in incompatible_levels(at, features, Micros(START), LIMITS))


def _v3(rng: random.Random) -> TableFeatures:
    return TableFeatures("iceberg", 3, rng.choice((0, 5, 900)), 0)


@fault("format_incompatible", V3)
def an_engine_from_before_version_3(rng: random.Random) -> bool:
    return _engines([("trino", str(rng.randint(420, 476)), rng.uniform(0, 25))], _v3(rng))


@fault("format_incompatible", EQUALITY)
def equality_deletes_of_a_stream(rng: random.Random) -> bool:
    version = rng.choice(("0.9.1", "0.10.0", "0.11.0", "0.12.0"))
    return _engines([("pyiceberg", version, rng.uniform(0, 25))], TableFeatures("iceberg", 2, 0, rng.randint(1, 999)))


@look_alike("format_incompatible", V3)
def an_engine_that_was_updated(rng: random.Random) -> bool:
    old = ("trino", str(rng.randint(420, 476)), rng.uniform(10, 25))
    return _engines([old, ("trino", str(rng.randint(480, 490)), rng.uniform(0, 9))], _v3(rng))


@look_alike("format_incompatible", EQUALITY)
def position_deletes_for_the_same_engine(rng: random.Random) -> bool:
    return _engines([("pyiceberg", "0.12.0", rng.uniform(0, 25))], TableFeatures("iceberg", 2, 0, 0))


@look_alike("format_incompatible", "https://github.com/duckdb/duckdb-iceberg/issues/158")
def an_engine_that_was_tried_long_ago(rng: random.Random) -> bool:
    return _engines([("duckdb", "1.2.0", rng.uniform(31, 90))], TableFeatures("iceberg", 2, 0, 5))


@look_alike("format_incompatible", V3)
def an_engine_of_unknown_version(rng: random.Random) -> bool:
    return _engines([(rng.choice(("trino", "snowflake", "flink")), None, rng.uniform(0, 25))], _v3(rng))


def _pointers(since: int, ended: int | None) -> bool:
    held = [Pointer("a.sales.orders", 1), Pointer("b.sales.orders", 2)]
    parted = ParallelPointers(held, Micros(START - since), None if ended is None else Micros(START - ended))
    found = two_pointers("a.sales.orders", parted, until=Micros(START), limits=LIMITS)
    return found is not None and found.stretch.closed is None


@fault("two_pointers", COPIES)
def two_catalogs_that_part(rng: random.Random) -> bool:
    return _pointers(rng.randint(11, 9_000) * MINUTE, None)


@look_alike("two_pointers", COPIES)
def two_catalogs_between_two_probes(rng: random.Random) -> bool:
    return _pointers(rng.randint(5, 590) * MINUTE // 60, None)


@look_alike("two_pointers", "https://github.com/apache/iceberg/issues/2972")
def a_name_that_was_dropped(rng: random.Random) -> bool:
    ended = rng.randint(1, 90) * MINUTE
    return _pointers(ended + rng.randint(1, 20) * HOUR, ended)


@look_alike("two_pointers", "https://github.com/apache/iceberg/issues/1702")
def a_catalog_that_follows_minutes_later(rng: random.Random) -> bool:
    ended = rng.randint(1, 90) * MINUTE
    return _pointers(ended + rng.randint(1, 9) * MINUTE, ended)
