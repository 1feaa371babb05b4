"""Findings about storage on a running server: from properties, reports, runs and rows of partitions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from finding_world import DAY, GIB, HOUR, MINUTE, NOW, World
from limnograph.analysis.advice.own_retention import OwnRetention
from limnograph.analysis.advice.readers import RetainedRef
from limnograph.analysis.findings.observed.subject_levels import SubjectLevel
from limnograph.analysis.findings.storage.held_bytes import held_levels
from limnograph.domain.advice.document import TableBytes
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.facts.meta_tables import PartitionFact
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.metrics.series import Matrix, Series
from limnograph.domain.time import Micros, Millis
from limnograph.domain.watch import CatalogSeen, Sighted
from limnograph.services.findings.sentences import sentence_of
from limnograph.services.findings.storage.catalog_findings import CatalogFindings
from limnograph.services.findings.storage.level_observer import LevelObserver
from limnograph.services.findings.storage.reader_risks import ReaderPattern
from limnograph.services.findings.storage.stream_findings import samples_of
from limnograph.services.sources import templates
from limnograph.wiring.server import ServerServices
from serving_kit import UUID, change, parts

LAG = (ReaderPattern("stream-*", "lake.**", 6 * DAY),)


def observed(world: World, micros: int, server: ServerServices) -> list[FindingFact]:
    """Time passes, the server reads reports, observes and evaluates."""
    found = world.later(micros, server=server)
    server.read_log.catch_up()
    asyncio.run(server.observers.observe(server.evaluator))
    return [*found, *server.evaluator.evaluate()]


def found(
    world: World, code: str, server: ServerServices, steps: Sequence[int] = (MINUTE, 12 * MINUTE)
) -> list[FindingFact]:
    return [fact for step in steps for fact in observed(world, step, server) if fact.code == code]


def expiring(world: World, days: int = 5) -> None:
    """The table's own retention."""
    world.engine.append(
        [], [change("property", NOW - 9 * DAY, str(days * DAY // 1_000), subject="history.expire.max-snapshot-age-ms")]
    )


def told(world: World, *reads: tuple[int, int], job: str = "training") -> None:
    """Scans: snapshot, and minutes before now."""
    name = {
        "catalog": "lake",
        "namespace": "sales",
        "table": "orders",
        "kind": "scan",
        "engine": "spark",
        "job_name": job,
    }
    facts = [
        ReportFact(event_id=f"{job}{at}", at=Micros(world.clock.micros - at * MINUTE), snapshot_id=snapshot, **name)
        for snapshot, at in reads
    ]
    world.engine.append([], [], reports=facts)


def test_a_declared_reader_whose_lag_exceeds_the_retention_is_at_risk() -> None:
    world = World()
    expiring(world)
    server = parts(world.engine, clock=world.clock, inbox=world.inbox, readers=LAG)
    (fact,) = found(world, "reader_at_risk", server)
    assert (fact.subject, fact.state, fact.severity) == ("stream-*", "open", "warning")
    assert (fact.evidence or {})["reason"] == "declared"
    shown = server.backend.findings.shown(fact, [fact])
    assert sentence_of(shown).startswith("stream-* needs ")


def test_without_a_retention_no_reader_is_at_risk() -> None:
    world = World()
    server = parts(world.engine, clock=world.clock, inbox=world.inbox, readers=LAG)
    assert found(world, "reader_at_risk", server) == []


def test_a_job_that_reads_one_old_snapshot_again_is_at_risk_and_one_that_reads_the_head_is_not() -> None:
    world = World()
    expiring(world, 1)
    told(world, (20, 130), (20, 70), (20, 10))
    told(world, (38, 130), (39, 70), (40, 10), job="report")
    server = world.start()
    (fact,) = found(world, "reader_at_risk", server)
    assert (fact.subject, (fact.evidence or {})["snapshot"]) == ("training", "20")


def test_an_engine_that_refuses_the_table_is_named() -> None:
    world = World()
    hour = {
        "table_uuid": UUID,
        "hour": Micros(NOW - 3 * HOUR),
        "engine": "trino",
        "engine_version": "476",
        "job_name": "",
    }
    world.engine.roll("reads_hourly", pl.DataFrame([hour]))
    world.commit(format_version=3, total_position_deletes=5)
    server = world.start()
    (fact,) = found(world, "format_incompatible", server)
    assert (fact.subject, (fact.evidence or {})["feature"]) == ("trino 476", "deletion vectors")


def cold(world: World, *days: int) -> None:
    partitions = [
        PartitionFact(
            partition=f"day=2024-01-{place + 1:02}",
            spec_id=0,
            data_files=5,
            bytes=50 * GIB,
            last_committed_at=Micros(NOW - old * DAY),
        )
        for place, old in enumerate(days)
    ]
    world.commit(partitions=partitions, partitions_scope="full")


def test_partitions_that_no_one_writes_are_cold() -> None:
    world = World()
    cold(world, 100, 1)
    (fact,) = found(world, "cold_data", world.start())
    assert (fact.severity, (fact.evidence or {})["cold_bytes"], (fact.evidence or {})["reads_known"]) == (
        "info",
        str(50 * GIB),
        "0",
    )
    world = World()
    cold(world, 80, 1)
    assert found(world, "cold_data", world.start()) == []


def held(size: int) -> Mapping[str, Sequence[SubjectLevel]]:
    table = TableBytes(live=10 * GIB, held=size, metadata=1, by_ref={"v1": size}, by_age=[(0, size)])
    return {UUID: held_levels(table, OwnRetention(), [RetainedRef("v1", 3, True)], FindingLimits())}


def test_held_bytes_open_close_and_survive_a_restart_and_a_silence_of_their_source() -> None:
    world = World()
    world.later(MINUTE)

    def take(
        server: ServerServices, observer: LevelObserver, levels: Any, unknown: Sequence[str] = ()
    ) -> list[FindingFact]:
        observer.take(server.evaluator, levels, unknown)
        return [fact for fact in server.evaluator.evaluate() if fact.code == "held_bytes"]

    observer = LevelObserver("storage", world.clock)
    assert take(world.server, observer, held(2 * GIB)) == []
    world.later(11 * MINUTE)
    (opened,) = take(world.server, observer, held(2 * GIB))
    assert (opened.subject, opened.severity, (opened.evidence or {})["ref"]) == ("v1", "warning", "tag")
    again, fresh = world.start(), LevelObserver("storage", world.clock)
    world.later(MINUTE, server=again)
    assert take(again, fresh, {}, [UUID]) == [], "its bytes are not known yet"
    assert world.open(again)["held_bytes"].finding_id == opened.finding_id
    world.later(2 * HOUR, server=again)
    assert take(again, fresh, held(GIB)) == [], "between both limits"
    (closed,) = take(again, fresh, held(GIB // 2))
    assert (closed.finding_id, closed.state) == (opened.finding_id, "closed")


@pytest.mark.parametrize("progress", [True, False])
def test_the_lag_of_a_stream_is_that_of_its_last_batch_or_the_time_without_progress(progress: bool) -> None:
    labels = {"catalog": "lake", "table_namespace": "sales", "table": "orders", "query_name": "clicks"}
    times = [Millis(1_000_000 + 60_000 * place) for place in range(12)]
    series = [Series({**labels, templates.STAT: "lag"}, times, [5.0] * 12)]
    if progress:
        done = [*(at / 1_000 - 2 for at in times[:10]), *[times[9] / 1_000] * 2]
        series.append(Series({**labels, templates.STAT: "progress"}, times, done))
    (samples,) = samples_of(Matrix(series)).values()
    assert samples.stream == "clicks"
    assert samples.lags.tolist() == [5.0] * 10 + ([60.0, 120.0] if progress else [5.0, 5.0])
    assert samples.gap_s == (60.0 if progress else None)


def test_a_namespace_that_is_nearly_full_is_a_finding_of_its_catalog() -> None:
    world = World()
    limits = FindingLimits(catalog_tables=1)
    server = parts(world.engine, clock=world.clock, inbox=world.inbox, limits=limits)
    (fact,) = found(world, "catalog_near_limit", server)
    assert (fact.catalog, fact.table, fact.table_uuid, fact.subject) == ("lake", "", None, "sales")
    shown = server.backend.findings.shown(fact, [fact])
    assert sentence_of(shown) == "sales has 1 of at most 1 tables"
    again = parts(world.engine, clock=world.clock, inbox=world.inbox, limits=limits)
    assert found(world, "catalog_near_limit", again) == [], "a restarted server finds the same"
    assert world.open(again)["catalog_near_limit"].finding_id == fact.finding_id
    roomy = parts(world.engine, clock=world.clock, inbox=world.inbox)
    (closed,) = found(world, "catalog_near_limit", roomy)
    assert (closed.finding_id, closed.state) == (fact.finding_id, "closed")


@pytest.mark.parametrize(
    ("given", "subject", "text"),
    [
        ({"fullest": {"raw": 90_000}}, "raw", "raw has 90,000 of at most 100,000 tables"),
        ({"requests": 200, "failed": 4, "p95_s": 0.1}, "errors", "2.0% of the requests to the catalog fail"),
        (
            {"requests": 200, "p95_s": 2.5},
            "latency",
            "the catalog responds slowly: 2.5 s at the 95th percentile",
        ),
    ],
)
def test_a_catalog_is_judged_by_what_it_lists_and_by_how_it_answers(
    given: dict[str, Any], subject: str, text: str
) -> None:
    world = World()
    server = parts(world.engine, clock=world.clock, inbox=world.inbox)
    seen = [CatalogSeen("lake", 90_001, 0.2, True, **given)]

    def sighted() -> Sighted:
        return Sighted(90_001, 1, ("lake",), whole=True, troubles=(), catalogs=tuple(seen))

    findings = CatalogFindings(server.store, sighted, world.clock)

    def observe(micros: int) -> list[FindingFact]:
        world.later(micros, server=server)
        findings.observe(server.evaluator)
        return [fact for fact in server.evaluator.evaluate() if fact.code == "catalog_near_limit"]

    assert observe(MINUTE) == []
    (fact,) = observe(12 * MINUTE)
    assert (fact.catalog, fact.table, fact.subject) == ("lake", "", subject)
    assert sentence_of(server.backend.findings.shown(fact, [fact])) == text
    seen[:] = [CatalogSeen("lake", 0, None, answers=False)]
    assert observe(12 * MINUTE) == [], "a catalog that is silent keeps its findings"
    seen[:] = [CatalogSeen("lake", 1, 0.2, True, requests=200, p95_s=0.1)]
    (closed,) = observe(12 * MINUTE)
    assert (closed.finding_id, closed.state) == (fact.finding_id, "closed")
