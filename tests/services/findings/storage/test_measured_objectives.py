"""Objectives of measures on a running server: the time from event to commit, from gauges of streams."""

from __future__ import annotations

import asyncio

from finding_world import HOUR, MINUTE, NOW, World
from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.metrics.series import Series
from limnograph.domain.objectives import Objective, Objectives
from limnograph.domain.time import Millis
from limnograph.services.findings.sentences import sentence_of
from limnograph.services.findings.storage.stream_findings import STEP_S
from limnograph.services.sources import templates
from limnograph.wiring.server import ServerServices
from serving_kit import parts

LABELS = {"catalog": "lake", "table_namespace": "sales", "table": "orders", templates.STAT: "lag"}
PROMISED = Objectives([Objective("lake.sales.*", event_to_queryable_s=300)])


class StreamedWorld(World):
    """The lake with two streams into a table: `clicks` is late for 20 minutes before NOW and for 5 after it."""

    def started(self, promised: Objectives = PROMISED) -> ServerServices:
        times = [Millis((NOW - HOUR + minute * MINUTE) // 1_000) for minute in range(200)]
        late = [400.0 if 40 <= minute < 65 else 20.0 for minute in range(200)]
        series = [
            Series({**LABELS, "query_name": "clicks"}, times, late),
            Series({**LABELS, "query_name": "views"}, times, [10.0] * len(times)),
        ]
        source = MemoryMetrics("main", {templates.streams_of_tables(STEP_S): series})
        return parts(self.engine, source, self.clock, inbox=self.inbox, promised=promised)

    def seen(self, server: ServerServices, micros: int) -> list[FindingFact]:
        """What is recorded of streams after some time."""
        found = self.later(micros, server=server)
        asyncio.run(server.observers.streams.observe(server.evaluator))
        found += server.evaluator.evaluate()
        return [fact for fact in found if fact.code in {"objective_missed", "stream_lag"}]


def test_late_events_miss_the_objective_of_the_table_until_they_are_in_time_for_its_window() -> None:
    world = StreamedWorld()
    server = world.started()
    opened = {fact.code: fact for fact in world.seen(server, MINUTE)}
    missed, lag = opened["objective_missed"], opened["stream_lag"]
    assert (missed.subject, missed.severity) == ("event_to_queryable", "critical")
    assert missed.evidence == {"threshold_seconds": "300.0", "seconds": "400.0"}
    assert (lag.subject, (lag.evidence or {})["threshold_seconds"]) == ("clicks", "300")
    assert server.evaluator.board.by_job == {}, "it is no job"
    shown = server.backend.findings.shown(missed, [missed])
    assert sentence_of(shown).startswith("events become queryable later than its objective of 5 m")
    again = world.started()
    assert world.seen(again, MINUTE) == [], "a restarted server finds the same"
    closed = {fact.code: fact for fact in world.seen(again, 70 * MINUTE)}
    assert closed["objective_missed"].finding_id == missed.finding_id
    assert [each.state for each in closed.values()] == ["closed", "closed"]


def test_without_an_objective_a_stream_of_unknown_gap_is_never_late() -> None:
    world = StreamedWorld()
    assert world.seen(world.started(Objectives()), MINUTE) == []


def test_an_objective_that_holds_is_no_finding() -> None:
    world = StreamedWorld()
    kept = Objectives([Objective("lake.sales.*", event_to_queryable_s=400), Objective("**", event_to_queryable_s=1)])
    assert world.seen(world.started(kept), MINUTE) == [], "the first objective that matches counts"
