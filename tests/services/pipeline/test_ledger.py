"""The ledger says the same whatever order its rows come in, and when a pass brings in only the tables that it needs."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.facts.meta_tables import CHANGES, ChangeFact
from limnograph.domain.ids import TableName
from limnograph.services.pipeline.appending import still_new
from limnograph.services.pipeline.ledger import Ledger, ledger_at
from memory_meta import MemoryMetaStore

SERIES = [f"u{number}" for number in range(6)]
NAMES = [TableName("lake", "sales", f"t{number}") for number in range(5)]
KINDS = ("schema", "property", "ref", "named", "dropped", "first_seen", "gap", "unreadable", "upgraded", "retained")


def rows_of(seed: int, count: int = 150) -> list[ChangeFact]:
    """Rows as passes leave them: each at an instant of its own, told some time after."""
    chance = random.Random(seed)
    return [_row(chance, at) for at in chance.sample(range(1, 10_000), count)]


def _row(chance: random.Random, at: int) -> ChangeFact:
    kind, name = chance.choice(KINDS), chance.choice(NAMES)
    subjects = {"ref": ["main", "audit"], "property": ["write.a", "write.b"], "gap": ["1", "2"], "schema": [None]}
    return ChangeFact(
        table_uuid=None if kind == "unreadable" and chance.random() < 0.3 else chance.choice(SERIES),
        catalog=name.catalog,
        namespace=name.namespace,
        table=name.table,
        kind=kind,
        subject=chance.choice(subjects.get(kind, [str(name)])),
        to_value=chance.choice(["1", "2", None]),
        at=at,
        observed_at=at + chance.randint(0, 50),
        detail='{"floor": "committed_at"}' if kind == "first_seen" else "{}",
    )


def said(ledger: Ledger, series: list[str]) -> dict[str, Any]:
    """All that a ledger answers about some series, and about all names."""
    rows: dict[str, Any] = {"owners": ledger.owners(), "nameless": ledger.nameless_unreadable()}
    for who in series:
        rows[who] = (
            ledger.main_log(who),
            ledger.newest(who),
            _core(ledger.first_seen(who)),
            [_core(ledger.event(who, "gap", subject)) for subject in ("1", "2")],
            {kind: sorted(map(str, ledger.subjects(who, kind))) for kind in KINDS},
            [_core(ledger.latest(who, kind, s)) for kind in KINDS for s in (None, "audit", "write.a", "write.b")],
            [_core(ledger.latest(who, "unreadable", str(name))) for name in NAMES],
            [ledger.ever_named(str(name), who) for name in NAMES],
        )
    return rows


def _core(row: ChangeFact | None) -> Any:
    return row and (row.table_uuid, row.kind, row.subject, row.to_value, row.at, row.observed_at)


@pytest.mark.parametrize("seed", range(25))
def test_rows_may_come_in_any_order_and_twice(seed: int) -> None:
    rows = rows_of(seed)
    in_order = Ledger(sorted(rows, key=lambda row: (row.at, row.observed_at or 0)))
    mixed = [*rows, *rows[::3]]
    random.Random(seed + 1).shuffle(mixed)
    assert said(Ledger(mixed), SERIES) == said(in_order, SERIES)


@pytest.mark.parametrize("seed", range(25))
def test_a_bounded_read_equals_the_full_one_for_the_requested_tables(seed: int) -> None:
    store, rows = MemoryMetaStore(), rows_of(seed)
    store.ensure()
    store.append(CHANGES, arrow_table(CHANGES, rows), None, "run")
    head, asked = store.head(CHANGES), random.Random(seed).sample(SERIES, 3)
    whole, bounded = Ledger(store.changes(head)), ledger_at(store, head)
    bounded.need(asked)
    assert said(bounded, asked) == said(whole, asked)
    news = [msgspec.structs.replace(row, observed_at=None) for row in rows_of(seed + 1_000) if row.table_uuid in asked]
    assert still_new(news, bounded) == still_new(news, whole)


def test_only_requested_rows_are_read() -> None:
    asked: list[set[str]] = []

    def states(series: Any) -> list[ChangeFact]:
        asked.append(set(series))
        return []

    ledger = Ledger(states=states)
    ledger.need(["a", "b"])
    ledger.need(["b", "a"])
    ledger.need(["b", "c"])
    assert asked == [{"a", "b"}, {"c"}]
