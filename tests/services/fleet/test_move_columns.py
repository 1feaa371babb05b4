"""Vectors over all tables say what each table's own history says, whatever main did."""

import asyncio
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from limnograph.domain.queries import FleetQuery
from limnograph.services.fleet import heat as fleet_heat
from limnograph.services.fleet import numbers
from limnograph.services.fleet import view as table_view
from limnograph.services.fleet.move_columns import MoveColumns
from limnograph.services.fleet.segments import Segments
from limnograph.services.fleet.state_vectors import StateVectorCache
from limnograph.services.fleet.view import usual_interval_s
from limnograph.services.lake.columns import NULL
from limnograph.services.lake.history import History
from limnograph.services.lake.lake import Facts
from serving_kit import HOUR, NOW, SECOND, UUID, lake, moved, parts, row

TABLES = 8


def named(number: int):
    return {"table_uuid": f"{UUID[:-2]}{number:02}", "table": f"t{number:02}"}


def history(chance: Random, number: int):
    """Commits of one table: some on branches, some rolled back to, some without a log entry or a time."""
    rows, log, kind = [], [], chance.choice(["plain", "plain", "branches", "rollbacks", "unlogged"])
    for i in range(1, chance.randint(2, 70)):
        at, snapshot_id = NOW - 47 * HOUR + i * 40 * 60 * SECOND, number * 1_000 + i
        told = {
            "operation": chance.choice(["append", "append", "replace", None]),
            "added_data_files": chance.choice([None, 1, 5, 2_000]),
            "small_files": chance.choice([None, 3, 900]),
            "total_delete_files": chance.choice([0, 0, 60]),
            "live_snapshots": chance.choice([3, 3, 1_500]),
            "target_file_bytes": 128 << 20,
            "added_bytes": 1_000,
        }
        files = chance.choice([None, 0, 1_000, 5_000])
        rows.append(row(snapshot_id, at, files, **named(number), **told))
        if kind == "plain" or (kind != "unlogged" and chance.random() < 0.7):
            log.append(moved(snapshot_id, at, **named(number)))
        if kind == "rollbacks" and chance.random() < 0.3:
            log.append(moved(number * 1_000 + chance.randint(1, i), at + SECOND, **named(number)))
    return rows, log


def made_of(chance: Random):
    told = [history(chance, number) for number in range(TABLES)]
    return parts(lake([fact for rows, _ in told for fact in rows], [move for _, log in told for move in log]))


def files_at(own: History, at: int):
    state = own.main_at(at)
    return None if state is None else state.total_data_files


def instants(chance: Random, tables):
    moves = [int(at) for table in tables for at in History(table).moves]
    return [chance.choice([NOW - chance.randrange(60 * 3_600) * SECOND, chance.choice(moves)]) for _ in range(8)]


@pytest.mark.parametrize("seed", range(12))
def test_states_of_tables_equal_their_histories_at_any_instant(seed: int) -> None:
    chance = Random(seed)
    made = made_of(chance)
    tables, standings = made.store.reading.lake.listed, StateVectorCache(MoveColumns())
    for at in instants(chance, tables):
        found = standings.at(tables, at, at - 1)
        for place, table in enumerate(tables):
            own = History(table)
            state, commits = own.main_at(at), own.numbers("committed_at")
            files = None if state is None else state.total_data_files
            usual = usual_interval_s(own, at)
            assert found.column("total_data_files")[place] == (NULL if files is None else files)
            assert found.ordinal[place] == (commits < at).sum()
            assert found.moved[place] == own.moves[own.moves <= at].max(initial=NULL)
            assert found.next_move[place] == own.moves[own.moves > at].min(initial=2**63 - 1)
            assert np.isnan(found.usual[place]) if usual is None else found.usual[place] == pytest.approx(usual)


@pytest.mark.parametrize("seed", range(12))
def test_the_numbers_of_rows_equal_the_histories(seed: int) -> None:
    chance = Random(100 + seed)
    made = made_of(chance)
    tables = made.store.reading.lake.listed
    for _ in range(4):
        start = NOW - chance.randrange(2, 47) * HOUR - 7 * SECOND
        query = FleetQuery(start=start // 1000, end=(start + 90 * 60 * SECOND) // 1000)
        shown = {one.table: one for one in asyncio.run(made.backend.fleet.page(query)).rows}
        span = query.start * 1000, query.end * 1000
        for table in tables:
            own, one = table_view.view(History(table), *span, None), shown[table.name.table]
            assert (one.values, one.deltas) == (numbers.values(own), numbers.deltas(own.before, own.after, None))
            assert one.spark == [files_at(own.history, at) for at in numbers.spark_instants(*span).tolist()]


@pytest.mark.parametrize("seed", range(6))
def test_each_part_of_a_range_equals_the_histories(seed: int) -> None:
    chance = Random(500 + seed)
    made, start = made_of(chance), NOW - chance.randrange(2, 40) * HOUR - 1
    query = FleetQuery(start=start // 1000, end=NOW // 1000)
    shown = {each.table: each for each in asyncio.run(made.backend.fleet.heat(query)).rows}
    edges = fleet_heat.edges(query.start * 1000, NOW).tolist()
    for table in made.store.reading.lake.listed:
        own = History(table)
        times, held = own.numbers("committed_at"), [files_at(own, edge - 1) for edge in edges]
        parts_of = list(pairwise(edges))
        assert shown[table.name.table].commits == [int(((times >= a) & (times < b)).sum()) for a, b in parts_of]
        changes = [None if a is None or b is None else b - a for a, b in pairwise(held)]
        assert shown[table.name.table].data_files == changes


def test_a_changed_table_is_evaluated_again_and_the_others_are_kept() -> None:
    made = made_of(Random(3))
    standings = StateVectorCache(MoveColumns())
    before = standings.at(made.store.reading.lake.listed, NOW, NOW)
    facts = [row(9_000 + i, NOW - 300 * SECOND + i * SECOND, 70 + i, **named(2)) for i in range(200)]
    made.store.apply(Facts(facts, [moved(fact.snapshot_id, fact.committed_at, **named(2)) for fact in facts]))
    after = standings.at(made.store.reading.lake.listed, NOW, NOW)
    others = np.arange(TABLES) != 2
    assert (after.values[others] == before.values[others]).all()
    assert (after.column("total_data_files")[2], after.ordinal[2]) == (269, before.ordinal[2] + 200)


@pytest.mark.parametrize("seed", range(8))
def test_segments_hold_the_last_written_values_wherever_they_moved(seed: int) -> None:
    chance, segments, held = Random(seed), Segments(2), {}
    segments.grow(10)
    for _ in range(200):
        slot, count = chance.randrange(10), chance.choice([0, 1, 7, chance.randrange(300)])
        numbers = np.sort(np.array([chance.randrange(1_000) for _ in range(count)], np.int64))
        segments.put(slot, numbers, -numbers)
        held[slot] = numbers
        for known, wanted in held.items():
            assert segments.of(known).tolist() == [wanted.tolist(), (-wanted).tolist()]
        at, slots = chance.randrange(1_000), np.array([chance.randrange(10) for _ in range(5)])
        for side in ("left", "right"):
            wanted = [int(held.get(one, numbers[:0]).searchsorted(at, side)) for one in slots.tolist()]
            assert segments.before(slots, at, side).tolist() == wanted
