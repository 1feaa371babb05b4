"""A real Trino over the catalog that PyIceberg writes: the contract of every engine, and queries that really end."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trino
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyiceberg.catalog.sql import SqlCatalog

import meta_examples
import postgres
import trino_server
import trino_statements
from hostile_names import NAMES, VALUES, is_refused
from limnograph.adapters.embedded.engine import EmbeddedEngine
from limnograph.adapters.meta.schema import iceberg_schema, table_properties
from limnograph.adapters.trino.asking import Coordinator, TrinoClient, TrinoResult
from limnograph.adapters.trino.engine import TrinoEngine
from limnograph.adapters.trino.statement import Statement
from limnograph.analysis.advice.statements import iceberg
from limnograph.analysis.advice.statements import trino as trino_dialect
from limnograph.analysis.advice.statements.scopes import PartitionChoice, PartitionScope, ScopeField
from limnograph.analysis.advice.statements.subject import StatementTable
from limnograph.analysis.advice.statements.template import blocks_of, fill
from limnograph.analysis.advice.statements.touched_rows import Predicate
from limnograph.domain.errors import SourceError, SourceRejected, SourceTimeout, SourceUnavailable
from limnograph.domain.facts.cookbook import EXAMPLES, TRINO, ExampleQuery
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.facts.meta_tables import REPORTS
from limnograph.domain.inbound.trino_events import TrinoQueryEvent
from limnograph.domain.time import Millis
from limnograph.ports.query_engine import MetaQuery
from limnograph.ports.stopping import STOP, Stop
from limnograph.services.events.bodies import parse
from limnograph.services.events.naming import TableResolver
from limnograph.services.events.trino_events import TrinoQueries
from query_engine_contract import *  # noqa: F403  # the tests of the contract
from query_engine_contract import LOG, ROWS, Iceberg, Made

pytestmark = [
    pytest.mark.skipif(postgres.program("initdb") is None, reason="PostgreSQL is not installed (make system)"),
    pytest.mark.skipif(not trino_server.installed(), reason="Trino is not installed (make stack)"),
]
RUNBOOKS = Path(__file__).parents[2] / "docs" / "runbooks"
SLOW = "SELECT count(*) FROM UNNEST(sequence(1, 10000)) a(x), UNNEST(sequence(1, 10000)) b(y), UNNEST(sequence(1, 9)) c"
"""Hours of work for one processor."""
_numbers = count()


class World(NamedTuple):
    url: str
    properties: dict[str, str]
    folder: Path
    catalog: str = "lake"
    received: Sequence[tuple[str, bytes]] = ()
    """Events that Trino sent: value of header Authorization, and body."""


@contextmanager
def receiver() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """Address of an HTTP server that keeps what is posted to it."""
    received: list[tuple[str, bytes]] = []

    class Keep(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            received.append((self.headers.get("authorization", ""), body))
            self.send_response(202)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Keep)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/api/v1/notify/trino", received
    finally:
        server.shutdown()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Trino and PyIceberg over one catalog in PostgreSQL."""
    folder = tmp_path_factory.mktemp("trino")
    warehouse = f"file://{folder}/wh"
    with postgres.running("lim", "lim", "lake") as address:
        properties = {"uri": f"postgresql+psycopg2://lim:lim@{address}/lake", "warehouse": warehouse}
        Iceberg(folder, "first", **properties)  # Trino does not make the catalog's tables, it expects them
        catalog = trino_server.jdbc_catalog(address, "lim", "lim", warehouse)
        with receiver() as (events, received):
            listener = {"LIMNOGRAPH_EVENTS_URL": events, "LIMNOGRAPH_EVENTS_HEADER": "Authorization:Bearer lg-token"}
            with trino_server.running(folder / "trino", catalog, events=listener) as url:
                yield World(url, properties, folder, received=received)
    shutil.rmtree(folder, ignore_errors=True)


def lake(world: World) -> Iceberg:
    return Iceberg(world.folder, f"meta_{next(_numbers)}", **world.properties)


def engine(world: World, made: Iceberg, timeout_s: float = 60.0, **given: Any) -> TrinoEngine:
    pins = EmbeddedEngine(made.open, (made.namespace,))
    return TrinoEngine(Coordinator(world.url, world.catalog, made.namespace, timeout_s=timeout_s, **given), pins)


def coordinator(world: World, timeout_s: float = 60.0, **given: Any) -> TrinoClient:
    """Trino asked beside any table."""
    at = Coordinator(world.url, world.catalog, "none", timeout_s=timeout_s, **given)
    return TrinoClient(at, TrinoEngine.name, time.monotonic)


def rows(found: TrinoResult | None) -> list[list[Any]]:
    assert found is not None
    return found.rows


@pytest.fixture
def made(world: World) -> Made:
    tables = lake(world)
    return Made(engine(world, tables), tables.fill, tables.roll)


def states(world: World, text: str) -> list[tuple[str, str | None]]:
    """State and error code of the queries whose text has `text`, by Trino's own account."""
    host, port = world.url.removeprefix("http://").split(":")
    with trino.dbapi.connect(host=host, port=int(port), user="test") as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT state, error_code FROM system.runtime.queries WHERE query LIKE ?", [f"{text}%"])
        return [(state, code) for state, code in cursor.fetchall()]


def ended(world: World, text: str) -> list[tuple[str, str | None]]:
    """The same, once none of them runs any more."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = states(world, text)
        if found and all(state in {"FAILED", "FINISHED"} for state, _ in found):
            return found
        time.sleep(0.2)
    raise AssertionError(f"still running: {states(world, text)}")


def test_at_the_deadline_trino_itself_reports_the_query_as_ended(world: World) -> None:
    asked = coordinator(world, timeout_s=2.0)
    with pytest.raises(SourceTimeout):
        asked.ask(Statement(f"{SLOW} -- deadline", []), time.monotonic() + 2.0)
    assert {code for _, code in ended(world, f"{SLOW} -- deadline")} <= {"USER_CANCELED", "EXCEEDED_TIME_LIMIT"}


def test_when_the_caller_leaves_trino_itself_reports_the_query_as_cancelled(world: World) -> None:
    asked = coordinator(world)
    stop, failures = Stop(), []

    def ask() -> None:
        STOP.set(stop)
        try:
            asked.ask(Statement(f"{SLOW} -- left", []), time.monotonic() + 60)
        except SourceError as error:
            failures.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    while asking.is_alive() and not states(world, f"{SLOW} -- left"):
        time.sleep(0.1)
    stop.set()
    asking.join(60)
    assert isinstance(failures[0], SourceUnavailable)
    assert ended(world, f"{SLOW} -- left") == [("FAILED", "USER_CANCELED")]


def test_a_response_over_the_limit_is_refused_and_the_query_ends(world: World) -> None:
    asked = coordinator(world, max_bytes=2_000_000)
    big = "SELECT x, y, rpad('', 500, 'y') FROM UNNEST(sequence(1, 10000)) a(x), UNNEST(sequence(1, 1000)) b(y)"
    with pytest.raises(SourceRejected, match="larger than 1 MB"):
        asked.ask(Statement(f"{big} -- cap", []), time.monotonic() + 30)
    assert ended(world, f"{big} -- cap") == [("FAILED", "USER_CANCELED")]
    assert rows(asked.ask(Statement("SELECT 1", []), time.monotonic() + 30)) == [[1]]


def test_the_pinned_version_is_read_even_if_the_table_moved_since(world: World) -> None:
    tables = lake(world)
    tables.fill(ROWS[:1], LOG)
    pins = EmbeddedEngine(tables.open, (tables.namespace,))
    pinned = pins.pin("snapshots")
    tables.fill(ROWS[1:], [])

    class Old:
        head = pins.head

        def pin(self, _: object) -> int | None:
            return pinned

    reads = TrinoEngine(Coordinator(world.url, "lake", tables.namespace, timeout_s=60), Old())
    query = MetaQuery(table="snapshots", columns=("snapshot_id",))
    assert reads.select(query)["snapshot_id"].to_list() == [ROWS[0].snapshot_id]
    assert engine(world, tables).select(query).height == 3


def test_columns_that_an_old_table_lacks_are_null(world: World) -> None:
    tables = lake(world)
    tables.fill(ROWS[:1], LOG)
    with tables.catalog.load_table((tables.namespace, "snapshots")).update_schema(allow_incompatible_changes=True) as u:
        u.delete_column("manifests")
        u.delete_column(("partitions", "element", "records"))
    found = engine(world, tables).select(MetaQuery(table="snapshots", columns=("manifests", "total_data_files")))
    assert found.rows() == [(None, ROWS[0].total_data_files)]


def test_a_trino_catalog_of_another_lake_is_named(world: World) -> None:
    tables = lake(world)
    tables.fill(ROWS, LOG)
    pins = EmbeddedEngine(tables.open, (tables.namespace,))
    for at, words in (
        (Coordinator(world.url, "pond", tables.namespace, timeout_s=60), "pond"),
        (Coordinator(world.url, "lake", "elsewhere", timeout_s=60), "no table elsewhere.snapshots"),
    ):
        with pytest.raises(SourceRejected, match=words):
            TrinoEngine(at, pins).select(MetaQuery(table="snapshots"))


def test_every_statement_of_the_runbooks_runs(world: World) -> None:
    """On the names they use: the meta tables, and a table of the reader's."""
    meta = Iceberg(world.folder, **world.properties)
    meta.fill(ROWS, LOG)
    meta.catalog.create_table((meta.namespace, REPORTS.name), iceberg_schema(REPORTS), properties=table_properties())
    meta.catalog.create_namespace("sales")
    asked, table = coordinator(world), "lake.sales.customer_events"
    subject = StatementTable("lake", ("sales",), "customer_events", "")
    day = Predicate("`event_date` = DATE '2026-11-21'", None, "event_date >= DATE '2026-11-21'")
    blocks = [
        str(fill(language, code, subject, day, Millis(0)).code).replace("<meta catalog>", "lake")
        for file in sorted(RUNBOOKS.glob("*.md"))
        for language, code in blocks_of(file.read_text())
        if language == "trino"
    ]
    statements = [part.strip().rstrip(";") for block in blocks for part in block.split(";\n") if part.strip()]
    assert len(statements) >= 10
    newest = 'SELECT snapshot_id FROM lake.sales."customer_events$snapshots" ORDER BY committed_at DESC LIMIT 1'
    for statement in (
        f"CREATE TABLE {table} (id bigint, event_date date) WITH (partitioning = ARRAY['event_date'])",
        f"INSERT INTO {table} VALUES (1, DATE '2026-11-20'), (2, DATE '2026-11-21')",
        *statements,
    ):
        own = statement
        if "<snapshot id>" in statement:
            [[head]] = rows(asked.ask(Statement(newest, []), time.monotonic() + 60))
            own = statement.replace("<snapshot id>", str(head))
        asked.ask(Statement(own, []), time.monotonic() + 60)
    assert rows(asked.ask(Statement(f"SELECT count(*) FROM {table}", []), time.monotonic() + 60)) == [[2]]


def test_concurrent_queries_do_not_mix(made: Made) -> None:
    made.fill(ROWS, LOG)
    ids = [row.snapshot_id for row in ROWS] * 3

    async def ask() -> list[list[int]]:
        queries = [MetaQuery(table="snapshots", columns=("snapshot_id",), snapshot_ids=(one,)) for one in ids]
        found = await asyncio.gather(*(asyncio.to_thread(made.engine.select, query) for query in queries))
        return [frame["snapshot_id"].to_list() for frame in found]

    assert asyncio.run(ask()) == [[one] for one in ids]


@pytest.fixture(scope="module")
def examples(world: World) -> trino.dbapi.Cursor:
    """A session whose catalog holds the meta tables of `meta_examples` in namespace `limnograph`, and none that another
    test left there.
    """
    catalog = SqlCatalog(world.catalog, **world.properties)
    catalog.create_namespace_if_not_exists("limnograph")
    for left in catalog.list_tables("limnograph"):
        catalog.drop_table(left)
    meta_examples.make(catalog)
    host, _, port = world.url.removeprefix("http://").partition(":")
    return trino.dbapi.connect(host=host, port=int(port), user="test", catalog=world.catalog).cursor()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.question)
def test_the_queries_of_the_cookbook_run(world: World, examples: trino.dbapi.Cursor, example: ExampleQuery) -> None:
    trino_server.wait_for_node(world.url)
    examples.execute(example.on(TRINO))
    rows = [tuple(row) for row in examples.fetchall()]
    columns = [column[0] for column in examples.description]
    assert meta_examples.told(example.question, columns, rows) == meta_examples.EXPECTED[example.question]


def told(world: World, ids: set[str]) -> list[ReportFact]:
    """Rows of the queries with these ids, once Trino has sent their events."""
    queries = TrinoQueries(TableResolver({"shop": {"type": "sql"}}), {"lake": "shop"})
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = [
            row for _, body in list(world.received) for row in queries.read(parse(body, TrinoQueryEvent), 1).reports
        ]
        mine = [row for row in found if row.query_id in ids]
        if {row.query_id for row in mine} == ids:
            return mine
        time.sleep(0.1)
    raise AssertionError(f"{len(world.received)} events came, not those of {ids}")


def test_queries_of_the_event_listener_are_those_of_trinos_own_list(world: World) -> None:
    made = lake(world)
    made.fill(ROWS, LOG)
    host, port = world.url.removeprefix("http://").split(":")
    secret = "needle-4711"
    where = f"lake.{made.namespace}.snapshots where operation <> '{secret}'"
    with trino.dbapi.connect(host=host, port=int(port), user="ada", source="dashboards") as connection:
        cursor, ids = connection.cursor(), []
        for number in range(12):
            cursor.execute(f"select count(snapshot_id), max(committed_at) + interval '{number}' second from {where}")
            rows_read = cursor.fetchall()[0][0]
            ids.append(cursor.query_id)
        cursor.execute("""select query_id, date_diff('millisecond', created, "end") from system.runtime.queries""")
        listed = {query: milliseconds / 1000 for query, milliseconds in cursor.fetchall() if query in ids}
    found = told(world, set(ids))
    assert len(found) == len(listed) == 12
    assert {row.query_id: row.wall_seconds for row in found} == pytest.approx(listed, abs=0.0011)
    p95 = [sorted(values)[int(0.95 * 12)] for values in (listed.values(), [row.wall_seconds for row in found])]
    assert p95[0] == pytest.approx(p95[1], abs=0.0011)
    snapshot = made.open().load_table((made.namespace, "snapshots")).current_snapshot()
    assert snapshot is not None
    for row in found:
        assert (row.catalog, row.namespace, row.table) == ("shop", made.namespace, "snapshots")
        assert (row.user, row.job_name, row.outcome, row.engine_version) == ("ada", "dashboards", "ok", "476")
        assert row.snapshot_id == snapshot.snapshot_id
        assert row.rows is not None
        assert row.rows >= rows_read
        assert row.read_bytes is not None
        assert set(row.projected_fields or ()) == {"snapshot_id", "committed_at", "operation"}
    assert secret not in str(found)
    assert {header for header, _ in world.received} == {"Bearer lg-token"}


def test_a_refused_commit_has_the_kind_of_its_conflict_and_nothing_of_its_message(world: World) -> None:
    made = lake(world)
    made.fill(ROWS, LOG)  # the namespace exists from then on
    host, port = world.url.removeprefix("http://").split(":")
    table, secret = f"lake.{made.namespace}.raced", "needle-0815"

    def cursor() -> Any:
        return trino.dbapi.connect(host=host, port=int(port), user="ada", source="race").cursor()

    def execute(statement: str) -> str:
        """Id of the query, which may fail."""
        asked = cursor()
        with suppress(trino.exceptions.TrinoQueryError):
            asked.execute(statement).fetchall()
        return str(asked.query_id)

    execute(f"create table {table} (id bigint, v varchar)")
    inserted = execute(f"insert into {table} select x, 'a' from unnest(sequence(1, 100)) t(x)")
    (insert,) = [row for row in told(world, {inserted}) if row.kind == "commit"]
    assert (insert.operation, insert.outcome, insert.streaming, insert.conflict_kind) == ("append", "ok", False, None)
    update = f"update {table} set v = concat(v, 'b') where v <> '{secret}'"
    for _ in range(10):
        with ThreadPoolExecutor(4) as pool:
            ids = set(pool.map(execute, [update] * 4))
        commits = [row for row in told(world, ids) if row.kind == "commit"]
        refused = [row for row in commits if row.outcome == "conflict"]
        if refused:
            break
    assert {row.operation for row in commits} == {"row_delta"}
    assert {row.conflict_kind for row in refused} <= {"files_added", "files_removed", "deletes_added", "lost_race"}
    assert refused, "no update met another one"
    assert secret not in str(commits)
    assert "Failed to commit" not in str(commits)


@pytest.fixture(scope="module")
def maintained(world: World) -> tuple[trino.dbapi.Cursor, str]:
    """A session, and a namespace for tables that statements change."""
    SqlCatalog(world.catalog, **world.properties).create_namespace("maintained")
    host, _, port = world.url.removeprefix("http://").partition(":")
    return trino.dbapi.connect(host=host, port=int(port), user="test").cursor(), "maintained"


@pytest.mark.parametrize("case", trino_statements.CASES, ids=lambda case: case[0])
def test_a_generated_optimize_replaces_the_files_of_its_partition_only(
    maintained: tuple[trino.dbapi.Cursor, str], case: tuple[Any, ...]
) -> None:
    replaced, left = trino_statements.TrinoTable(*maintained, case).optimize()
    assert (len(replaced), len(left)) == (1, 1)
    assert replaced.isdisjoint(left)


def test_trino_executes_no_condition_that_a_live_partition_spec_cannot_decide(
    maintained: tuple[trino.dbapi.Cursor, str],
) -> None:
    """Why two specs, buckets and -0.0 yield no statement."""
    cursor, namespace = maintained
    table = f"lake.{namespace}.evolved"
    cursor.execute(
        f"CREATE TABLE {table} (v double, at timestamp(6)) WITH (partitioning = ARRAY['month(at)'])"
    ).fetchall()
    cursor.execute(f"INSERT INTO {table} VALUES (-0.0, TIMESTAMP '2026-10-20 00:00:00')").fetchall()
    cursor.execute(f"ALTER TABLE {table} SET PROPERTIES partitioning = ARRAY['day(at)', 'v']").fetchall()
    cursor.execute(f"INSERT INTO {table} VALUES (-0.0, TIMESTAMP '2026-11-20 00:00:00')").fetchall()
    day = "at >= TIMESTAMP '2026-11-20 00:00:00' AND at < TIMESTAMP '2026-11-21 00:00:00'"
    with pytest.raises(trino.exceptions.TrinoQueryError, match="WHERE"):
        cursor.execute(f"ALTER TABLE {table} EXECUTE optimize WHERE {day}").fetchall()
    fields = [(ScopeField("m", ("at",), "timestamp", "month"),), (ScopeField("d", ("at",), "timestamp", "day"),)]
    choice = PartitionChoice([PartitionScope(fields[1], (20_777,))], [PartitionScope(fields[0], (681,))])
    made = iceberg.rewrite_data_files(StatementTable("lake", (namespace,), "evolved", ""), choice, {})
    assert made.statements.trino is None
    assert "every partition spec" in made.notes["trino"]


def test_trino_merges_manifests_and_sorts_by_generated_statements(
    maintained: tuple[trino.dbapi.Cursor, str],
) -> None:
    cursor, namespace = maintained
    subject = StatementTable("lake", (namespace,), "kept", "")
    cursor.execute(f'CREATE TABLE lake.{namespace}.kept (id bigint, "it\'s" varchar)').fetchall()
    for _ in range(3):
        cursor.execute(f"INSERT INTO lake.{namespace}.kept VALUES (1, 'a')").fetchall()
    trino_statements.execute(cursor, iceberg.rewrite_manifests(subject, 0, only_spec=True).statements.trino)
    assert cursor.execute(f'SELECT count(*) FROM lake.{namespace}."kept$manifests"').fetchall() == [[1]]
    trino_statements.execute(cursor, iceberg.write_ordered_by(subject, [("it's",)]).statements.trino)
    ((made,),) = cursor.execute(f"SHOW CREATE TABLE lake.{namespace}.kept").fetchall()
    assert "it''s" in made


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(NAMES, VALUES), min_size=20, max_size=40))
def test_trino_reads_identifiers_and_literals_as_they_were_meant(
    maintained: tuple[trino.dbapi.Cursor, str], pairs: list[tuple[str, str]]
) -> None:
    """Forty at a time: each query takes a tenth of a second."""
    safe = [(name, value) for name, value in pairs if not is_refused(name)]
    names, values = [name for name, _ in safe], [value for _, value in safe]
    identifiers = [trino_dialect.identifier(name) for name in names]
    literals = [trino_dialect.string(value) for value in values]
    assert trino_statements.read_back(maintained[0], identifiers, literals) == (names, values)
