"""Packed columns give back what was put in, whatever the numbers; rows stay in order however they come."""

from random import Random

import msgspec
import numpy as np
import pytest

from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.services.lake.columns import HOT_COLUMNS, NULL, facts_of, sheet_of
from limnograph.services.lake.packing import pack
from limnograph.services.lake.rows import PackedRows, opened, packed
from serving_kit import NOW, SECOND, UUID, row

NAME = TableName("lake", "sales", "orders")
FAR = 2**63 - 1


def hot(fact: SnapshotFact) -> tuple[object, ...]:
    return tuple(getattr(fact, column) for column in HOT_COLUMNS)


@pytest.mark.parametrize(
    "values",
    [
        [7, 7, 7],
        [NULL, NULL],
        [NULL, 7, 7],
        [0, 254],
        [0, 255, NULL],
        [-5, 65_529],
        [0, 65_535],
        [10**12, 10**12 + 2**32 - 2],
        [0, 2**32 - 1, NULL],
        [-FAR, FAR],
        [-FAR, NULL, FAR],
        [FAR],
    ],
)
def test_a_column_is_restored_unchanged_at_every_width(values: list[int]) -> None:
    block = pack(np.array([values, values[::-1]], np.int64), times=(1,))
    assert block.column(0).tolist() == values
    assert block.column(1).tolist() == values[::-1]
    assert block.numbers().tolist() == [values, values[::-1]]
    assert block.numbers([len(values) - 1])[:, 0].tolist() == [values[-1], values[0]]
    assert [block.cells(i, (1, 0)) for i in range(len(values))] == [
        [b, a] for a, b in zip(values, values[::-1], strict=True)
    ]


def test_times_in_whole_milliseconds_take_four_bytes_and_others_are_not_rounded() -> None:
    whole = [NOW + i * 7_200 * SECOND for i in range(24)]
    for times, width in ((whole, 4), ([*whole[:-1], whole[-1] + 1], 8)):
        block = pack(np.array([times], np.int64), times=(0,))
        assert block.column(0).tolist() == times
        assert [block.cells(i, (0,)) for i in range(24)] == [[at] for at in times]
        assert len(block.data) == 24 * width


def any_row(chance: Random, number: int) -> SnapshotFact:
    def maybe(*values):
        return chance.choice([None, *values])

    return msgspec.structs.replace(
        row(chance.choice([number, chance.randint(-FAR, FAR)]), NOW - chance.randint(0, 200) * SECOND // 2),
        total_data_files=maybe(0, 5, 2**50),
        total_bytes=maybe(0, 2**62),
        parent_id=maybe(number - 1),
        sequence_number=maybe(number),
        on_main=maybe(True, False),
        skew_max_over_median=maybe(0.0, 1.5, 1e300),
        app_id=maybe("", "a", f"application_{number}", "é", "long " * 50),
        operation=maybe("append", "replace"),
    )


def _order(fact: SnapshotFact) -> tuple[int, int, int]:
    return fact.committed_at, NULL if fact.sequence_number is None else fact.sequence_number, fact.snapshot_id


@pytest.mark.parametrize("seed", range(30))
def test_rows_inserted_in_any_order_are_kept_in_commit_order(seed: int) -> None:
    chance, rows, known = Random(seed), PackedRows(), {}
    for step in range(chance.randint(1, 30)):
        new = [any_row(chance, step * 100 + i) for i in range(chance.choice([1, 1, 3, 40]))]
        if known and chance.random() < 0.3:
            again = chance.choice(list(known.values()))
            new.append(msgspec.structs.replace(again, total_data_files=chance.choice([1, None])))
        rows = rows.put(sheet_of(new), wins=True).rows
        known.update({fact.snapshot_id: fact for fact in new})
    found = facts_of(rows.sheet(0, rows.height), UUID, NAME)
    wanted = sorted(known.values(), key=_order)
    assert [hot(fact) for fact in found] == [hot(fact) for fact in wanted]


def test_appending_one_by_one_keeps_few_blocks_and_touches_only_small_ones() -> None:
    rows, sizes = PackedRows(), []
    for number in range(1, 600):
        before = {id(block) for block in rows.blocks}
        rows = rows.put(sheet_of([row(number, NOW + number * SECOND)]), wins=True).rows
        sizes.append(sum(block.height for block in rows.blocks if id(block) not in before))
    assert len(rows.blocks) < 12
    assert sum(sizes) < 600 * 12


def test_an_identical_row_changes_nothing() -> None:
    rows = PackedRows().put(sheet_of([row(1, NOW), row(2, NOW + 1)]), wins=True).rows
    put = rows.put(sheet_of([row(2, NOW + 1)]), wins=True)
    assert not put.changed
    assert put.rows is rows


def test_a_text_that_contains_the_separator_remains_one_text() -> None:
    block = packed(sheet_of([row(1, NOW, app_id="a\0b"), row(2, NOW + 1, app_id="c")]))
    found = facts_of(opened(block), UUID, NAME)
    assert [fact.app_id for fact in found] == ["a\ufffdb", "c"]
