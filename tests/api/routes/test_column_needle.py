"""A value that is planted in every text column of a table, one of which partitions it, is found nowhere: not in meta
tables, pages, metrics, the stream or the log. Only the partition column needs a setting for that.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform

from lakes import FixedClock, Lake
from limnograph.adapters.embedded import frames
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.facts.column_stats import ColumnStatsFact
from limnograph.domain.facts.meta_tables import CHANGES, COLUMN_STATS, META_TABLES, SNAPSHOTS, SnapshotFact
from limnograph.domain.time import Micros
from memory_meta import LocalExtraction, MemoryMetaStore, local_passes
from serving_kit import HOUR, client, parts

NEEDLE = "needle-4711"
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("email", pa.string()),
        ("comment", pa.string()),
        ("raw", pa.binary()),
        ("address", pa.struct([("street", pa.string())])),
        ("tags", pa.list_(pa.string())),
    ]
)


def planted(lake: Lake) -> Table:
    """A table by `email`, one row for each of three people, in three commits."""
    lake.catalog.create_namespace_if_not_exists("sales")
    made = lake.catalog.create_table("sales.people", SCHEMA)
    with made.update_spec() as update:
        update.add_field("email", IdentityTransform(), "email")
    made = lake.catalog.load_table("sales.people")
    for commit in range(3):
        row = {"comment": NEEDLE, "raw": NEEDLE.encode(), "address": {"street": NEEDLE}, "tags": [NEEDLE]}
        rows = [{"id": commit * 3 + person, "email": f"{NEEDLE}-{person}", **row} for person in range(3)]
        made.append(pa.Table.from_pylist(rows, SCHEMA))
    return made


def observed(lake: Lake, table: Table, private: tuple[str, ...]) -> tuple[MemoryMetaStore, FixedClock]:
    store = MemoryMetaStore()
    clock = FixedClock(table.metadata.last_updated_ms * 1000 + 1)
    extraction = LocalExtraction(private=private)
    local_passes(lake, store, clock=clock, extraction=extraction).run()
    return store, clock


def written(store: MemoryMetaStore) -> dict[str, str]:
    return {table.name: str(store.rows(table).to_pylist()) for table in META_TABLES}


def test_the_needle_is_found_nowhere(lake: Lake, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    table = planted(lake)
    store, clock = observed(lake, table, ("email",))
    rows = written(store)
    assert store.rows(COLUMN_STATS).num_rows == 1
    stats = {stat["name"]: stat for stat in store.rows(COLUMN_STATS).to_pylist()[0]["columns"]}
    assert (stats["comment"]["nulls"], stats["address.street"]["values"]) == (0, 3)
    made = parts(engine_of(store), clock=clock, private_columns=("email",))
    pages = asyncio.run(shown(made, Micros(clock.micros), store.rows(SNAPSHOTS).to_pylist()[-1]["snapshot_id"]))
    assert "email=(private)" in pages["partitions"]
    assert '"bounds":"private"' in pages["columns"]
    events = [event.data.decode() for event in made.live._ring]
    for where in (rows, pages, events, caplog.text):
        assert NEEDLE not in str(where)


def test_the_counts_of_private_partitions_are_those_of_all(lake: Lake) -> None:
    table = planted(lake)
    plain, _ = observed(lake, table, ())
    hidden, _ = observed(lake, table, ("email",))
    assert NEEDLE in written(plain)["snapshots"]  # the partition column needs the setting
    last = [store.rows(SNAPSHOTS).to_pylist()[-1] for store in (plain, hidden)]
    sums = [
        {name: sum(part[name] for part in row["partitions"]) for name in ("data_files", "records", "bytes")}
        for row in (last[0] if last[0]["partitions_scope"] == "full" else first_full(plain), last[1])
    ]
    assert [part["partition"] for part in last[1]["partitions"]] == ["email=(private)"]
    assert last[1]["partitions_scope"] == "full"
    assert sums[1]["data_files"] == last[0]["total_data_files"] == 9
    assert sums[1]["records"] == last[0]["total_records"]


def first_full(store: MemoryMetaStore) -> dict[str, Any]:
    rows = store.rows(SNAPSHOTS).to_pylist()
    return next(row for row in rows if row["partitions_scope"] == "full")


def engine_of(store: MemoryMetaStore) -> MemoryEngine:
    """What the meta tables hold, for the server."""
    engine = MemoryEngine()
    snapshots = msgspec.convert(_plain(store, SNAPSHOTS), list[SnapshotFact])
    engine.append(snapshots, store.changes(store.head(CHANGES)))
    stats = msgspec.convert(_plain(store, COLUMN_STATS), list[ColumnStatsFact])
    engine.roll("column_stats", frames.frame("column_stats", stats))
    return engine


def _plain(store: MemoryMetaStore, table: Any) -> list[dict[str, Any]]:
    rows = store.rows(table).to_pylist()
    return [{key: _value(value) for key, value in row.items()} for row in rows]


def _value(value: Any) -> Any:
    if hasattr(value, "timestamp"):
        return round(value.timestamp() * 1_000_000)
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return dict(value)
    if isinstance(value, list):
        return [{k: _value(v) for k, v in item.items()} if isinstance(item, dict) else item for item in value]
    return value


async def shown(made: Any, now: Micros, commit: int) -> dict[str, str]:
    """All pages of the table, of the fleet and of the server."""
    found = {}
    made.observers.columns.observe(made.evaluator)
    made.evaluator.evaluate()
    times = {"from": (now - HOUR) // 1000, "to": (now + HOUR) // 1000}
    async with client(made) as http:
        table = "/api/v1/tables/lake/sales/people"
        for page in ("", "/commits", "/timeline", "/partitions", "/schema", "/refs", "/reads", "/columns"):
            answer = await http.get(table + page, params=times if page not in {"", "/schema", "/refs"} else None)
            assert answer.status_code == 200, (page, answer.text)
            found[page.strip("/") or "table"] = answer.text
        for path in ("/metrics", "/api/v1/status", "/api/v1/tables", "/api/v1/findings", f"{table}/commits/{commit}"):
            answer = await http.get(path)
            assert answer.status_code == 200, (path, answer.text)
            found[path] = answer.text
    return found
