"""What is pushed is taken or its field is named, whatever it is; order and repeats make no difference."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import InvalidInput, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.services.events.intake import EventIntake
from limnograph.services.events.naming import KnownTable, TableResolver
from limnograph.services.jobs.runs import RunRegistry
from limnograph.services.pipeline.drain import TARGETS
from pushed_bodies import CATALOGS, CLOUD, COMMIT, COMPLETE, METADATA, ROW, SCAN, START, s3
from serving_kit import FixedClock

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
RECORDS = {"Records": [s3("t/metadata/x.json")]}
SEEDS: list[Any] = [START, COMPLETE, COMMIT, SCAN, CLOUD, RECORDS, ROW, {"op": "u", "after": ROW}]
KINDS = ("lineage", "report", "rest", "cloudevents", "s3", "debezium")


class World:
    """An inflow over memory that counts how often it woke."""

    def __init__(self) -> None:
        self.inbox, self.woken = MemoryInbox(), 0
        known = [KnownTable(TableName("lake", "sales", "orders"), METADATA)]
        self.runs = RunRegistry(self.inbox, MemoryEngine(), FixedClock())
        self.inflow = EventIntake(self.runs, TableResolver(CATALOGS, lambda: known), FixedClock(), self.wake)

    def wake(self) -> None:
        self.woken += 1

    async def push(self, kind: str, body: Any) -> bool:
        """Whether it was taken, or refused with the name of a field."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        calls = {
            "lineage": lambda: self.inflow.lineage(content),
            "report": lambda: self.inflow.report(content),
            "rest": lambda: self.inflow.rest_report(content, "p", ["sales", "orders"]),
            "cloudevents": lambda: self.inflow.cloudevents(content, {}),
            "s3": lambda: self.inflow.s3(content),
            "debezium": lambda: self.inflow.debezium(content),
        }
        try:
            taken = await calls[kind]()
        except InvalidInput as error:
            return bool(error.field)
        return taken.accepted >= 0 <= taken.duplicates

    def keys(self) -> set[tuple[str, str]]:
        return {(item.kind, item.key) for item in self.inbox._items.values()}


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A valid body with one value replaced, somewhere inside."""
    document = json.loads(json.dumps(draw(st.sampled_from(SEEDS))))
    place: Any = document
    for _ in range(draw(st.integers(0, 6))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or draw(st.booleans()):
            place[key] = draw(JSON)
            break
        place = place[key]
    return document


WORLD = World()


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(kind=st.sampled_from(KINDS), body=mutated() | JSON | st.binary(max_size=40))
def test_every_item_is_accepted_or_rejected_by_name_and_fits_a_row(kind: str, body: Any) -> None:
    from limnograph.adapters.meta.schema import arrow_table

    assert asyncio.run(WORLD.push(kind, body))
    for waiting in WORLD.inbox.waiting(TARGETS, 99):
        target = TARGETS[waiting.kind]  # type: ignore[index]
        assert arrow_table(target.table, [target.decoder.decode(waiting.payload)]).num_rows == 1
        WORLD.inbox.mark([waiting], 1)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(events=st.lists(mutated(), min_size=1, max_size=5), data=st.data())
def test_duplicates_and_any_order_result_in_the_same_items(events: list[Any], data: st.DataObject) -> None:
    sent = [(kind, event) for kind in KINDS for event in events]
    shuffled = data.draw(st.permutations([*sent, *sent]))
    first, second = World(), World()

    async def push() -> None:
        for kind, event in sent:
            await first.push(kind, event)
        for kind, event in shuffled:
            await second.push(kind, event)

    asyncio.run(push())
    assert first.keys() == second.keys()


def test_notifications_of_a_table_wake_once_and_scans_never() -> None:
    world = World()

    async def push() -> None:
        await world.push("report", SCAN)
        assert world.woken == 0
        for _ in range(2):
            await world.push("rest", COMMIT)
            await world.push("lineage", COMPLETE)

    asyncio.run(push())
    assert world.woken == 2


def test_events_that_could_not_be_stored_wake_nothing() -> None:
    world = World()
    world.inbox.failure = SourceUnavailable("inbox", "disk is full")
    with pytest.raises(SourceUnavailable):
        asyncio.run(world.push("rest", COMMIT))
    assert world.woken == 0
    assert world.runs.error == "inbox: disk is full"
