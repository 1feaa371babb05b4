"""Tables whose data files grew: any share, any time, any range; every answer held against the plain definition."""

import asyncio
from random import Random

import pytest

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.queries import FleetQuery
from limnograph.ports.query_engine import MetaQuery
from limnograph.services.fleet.growth import greatest
from limnograph.services.fleet.growth_index import GrowthIndex
from limnograph.services.fleet.move_columns import MoveColumns
from limnograph.services.lake.history import History
from limnograph.services.lake.lake import Facts
from serving_kit import HOUR, MINUTE, NOW, SECOND, UUID, lake, moved, parts, row

TABLES = 12


def page(made, *, start=NOW - 6 * HOUR, end=NOW, **given):
    query = FleetQuery(start=start // 1000, end=end // 1000, **given)
    return asyncio.run(made.backend.fleet.page(query)).rows


def made_of(*states):
    """A table whose main had these `(instant, files)`."""
    rows = [row(i, at, files) for i, (at, files) in enumerate(states, 1)]
    return parts(lake(rows, [moved(r.snapshot_id, r.committed_at) for r in rows]))


def test_a_commit_that_adds_more_than_the_share_is_listed_with_its_numbers() -> None:
    found = page(made_of((NOW - 9 * HOUR, 1_000), (NOW - HOUR, 1_201)), grew=0.2)
    assert (found[0].growth.files_before, found[0].growth.files_after, found[0].growth.share) == (1_000, 1_201, 0.201)
    assert found[0].growth.at == (NOW - HOUR) // 1000


def test_growth_by_exactly_the_share_is_not_listed() -> None:
    assert page(made_of((NOW - 9 * HOUR, 1_000), (NOW - HOUR, 1_200)), grew=0.2) == []
    assert page(made_of((NOW - 9 * HOUR, 10), (NOW - HOUR, 11)), grew=0.1) == []


def test_small_commits_add_up_within_the_window_and_not_beyond() -> None:
    steps = [(NOW - HOUR + i * MINUTE, 1_000 + 60 * i) for i in range(5)]
    made = made_of((NOW - 9 * HOUR, 1_000), *steps)
    assert page(made, grew=0.2, within_s=300)
    assert page(made, grew=0.2, within_s=120) == []


def test_a_growth_that_is_undone_is_still_listed() -> None:
    states = [(NOW - 9 * HOUR, 1_000), (NOW - HOUR, 3_000), (NOW - HOUR + SECOND, 900)]
    assert page(made_of(*states), grew=1.9)[0].growth.files_after == 3_000


def test_a_rise_from_zero_exceeds_any_share_and_has_no_ratio() -> None:
    found = page(made_of((NOW - 9 * HOUR, 0), (NOW - HOUR, 3)), grew=50.0)
    assert (found[0].growth.files_before, found[0].growth.share) == (0, None)


def test_an_unknown_number_is_no_side_of_a_growth() -> None:
    states = [(NOW - 9 * HOUR, 100), (NOW - 2 * HOUR, None), (NOW - HOUR, 100)]
    assert page(made_of(*states), grew=0.0) == []


def test_the_first_known_state_is_not_a_growth() -> None:
    assert page(made_of((NOW - HOUR, 50_000)), grew=0.0) == []


def test_a_rise_before_the_range_is_not_listed_and_one_at_its_first_instant_is() -> None:
    made = made_of((NOW - 9 * HOUR, 100), (NOW - 5 * HOUR, 200), (NOW - HOUR, 201))
    assert page(made, start=NOW - 5 * HOUR + SECOND, grew=0.2) == []
    assert page(made, start=NOW - 5 * HOUR, grew=0.2)


def test_an_old_range_is_read_from_the_meta_tables() -> None:
    made = made_of((NOW - 90 * HOUR, 100), (NOW - 80 * HOUR, 200), (NOW - HOUR, 200))
    assert page(made, start=NOW - 85 * HOUR, end=NOW - 70 * HOUR, grew=0.2)
    assert page(made, start=NOW - 79 * HOUR, end=NOW - 70 * HOUR, grew=0.2) == []


class Broken(MemoryEngine):
    """An engine that fails when it is asked for rows of a span."""

    def select(self, query: MetaQuery):
        if query.start is not None and query.start < NOW - 49 * HOUR:
            raise SourceUnavailable("meta", "no file can be read")
        return super().select(query)


def test_growth_long_ago_is_an_error_and_not_empty_when_no_engine_can_read_it() -> None:
    engine = Broken()
    engine.append([row(1, NOW - 90 * HOUR, 100), row(2, NOW - HOUR, 200)], [])
    made = parts(engine)
    with pytest.raises(SourceUnavailable, match="no file can be read"):
        page(made, start=NOW - 85 * HOUR, end=NOW - 70 * HOUR, grew=0.2)
    assert len(page(made, start=NOW - 85 * HOUR, end=NOW - 70 * HOUR)) == 1


def test_a_commit_from_the_watcher_counts_immediately() -> None:
    made = made_of((NOW - 9 * HOUR, 100))
    assert page(made, grew=0.2) == []
    made.store.apply(Facts([row(9, NOW - MINUTE, 200)], [moved(9, NOW - MINUTE)]))
    assert page(made, grew=0.2)


def plain(states, start, end, within):
    """The definition, state by state: shares of all pairs that the time and the range allow; None: no rise."""
    found = []
    for j, (at, after) in enumerate(states):
        for i, (_, before) in enumerate(states[:j]):
            left = states[i + 1][0]
            inside = start <= at < end and (left > max(start, at - within) or (j == i + 1 and left == at))
            if inside and before is not None and after is not None and after > before:
                found.append(float("inf") if before == 0 else (after - before) / before)
    return max(found, default=None)


def any_states(chance: Random):
    times = sorted({NOW - chance.randrange(0, 47 * 3_600) * SECOND for _ in range(chance.randint(1, 60))})
    if chance.random() < 0.5:
        times = sorted({NOW - 30 * HOUR + int(chance.random() * 40) * 20 * SECOND for _ in times} | set(times[:5]))
    return [(at, chance.choice([None, 0, chance.randint(0, 30), chance.randint(50, 100)])) for at in times]


@pytest.mark.parametrize("seed", range(40))
def test_every_share_window_and_range_matches_the_definition(seed: int) -> None:
    chance = Random(seed)
    states = {f"t{i:02}": any_states(chance) for i in range(TABLES)}
    rows, log = [], []
    for number, (name, known) in enumerate(states.items()):
        own = {"table_uuid": f"{UUID[:-2]}{number:02}", "table": name}
        for i, (at, files) in enumerate(known, 1):
            rows.append(row(number * 1_000 + i, at, files, **own))
            log.append(moved(number * 1_000 + i, at, **own))
    made, columns = parts(lake(rows, log)), MoveColumns()
    index = GrowthIndex(columns)
    tables = made.store.reading.lake.listed
    for _ in range(12):
        start = NOW - chance.randrange(1, 47 * 3_600) * SECOND
        end = min(NOW + SECOND, start + chance.randrange(1, 40 * 3_600) * SECOND)
        within = chance.choice([1, 60, 299, 300, 300, 300, 301, 3_600, 7 * 86_400])
        share = chance.choice([0.0, 0.2, 0.2, 1.0, 5.0])
        grew = index.grown(tables, (start, end), share, within, NOW)
        for table, told in zip(tables, grew.tolist(), strict=True):
            wanted = plain(states[table.name.table], start, end, within * SECOND)
            assert told == (wanted is not None and wanted > share), (table.name, start, end, within, share)
        slowly = [greatest(History(table), start, end, within) for table in tables]
        assert columns.greatest(columns.update(tables), start, end, within * SECOND) == slowly, (start, end, within)
        assert index.greatest(index.update(tables, NOW), (start, end), within) == slowly, (start, end, within)


def test_the_greatest_growth_is_the_one_listed() -> None:
    made = made_of((NOW - 9 * HOUR, 100), (NOW - 3 * HOUR, 130), (NOW - 2 * HOUR, 390), (NOW - HOUR, 400))
    history = made.store.reading.lake.histories[UUID]
    assert greatest(history, NOW - 6 * HOUR, NOW, 300).after == 390
    assert greatest(history, NOW - 6 * HOUR, NOW, 3_600).before == 130
    assert greatest(history, NOW - 10 * HOUR, NOW, 86_400)[:2] == (100, 400)
