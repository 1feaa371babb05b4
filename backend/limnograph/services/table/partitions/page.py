"""The page of a table's partitions: leaderboard at an instant, file sizes at two instants, partitions over time."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.answers.partitions import Instant, PartitionsPage, SpanMs
from limnograph.domain.errors import InvalidInput
from limnograph.domain.facts.meta_tables import HISTOGRAM_EDGES, SnapshotFact
from limnograph.domain.queries import PartitionsQuery
from limnograph.domain.time import MICROS_PER_SECOND, MS_PER_SECOND, Micros, to_micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.lake.columns import NULL
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore
from limnograph.services.table.histories import TableHistories
from limnograph.services.table.partitions.heat import HeatStep, heat, steps_of, track, wanted
from limnograph.services.table.partitions.notes import of_format, of_heat, of_states, of_the_rest
from limnograph.services.table.partitions.rows import Side, ordered, rest_of, rows_of, skew
from limnograph.services.table.partitions.states import PartitionReader, PartitionStates, StateLinks, live
from limnograph.services.table.schema import versions as schemas

HEAT_RANGE = 31 * 86_400 * MICROS_PER_SECOND
"""Approximate time that rows of single commits are retained."""
HEAT_COST = 100_000
"""Most partitions that the rows of one heat map may name: a second of work."""


class _PartitionRange(NamedTuple):
    """The requested range in microseconds. `before` None: no comparison."""

    at: Micros
    before: Micros | None
    start: Micros
    end: Micros


class _PartitionReads(NamedTuple):
    """The data read for one response. `drawn`: whether the heat map was within the limit."""

    after: Side
    before: Side | None
    steps: list[HeatStep]
    states: PartitionStates
    rows: dict[int, SnapshotFact]
    drawn: bool


class PartitionPages:
    """Partitions of one table. Immutable after construction."""

    def __init__(self, store: HotStore, engine: QueryEngine, clock: Clock) -> None:
        self._store, self._engine = store, engine
        self._tables = TableHistories(store, clock)

    async def page(self, query: PartitionsQuery) -> PartitionsPage:
        """Raises NotFound, InvalidInput (cmp); SourceError if the meta tables cannot be read."""
        return await self._store.reads.ask(self._page, query, _asked(query))

    def _page(self, query: PartitionsQuery, asked: _PartitionRange) -> PartitionsPage:
        earliest = min(at for at in (asked.at, asked.before, asked.start) if at is not None)
        history, known_until = self._tables.since(query.table, earliest), self._tables.known_until(query.table)
        read = self._read(history, asked, known_until)
        after, before = read.after, read.before
        found = ordered(rows_of(after, before, query.conditions), query.sort, query.direction)
        rows = found[: query.limit]
        picture = heat(read.steps, read.states, read.rows, query.conditions) if read.drawn else None
        notes = [
            *of_states(after, before),
            *of_the_rest(after, len(rows), len(found)),
            *of_heat(picture, drawn=read.drawn),
            *of_format(history),
        ]
        spec = history.latest("spec", asked.at) or history.latest("spec")
        return PartitionsPage(
            **self._tables.head(query.table, history, notes),
            edges=list(HISTOGRAM_EDGES),
            spec_id=history.head.spec_id if history.head else None,
            partition_fields=schemas.partition_fields(spec.detail if spec else None),
            after=_instant(asked.at, after),
            before=_instant(asked.before, before) if before is not None and asked.before is not None else None,
            named=len(live(after.state)) if after.state is not None else 0,
            matching=len(found),
            rows=rows,
            rest=None if query.conditions else rest_of(after, rows),
            range=SpanMs(start=query.start, end=query.end),
            track=track(history, asked.start, asked.end, known_until),
            heat=picture,
        )

    def _read(self, history: History, asked: _PartitionRange, known_until: Micros) -> _PartitionReads:
        main = [_main_at(history, at) for at in (asked.at, asked.before) if at is not None]
        steps = steps_of(history, asked.start, asked.end, known_until) if asked.end - asked.start <= HEAT_RANGE else []
        ends = wanted(steps)
        instants = _committed(history, {*ends, *(found for found in main if found is not None)})
        reader = PartitionReader(self._engine, history.uuid, self._provisional(history))
        links = reader.links(list(instants.values()))
        needed = _closure(links, [found for found in main if found is not None])
        pictured = _closure(links, ends) | {found for step in steps for found in step.moved}
        drawn = bool(steps) and links.cost(pictured) <= HEAT_COST
        if drawn:
            needed |= pictured
        rows = reader.rows(needed, list(instants.values()))
        states = PartitionStates(links, rows)
        sides = [_side(found, rows, states) for found in main]
        return _PartitionReads(sides[0], sides[1] if len(sides) > 1 else None, steps, states, rows, drawn)

    def _provisional(self, history: History) -> dict[int, SnapshotFact]:
        """The watcher's complete rows, of its latest commits."""
        found = (self._store.provisional_row(history.uuid, snapshot_id) for snapshot_id in _ids(history))
        return {fact.snapshot_id: fact for fact in found if fact is not None}


def _asked(query: PartitionsQuery) -> _PartitionRange:
    before = None if query.compare_s is None else query.at - query.compare_s * MS_PER_SECOND
    if before is not None and before < 0:
        raise InvalidInput("cmp", "must not reach back before 1970")
    at, start, end = (to_micros(value) for value in (query.at, query.start, query.end))
    return _PartitionRange(at, to_micros(before), start, end)


def _ids(history: History) -> list[int]:
    found: list[int] = history.numbers("snapshot_id").tolist()
    return found


def _main_at(history: History, at: Micros) -> int | None:
    """The snapshot that main pointed at; its row may be unknown."""
    place = int(history.moves.searchsorted(at, "right")) - 1
    return history.main_ids[place] if place >= 0 else None


def _committed(history: History, snapshot_ids: set[int]) -> dict[int, Micros]:
    """Commit times of those snapshots, as far as known from rows."""
    times = zip(_ids(history), history.numbers("committed_at").tolist(), strict=True)
    return {found: at for found, at in times if found in snapshot_ids and at != NULL}


def _closure(links: StateLinks, snapshot_ids: set[int] | list[int]) -> set[int]:
    """The rows that those states are built from; for a chain without a full row, only the snapshot's own row."""
    return {row for found in snapshot_ids for row in (links.chain(found) or [found])}


def _side(snapshot_id: int | None, rows: dict[int, SnapshotFact], states: PartitionStates) -> Side:
    return Side(None, None) if snapshot_id is None else Side(rows.get(snapshot_id), states.at(snapshot_id))


def _instant(at: Micros, side: Side) -> Instant:
    row = side.row
    committed = row.committed_at if row else None
    return Instant(
        t=to_millis(at),
        snapshot_id=str(row.snapshot_id) if row else None,
        committed_at=to_millis(committed),
        data_files=row.total_data_files if row else None,
        delete_files=row.total_delete_files if row else None,
        bytes=row.total_bytes if row else None,
        small_files=row.small_files if row else None,
        partitions=row.partitions_total if row else None,
        target_file_bytes=row.target_file_bytes if row else None,
        skew_max_over_median=row.skew_max_over_median if row and row.skew_max_over_median is not None else skew(side),
        skew_top1_share=row.skew_top1_share if row else None,
        histogram=row.file_size_histogram if row else None,
    )
