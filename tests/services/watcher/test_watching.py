"""The watcher's rounds over a real catalog and real metadata."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain import watch
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.services.lake.lake import Facts
from limnograph.services.lake.store import WINDOW
from limnograph.services.watcher.rounds import Watcher
from limnograph.settings import parse
from limnograph.wiring.observe import SettingsLake
from serving_kit import HOUR, FixedClock, parts

NAME = TableName("lake", "sales", "orders")
ROWS = pa.table({"id": [1, 2, 3]})


class Observed:
    """A lake with one table, and the settings that observe it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        properties = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}/wh"}
        self.catalog = SqlCatalog("lake", **properties)
        self.catalog.create_namespace("sales")
        self.table = self.catalog.create_table("sales.orders", ROWS.schema)
        self.settings = parse({"catalogs": {"lake": {"type": "sql", **properties}}}, folder, {})

    def watcher(self, engine=None, clock=None) -> Watcher:
        return Watcher(SettingsLake(self.settings), engine or MemoryEngine(), clock or SystemClock(), WINDOW)


@pytest.fixture
def observed(tmp_path) -> Observed:
    return Observed(tmp_path)


def facts(watcher: Watcher) -> Facts:
    messages = [watch.decode(watch.encode(message)) for message in watcher.round()]
    assert [m.last for m in messages] == [False] * (len(messages) - 1) + [True]
    return Facts([r for m in messages for r in m.snapshots], [c for m in messages for c in m.changes])


def test_the_first_round_returns_the_window_and_the_next_one_nothing(observed) -> None:
    for _ in range(3):
        observed.table.append(ROWS)
    watcher = observed.watcher()
    found = facts(watcher)
    assert [row.total_data_files for row in found.snapshots] == [1, 2, 3]
    assert {"named", "schema", "ref", "first_seen"} <= {c.kind for c in found.changes}
    assert facts(watcher) == Facts([], [])


def test_a_new_commit_is_reported_once_with_its_move_of_main(observed) -> None:
    observed.table.append(ROWS)
    watcher = observed.watcher()
    facts(watcher)
    observed.table.append(ROWS)
    found = facts(watcher)
    assert [row.added_records for row in found.snapshots] == [3]
    assert [(c.kind, c.to_value) for c in found.changes] == [("ref", str(found.snapshots[0].snapshot_id))]


def test_commits_in_the_meta_tables_are_not_reported_again(observed) -> None:
    observed.table.append(ROWS)
    engine = MemoryEngine()
    engine.append(*facts(observed.watcher()))
    assert facts(observed.watcher(engine)) == Facts([], [])


def test_only_the_head_of_an_old_table_is_reported(observed) -> None:
    for _ in range(3):
        observed.table.append(ROWS)
    later = FixedClock(SystemClock().now() + 60 * HOUR)
    assert [row.total_data_files for row in facts(observed.watcher(clock=later)).snapshots] == [3]


def test_facts_from_the_watcher_suffice_for_the_pages_of_a_server_without_a_pipeline(observed) -> None:
    observed.table.append(ROWS)
    made = parts(clock=FixedClock(SystemClock().now()))
    made.store.apply(facts(observed.watcher()))
    history = made.store.reading.lake.find(NAME)
    assert history.head.total_records == 3
    assert len(history.provisional) == 1


def test_a_truncated_metadata_file_is_reported_and_the_round_continues(observed) -> None:
    observed.table.append(ROWS)
    other = observed.catalog.create_table("sales.broken", ROWS.schema)
    location = Path(other.metadata_location.removeprefix("file://"))
    location.write_bytes(location.read_bytes()[:100])
    found = facts(observed.watcher())
    assert [c.table for c in found.changes if c.kind == "unreadable"] == ["broken"]
    assert len(found.snapshots) == 1


def test_unavailable_meta_tables_are_reported_and_the_next_round_returns_everything(observed) -> None:
    observed.table.append(ROWS)
    engine = MemoryEngine()
    engine.failure = SourceUnavailable("meta", "catalog is down")
    watcher = observed.watcher(engine)
    first = list(watcher.round())
    assert [t.source for t in first[0].troubles] == ["meta"]
    assert first[0].read == []
    engine.failure = None
    assert len(facts(watcher).snapshots) == 1


def test_a_dropped_table_is_removed(observed) -> None:
    observed.table.append(ROWS)
    watcher = observed.watcher()
    made = parts(clock=FixedClock(SystemClock().now()))
    made.store.apply(facts(watcher))
    observed.catalog.drop_table("sales.orders")
    made.store.apply(facts(watcher))
    assert made.store.reading.lake.current() == []


class Refusing(SettingsLake):
    """A lake whose storage refuses one table."""

    def __init__(self, settings) -> None:
        super().__init__(settings)
        self.asked = []

    @property
    def tables(self):
        return _Refuses(super().tables, self.asked)


class _Refuses:
    def __init__(self, tables, asked) -> None:
        self._tables, self._asked = tables, asked

    def outline(self, catalog, table_format, location, **more):
        if "/away/" in location:
            self._asked.append(location)
            raise SourceUnavailable("storage", "403")
        return self._tables.outline(catalog, table_format, location, **more)

    def extract(self, due):
        return self._tables.extract(due)


def test_a_table_refused_by_storage_is_named_and_its_catalog_counts_as_read(observed) -> None:
    observed.table.append(ROWS)
    observed.catalog.create_table("sales.away", ROWS.schema)
    watcher = Watcher(Refusing(observed.settings), MemoryEngine(), SystemClock(), WINDOW)
    last = list(watcher.round())[-1]
    assert (last.read, last.failed) == (["files", "lake"], ["lake.sales.away"])


def test_an_unresponsive_table_is_reported_every_round_and_probed_with_exponential_back_off(observed) -> None:
    observed.catalog.create_table("sales.away", ROWS.schema)
    lake, clock = Refusing(observed.settings), FixedClock(SystemClock().now())
    watcher = Watcher(lake, MemoryEngine(), clock, WINDOW)
    asked = []
    for _ in range(40):
        last = list(watcher.round())[-1]
        assert last.failed == ["lake.sales.away"]
        assert [(trouble.source, "403" in trouble.detail) for trouble in last.troubles] == [("lake.sales.away", True)]
        asked.append(len(lake.asked))
        clock.micros += 1_000_000
    assert (asked[0], asked[-1]) == (1, 5)


def test_a_table_with_a_missing_path_is_named(observed) -> None:
    path = {"format": "iceberg", "name": "landing.events", "location": f"file://{observed.folder}/nowhere"}
    observe = {"paths": [path]}
    catalogs = {name: dict(properties) for name, properties in observed.settings.catalogs.items()}
    settings = parse({"catalogs": catalogs, "observe": observe}, observed.folder, {})
    last = list(Watcher(SettingsLake(settings), MemoryEngine(), SystemClock(), WINDOW).round())[-1]
    assert last.failed == ["files.landing.events"]
