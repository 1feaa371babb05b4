"""Findings that follow from reported commits: on the table and the API, frozen while reports are not known."""

from __future__ import annotations

import asyncio

import msgspec

from contended_table import refused, spark
from finding_world import World
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.facts.findings import FindingFact
from limnograph.ports.inbox import InboxItem
from limnograph.services.findings.sentences import sentence_of
from limnograph.services.reads.log import KIND
from serving_kit import HOUR, MINUTE, NOW, client


def told(world: World) -> None:
    """A stream commits, and a batch job is refused three times because of it."""
    base = world.number
    world.commit(added_data_files=3)
    at = world.clock.micros
    put(world, [spark("own", at, "events", operation="append", streaming=True, snapshot_id=world.number)])
    put(world, [refused(f"r{number}", at + number, snapshot_id=base) for number in range(1, 4)])
    world.clock.micros += MINUTE


def put(world: World, facts: list[ReportFact]) -> None:
    items = [InboxItem(KIND, fact.event_id, msgspec.json.encode(fact), world.clock.micros) for fact in facts]
    world.inbox.put(items)


def look(world: World) -> list[FindingFact]:
    """The pipeline looks at the lake; the server reads reports and evaluates."""
    world.server.store.refresh()
    world.server.read_log.catch_up()
    world.server.observers.commits.observe(world.server.evaluator)
    return world.later(MINUTE)


def test_a_stream_and_a_batch_job_that_collide_are_named() -> None:
    world = World()
    world.later(MINUTE)
    assert look(world) == []
    told(world)
    (found,) = look(world)
    assert (found.code, found.state, found.severity) == ("stream_batch_conflict", "open", "warning")
    assert (found.cause_writer, found.cause_snapshot_ids) == ("events", [world.number])
    assert found.evidence is not None
    assert {name: found.evidence[name] for name in ("loser", "winner", "stream", "conflicts")} == {
        "loser": "merge",
        "winner": "events",
        "stream": "events",
        "conflicts": "3",
    }
    shown = world.server.backend.findings.shown(found, [found])
    assert "merge lost to events" in sentence_of(shown)


def test_it_closes_a_day_after_the_last_conflict_and_is_listed() -> None:
    world = World()
    world.later(MINUTE)
    told(world)
    look(world)
    world.clock.micros += 23 * HOUR
    assert "stream_batch_conflict" not in {fact.code for fact in look(world)}
    world.clock.micros += HOUR
    closed = {fact.code: fact for fact in look(world)}["stream_batch_conflict"]
    assert (closed.state, closed.closed_by) == ("closed", None)

    async def ask() -> dict:
        async with client(world.server) as http:
            span = f"from={NOW // 1000}&to={world.clock.micros // 1000 + 1}"
            return (await http.get(f"/api/v1/findings?state=closed&code=stream_batch_conflict&{span}")).json()

    (row,) = asyncio.run(ask())["rows"]
    assert (row["group"], row["evidence"]["loser"], row["evidence"]["winner"]) == ("writers", "merge", "events")


def test_they_stay_until_a_new_server_has_read_the_reports() -> None:
    world = World()
    world.later(MINUTE)
    told(world)
    look(world)
    again = world.start()
    assert world.later(MINUTE, server=again) == []
    again.observers.commits.observe(again.evaluator)
    assert world.later(MINUTE, server=again) == [], "the reports of the meta table have not been read"
    again.evaluator.observed({}, "commits")
    (gone,) = world.later(MINUTE, server=again)
    assert (gone.code, gone.closed_by) == ("stream_batch_conflict", "retracted")
