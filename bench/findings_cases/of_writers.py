"""Cases of writers that collide, of streams that lag, of catalogs near their limits, and of columns that jump."""

from __future__ import annotations

import random

import numpy as np

from findings_cases.cases import fault, look_alike
from findings_cases.scene import DAY, MINUTE, START
from limnograph.analysis.contention import Attempt, Collision, Committed
from limnograph.analysis.findings.columns import ColumnCommit, ColumnWatch
from limnograph.analysis.findings.contention import contention_episodes
from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.observed.catalogs import CatalogHealth, catalog_levels
from limnograph.analysis.findings.observed.streams import StreamSamples, stream_lags
from limnograph.domain.facts.column_stats import ColumnStat
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros

RETRIES = "https://github.com/apache/iceberg/issues/9178"
BURSTS = "https://github.com/apache/iceberg/pull/8001"
CONFLICTS = "https://github.com/apache/iceberg-python/issues/3319"
LAGS = "https://github.com/apache/iceberg/issues/5675"
GLUE = "https://github.com/data-dot-all/dataall/issues/1491"
THROTTLED = "https://github.com/prestodb/presto/issues/16366"
SMALL_CHANGES = "https://github.com/elementary-data/elementary/issues/2177"
SEASONS = "https://github.com/re-data/re-data/issues/392"
VOLUMES = "https://github.com/constructorfabric/insight/pull/1355"
LIMITS = FindingLimits()


def _open(found: list[Episode], code: str) -> bool:
    return any(each.code == code and each.stretch.closed is None for each in found)


def _attempts(rng: random.Random, commits: int, retried: float, gap: int) -> bool:
    done = [
        Attempt(
            Micros(START + place * gap + rng.randint(0, gap // 3)),
            "merge",
            "overwrite",
            "ok",
            2 if rng.random() < retried else 1,
        )
        for place in range(commits)
    ]
    until = Micros(done[-1].at + MINUTE)
    return _open(contention_episodes(done, [], Micros(START - DAY), until, LIMITS), "commit_contention")


@fault("commit_contention", RETRIES)
def every_other_commit_is_retried(rng: random.Random) -> bool:
    return _attempts(rng, rng.randint(50, 150), rng.uniform(0.5, 1), MINUTE)


@fault("commit_contention", BURSTS)
def a_commit_lost_after_its_retries(rng: random.Random) -> bool:
    done = [Attempt(Micros(START + place * MINUTE), "etl", "append", "ok", 1) for place in range(5)]
    lost = Attempt(Micros(START + 6 * MINUTE), "merge", "overwrite", "conflict", rng.randint(4, 10), "lost_race")
    until = Micros(START + rng.randint(7, 50) * MINUTE)
    return _open(contention_episodes([*done, lost], [], Micros(START - DAY), until, LIMITS), "commit_contention")


@look_alike("commit_contention", CONFLICTS)
def retries_now_and_then(rng: random.Random) -> bool:
    return _attempts(rng, rng.randint(60, 120), rng.uniform(0.0, 0.06), MINUTE)


@look_alike("commit_contention", RETRIES)
def two_jobs_that_meet_at_night(rng: random.Random) -> bool:
    return _attempts(rng, rng.randint(3, 8), 1, 4 * MINUTE)


@look_alike("commit_contention", BURSTS)
def hourly_commits_that_are_retried(rng: random.Random) -> bool:
    return _attempts(rng, rng.randint(10, 40), rng.uniform(0.5, 1), 60 * MINUTE)


def _collide(
    rng: random.Random, hours: list[float], streams: tuple[bool | None, bool | None], later: float = 0.5
) -> bool:
    found = []
    for hour in hours:
        at = Micros(START + round(hour * 60 * MINUTE))
        loser = Attempt(at, "merge", "overwrite", "conflict", None, "files_added")
        found.append(Collision(at, loser, Committed(at, rng.randrange(1 << 40), "events", "append"), True, streams))
    until = Micros(found[-1].at + round(later * 60 * MINUTE))
    attempts = [each.loser for each in found]
    return _open(contention_episodes(attempts, found, Micros(START - DAY), until, LIMITS), "stream_batch_conflict")


@fault("stream_batch_conflict", CONFLICTS)
def a_merge_beside_a_stream(rng: random.Random) -> bool:
    return _collide(
        rng, sorted(rng.uniform(0, 22) for _ in range(rng.randint(3, 12))), rng.choice(((False, True), (True, False)))
    )


@look_alike("stream_batch_conflict", RETRIES)
def two_batch_jobs(rng: random.Random) -> bool:
    return _collide(rng, sorted(rng.uniform(0, 22) for _ in range(rng.randint(3, 12))), (False, False))


@look_alike("stream_batch_conflict", CONFLICTS)
def a_conflict_a_day(rng: random.Random) -> bool:
    return _collide(rng, [day * 24 + rng.uniform(0, 6) for day in range(2)], (False, True))


@look_alike("stream_batch_conflict", "https://github.com/gbif/pipelines/issues/1503")
def writers_of_unknown_kind(rng: random.Random) -> bool:
    return _collide(
        rng, sorted(rng.uniform(0, 22) for _ in range(rng.randint(3, 12))), (None, rng.choice((True, None)))
    )


def _lag(rng: random.Random, gap: float | None, lags: list[float]) -> bool:
    times = np.array([START + place * MINUTE for place in range(len(lags))], np.int64)
    noisy = np.array([each * rng.uniform(0.95, 1.05) for each in lags])
    return _open(stream_lags(StreamSamples("clicks", times, noisy, gap), Micros(int(times[-1])), LIMITS), "stream_lag")


@fault("stream_lag", LAGS)
def a_stream_that_cannot_keep_up(rng: random.Random) -> bool:
    gap = rng.uniform(10, 600)
    limit = max(3 * gap, 60)
    return _lag(rng, gap, [gap] * 30 + [limit * 1.2 * (1 + step / 10) for step in range(rng.randint(15, 60))])


@look_alike("stream_lag", "https://github.com/apache/iceberg/pull/2867")
def a_slow_batch_after_a_restart(rng: random.Random) -> bool:
    gap = rng.uniform(10, 600)
    return _lag(rng, gap, [gap] * 30 + [max(3 * gap, 60) * 4] * rng.randint(1, 8) + [gap] * 5)


@look_alike("stream_lag", "https://github.com/apache/iceberg/issues/10211")
def a_stream_with_a_long_trigger(rng: random.Random) -> bool:
    gap = rng.uniform(1_800, 7_200)
    return _lag(rng, gap, [gap * rng.uniform(0.9, 2.2) for _ in range(60)])


@look_alike("stream_lag", LAGS)
def a_stream_seen_for_the_first_time(rng: random.Random) -> bool:
    return _lag(rng, None, [rng.uniform(100, 9_000) for _ in range(60)])


def _catalog(health: CatalogHealth) -> bool:
    return any(each.is_over for each in catalog_levels(health, LIMITS))


@fault("catalog_near_limit", GLUE)
def a_database_that_is_nearly_full(rng: random.Random) -> bool:
    return _catalog(CatalogHealth({"raw": rng.randint(80_000, 99_999), "sales": rng.randint(1, 900)}))


@fault("catalog_near_limit", THROTTLED)
def a_catalog_that_throttles(rng: random.Random) -> bool:
    requests = rng.randint(200, 20_000)
    return _catalog(CatalogHealth({}, requests, round(requests * rng.uniform(0.011, 0.3)) + 1, 0.2))


@fault("catalog_near_limit", THROTTLED)
def a_catalog_that_is_slow(rng: random.Random) -> bool:
    return _catalog(CatalogHealth({}, rng.randint(50, 9_000), 0, rng.uniform(1.05, 20)))


@look_alike("catalog_near_limit", "https://github.com/datahub-project/datahub/issues/2625")
def many_databases_of_some_thousands(rng: random.Random) -> bool:
    return _catalog(CatalogHealth({f"db{place}": rng.randint(1_000, 70_000) for place in range(rng.randint(2, 30))}))


@look_alike("catalog_near_limit", THROTTLED)
def one_request_that_failed(rng: random.Random) -> bool:
    return _catalog(CatalogHealth({}, rng.randint(2, 18), 1, 4.0))


@look_alike("catalog_near_limit", "https://github.com/awslabs/aws-glue-libs/issues/168")
def a_few_errors_of_many_requests(rng: random.Random) -> bool:
    requests = rng.randint(1_000, 90_000)
    return _catalog(CatalogHealth({"raw": 900}, requests, requests // 200, rng.uniform(0.05, 0.9)))


def _column(code: str, stats: list[ColumnStat], writers: list[str] | None = None, gap: int = 10 * MINUTE) -> bool:
    watch = ColumnWatch(LIMITS)
    for place, stat in enumerate(stats):
        writer = writers[place] if writers else "etl"
        watch.take(ColumnCommit(Micros(START + place * gap), place + 1, writer, [stat]))
    return _open(watch.episodes(Micros(START + len(stats) * gap)), code)


def _stat(
    rng: random.Random,
    *,
    nulls: float = 0.02,
    low: float = 0,
    high: float = 100,
    rows: int | None = None,
    ndv: int | None = None,
) -> ColumnStat:
    values = rng.randint(2_000, 90_000) if rows is None else rows
    share = max(0.0, nulls * rng.uniform(0.97, 1.03))
    wide = rng.uniform(0.9, 1)
    return ColumnStat(
        1, "amount", "double", values, round(values * share), None, str(low), str(low + (high - low) * wide), ndv
    )


def _usual(rng: random.Random, count: int = 25, **given: float) -> list[ColumnStat]:
    return [_stat(rng, **given) for _ in range(count)]


@fault("null_share_jump", "https://github.com/apache/seatunnel/issues/1977")
def a_source_that_lost_a_field(rng: random.Random) -> bool:
    return _column("null_share_jump", [*_usual(rng), *_usual(rng, rng.randint(1, 4), nulls=rng.uniform(0.2, 0.8))])


@look_alike("null_share_jump", SMALL_CHANGES)
def a_change_below_five_points(rng: random.Random) -> bool:
    return _column("null_share_jump", [*_usual(rng, nulls=0.001), _stat(rng, nulls=rng.uniform(0.005, 0.035))])


@look_alike("null_share_jump", "https://github.com/cuebook/CueObserve/issues/82")
def a_batch_of_a_few_rows(rng: random.Random) -> bool:
    return _column("null_share_jump", [*_usual(rng), _stat(rng, rows=rng.randint(3, 8), nulls=0.3)])


@look_alike("null_share_jump", SEASONS)
def another_writer_with_its_own_share(rng: random.Random) -> bool:
    stats = [_stat(rng, nulls=0.6 if place % 2 else 0.02) for place in range(60)]
    return _column("null_share_jump", stats, ["crm" if place % 2 else "etl" for place in range(60)])


@fault("bounds_jump", VOLUMES)
def amounts_in_another_unit(rng: random.Random) -> bool:
    return _column("bounds_jump", [*_usual(rng), _stat(rng, high=100 * rng.uniform(15, 1_000))])


@look_alike("bounds_jump", VOLUMES)
def a_large_but_possible_value(rng: random.Random) -> bool:
    return _column("bounds_jump", [*_usual(rng), _stat(rng, high=100 * rng.uniform(1.5, 9))])


@look_alike("bounds_jump", "https://github.com/apache/iceberg/issues/3682")
def ids_that_grow(rng: random.Random) -> bool:
    stats = [_stat(rng, low=place * 1_000, high=place * 1_000 + 900) for place in range(25)]
    return _column("bounds_jump", [*stats, _stat(rng, low=25_000, high=25_000 + 1_000_000)])


@look_alike("bounds_jump", SEASONS)
def the_first_commits_of_a_writer(rng: random.Random) -> bool:
    return _column("bounds_jump", [*_usual(rng, rng.randint(2, 18)), _stat(rng, high=90_000)])


@fault("cardinality_jump", VOLUMES)
def keys_that_collapse_or_multiply(rng: random.Random) -> bool:
    usual = [_stat(rng, ndv=rng.randint(9_000, 11_000)) for _ in range(8)]
    return _column(
        "cardinality_jump", [*usual, _stat(rng, ndv=rng.choice((rng.randint(1, 2_500), rng.randint(40_000, 10**6))))]
    )


@look_alike("cardinality_jump", SMALL_CHANGES)
def keys_that_double(rng: random.Random) -> bool:
    usual = [_stat(rng, ndv=rng.randint(9_000, 11_000)) for _ in range(8)]
    return _column("cardinality_jump", [*usual, _stat(rng, ndv=rng.randint(4_500, 24_000))])


@look_alike("cardinality_jump", "https://github.com/elementary-data/elementary/issues/586")
def keys_that_grow_from_day_to_day(rng: random.Random) -> bool:
    return _column("cardinality_jump", [_stat(rng, ndv=round(1_000 * 1.2**place)) for place in range(25)])


@look_alike("cardinality_jump", SEASONS)
def few_estimates(rng: random.Random) -> bool:
    usual = [_stat(rng, ndv=rng.randint(9_000, 11_000)) for _ in range(rng.randint(1, 4))]
    return _column("cardinality_jump", [*usual, _stat(rng, ndv=10**6)])
