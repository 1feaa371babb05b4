"""Rules over measures that are observed: cold partitions, readers, engines, streams, catalogs, at their edges."""

from __future__ import annotations

import numpy as np
import pytest

from limnograph.analysis.advice.own_retention import OwnRetention
from limnograph.analysis.advice.readers import DeclaredReader, RetainedRef, RetainedSnapshot, TableRead
from limnograph.analysis.engine_support import REFUSALS, TableFeatures, refusal
from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.observed.catalogs import CatalogHealth, catalog_levels
from limnograph.analysis.findings.observed.engines import SeenEngine, incompatible_levels
from limnograph.analysis.findings.observed.streams import StreamSamples, gap_seconds, stream_lags
from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.analysis.findings.storage.cold_data import KnownReads, PartitionWrite, cold_levels
from limnograph.analysis.findings.storage.readers_at_risk import at_risk_levels
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros
from table_facts import DAY, GIB, HOUR, MINUTE, START

LIMITS = FindingLimits()


NO_READS = KnownReads()


def cold(
    *partitions: tuple[int, float | None], total: int = 20 * GIB, reads: KnownReads = NO_READS
) -> SubjectLevel | None:
    """Partitions: bytes, days since the last write."""
    held = [
        PartitionWrite(size, None if days is None else Micros(START - round(days * DAY))) for size, days in partitions
    ]
    return next((each for each in cold_levels(held, total, reads, START, LIMITS) if each.is_over), None)


def test_half_of_a_table_without_a_write_for_ninety_days_is_cold() -> None:
    found = cold((10 * GIB, 90), (10 * GIB, 1))
    assert found is not None
    assert (found.severity, found.evidence["cold_partitions"], found.evidence["cold_share"]) == ("info", 1, 0.5)
    assert cold((10 * GIB, 89.9), (10 * GIB, 1)) is None
    assert cold((10 * GIB - 1, 90), (10 * GIB, 1)) is None
    assert cold((9 * GIB, 90), total=9 * GIB) is None, "less than 10 GiB"


def test_a_partition_of_unknown_age_is_not_cold() -> None:
    assert cold((10 * GIB, None), (10 * GIB, None)) is None


def test_a_read_of_these_days_warms_the_table_and_missing_reports_are_said() -> None:
    data = ((20 * GIB, 100),)
    covered, late = KnownReads(Micros(START - 91 * DAY)), KnownReads(Micros(START - 30 * DAY))
    assert [
        found.evidence["reads_known"] for found in (cold(*data, reads=covered), cold(*data, reads=late)) if found
    ] == [1, 0]
    assert cold(*data, reads=KnownReads(None, Micros(START - 89 * DAY))) is None
    assert cold(*data, reads=KnownReads(None, Micros(START - 90 * DAY))) is not None


def test_the_condition_began_when_so_many_bytes_had_not_been_written_or_read_for_so_long() -> None:
    data = ((6 * GIB, 300), (5 * GIB, 200), (9 * GIB, 100))
    found, read_later = cold(*data), cold(*data, reads=KnownReads(None, Micros(START - 95 * DAY)))
    assert found is not None
    assert read_later is not None
    assert (found.began, read_later.began) == (START - 110 * DAY, START - 5 * DAY)


SNAPSHOTS = [RetainedSnapshot(number, Micros(START - (240 - number) * HOUR)) for number in range(240)]
REFS = (RetainedRef("main", 239),)


def at_risk(*reads: TableRead, rule: OwnRetention | None = OwnRetention(5 * DAY), lag: int = 0) -> list[str]:  # noqa: B008  # immutable
    declared = [DeclaredReader("job", lag)] if lag else []
    return [each.subject for each in at_risk_levels(reads, SNAPSHOTS, REFS, rule, declared, now=START)]


def read(snapshot: int, hours_ago: float) -> TableRead:
    return TableRead("job", snapshot, Micros(START - round(hours_ago * HOUR)))


def test_a_declared_lag_beyond_the_retention_is_a_risk_wherever_the_reader_is() -> None:
    assert at_risk(lag=5 * DAY + HOUR) == ["job"]
    assert at_risk(lag=5 * DAY) == []
    assert at_risk(read(239, 0.1), lag=6 * DAY) == ["job"]
    assert at_risk(lag=9 * DAY, rule=None) == [], "nothing expires"
    assert at_risk(lag=9 * DAY, rule=OwnRetention(5 * DAY, 240)) == [], "all of them are kept"


def test_a_pinned_snapshot_that_expires_before_the_next_read_is_a_risk() -> None:
    pinned = [read(140, hours) for hours in (60, 40, 20)]
    assert at_risk(*pinned) == ["job"]
    assert at_risk(*pinned, rule=OwnRetention(9 * DAY)) == []


TRINO = TableFeatures("iceberg", 3, 5, 0)


@pytest.mark.parametrize(
    ("engine", "version", "features", "refused"),
    [
        ("trino", "479", TRINO, "deletion vectors"),
        ("Trino", "476-SNAPSHOT", TRINO, "deletion vectors"),
        ("trino", "480", TRINO, None),
        ("trino", None, TRINO, None),
        ("trino", "476", TRINO._replace(vectors=0), "format version 3"),
        ("trino", "476", TableFeatures("iceberg", 2, None, 7), None),
        ("pyiceberg", "0.12.3", TableFeatures("iceberg", 2, None, 7), "equality deletes"),
        ("pyiceberg", "0.13.0", TableFeatures("iceberg", 2, None, 7), None),
        ("duckdb", "1.2.2", TableFeatures("iceberg", 2, None, 7), "equality deletes"),
        ("duckdb", "1.3.0", TableFeatures("iceberg", 2, None, 7), None),
        ("trino", "476", TableFeatures("delta", 3, 5, 7), None),
        ("spark", "3.5.0", TRINO, None),
    ],
)
def test_the_list_of_refusals(engine: str, version: str | None, features: TableFeatures, refused: str | None) -> None:
    row = refusal(engine, version, features)
    assert (row.feature if row else None) == refused


def test_every_refusal_has_a_source() -> None:
    assert all(row.source.startswith("https://") and row.checked for row in REFUSALS)


def engines(*seen: tuple[str, float]) -> list[str]:
    """Versions of Trino and days since each was seen."""
    held = [SeenEngine("trino", version, Micros(START - round(days * DAY))) for version, days in seen]
    return [each.subject for each in incompatible_levels(held, TRINO, START, LIMITS)]


def test_an_engine_counts_by_its_newest_version_for_thirty_days() -> None:
    assert engines(("476", 29)) == ["trino 476"]
    assert engines(("476", 30)) == []
    assert engines(("476", 2), ("480", 1)) == []
    assert engines(("480", 2), ("476", 1)) == ["trino 476"], "a second cluster, or a step back"


def lagging(*lags: float, gap: float | None = 60, known: int | None = None) -> list[Episode]:
    """A sample a minute."""
    times = np.array([START + place * MINUTE for place in range(len(lags))], np.int64)
    samples = StreamSamples("clicks", times, np.array(lags), gap)
    return stream_lags(samples, Micros(int(times[-1])), LIMITS, None if known is None else Micros(START + known))


def test_a_lag_above_three_gaps_for_ten_minutes_opens_and_ten_below_close() -> None:
    (found,) = lagging(*[181] * 11)
    assert (found.subject, found.stretch.began, found.stretch.opened) == ("clicks", START, START + 10 * MINUTE)
    assert (found.evidence["threshold_seconds"], found.evidence["lag_seconds"]) == (180, 181)
    assert lagging(*[181] * 10) == []
    assert lagging(*[180] * 30) == []
    assert lagging(*[181] * 11, *[10] * 10)[0].stretch.closed is None
    assert lagging(*[181] * 11, *[10] * 11)[0].stretch.closed == START + 21 * MINUTE
    assert lagging(*[181] * 11, *[10] * 9, 181, *[10] * 9)[0].stretch.closed is None


def test_a_fast_trigger_has_a_minute_and_an_unknown_one_no_limit() -> None:
    assert lagging(*[59] * 30, gap=1) == []
    assert len(lagging(*[61] * 30, gap=1)) == 1
    assert lagging(*[9_000] * 30, gap=None) == []
    assert gap_seconds([Micros(place * 1_000_000) for place in range(7)]) is None
    assert gap_seconds([Micros(place * 2_000_000) for place in range(8)]) == 2


def test_a_recorded_lag_goes_on_and_closes() -> None:
    (open_,) = lagging(*[181] * 3, known=-HOUR)
    assert (open_.stretch.began, open_.stretch.truncated) == (START - HOUR, True)
    assert lagging(*[10] * 11, known=-HOUR)[0].stretch.closed == START + 10 * MINUTE


def test_samples_from_before_a_lag_opened_do_not_close_it() -> None:
    (open_,) = lagging(*[10] * 20, *[181] * 15, known=30 * MINUTE)
    assert open_.stretch.closed is None


def catalog(**given: object) -> list[str]:
    health = CatalogHealth(**{"tables": {}, **given})  # type: ignore[arg-type]
    return [each.subject for each in catalog_levels(health, LIMITS) if each.is_over]


def test_a_catalog_is_near_its_limit_from_four_fifths_on() -> None:
    assert catalog(tables={"raw": 80_000, "sales": 79_999}) == ["raw"]


def test_errors_and_slowness_need_twenty_requests() -> None:
    assert catalog(requests=100, failed=1) == ["errors"]
    assert catalog(requests=101, failed=1) == []
    assert catalog(requests=19, failed=19, p95_s=9.0) == []
    assert catalog(requests=20, p95_s=1.0) == ["latency"]
    assert catalog(requests=20, p95_s=0.99) == []
    assert catalog(requests=100, failed=50, p95_s=9.0) == ["errors"], "one cause, one finding"
