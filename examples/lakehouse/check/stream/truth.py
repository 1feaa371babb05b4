"""What is equal once the stream has caught up: Kafka and the rows of bronze, the outbox and its events, the orders of
the shop and of silver.
"""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple

from lakehouse.bronze.tables import CDC, CLICKS, EVENTS
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.parts import kafka
from lakehouse.parts.lake import Lake
from lakehouse.parts.streaming import StreamKeeper
from lakehouse.silver.merge import layout
from lakehouse.sources.traffic import Traffic
from limnograph.domain.errors import EnvironmentFault

ORDERS = layout("orders").name
CUSTOMERS, USERS = 60, 40
CAUGHT_UP_S = 420.0


class StreamCounts(NamedTuple):
    """Records of the topics, and rows and distinct positions of their tables."""

    clicks: tuple[int, int, int]
    changes: tuple[int, int, int]
    events: tuple[int, int, int]

    @property
    def is_equal(self) -> bool:
        return all(len(set(each)) == 1 for each in self)


def keeper(world: ScenarioWorld) -> StreamKeeper:
    """The keeper of the stream. Raises EnvironmentFault without a stream."""
    if world.stream is None:
        raise EnvironmentFault("this scenario needs the stream; choose --form stream")
    return world.stream


def traffic(world: ScenarioWorld) -> Traffic:
    """Orders and clicks while the block lasts."""
    return Traffic(world.medallion.shop, world.medallion.log, CUSTOMERS, USERS)


def counts(world: ScenarioWorld) -> StreamCounts:
    """Counted at Kafka and in the lake."""
    ends = kafka.end_offsets(world.lake.places)
    position = "source_partition, source_offset"
    records = [
        sum(ends.get(topic, 0) for topic in topics)
        for topics in ((kafka.CLICKS_TOPIC,), kafka.CHANGE_TOPICS, kafka.EVENT_TOPICS)
    ]
    clicks, changes, events = records
    return StreamCounts(
        (clicks, *_rows(world.lake, CLICKS.name, position)),
        (changes, *_rows(world.lake, CDC.name, f"source, {position}")),
        (events, *_rows(world.lake, EVENTS.name, f"source, {position}")),
    )


def _rows(lake: Lake, table: str, position: str) -> tuple[int, int]:
    row = lake.sql(f"select count(*), count(distinct {position}) from {table}")[0]
    return int(row[0]), int(row[1])


def orders_of_shop(lake: Lake) -> list[Any]:
    """The shop's orders, by id."""
    with lake.shop.cursor() as cursor:
        cursor.execute("select id, customer_id, total_cents, status from orders order by id")
        return [tuple(row) for row in cursor.fetchall()]


def orders_of_silver(lake: Lake) -> list[Any]:
    """The same columns of silver."""
    return [tuple(row) for row in lake.sql(f"select id, customer_id, total_cents, status from {ORDERS} order by id")]


def events_of_shop(lake: Lake) -> list[Any]:
    """The rows of the outbox, by id."""
    with lake.shop.cursor() as cursor:
        cursor.execute("select id, aggregateid, type, payload from outbox order by id")
        return [tuple(row) for row in cursor.fetchall()]


def events_of_bronze(lake: Lake) -> list[Any]:
    """The same of bronze, each event once: Connect sends again what it had not noted."""
    columns = "cast(event_id as bigint) as id, aggregate_id, type, payload"
    rows = lake.sql(f"select distinct {columns} from {EVENTS.name} order by id")
    return [(row[0], row[1], row[2], json.loads(row[3])) for row in rows]


def log_lines(world: ScenarioWorld) -> int:
    """Clicks that happened."""
    with world.medallion.log.open() as file:
        return sum(1 for _ in file)


def catch_up(world: ScenarioWorld) -> StreamCounts:
    """Wait until the lake has what happened, and keep the programs alive meanwhile. Returns the last counts."""
    deadline = time.monotonic() + CAUGHT_UP_S
    clicks = log_lines(world)
    while True:
        keeper(world).revive()
        found = counts(world)
        seen = world.lake.one(f"select count(distinct event_id) from {CLICKS.name}")
        is_there = found.is_equal and seen == clicks and orders_of_silver(world.lake) == orders_of_shop(world.lake)
        is_there = is_there and events_of_bronze(world.lake) == events_of_shop(world.lake)
        if is_there or time.monotonic() > deadline:
            return found
        time.sleep(2)


def assert_truth(world: ScenarioWorld, log: ScenarioLog) -> None:
    """Claims about a stream that has caught up."""
    found = catch_up(world)
    for name, (records, rows, distinct) in found._asdict().items():
        log.equal(f"bronze has a row for each record of {name}", rows, records)
        log.equal(f"and each of {name} once", distinct, rows)
    seen = world.lake.one(f"select count(distinct event_id) from {CLICKS.name}")
    log.equal("no click was lost on its way to Kafka", seen, log_lines(world))
    shop, silver = orders_of_shop(world.lake), orders_of_silver(world.lake)
    log.equal("silver equals the shop row by row, deleted rows included", silver, shop)
    outbox, events = events_of_shop(world.lake), events_of_bronze(world.lake)
    log.equal("the events of bronze are the rows of the outbox", events, outbox)
    deleted = world.lake.one(f"select count(*) from {CDC.name} where source = 'shop.public.orders' and op = 'd'")
    log.claim("rows were deleted meanwhile", deleted > 0, deleted)
    log.figures.update(
        clicks=found.clicks[1],
        clicks_twice_in_kafka=found.clicks[0] - seen,
        changes=found.changes[1],
        events=found.events[1],
        events_twice_in_kafka=found.events[0] - len(outbox),
        deletes=deleted,
        orders=len(silver),
    )
