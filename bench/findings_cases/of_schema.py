"""Cases of group schema and of tables that are no longer written."""

from __future__ import annotations

import random

from findings_cases.cases import fault, look_alike
from findings_cases.lake import GeneratedTable
from findings_cases.scene import DAY, HOUR, MINUTE, Scene
from metadata_records import BY_REGION, Field

CHANGES = "https://iceberg.apache.org/docs/latest/evolution/"
WEEKENDS = "https://github.com/dbt-labs/dbt-core/issues/4450"
SCHEDULES = "https://github.com/KCNyu/clawock/issues/204"
FRESHNESS = "https://github.com/dbt-labs/dbt-core/issues/10963"


def _evolved(rng: random.Random, change: str | None, days: float = 1) -> GeneratedTable:
    """A table whose columns changed so many days ago."""
    table = GeneratedTable(rng)
    metadata = table.table
    metadata.schemas[0] += [
        {"id": 3, "name": "amount", "required": False, "type": "int"},
        {"id": 4, "name": "note", "required": False, "type": "string"},
    ]
    for _ in range(rng.randint(2, 6)):
        table.later(rng.uniform(1, 20)).table.append(table.file("eu"))
    table.observe()
    columns = [dict(each) for each in metadata.schemas[0]]
    if change == "dropped":
        columns.pop()
    elif change == "renamed":
        columns[2]["name"] = "total"
    elif change == "required":
        columns[2]["required"] = True
    elif change == "widened":
        columns[2]["type"] = "long"
    elif change == "added":
        columns.append({"id": 5, "name": "extra", "required": False, "type": "double"})
    elif change == "doc":
        columns[2]["doc"] = "in cents"
    table.later(1)
    if change is not None:
        metadata.schemas.append(columns)
        metadata.write()
    table.observe()
    for _ in range(2):
        table.later(days * 12).table.append(table.file("eu"))
        table.observe()
    return table


@fault("schema_breaking", CHANGES)
def a_column_that_readers_miss(rng: random.Random) -> bool:
    return _evolved(rng, rng.choice(("dropped", "renamed", "required")), rng.uniform(0.2, 6)).opens("schema_breaking")


@look_alike("schema_breaking", CHANGES)
def a_column_more(rng: random.Random) -> bool:
    return _evolved(rng, "added").opens("schema_breaking")


@look_alike("schema_breaking", CHANGES)
def a_type_promotion(rng: random.Random) -> bool:
    return _evolved(rng, "widened").opens("schema_breaking")


@look_alike("schema_breaking", "https://github.com/apache/iceberg/issues/1485")
def the_same_columns_in_a_new_version(rng: random.Random) -> bool:
    return _evolved(rng, rng.choice(("doc", "same"))).opens("schema_breaking")


@fault("schema_changed", CHANGES)
def a_column_that_readers_do_not_expect(rng: random.Random) -> bool:
    return _evolved(rng, rng.choice(("added", "widened")), rng.uniform(0.2, 6)).opens("schema_changed")


@look_alike("schema_changed", "https://github.com/apache/iceberg/issues/1485")
def a_schema_written_again(rng: random.Random) -> bool:
    return _evolved(rng, "same").opens("schema_changed")


@look_alike("schema_changed", FRESHNESS)
def a_change_of_last_week(rng: random.Random) -> bool:
    return _evolved(rng, "added", rng.uniform(7.5, 15)).opens("schema_changed")


@look_alike("schema_changed", CHANGES)
def nothing_but_commits(rng: random.Random) -> bool:
    return _evolved(rng, None).opens("schema_changed")


def _respecified(rng: random.Random, days: float, *, changes: bool = True) -> bool:
    table = GeneratedTable(rng)
    for _ in range(rng.randint(2, 6)):
        table.later(rng.uniform(1, 20)).table.append(table.file("eu"))
    table.observe()
    if changes:
        table.later(1).table.set_spec((*BY_REGION, Field(1, "id_bucket", "bucket[16]", "int")))
    else:
        table.later(1).table.set_property("write.distribution-mode", rng.choice(("hash", "range", "none")))
    table.observe()
    part = ("eu", 3) if changes else ("eu",)
    for _ in range(2):
        table.later(days * 12).table.append(table.file(*part))
        table.observe()
    return table.opens("spec_changed")


@fault("spec_changed", CHANGES)
def a_new_partition_spec(rng: random.Random) -> bool:
    return _respecified(rng, rng.uniform(0.2, 6))


@look_alike("spec_changed", CHANGES)
def a_spec_of_last_week(rng: random.Random) -> bool:
    return _respecified(rng, rng.uniform(7.5, 15))


@look_alike("spec_changed", "https://github.com/apache/iceberg/pull/16855")
def a_property_of_the_writers(rng: random.Random) -> bool:
    return _respecified(rng, rng.uniform(0.2, 6), changes=False)


@look_alike("spec_changed", CHANGES)
def columns_that_changed(rng: random.Random) -> bool:
    return _evolved(rng, rng.choice(("added", "dropped", "widened"))).opens("spec_changed")


@fault("stale", WEEKENDS)
def a_writer_that_stopped(rng: random.Random) -> bool:
    scene = Scene(rng)
    for _ in range(rng.randint(30, 200)):
        scene.commit(round(scene.gap * rng.uniform(0.8, 1.2)))
    return scene.opens("stale", max(4 * scene.gap, 2 * HOUR) + rng.randint(0, 5) * HOUR)


@look_alike("stale", SCHEDULES)
def a_table_written_on_weekdays(rng: random.Random) -> bool:
    """Four weeks of one commit a day; it is Sunday."""
    scene = Scene(rng)
    hour = rng.randint(0, 23)
    for _ in range(4):
        for day in range(5):
            scene.commit(DAY if day else 3 * DAY)
    return scene.opens("stale", 2 * DAY + hour * HOUR // 24)


@look_alike("stale", FRESHNESS)
def a_table_written_during_the_day(rng: random.Random) -> bool:
    """Hourly from 8 to 18; it is night."""
    scene = Scene(rng)
    for _ in range(rng.randint(10, 20)):
        for hour in range(11):
            scene.commit(HOUR if hour else 14 * HOUR)
    return scene.opens("stale", rng.randint(1, 13) * HOUR)


@look_alike("stale", WEEKENDS)
def a_writer_that_is_a_little_late(rng: random.Random) -> bool:
    scene = Scene(rng)
    for _ in range(rng.randint(30, 200)):
        scene.commit(round(scene.gap * rng.uniform(0.8, 1.2)))
    return scene.opens("stale", round(scene.gap * rng.uniform(0.5, 2)))


@look_alike("stale", "https://github.com/elementary-data/elementary/issues/1227")
def commits_that_come_in_pairs(rng: random.Random) -> bool:
    """Data and statistics, twice a day."""
    scene = Scene(rng)
    for _ in range(rng.randint(10, 30)):
        scene.commit(12 * HOUR).commit(rng.randint(1, 4) * MINUTE)
    return scene.opens("stale", rng.randint(1, 30) * HOUR)
