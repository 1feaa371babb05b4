"""Names of tables in answers: fields are plain, paths carry the escapes, and a name that was lost says so."""

from __future__ import annotations

import asyncio
import json
import logging
from urllib.parse import quote

import httpx
import pyarrow as pa
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from pyiceberg.catalog.sql import SqlCatalog

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.ids import TableName, escape_level, from_path_segment, path_segment, unescape_level
from limnograph.domain.page_paths import table_path
from limnograph.services.lake.lake import Facts
from limnograph.services.lake.store import WINDOW
from limnograph.services.watcher.rounds import Watcher
from limnograph.settings import parse
from limnograph.wiring.observe import SettingsLake
from limnograph.wiring.server import ServerServices
from serving_kit import HOUR, MINUTE, NOW, application, change, lake, moved, parts, row

LOOP = asyncio.Runner()
LEVELS = st.text(st.sampled_from("ab.~/ds -%'\"\\?#é日"), min_size=1, max_size=6)
HOT = f"from={(NOW - 6 * HOUR) // 1000}&to={NOW // 1000}"


def ask(made: ServerServices, *paths: str) -> list[httpx.Response]:
    async def go() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=application(made), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://limnograph") as http:
            return [await http.get(path) for path in paths]

    return LOOP.run(go())


def served(name: TableName, *others: TableName) -> ServerServices:
    """A table with commits, a schema change and an alert; and others."""
    facts, log = [], []
    for number, each in enumerate([name, *others]):
        own = {**each._asdict(), "table_uuid": f"uuid-{number}"}
        facts += [row(number * 10 + place, NOW - place * HOUR - MINUTE, 5 + place, **own) for place in range(3)]
        log += [moved(fact.snapshot_id, fact.committed_at, **own) for fact in facts[-3:]]
    made = parts(lake(facts, log))
    labels = dict(zip(("catalog", "table_namespace", "table"), name.plain, strict=True)) | {"alertname": "Slow"}
    body = {"alerts": [{"status": "firing", "startsAt": "2026-11-21T09:00:00Z", "labels": labels}]}
    LOOP.run(made.backend.alerts.take(json.dumps(body).encode()))
    return made


def names_in(document: object) -> set[tuple[str, str, str]]:
    """Every name that an answer carries."""
    found = set[tuple[str, str, str]]()
    if isinstance(document, list):
        return found.union(*map(names_in, document))
    if isinstance(document, dict):
        namespace = document.get("namespace", document.get("table_namespace"))
        if {"catalog", "table"} <= document.keys() and namespace is not None:
            found.add((document["catalog"], namespace, document["table"]))
        return found.union(*map(names_in, document.values()))
    return found


@settings(max_examples=5, deadline=None, derandomize=True, database=None, phases=[Phase.generate])
@given(st.lists(LEVELS, min_size=1, max_size=3), LEVELS)
def test_every_answer_carries_the_plain_name_and_its_own_path_leads_to_the_table(levels: list[str], table: str) -> None:
    name = TableName.of("lake", levels, escape_level(table))
    plain = ("lake", ".".join(levels), table)
    assert tuple(name.plain) == plain
    made, path = served(name), "/api/v1/tables/" + table_path(name).removeprefix("/t/")
    answers = ask(
        made,
        *(f"/api/v1/tables?{HOT}", f"/api/v1/tables/heat?{HOT}", f"/api/v1/commits?{HOT}", "/api/v1/alerts"),
        *(path, f"{path}/timeline?{HOT}&detail=true", f"{path}/commits?{HOT}", f"{path}/commits/1"),
        *(f"{path}/partitions?{HOT}", f"{path}/schema", f"{path}/refs", f"{path}/explain?{HOT}", "/metrics"),
    )
    *answers, explained, metrics = answers
    assert explained.status_code == 200
    for answer in answers:
        assert (answer.status_code, names_in(answer.json())) == (200, {plain}), answer.url
    labels = {
        tuple(sample.labels[label] for label in ("catalog", "table_namespace", "table"))
        for family in text_string_to_metric_families(metrics.text)
        for sample in family.samples
        if family.name == "lakehouse_table_data_files"
    }
    assert labels == {plain}


@settings(max_examples=5, deadline=None, derandomize=True, database=None, phases=[Phase.generate])
@given(st.lists(LEVELS, min_size=1, max_size=3), LEVELS)
def test_a_path_built_from_the_fields_of_an_answer_leads_to_the_table(levels: list[str], table: str) -> None:
    name = TableName.of("lake", levels, escape_level(table))
    plain = name.plain
    namespace = path_segment(plain.namespace)
    # Dots alone are a step of the path, and some texts are the escapes of another name: those need their own path.
    assume(set(namespace) != {"."} and unescape_level(plain.namespace) == plain.namespace)
    assume(from_path_segment(namespace) == plain.namespace)
    own = path_segment(escape_level(plain.table))
    made = served(name, TableName("lake", "other", "one"))
    (answer,) = ask(made, f"/api/v1/tables/lake/{quote(namespace, safe='')}/{quote(own, safe='')}")
    assert (answer.status_code, answer.json().get("table_uuid")) == (200, "uuid-0")


def test_names_with_one_plain_form_are_distinguished_by_their_paths() -> None:
    two = TableName.of("lake", ["a", "b"], "t"), TableName.of("lake", ["a.b"], "t")
    made = served(*two)
    answers = ask(made, "/api/v1/tables/lake/a.b/t", "/api/v1/tables/lake/a~db/t")
    assert [answer.json()["table_uuid"] for answer in answers] == ["uuid-0", "uuid-1"]


def lost(*changes, **given) -> dict[str, object]:
    made = parts(lake([row(1, NOW - 5 * HOUR), row(2, NOW - 4 * HOUR, 7)], [change("named", NOW - 5 * HOUR), *changes]))
    (fleet, detail) = ask(made, f"/api/v1/tables?{HOT}", "/api/v1/tables/lake/sales/orders")
    assert detail.status_code == 200
    return {"listed": [each["table"] for each in fleet.json()["rows"]], **detail.json()}


def test_a_dropped_table_says_so_and_when() -> None:
    found = lost(change("dropped", NOW - HOUR, subject="lake.sales.orders"))
    assert (found["listed"], found["status"], found["renamed_to"]) == ([], "dropped", None)
    assert found["gone_at"] == (NOW - HOUR) // 1000
    assert found["values"]["data_files"] == 7


def test_an_old_name_points_to_the_new_one() -> None:
    renamed = change("named", NOW - HOUR, table="orders~dv2")
    found = lost(renamed, change("dropped", NOW - HOUR, subject="lake.sales.orders"))
    assert (found["listed"], found["status"], found["gone_at"]) == (["orders.v2"], "renamed", (NOW - HOUR) // 1000)
    new = {"catalog": "lake", "namespace": "sales", "table": "orders.v2", "path": "/t/lake/sales/orders~dv2"}
    assert found["renamed_to"] == new


def test_a_name_that_returned_has_its_complete_history() -> None:
    gone, back = change("dropped", NOW - 2 * HOUR), change("named", NOW - HOUR)
    found = lost(gone, back)
    assert (found["listed"], found["status"], found["gone_at"]) == (["orders"], "ok", None)


BREAKING = ["line\nbreak", "tab\tand\rreturn", "nul\x00", "\x1b[31mred", "sep\u2028line", "\x7f", ""]


def test_names_that_break_lines_are_reported_and_disturb_nothing(tmp_path, caplog) -> None:
    properties = {"uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/wh"}
    catalog, rows = SqlCatalog("lake", **properties), pa.table({"id": [1]})
    catalog.create_namespace("sales")
    catalog.create_table("sales.good", rows.schema).append(rows)
    for column in ("table_name", "table_namespace"):
        for odd in BREAKING:
            catalog.create_table("sales.bad", rows.schema)
            with catalog.engine.begin() as connection:
                said = f"update iceberg_tables set {column} = ? where table_name = 'bad' and table_namespace = 'sales'"
                connection.exec_driver_sql(said, (odd,))
    observed = parse({"catalogs": {"lake": {"type": "sql", **properties}}}, tmp_path, {})
    made = parts(MemoryEngine(), clock=SystemClock())
    with caplog.at_level(logging.WARNING):
        for message in Watcher(SettingsLake(observed), MemoryEngine(), SystemClock(), WINDOW).round():
            made.store.apply(Facts(message.snapshots, message.changes))
    warned = [record.getMessage() for record in caplog.records if "cannot be read" in record.getMessage()]
    assert len(warned) == 2 * len(BREAKING)
    assert all("name_unsafe" in line and line.isprintable() for line in warned)
    status, fleet, metrics = ask(made, "/api/v1/status", "/api/v1/tables", "/metrics")
    assert (status.json()["unreadable"], status.json()["tables"]) == (2 * len(BREAKING), 2 * len(BREAKING) + 1)
    shown = [each for each in fleet.json()["rows"] if each["status"] == "unreadable"]
    assert len(shown) == 2 * len(BREAKING)
    assert all((each["namespace"] + each["table"]).isprintable() for each in shown)
    families = list(text_string_to_metric_families(metrics.text))
    samples = [sample for family in families for sample in family.samples if "table" in sample.labels]
    assert {sample.labels["table"] for sample in samples} == {"good"}
    names = list(made.store.reading.lake.damaged)
    pages = ask(made, *("/api/v1/tables/" + table_path(name).removeprefix("/t/") for name in names))
    assert {(page.status_code, page.json()["unreadable_code"]) for page in pages} == {(200, "name_unsafe")}


@given(st.text(max_size=8))
def test_every_text_is_escaped_to_one_line_and_back(level: str) -> None:
    text = escape_level(level)
    assert unescape_level(text) == level
    assert text
    assert len(text.splitlines()) == 1
    assert "." not in text


def test_an_alert_of_a_table_is_found_by_its_labels() -> None:
    name = TableName.of("lake", ["a.b", "c~"], "x~dy")
    made = served(name)
    (alert,) = made.alerts.episodes(name)
    assert isinstance(alert.fact, AlertFact)
