"""Catalogs side by side, out of settings: what is asked of their servers, and what becomes of one that errs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakes import Lake, rows
from limnograph.domain.errors import SettingsError
from limnograph.domain.ids import TableName
from limnograph.services.watcher.catalog_actions import WatchMode
from limnograph.settings import load, parse
from limnograph.wiring.observe import SettingsLake
from rest_catalog import Answer, RestServer, refusal


class World:
    """A lake behind a REST server as catalog `rest`, and another one as SQL catalog `near`."""

    def __init__(self, folder: Path) -> None:
        for name in ("far", "near"):
            (folder / name).mkdir()
        self.folder, self.far, self.near = folder, Lake(folder / "far"), Lake(folder / "near", "near")
        self.server = RestServer(self.far.catalog)
        self._opened: list[SettingsLake] = []

    def lake(self, mode: WatchMode = WatchMode.NOW, **observe: Any) -> SettingsLake:
        observe = {"catalog_deadline_seconds": 20.0, **observe}  # of those that answer: far above a crowded machine
        catalogs = {"near": self.near.properties, "rest": self.server.properties}
        settings = parse({"catalogs": catalogs, "meta": {"catalog": "near"}, "observe": observe}, self.folder, {})
        self._opened.append(SettingsLake(settings, mode))
        return self._opened[-1]

    def close(self) -> None:
        for lake in self._opened:
            lake.close()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    made.far.table("sales.orders")
    made.far.table("sales.items")
    made.near.table("web.clicks")
    with made.server.running():
        yield made
    made.close()


def seen(lake: SettingsLake) -> dict[str, str]:
    """Pointers by name."""
    return {str(pointer.name): pointer.location for pointer in lake.listing().pointers}


def eventually(lake: SettingsLake, done: Any, seconds: float = 30) -> Any:
    """The first listing of which something is true."""
    end = time.monotonic() + seconds
    while not done(found := lake.listing()):
        assert time.monotonic() < end, found
        time.sleep(0.02)
    return found


ALL = ["near.web.clicks", "rest.sales.items", "rest.sales.orders"]


def test_each_catalog_reports_its_tables_and_the_duration_of_its_listing(world: World) -> None:
    near, rest = world.lake().listing().catalogs
    assert (near.name, near.tables, near.answers, near.trouble) == ("near", 1, True, "")
    assert (rest.name, rest.tables, rest.answers, rest.trouble) == ("rest", 2, True, "")
    assert all(each.seconds is not None and each.seconds > 0 for each in (near, rest))


def test_a_pattern_that_matches_nothing_is_named_once_until_a_table_matches(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    lake = world.lake(include=["rest.slaes.**", "near.**", "**"])
    assert [lake.listing().unmatched for _ in range(2)] == [("observe.include[0] 'rest.slaes.**'",)] * 2
    told = [record.getMessage() for record in caplog.records if "no listed table matches" in record.getMessage()]
    assert told == [
        "no listed table matches observe.include[0] 'rest.slaes.**'; limnograph doctor suggests a correction"
    ]
    world.far.table("slaes.returns")
    eventually(lake, lambda found: not found.unmatched)


def test_patterns_are_not_judged_while_a_catalog_is_down(world: World) -> None:
    world.server.fail("/v1", refusal(503))
    assert world.lake(include=["rest.slaes.**", "near.**"]).listing().unmatched == ()


def test_an_idle_table_costs_one_conditional_request_and_no_history(world: World) -> None:
    lake = world.lake()
    assert sorted(seen(lake)) == ALL
    assert [request.params for request in world.server.loads()] == [{"snapshots": "refs"}] * 2
    world.server.requests.clear()
    assert sorted(seen(lake)) == ALL
    assert world.server.counted() == {"namespaces": 2, "tables": 1, "load": 2}
    assert all("if-none-match" in request.headers for request in world.server.loads())


def test_a_probe_requests_no_credentials_of_the_store(world: World) -> None:
    seen(world.lake())
    assert all("x-iceberg-access-delegation" not in request.headers for request in world.server.loads())


def test_a_commit_is_seen_through_the_rest_catalog(world: World) -> None:
    lake = world.lake()
    before = seen(lake)
    world.far.load("sales.orders").append(rows("eu"))
    after = seen(lake)
    assert {name for name in ALL if before[name] != after[name]} == {"rest.sales.orders"}
    assert after["rest.sales.orders"] == world.far.load("sales.orders").metadata_location


def test_while_nothing_changes_a_listing_returns_the_same_objects(world: World) -> None:
    lake = world.lake()
    one, two = lake.listing(), lake.listing()
    assert one.pointers is two.pointers
    assert one.listed is two.listed
    assert two.complete == {"near", "rest", "files"}


def test_tables_excluded_by_patterns_are_listed_but_never_probed(world: World) -> None:
    found = world.lake(include=["**"], exclude=["rest.*.items"]).listing()
    assert {str(pointer.name) for pointer in found.pointers} == {"near.web.clicks", "rest.sales.orders"}
    assert found.listed == set(ALL)
    assert len(world.server.loads()) == 1


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["rest.**"], {"rest.a.b.deep", "rest.a.high", "rest.sales.items", "rest.sales.orders"}),
        (["rest.a.*"], {"rest.a.high"}),
        (["rest.a.*.*"], {"rest.a.b.deep"}),
        (["**.deep", "near.**"], {"rest.a.b.deep", "near.web.clicks"}),
        (["*.sales.o*"], {"rest.sales.orders"}),
        (["rest.a.b.deep.more"], set()),
    ],
)
def test_patterns_match_across_catalogs_and_nested_namespaces(
    world: World, patterns: list[str], expected: set[str]
) -> None:
    for levels in (("a",), ("a", "b")):
        world.far.catalog.create_namespace(levels)
    world.far.catalog.create_table(("a", "high"), world.far.load("sales.items").schema())
    world.far.catalog.create_table(("a", "b", "deep"), world.far.load("sales.items").schema())
    assert set(seen(world.lake(include=patterns))) == expected


FAULTS = [
    (refusal(401, "NotAuthorizedException", "expired"), "token"),
    (refusal(403, "ForbiddenException", "not yours"), "read access"),
    (refusal(429), "probes_per_second"),
    (refusal(500), "retrying"),
    (refusal(503), "retrying"),
    (Answer(200, b"<html>welcome</html>"), "Iceberg REST"),
    (Answer(200, b'{"namespaces": 3}'), "Iceberg REST"),
    (Answer(404, b"<html>nothing here</html>"), "uri"),
    (Answer(200, b"{}", seconds=5), "no response"),
]


@pytest.mark.parametrize(("fault", "remedy"), FAULTS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_failing_catalog_goes_stale_with_a_remedy_and_recovers(world: World, fault: Answer, remedy: str) -> None:
    lake = world.lake(catalog_deadline_seconds=1.5)
    before = seen(lake)
    heal = world.server.fail("/v1/", fault)
    world.near.load("web.clicks").append(rows("eu"))
    world.far.load("sales.orders").append(rows("eu"))
    began = time.monotonic()
    found = lake.listing()
    assert time.monotonic() - began < 20
    assert "rest" not in found.complete | found.answered
    assert {"near", "files"} <= found.complete & found.answered
    (sentence,) = found.failed
    assert "catalog rest" in sentence
    assert remedy in sentence
    after = {str(p.name): p.location for p in found.pointers}
    assert after["near.web.clicks"] != before["near.web.clicks"]
    assert {n: after[n] for n in after if n.startswith("rest")} == {n: before[n] for n in before if n[:4] == "rest"}
    heal()
    healed = eventually(lake, lambda found: found.failed == ())
    assert {str(p.name): p.location for p in healed.pointers} != after
    assert "rest" in healed.answered


def test_a_catalog_that_is_down_at_startup_is_reported_and_opened_once_it_is_available(world: World) -> None:
    heal = world.server.fail("/v1/config", refusal(503))
    lake = world.lake()
    found = lake.listing()
    assert [str(p.name) for p in found.pointers] == ["near.web.clicks"]
    assert "rest" not in found.complete
    heal()
    assert sorted(str(p.name) for p in eventually(lake, lambda found: found.failed == ()).pointers) == ALL


@pytest.mark.parametrize(
    "fault",
    [
        refusal(403, "ForbiddenException", "not yours"),
        Answer(200, b"nonsense"),
        Answer(200, b"{}"),
        Answer(200, b'{"metadata-location": 7}'),
        refusal(400),
        refusal(500),
    ],
)
def test_one_failing_table_is_reported_by_name_and_the_others_continue(world: World, fault: Answer) -> None:
    lake = world.lake()
    before = seen(lake)
    world.server.fail("/tables/items", fault)
    world.far.load("sales.orders").append(rows("eu"))
    found = lake.listing()
    (sentence,) = found.failed
    assert sentence.startswith("rest.sales.items: ")
    assert "rest" in found.answered
    after = {str(p.name): p.location for p in found.pointers}
    assert after["rest.sales.items"] == before["rest.sales.items"]
    assert after["rest.sales.orders"] != before["rest.sales.orders"]


def test_a_table_dropped_between_list_and_load_is_dropped_and_not_a_failure(world: World) -> None:
    dropped = threading.Event()

    def drop(request: Any) -> Answer | None:
        if request.path.endswith("/tables/items") and not dropped.is_set():
            dropped.set()
            world.far.catalog.drop_table("sales.items")
        return None

    world.server.faults.append(drop)
    found = world.lake().listing()
    assert (found.failed, "rest.sales.items" in found.listed) == ((), False)
    assert {str(p.name) for p in found.pointers} == {"near.web.clicks", "rest.sales.orders"}


def test_a_table_that_is_listed_and_never_loads_is_reported(world: World) -> None:
    world.server.fail("/tables/items", refusal(404, "NoSuchTableException"))
    found = world.lake().listing()
    assert [sentence.split(":")[0] for sentence in found.failed] == ["rest.sales.items"]
    assert "rest.sales.items" in found.listed


def test_a_namespace_that_may_not_be_listed_removes_no_tables(world: World) -> None:
    world.far.table("secret.plans")
    lake = world.lake()
    before = lake.listing()
    no = refusal(403, "ForbiddenException", "not yours")
    world.server.faults.append(lambda request: no if request.path.endswith("/secret/tables") else None)
    found = lake.listing()
    assert found.listed == before.listed
    assert set(found.pointers) == set(before.pointers)
    assert "rest" not in found.complete
    assert "rest" in found.answered
    assert [sentence.split(":")[0] for sentence in found.failed] == ["rest.secret"]


def test_a_renewed_token_file_is_used_without_a_restart(world: World) -> None:
    world.server.token = "first-token-123"
    token = world.folder / "token"
    token.write_text("first-token-123\n")
    file = world.folder / "limnograph.toml"
    file.write_text(f'[catalogs.rest]\ntype = "rest"\nuri = "{world.server.uri}"\ntoken_file = "token"\n')
    lake = SettingsLake(load(file, {}))
    assert len(seen(lake)) == 2
    world.server.token = "second-token-456"
    (sentence,) = lake.listing().failed
    assert "401" in sentence
    assert "token" in sentence
    token.write_text("second-token-456\n")
    assert lake.listing().failed == ()


def test_an_expired_token_is_renewed_where_settings_hold_a_credential(world: World) -> None:
    world.server.token = "first-token-123"
    properties = {**world.server.properties, "credential": "me:secret-of-mine", "scope": "catalog"}
    lake = SettingsLake(parse({"catalogs": {"rest": properties}}, world.folder, {}))
    assert len(seen(lake)) == 2
    world.server.token = "second-token-456"
    assert lake.listing().failed == ()


def test_wrong_settings_end_the_program_that_starts_with_them(tmp_path: Path) -> None:
    lake = SettingsLake(parse({"catalogs": {"x": {"type": "hive", "uri": "thrift://127.0.0.1:1"}}}, tmp_path, {}))
    with pytest.raises(SettingsError, match=r"catalogs\.x.*pyiceberg\[hive\]"):
        lake.listing()


def test_under_continuous_load_wrong_settings_are_reported_and_other_catalogs_continue(world: World) -> None:
    catalogs = {"x": {"type": "hive", "uri": "thrift://127.0.0.1:1"}, "rest": world.server.properties}
    document = {"catalogs": catalogs, "meta": {"catalog": "rest"}}
    lake = SettingsLake(parse(document, world.folder, {}), WatchMode.STANDING)
    world._opened.append(lake)
    found = lake.listing()
    assert [sentence.split(":")[0] for sentence in found.failed] == ["catalogs.x.type"]
    assert {pointer.name.catalog for pointer in found.pointers} == {"rest"}


def test_a_renewed_key_of_the_store_is_used_although_the_catalog_never_failed(world: World) -> None:
    key = world.folder / "key"
    key.write_text("first-key-123\n")
    file = world.folder / "limnograph.toml"
    store = '"s3.access-key-id" = "me"\n"s3.secret-access-key_file" = "key"'
    file.write_text(f'[catalogs.rest]\ntype = "rest"\nuri = "{world.server.uri}"\n{store}\n')
    lake = SettingsLake(load(file, {}), renew_s=0)
    lake.listing()
    key.write_text("second-key-456\n")
    lake.listing()
    assert lake.access.catalogs["rest"]["s3.secret-access-key"] == "second-key-456"
    key.unlink()
    lake.listing()
    assert lake.access.catalogs["rest"]["s3.secret-access-key"] == "second-key-456"


def test_under_continuous_load_an_idle_table_is_probed_by_its_interval_only(world: World) -> None:
    """Its metadata says that it committed just now, so the interval is a second."""
    lake = world.lake(WatchMode.STANDING, probes_per_second=50.0)
    assert sorted(seen(lake)) == ALL
    for _ in range(50):
        lake.listing()
    loads = len(world.server.loads())
    assert loads <= 6
    assert world.server.counted()["tables"] == 1


def test_under_continuous_load_a_commit_is_found_and_notified_tables_are_probed_first(world: World) -> None:
    first = set[TableName]()
    settings = world.lake()._settings
    lake = SettingsLake(settings, WatchMode.STANDING, first=lambda: first)
    world._opened.append(lake)
    before = seen(lake)
    world.far.load("sales.orders").append(rows("eu"))
    first.add(TableName("rest", "sales", "orders"))
    assert seen(lake)["rest.sales.orders"] != before["rest.sales.orders"]
    first.clear()
    world.far.load("sales.items").append(rows("eu"))
    moved = before["rest.sales.items"]
    eventually(lake, lambda found: all(pointer.location != moved for pointer in found.pointers))


def test_a_new_table_with_a_notification_is_listed_immediately(world: World) -> None:
    first = set[TableName]()
    lake = SettingsLake(world.lake()._settings, WatchMode.STANDING, first=lambda: first)
    world._opened.append(lake)
    seen(lake)
    world.far.table("sales.fresh")
    first.add(TableName("rest", "sales", "fresh"))
    eventually(lake, lambda found: "rest.sales.fresh" in {str(p.name) for p in found.pointers}, seconds=10)


def test_a_pointer_whose_file_is_gone_is_requested_again(world: World) -> None:
    lake = world.lake(WatchMode.ONCE)
    old = next(p for p in lake.listing().pointers if p.name.table == "orders")
    world.far.load("sales.orders").append(rows("eu"))
    newer = lake.newest(old)
    assert newer is not None
    assert newer.location == world.far.load("sales.orders").metadata_location
    world.far.catalog.drop_table("sales.orders")
    assert lake.newest(old) is None
