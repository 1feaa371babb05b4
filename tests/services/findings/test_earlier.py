"""What happened before on a table, as the pages of a finding and of an incident show it."""

from __future__ import annotations

import asyncio
from typing import Any

from finding_world import DAY, MIB, World
from limnograph.domain.answers.alerts import Incident
from limnograph.domain.answers.findings import EarlierEvent, FindingDetail
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.time import Micros
from limnograph.services.notes.drafts import NoteDraft
from serving_kit import HOUR, MINUTE

TABLE = "lake.sales.orders"


def write(world: World, text: str, **given: Any) -> None:
    draft = NoteDraft(key=text, text=text, **given)
    asyncio.run(world.server.backend.notes.accept(draft, "c", "ada"))


def repaired(world: World) -> int:
    """A burst and its compaction; returns the burst's commit."""
    commit = world.burst()
    world.later(MINUTE)
    world.commit("replace", files=110, added_data_files=10, removed_data_files=50_000)
    world.later(HOUR)
    return commit


def detail(world: World) -> FindingDetail:
    opened = world.open()["file_burst"]
    return asyncio.run(world.server.backend.findings.detail(opened.finding_id))


def incident(world: World) -> Incident:
    at = Micros(world.clock.micros)
    fired = AlertFact(fingerprint="f", starts_at=at, status="firing", catalog="lake", namespace="sales", table="orders")
    asyncio.run(world.server.alerts.accept([fired]))
    return asyncio.run(world.server.backend.alerts.incident("f", None))


def short(events: list[EarlierEvent]) -> list[tuple[str, str, int | None, str | None]]:
    return [(each.kind, each.id, each.notes, each.last_note.text if each.last_note else None) for each in events]


def test_a_finding_shows_the_commits_that_caused_earlier_ones_with_the_newest_note() -> None:
    world = World()
    world.later(MINUTE)
    first = repaired(world)
    write(world, "ran the backfill", scope="commit", table=TABLE, target_id=str(first))
    world.clock.micros += 1
    write(world, "asked the owner to batch it", scope="commit", table=TABLE, target_id=str(first))
    own = world.commit(  # far more than the earlier one, which is usual now
        files=400_100, added_data_files=400_000, removed_data_files=0, added_bytes=400_000 * MIB
    )
    world.later(MINUTE)
    found = detail(world)
    assert short(found.earlier) == [("commit", str(first), 2, "asked the owner to batch it")]
    assert found.earlier[0].writer == "etl"
    assert [each.code for each in found.seen_before] == ["file_burst"]
    write(world, "the present one", scope="commit", table=TABLE, target_id=str(own))
    assert str(own) not in {each.id for each in detail(world).earlier}


def test_a_finding_shows_earlier_commits_that_users_wrote_on() -> None:
    world = World()
    world.later(MINUTE)
    write(world, "changed the partitioning", scope="commit", table=TABLE, target_id="3")
    world.burst()
    world.later(MINUTE)
    assert short(detail(world).earlier) == [("commit", "3", 1, "changed the partitioning")]


def test_an_incident_shows_earlier_findings_and_commits_and_counts_its_notes() -> None:
    world = World()
    world.later(MINUTE)
    commit = repaired(world)
    (closed,) = (fact for fact in world.server.evaluator.board.facts if fact.state == "closed")
    write(world, "compaction fixed it", scope="finding", target_id=closed.finding_id)
    world.later(HOUR)
    now = incident(world)
    assert short(now.earlier) == [
        ("finding", closed.finding_id, 1, "compaction fixed it"),
        ("commit", str(commit), 0, None),
    ]
    assert (now.earlier[0].code, now.earlier[0].closed_by, now.notes) == ("file_burst", closed.closed_by, 0)
    write(world, "paged", scope="alert", target_id="f")
    assert incident(world).notes == 1


def test_what_happens_after_an_alert_is_not_before_it() -> None:
    world = World()
    world.later(MINUTE)
    first = incident(world)
    assert first.earlier == []
    world.clock.micros += DAY // 24
    write(world, "later", scope="commit", table=TABLE, target_id=str(repaired(world)))
    assert asyncio.run(world.server.backend.alerts.incident("f", None)).earlier == []
