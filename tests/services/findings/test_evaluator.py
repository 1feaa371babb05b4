"""Findings of a server: opened and closed as commits arrive, recorded once, kept over restarts, frozen while a source
is silent.
"""

from __future__ import annotations

import asyncio
import itertools

import pytest
from msgspec import structs

from finding_world import DAY, MIB, World
from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.facts.findings import FindingEffectFact, FindingFact
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.objectives import Objective, Objectives
from limnograph.domain.queries import FindingsQuery
from limnograph.domain.time import Micros, Millis
from serving_kit import HOUR, MINUTE, NOW, UUID, change, moved, parts, schema


def test_a_burst_opens_with_its_commit_and_closes_with_the_compaction() -> None:
    world = World()
    assert world.later(MINUTE) == []
    commit = world.burst()
    (opened,) = world.later(MINUTE)
    assert (opened.code, opened.state, opened.severity, opened.seq) == ("file_burst", "open", "warning", 1)
    assert opened.cause_snapshot_ids == [commit]
    assert world.later(HOUR) == [], "nothing new is recorded while nothing changes"
    repair = world.commit("replace", files=110, added_data_files=10, removed_data_files=50_000)
    (closed,) = world.later(MINUTE)
    assert (closed.finding_id, closed.state, closed.closed_by, closed.seq) == (
        opened.finding_id,
        "closed",
        str(repair),
        2,
    )
    assert world.open() == {}
    page = world.server.backend.findings.page(FindingsQuery(start=Millis(0), end=Millis(2**50), state="closed"))
    assert [(row.code, row.closed_by) for row in page.rows] == [("file_burst", str(repair))]


def test_a_restarted_server_finds_the_same_with_the_same_id_and_records_nothing_again() -> None:
    world = World()
    world.later(MINUTE)
    world.burst()
    (opened,) = world.later(MINUTE)
    world.drained()
    again = world.start()
    assert world.later(MINUTE, server=again) == []
    assert world.open(again)["file_burst"].finding_id == opened.finding_id


def test_of_two_servers_one_records_a_transition() -> None:
    world = World()
    world.later(MINUTE)
    other = world.start()
    world.later(MINUTE, server=other)
    world.burst()
    world.later(MINUTE)
    world.later(MINUTE, server=other)
    recorded = world.server.finding_records.waiting(Micros(0))
    assert [(fact.code, fact.seq) for fact in recorded] == [("file_burst", 1)]
    assert world.open(other)["file_burst"].finding_id == world.open()["file_burst"].finding_id


def test_a_silent_catalog_freezes_its_findings() -> None:
    world = World()
    world.later(MINUTE)
    assert world.later(9 * HOUR, heard=False) == []
    assert world.open() == {}, "the catalog did not respond, so the table may have commits that are not known"
    (found,) = world.later(MINUTE)
    assert (found.code, found.severity) == ("stale", "warning")


def test_a_dropped_column_expires_on_a_table_without_commits() -> None:
    world = World(hours=1)  # too few commits for a table to become stale
    columns = (1, "id", "long"), (2, "day", "date")
    world.engine.append([], [schema(0, NOW - DAY, *columns), schema(1, NOW, columns[0], before=0)])
    (opened,) = world.later(MINUTE)
    assert (opened.code, opened.evidence and opened.evidence["what"]) == ("schema_breaking", "day was dropped")
    assert "schema_breaking" not in {fact.code for fact in world.later(7 * DAY - 2 * MINUTE)}
    (closed,) = world.later(MINUTE)
    assert (closed.code, closed.closed_by, closed.closed_at) == ("schema_breaking", "expired", NOW + 7 * DAY)


def test_a_job_that_is_slower_for_certain_makes_a_finding_critical() -> None:
    world = World()
    world.later(MINUTE)
    world.burst()
    (opened,) = world.later(MINUTE)
    slower = FindingEffectFact(job_name="rollup", verdict="slower", ratio=3.0, ratio_low=2.6, ratio_high=3.4, runs=6)
    world.server.evaluator.measured({opened.finding_id: [slower]})
    (raised,) = world.later(MINUTE)
    assert (raised.severity, raised.seq) == ("critical", 2)
    less = FindingEffectFact(job_name="rollup", verdict="slower", ratio=1.3, ratio_low=1.2, ratio_high=1.4, runs=7)
    world.server.evaluator.measured({opened.finding_id: [less]})
    assert world.later(MINUTE) == [], "a bound that moves about the limit does not lower the severity"
    unsure = FindingEffectFact(job_name="rollup", verdict="unknown", runs=7)
    world.server.evaluator.measured({opened.finding_id: [unsure]})
    (held,) = world.later(MINUTE)
    assert held.severity == "critical", "within an hour of a transition it only rises"
    (fallen,) = world.later(HOUR)
    assert fallen.severity == "warning"


def slow(job: str = "rollup") -> Episode:
    at = Micros(NOW + MINUTE)
    return Episode("job_slower", job, Stretch(at, at), "critical", None, {"ratio": 3.0})


def test_a_slow_job_stands_alone_until_the_finding_of_its_cause_tells_of_it() -> None:
    world = World()
    world.later(MINUTE)
    world.server.evaluator.observed({UUID: [slow()]})
    (alone,) = world.later(MINUTE)
    assert (alone.code, alone.subject) == ("job_slower", "rollup")
    world.burst()
    (burst,) = world.later(MINUTE)
    effect = FindingEffectFact(job_name="rollup", verdict="slower", ratio=3.0, ratio_low=2.6)
    world.server.evaluator.measured({burst.finding_id: [effect]})
    told = {(fact.code, fact.closed_by) for fact in world.later(MINUTE)}
    assert told == {("file_burst", None), ("job_slower", "merged")}
    assert set(world.open()) == {"file_burst"}
    world.server.evaluator.measured({burst.finding_id: [FindingEffectFact(job_name="rollup", verdict="none")]})
    again = {fact.code: fact for fact in world.later(MINUTE)}["job_slower"]
    assert (again.finding_id, again.seq, again.state) == (alone.finding_id, 3, "open")


def test_findings_of_jobs_stay_until_the_jobs_of_a_new_server_are_read() -> None:
    world = World()
    world.server.evaluator.observed({UUID: [slow()]})
    world.later(MINUTE)
    again = world.start()
    assert world.later(MINUTE, server=again) == []
    assert set(world.open(again)) == {"job_slower"}
    again.evaluator.observed({})
    (gone,) = world.later(MINUTE, server=again)
    assert (gone.state, gone.closed_by) == ("closed", "retracted")


def test_a_code_that_is_disabled_is_withdrawn_and_not_evaluated() -> None:
    world = World()
    world.later(MINUTE)
    world.burst()
    world.later(MINUTE)
    without = parts(
        world.engine, clock=world.clock, inbox=world.inbox, limits=FindingLimits(disabled=frozenset({"file_burst"}))
    )
    recorded = world.server.finding_records.newest(Micros(0)).values()
    assert [(fact.code, fact.closed_by) for fact in recorded] == [("file_burst", "retracted")]
    world.burst()
    assert world.later(MINUTE, server=without) == []
    assert world.open(without) == {}


def test_a_threshold_of_the_settings_is_used_and_shown_and_a_property_of_the_table_goes_before_it() -> None:
    world = World()
    server = parts(world.engine, clock=world.clock, inbox=world.inbox, limits=FindingLimits(manifests_merged=30))
    world.commit(manifests=50, manifest_bytes=80 * MIB)
    world.later(HOUR, server=server)
    (page,) = server.backend.findings.page(FindingsQuery(start=Millis(0), end=Millis(2**50))).rows
    assert (page.code, page.evidence["threshold"]) == ("manifests_fragmented", 29)
    key = "commit.manifest.min-count-to-merge"
    world.engine.append([], [change("property", world.clock.micros, "100", subject=key)])
    world.clock.micros += MINUTE
    world.commit(manifests=60, manifest_bytes=80 * MIB)
    (closed,) = world.later(HOUR, server=server)
    assert (closed.code, closed.state) == ("manifests_fragmented", "closed")


def alert(at: int, status: str = "firing", severity: str = "critical", **labels: str) -> AlertFact:
    return AlertFact(
        fingerprint="f" * 16,
        starts_at=Micros(NOW + MINUTE),
        status=status,
        ends_at=None if status == "firing" else Micros(at),
        alert_name="OrdersWrong",
        severity=severity,
        catalog="lake",
        namespace="sales",
        table="orders",
        labels={"alertname": "OrdersWrong", "severity": severity, **labels},
        observed_at=Micros(at),
    )


def test_a_critical_alert_for_the_table_raises_its_findings_until_it_ends() -> None:
    world = World()
    world.server.alerts.catch_up()
    world.later(MINUTE)
    world.burst()
    (opened,) = world.later(MINUTE)
    asyncio.run(world.server.alerts.accept([alert(world.clock.micros)]))
    (raised,) = world.later(MINUTE)
    assert (raised.finding_id, raised.severity, raised.seq) == (opened.finding_id, "critical", 2)
    assert (raised.evidence or {})["alert"] == "OrdersWrong"
    assert world.later(MINUTE) == []
    again = world.start()
    assert world.later(MINUTE, server=again) == [], "until the alerts are read, the recorded one counts"
    assert world.open(again)["file_burst"].severity == "critical"
    again.alerts.catch_up()
    assert world.later(MINUTE, server=again) == []
    asyncio.run(world.server.alerts.accept([alert(world.clock.micros, "resolved")]))
    assert world.later(MINUTE) == [], "within an hour of a transition it only rises"
    assert world.open()["file_burst"].evidence == raised.evidence
    (fallen,) = world.later(HOUR)
    assert (fallen.severity, fallen.seq, "alert" in (fallen.evidence or {})) == ("warning", 3, False)
    assert world.later(2 * MINUTE) == []


def test_an_alert_that_flaps_lowers_the_severity_at_most_once_an_hour() -> None:
    world = World()
    world.server.alerts.catch_up()
    world.later(MINUTE)
    world.burst()
    world.later(MINUTE)
    told = []
    for minute in range(150):
        status = "resolved" if minute % 2 else "firing"
        begun = Micros(world.clock.micros - world.clock.micros % (2 * MINUTE))
        asyncio.run(world.server.alerts.accept([structs.replace(alert(world.clock.micros, status), starts_at=begun)]))
        told += [(fact.severity, world.clock.micros) for fact in world.later(MINUTE)]
    falls = [at for severity, at in told if severity == "warning"]
    assert [severity for severity, _ in told[:2]] == ["critical", "warning"]
    assert all(later - earlier >= HOUR for earlier, later in itertools.pairwise(falls))
    assert len(falls) == 2


@pytest.mark.parametrize("other", [{"severity": "warning"}, {"limnograph_finding": "file_burst"}])
def test_an_alert_that_is_not_critical_or_follows_from_a_finding_raises_nothing(other: dict[str, str]) -> None:
    world = World()
    world.server.alerts.catch_up()
    world.later(MINUTE)
    world.burst()
    world.later(MINUTE)
    asyncio.run(world.server.alerts.accept([alert(world.clock.micros, **other)]))
    assert world.later(MINUTE) == []
    assert world.open()["file_burst"].severity == "warning"


def test_a_note_about_the_schema_is_not_raised_by_an_alert() -> None:
    world = World()
    world.server.alerts.catch_up()
    world.later(MINUTE)
    old, new = (1, "id", "long"), (2, "more", "long")
    changes = [schema(0, NOW - DAY, old), schema(1, world.clock.micros, old, new, before=0)]
    world.engine.append([], changes)
    asyncio.run(world.server.alerts.accept([alert(world.clock.micros)]))
    world.later(MINUTE)
    assert {code: fact.severity for code, fact in world.open().items()} == {"schema_changed": "info"}


def test_a_table_that_is_older_than_its_objective_has_a_finding_and_others_have_none() -> None:
    world = World()
    promised = Objectives([Objective("lake.finance.*", 60.0), Objective("lake.sales.*", 1_800.0)])
    server = parts(world.engine, clock=world.clock, inbox=world.inbox, promised=promised)
    world.later(2 * HOUR, server=server)
    missed = world.open(server)["objective_missed"]
    assert (missed.severity, (missed.evidence or {})["threshold_seconds"]) == ("critical", "1800")
    world.commit()
    (closed,) = [fact for fact in world.later(20 * MINUTE, server=server) if fact.code == "objective_missed"]
    assert (closed.finding_id, closed.closed_by) == (missed.finding_id, str(world.number))
    assert world.open(world.start()) == {}


def test_a_dropped_table_retires_its_findings() -> None:
    world = World()
    world.later(MINUTE)
    world.burst()
    world.later(MINUTE)
    gone = ChangeFact(
        table_uuid=UUID,
        catalog="lake",
        namespace="sales",
        table="orders",
        kind="dropped",
        subject="lake.sales.orders",
        from_value="x",
        at=world.clock.micros,
    )
    world.engine.append([], [gone])
    assert [fact.closed_by for fact in world.later(MINUTE)] == ["retired"]


def test_a_late_commit_changes_what_was_found() -> None:
    world = World()
    world.later(MINUTE)
    world.burst()
    (first,) = world.later(MINUTE)
    world.clock.micros += HOUR
    number = world.number + 1
    world.number = number
    late = World.row(
        number, NOW - 30 * HOUR + 1, 50_100, added_data_files=49_000, removed_data_files=0, added_bytes=49_000 * MIB
    )
    world.engine.append([late], [moved(number, NOW - 30 * HOUR + 1)])
    world.later(MINUTE)
    world.later(2 * MINUTE)
    found = world.open()["file_burst"]
    assert (found.finding_id, found.opened_at) == (first.finding_id, NOW - 30 * HOUR)


def large(facts: list[FindingFact]) -> list[FindingFact]:
    """Without other findings, such as that the table is stale."""
    return [fact for fact in facts if fact.code == "metadata_large"]


def test_a_finding_outlives_the_edge_of_memory_and_restarts_with_one_id() -> None:
    world = World()
    world.commit(metadata_bytes=10 * MIB)
    (opened,) = world.later(HOUR)
    server = world.server
    for hours in range(0, 75, 5):
        world.clock.micros += 5 * HOUR
        world.commit(metadata_bytes=10 * MIB)
        if hours % 20 == 0:
            world.drained()
            server = world.start()
        assert large(world.later(MINUTE, server=server)) == []
        found = world.open(server)["metadata_large"]
        assert (found.finding_id, found.opened_at) == (opened.finding_id, opened.opened_at)
    world.commit(metadata_bytes=MIB)
    (closed,) = large(world.later(MINUTE, server=server))
    assert (closed.finding_id, closed.closed_by, closed.seq) == (opened.finding_id, str(world.number), 2)
    world.clock.micros += 2 * HOUR
    world.commit(metadata_bytes=10 * MIB)
    (again,) = large(world.later(HOUR, server=server))
    assert again.state == "open"
    assert again.finding_id != opened.finding_id


def test_a_finding_that_began_before_the_retention_keeps_its_id_and_its_beginning() -> None:
    world = World()
    world.commit(metadata_bytes=10 * MIB)
    (opened,) = world.later(HOUR)
    for _ in range(33):
        world.clock.micros += DAY
        world.commit(metadata_bytes=10 * MIB)
    world.drained()
    server = world.start()
    assert large(world.later(MINUTE, server=server)) == []
    found = world.open(server)["metadata_large"]
    assert (found.finding_id, found.opened_at) == (opened.finding_id, opened.opened_at)


def test_an_inbox_that_does_not_respond_loses_no_transition() -> None:
    world = World()
    world.later(MINUTE)
    world.burst()
    world.inbox.failure = SourceUnavailable("inbox", "away")
    assert world.later(MINUTE) == []
    assert set(world.open()) == {"file_burst"}, "it is shown"
    world.inbox.failure = None
    assert [(fact.code, fact.seq) for fact in world.later(MINUTE)] == [("file_burst", 1)]
