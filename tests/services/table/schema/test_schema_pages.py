"""The page of a table's schema history: versions against the one before by field id, specs, sort orders, the matrix."""

import asyncio
import json

import pytest

from lakes import Lake, rows
from limnograph.analysis.schema.diff import compare, promotes, worst
from limnograph.analysis.schema.field_trees import tree_of
from limnograph.domain.errors import NotFound, SourceUnavailable
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS
from limnograph.domain.ids import TableName
from limnograph.services.lake.lake import Facts
from memory_meta import MemoryMetaStore, local_passes
from serving_kit import HOUR, NOW, FixedClock, change, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")


def field(i, name, kind="long", **more):
    return {"id": i, "name": name, "type": kind, "required": False, **more}


def schema(schema_id, at, *fields, before=None, **more):
    detail = json.dumps({"type": "struct", "schema-id": schema_id, "fields": list(fields)})
    return change("schema", at, str(schema_id), from_value=before, detail=detail, **more)


def diff(before, after):
    trees = (tree_of(json.dumps({"fields": fields})) for fields in (before, after))
    return compare(*trees)


def told(before, after):
    return [(c.kind, c.name, c.risk) for c in diff(before, after)]


def page(changes, snapshots=None, name=NAME, **given):
    made = parts(lake(snapshots or [row(1, NOW - 9 * HOUR)], [moved(1, NOW - 9 * HOUR), *changes]), **given)
    return asyncio.run(made.backend.schemas.page(name))[0]


def test_a_renamed_column_is_one_field_and_breaks_readers_that_name_it() -> None:
    found = page(
        [
            schema(12, NOW - 5 * HOUR, field(1, "id"), field(2, "uid", "string")),
            schema(
                13, NOW - HOUR, field(1, "id"), field(2, "user_id", "string"), before="12", not_before=NOW - 2 * HOUR
            ),
        ]
    )
    newest = found.versions[0]
    assert (newest.kind, newest.id, newest.previous_id, newest.risk) == ("schema", "13", "12", "breaking")
    assert [(c.kind, c.field_id, c.before, c.after) for c in newest.changes] == [("renamed", 2, "uid", "user_id")]
    assert (newest.t, newest.not_before) == ((NOW - HOUR) // 1000, (NOW - 2 * HOUR) // 1000)
    assert newest.changes[0].sentence == "uid was renamed to user_id; its field id is still 2"
    row_of = next(r for r in found.matrix if r.field_id == 2)
    assert [(s.first, s.versions, s.name) for s in row_of.spans] == [(0, 1, "uid"), (1, 1, "user_id")]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([field(1, "a")], [field(1, "a"), field(2, "b")], [("added", "b", "safe")]),
        ([field(1, "a"), field(2, "b")], [field(1, "a")], [("dropped", "b", "breaking")]),
        ([field(1, "a", "int")], [field(1, "a", "long")], [("promoted", "a", "check")]),
        ([field(1, "a", "long")], [field(1, "a", "int")], [("retyped", "a", "breaking")]),
        ([field(1, "a", required=True)], [field(1, "a")], [("optional", "a", "check")]),
        ([field(1, "a")], [field(1, "a", required=True)], [("required", "a", "safe")]),
        ([field(1, "a")], [field(1, "a", doc="what")], [("doc", "a", "safe")]),
        ([field(1, "a")], [field(1, "a", **{"initial-default": 3})], [("default", "a", "safe")]),
        (
            [field(1, "a"), field(2, "b"), field(3, "c")],
            [field(3, "c"), field(1, "a"), field(2, "b")],
            [("reordered", "c", "check")],
        ),
        ([field(1, "a")], [field(2, "a")], [("dropped", "a", "breaking"), ("added", "a", "safe")]),
        ([field(1, "a")], [field(1, "a")], []),
    ],
)
def test_each_difference_has_its_name_and_its_risk(before, after, expected) -> None:
    assert told(before, after) == expected


def test_a_rename_in_a_real_table_makes_no_snapshot_and_is_shown_as_renamed(tmp_path) -> None:
    lake_of_files, store = Lake(tmp_path), MemoryMetaStore()
    table = lake_of_files.table()
    table.append(rows("eu"))
    passes = local_passes(lake_of_files, store)
    passes.run()
    with table.update_schema() as update:
        update.rename_column("region", "area")
    passes.run()
    assert len(store.rows(SNAPSHOTS)) == 1
    snapshot = table.current_snapshot()
    uuid = str(table.metadata.table_uuid)
    known = row(snapshot.snapshot_id, snapshot.timestamp_ms * 1000, table_uuid=uuid)
    made = parts(
        lake([known], store.changes(store.head(CHANGES))), clock=FixedClock(snapshot.timestamp_ms * 1000 + HOUR)
    )
    found, _ = asyncio.run(made.backend.schemas.page(NAME))
    newest = found.versions[0]
    assert [(c.kind, c.field_id, c.before, c.after) for c in newest.changes] == [("renamed", 2, "region", "area")]
    assert newest.risk == "breaking"


def nested(name, *fields, i=10):
    return field(i, name, {"type": "struct", "fields": list(fields)})


def test_fields_below_a_changed_field_are_not_listed_again() -> None:
    before = [nested("address", field(11, "street"), field(12, "city"))]
    assert told(before, [nested("place", field(11, "street"), field(12, "city"))]) == [("renamed", "place", "breaking")]
    assert told(before, [field(1, "x")]) == [("dropped", "address", "breaking"), ("added", "x", "safe")]
    assert told([], before) == [("added", "address", "safe")]
    assert told(before, [nested("address", field(11, "street"))]) == [("dropped", "address.city", "breaking")]


def test_a_field_that_moved_to_another_parent_is_listed_with_both() -> None:
    before = [nested("a", field(11, "x")), nested("b", field(21, "y"), i=20)]
    after = [nested("a"), nested("b", field(21, "y"), field(11, "x"), i=20)]
    (found,) = diff(before, after)
    assert (found.kind, found.before, found.after) == ("reparented", "a", "b")


def test_elements_keys_and_values_are_fields_too() -> None:
    def tags(kind):
        return [field(1, "tags", {"type": "list", "element-id": 2, "element": kind, "element-required": True})]

    assert told(tags("int"), tags("long")) == [("promoted", "tags.element", "check")]


@pytest.mark.parametrize(
    ("old", "new", "legal"),
    [
        ("int", "long", True),
        ("float", "double", True),
        ("decimal(9, 2)", "decimal(18, 2)", True),
        ("decimal(9,2)", "decimal(9,3)", False),
        ("decimal(9,2)", "decimal(11,4)", True),
        ("date", "timestamp", True),
        ("date", "timestamptz", False),
        ("short", "integer", True),
        ("string", "int", False),
        ("unknown", "string", True),
        ("int", "string", False),
    ],
)
def test_promotions_are_those_of_the_formats(old, new, legal) -> None:
    assert promotes(old, new) is legal


def test_the_worst_change_is_first_and_names_the_risk() -> None:
    found = diff([field(1, "a"), field(2, "b", "int")], [field(2, "b"), field(3, "c")])
    assert [c.kind for c in found] == ["dropped", "promoted", "added"]
    assert (worst(found), worst([])) == ("breaking", "safe")


def test_a_schema_that_came_back_is_a_version_of_its_own() -> None:
    found = page(
        [
            schema(0, NOW - 5 * HOUR, field(1, "a")),
            schema(1, NOW - 4 * HOUR, field(1, "a"), field(2, "b"), before="0"),
            schema(0, NOW - 3 * HOUR, field(1, "a"), before="1"),
        ]
    )
    assert [(v.id, [c.kind for c in v.changes], v.first) for v in found.versions] == [
        ("0", ["dropped"], False),
        ("1", ["added"], False),
        ("0", [], True),
    ]
    assert [(s.first, s.versions) for s in found.matrix[1].spans] == [(1, 1)]


def spec(at, spec_id, *fields, before=None):
    items = [{"name": n, "transform": t, "source-id": s} for n, t, s in fields]
    return change("spec", at, str(spec_id), from_value=before, detail=json.dumps({"spec-id": spec_id, "fields": items}))


def test_specs_and_sort_orders_name_their_columns_as_they_were_then() -> None:
    order = {
        "order-id": 1,
        "fields": [{"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}],
    }
    found = page(
        [
            schema(0, NOW - 9 * HOUR, field(1, "id"), field(2, "ts", "timestamptz")),
            spec(NOW - 9 * HOUR, 0),
            spec(NOW - 8 * HOUR, 1, ("ts_day", "day", 2), ("bucket", "bucket[16]", 1), before="0"),
            change("sort_order", NOW - 7 * HOUR, "1", from_value="0", detail=json.dumps(order)),
            schema(1, NOW - 6 * HOUR, field(1, "id"), field(2, "event_time", "timestamptz"), before="0"),
            spec(NOW - 5 * HOUR, 2, ("ts_day", "day", 2), before="1"),
        ]
    )
    said = [v.sentence for v in found.versions if v.kind != "schema"]
    assert said == [
        "Partitioned by day(event_time)",
        "Sorted by id asc nulls first",
        "Partitioned by day(ts), bucket[16](id)",
        "Not partitioned",
    ]
    assert (found.schema_id, found.spec_id, found.sort_order_id) == ("1", "2", "1")
    assert [(v.schema_id, v.spec_id, v.sort_order_id) for v in found.versions[:2]] == [("1", "2", "1"), ("1", "1", "1")]


def test_a_version_from_the_watcher_is_listed_and_appears_once_when_it_is_durable() -> None:
    first = schema(0, NOW - 9 * HOUR, field(1, "a"))
    second = schema(1, NOW - HOUR, field(1, "a"), field(2, "b"), before="0")
    engine = lake([row(1, NOW - 9 * HOUR)], [moved(1, NOW - 9 * HOUR), first])
    made = parts(engine)
    made.store.apply(Facts([], [second]))
    assert [v.id for v in asyncio.run(made.backend.schemas.page(NAME))[0].versions] == ["1", "0"]
    engine.append([], [second])
    made.store.refresh()
    assert [v.id for v in asyncio.run(made.backend.schemas.page(NAME))[0].versions] == ["1", "0"]


def test_when_the_meta_tables_fail_the_page_is_served_from_memory_and_says_so() -> None:
    engine = lake([row(1, NOW - 9 * HOUR)], [moved(1, NOW - 9 * HOUR), schema(0, NOW - 9 * HOUR, field(1, "a"))])
    made = parts(engine)
    engine.failure = SourceUnavailable("meta", "no storage")
    found, failed = asyncio.run(made.backend.schemas.page(NAME))
    assert (failed, [v.id for v in found.versions], [n.code for n in found.notes]) == (True, ["0"], ["meta_unread"])


def test_a_schema_whose_text_is_missing_or_damaged_is_unknown_and_not_empty() -> None:
    found = page(
        [
            change("schema", NOW - 5 * HOUR, "0", detail="{"),
            schema(1, NOW - 4 * HOUR, field(1, "a"), before="0"),
        ]
    )
    assert [v.sentence for v in found.versions] == [
        "Changes are unknown: one of the two schemas is not retained",
        "First seen; its fields are unknown",
    ]
    assert [v.schema_id for v in found.matrix_versions] == ["1"]


def test_formats_without_field_ids_or_sort_orders_say_so() -> None:
    delta = [row(1, NOW - 9 * HOUR, format="delta")]
    first = schema(5, NOW - 9 * HOUR, field(1, "a"))
    assert [n.code for n in page([first], delta).notes] == ["names_are_identity", "no_sort_orders"]
    mapped = change("property", NOW - 9 * HOUR, "name", subject="delta.columnMapping.mode")
    assert [n.code for n in page([first, mapped], delta).notes] == ["no_sort_orders"]
    assert page([first]).notes == []


def test_an_unknown_table_is_not_found() -> None:
    with pytest.raises(NotFound):
        page([], name=TableName("lake", "sales", "none"))
