"""The live stream's hub and what the lake tells it."""

import asyncio
import json
from typing import Any

import pytest

from limnograph.domain.answers.stream import TableStreamEvent
from limnograph.domain.answers.tables import SourceStatus
from limnograph.domain.errors import TooManyRequests
from limnograph.services.lake.lake import Facts
from limnograph.services.server.live import Caps, Live
from limnograph.services.server.live_lake import LiveLake
from serving_kit import BIG, HOUR, MINUTE, NOW, lake, moved, parts, row

LOOP = asyncio.Runner()


def event(number: int) -> TableStreamEvent:
    return TableStreamEvent(catalog="lake", table_namespace="sales", table=str(number), commits=1)


def told(reader, seconds: float = 0.01) -> list[tuple[str, Any]] | None:
    """What waits now; None at the end."""
    events = LOOP.run(reader.next(seconds))
    return None if events is None else [(found.kind, json.loads(found.data)) for found in events]


def tables(reader) -> list[str]:
    return [data["table"] for _, data in told(reader) or []]


def test_a_listener_receives_events_in_order_and_nothing_when_there_are_none() -> None:
    live = Live()
    reader = live.open("ann", None)
    assert told(reader) == []
    for number in range(3):
        live.publish("table", event(number))
    assert tables(reader) == ["0", "1", "2"]


def test_a_reconnecting_client_misses_nothing_and_receives_nothing_twice() -> None:
    live = Live()
    first = live.open("ann", None)
    for number in range(5):
        live.publish("table", event(number))
    last = LOOP.run(first.next(1))[2].id
    first.close()
    live.publish("table", event(5))
    assert tables(live.open("ann", last)) == ["3", "4", "5"]
    newest = live.open("ann", None)
    assert told(newest) == []


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (lambda live: "other-1", "new-server"),
        (lambda live: "garbage", "new-server"),
        (lambda live: f"{live._server}-99999", "new-server"),
        (lambda live: f"{live._server}--1", "new-server"),
        (lambda live: f"{live._server}-" + "9" * 400, "new-server"),
        (lambda live: f"{live._server}-2", "too-long-ago"),
        (lambda live: f"{live._server}-45", "too-much"),
    ],
)
def test_a_gap_that_cannot_be_filled_is_reported(last, reason) -> None:
    live = Live(kept=20, waiting=10)
    for number in range(60):
        live.publish("table", event(number))
    reader = live.open("ann", last(live))
    assert told(reader) == [("reset", {"reason": reason})]
    live.publish("table", event(60))
    assert tables(reader) == ["60"]


def test_a_slow_reader_is_disconnected_and_the_others_are_not() -> None:
    live = Live(waiting=10)
    slow, quick = live.open("ann", None), live.open("bob", None)
    for number in range(30):
        live.publish("table", event(number))
        assert tables(quick) == [str(number)]
    assert tables(slow) == [str(number) for number in range(10)]
    assert told(slow) is None
    assert live.readers == 1


def test_streams_are_limited_in_total_and_per_client_and_free_their_slot_when_closed() -> None:
    live = Live(Caps(all=3, each=2))
    first, _ = live.open("ann", None), live.open("ann", None)
    with pytest.raises(TooManyRequests) as refused:
        live.open("ann", None)
    assert refused.value.retry_after_s > 0
    live.open("bob", None)
    with pytest.raises(TooManyRequests):
        live.open("eve", None)
    first.close()
    first.close()
    assert live.readers == 2
    live.open("ann", None)


def test_closing_ends_every_stream_and_accepts_no_new_one() -> None:
    live = Live()
    reader = live.open("ann", None)
    live.publish("table", event(1))
    live.close()
    assert tables(reader) == ["1"]
    assert told(reader) is None
    with pytest.raises(TooManyRequests):
        live.open("ann", None)


# What the lake tells


class Looking:
    """A lake in memory, a hub and a reader of it."""

    def __init__(self, rows, changes) -> None:
        self.engine = lake(rows, changes)
        self.made = parts(self.engine)
        self.states = [SourceStatus(id="meta", kind="meta", status="ok", age_s=1.0, detail=None)]
        self.live = Live()
        self.lake = LiveLake(self.made.store, self.sources, self.live)
        self.reader = self.live.open("ann", None)

    async def sources(self):
        return self.states

    def look(self):
        self.lake.look()
        return told(self.reader)


def test_a_commit_is_an_event_when_the_watcher_sees_it_and_when_the_pipeline_has_written_it() -> None:
    first, second = row(1, NOW - HOUR, 5), row(BIG, NOW - MINUTE, 6, parent_id=1, added_data_files=1)
    world = Looking([first], [moved(1, NOW - HOUR)])
    assert world.look() == []
    world.made.store.apply(Facts([second], [moved(BIG, NOW - MINUTE)]))
    (kind, commit), (other, table) = world.look()
    assert (kind, other) == ("commit", "table")
    assert commit["snapshot_id"] == str(BIG)
    assert (commit["table"], commit["added_data_files"], commit["provisional"]) == ("orders", 1, True)
    assert table["commits"] == 1
    assert world.look() == []
    world.engine.append([second], [moved(BIG, NOW - MINUTE)])
    world.made.store.refresh()
    assert [(kind, data.get("provisional")) for kind, data in world.look()] == [("commit", False), ("table", None)]


def test_commits_that_exist_at_startup_are_no_events() -> None:
    world = Looking([row(1, NOW - HOUR, 5)], [])
    fresh = parts(lake([row(1, NOW - HOUR, 5)]))
    looking = LiveLake(fresh.store, world.sources, world.live)
    looking.look()
    assert told(world.reader) == []


def test_a_backfill_is_one_event_per_table() -> None:
    world = Looking([row(1, NOW - HOUR, 5)], [])
    world.made.store.apply(Facts([row(n, NOW - HOUR + n, 5) for n in range(2, 402)], []))
    assert [(kind, data["commits"]) for kind, data in world.look()] == [("table", 400)]


def test_a_source_that_fails_or_recovers_is_one_event() -> None:
    world = Looking([], [])
    for status in ("ok", "error", "error", "ok"):
        world.states = [SourceStatus(id="meta", kind="meta", status=status, age_s=1.0, detail=None)]
        LOOP.run(world.lake.look_at_sources())
    assert [data["sources"][0]["status"] for _, data in told(world.reader)] == ["error", "ok"]
