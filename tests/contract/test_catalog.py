"""One contract over every observed catalog: names with their levels, pointers that move, tables that go.

A module with a fixture `world` (a `World`) can import the tests from here and run them against a catalog of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from pyiceberg.catalog import Catalog as PyIceberg

from lakes import SCHEMA, Lake, rows
from limnograph.adapters.iceberg.catalogs.catalog import observed_catalog
from limnograph.domain.ids import TableName
from limnograph.ports.catalog import Catalog, TablePointer
from rest_catalog import RestServer


class World(NamedTuple):
    """`writer` makes and moves tables of the same catalog that `catalog` observes. `nested`: whether it has levels."""

    catalog: Catalog
    writer: PyIceberg
    nested: bool = True


@pytest.fixture(params=["sql", "rest", "rest-plain", "rest-paged"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    lake = Lake(tmp_path)
    if request.param == "sql":
        yield World(observed_catalog("lake", lake.properties), lake.catalog)
        return
    server = RestServer(lake.catalog)
    if request.param == "rest-plain":
        server.etags = server.refs_only = False
    server.page = 1 if request.param == "rest-paged" else 0
    with server.running():
        yield World(observed_catalog("lake", server.properties), lake.catalog)


def made(world: World, *levels: str) -> TableName:
    """A new empty table."""
    for depth in range(1, len(levels)):
        world.writer.create_namespace_if_not_exists(levels[:depth])
    world.writer.create_table(levels, SCHEMA)
    return TableName.of(world.catalog.name, levels[:-1], levels[-1])


def probed(world: World, name: TableName) -> TablePointer | None:
    """What the catalog points at, whichever way it tells."""
    names = world.catalog.names()
    told = names.tables.get(name)
    found = world.catalog.probe(name).pointer
    assert names.troubles == ()
    assert told is None or told == found
    return found


def test_a_table_has_its_name_and_the_pointer_that_its_writer_has(world: World) -> None:
    name = made(world, "sales", "orders")
    pointer = probed(world, name)
    assert name in world.catalog.names().tables
    assert pointer == TablePointer(name, "iceberg", world.writer.load_table(("sales", "orders")).metadata_location)


def test_a_probe_follows_the_pointer(world: World) -> None:
    name = made(world, "sales", "orders")
    seen = [probed(world, name), probed(world, name)]
    table = world.writer.load_table(("sales", "orders"))
    with table.transaction() as tx:
        tx.set_properties(moved="yes")
    seen += [probed(world, name), probed(world, name)]
    assert seen[0] == seen[1] != seen[2] == seen[3]
    assert seen[2] is not None
    assert seen[2].location == table.metadata_location


def test_a_dropped_table_is_no_longer_listed_and_has_no_pointer(world: World) -> None:
    name, other = made(world, "sales", "orders"), made(world, "sales", "items")
    assert probed(world, name) is not None
    world.writer.drop_table(("sales", "orders"))
    assert world.catalog.probe(name).pointer is None
    names = world.catalog.names().tables
    assert name not in names
    assert other in names


def test_a_renamed_table_is_listed_under_its_new_name_only(world: World) -> None:
    name = made(world, "sales", "orders")
    before = probed(world, name)
    world.writer.rename_table(("sales", "orders"), ("sales", "invoices"))
    new = TableName.of(world.catalog.name, ["sales"], "invoices")
    names = world.catalog.names().tables
    assert (name in names, new in names) == (False, True)
    after = world.catalog.probe(new).pointer
    assert before is not None
    assert after is not None
    assert after.location == before.location


def test_many_tables_in_many_namespaces_are_all_listed(world: World) -> None:
    expected = {made(world, space, f"t{i}") for space in ("one", "two", "three") for i in range(3)}
    assert expected <= world.catalog.names().tables.keys()


def test_nested_namespaces_are_levels_of_the_name(world: World) -> None:
    if not world.nested:
        pytest.skip("this catalog has one level")
    deep, high = made(world, "a", "b", "c", "deep"), made(world, "a", "high")
    assert {deep, high} <= world.catalog.names().tables.keys()
    assert deep.namespace == "a.b.c"
    assert probed(world, deep) is not None


def test_a_table_that_never_existed_has_no_pointer(world: World) -> None:
    made(world, "sales", "orders")
    assert world.catalog.probe(TableName(world.catalog.name, "sales", "nobody")).pointer is None


def test_a_commit_moves_only_its_own_table(world: World) -> None:
    name, other = made(world, "sales", "orders"), made(world, "sales", "items")
    before = {n: probed(world, n) for n in (name, other)}
    world.writer.load_table(("sales", "orders")).append(rows("eu"))
    assert probed(world, other) == before[other]
    assert probed(world, name) != before[name]
