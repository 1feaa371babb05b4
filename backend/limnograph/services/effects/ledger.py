"""Pages of the effect ledger: measured effects, and operations that still wait for runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, cast, get_args

from limnograph.domain import cursors
from limnograph.domain.answers.effect_ledger import (
    LedgerChoices,
    LedgerCounts,
    LedgerCoverage,
    LedgerPage,
    LedgerRow,
    LedgerVerdict,
    Measure,
)
from limnograph.domain.errors import SourceError
from limnograph.domain.facts.effects import MARKS, EffectFact
from limnograph.domain.ids import TableName
from limnograph.domain.queries import EffectsQuery
from limnograph.domain.secrecy import placeless
from limnograph.domain.time import EPOCH, Micros, to_micros, to_millis
from limnograph.services.effects.measuring import EffectMeasurer
from limnograph.services.effects.operations import EXPIRED_PREFIX, Operation
from limnograph.services.effects.records import EffectRecords
from limnograph.services.lake.store import HotStore

NO_READER = "no job is known to read this table"
_POSITION = (int, str, str, str, str)


class Owners(Protocol):
    """Who is responsible for a table."""

    def refresh(self) -> None:
        """Read again what may have changed. Blocks. Raises SourceError."""
        ...

    def of_table(self, uuid: str | None, name: TableName) -> str | None:
        """The owner; None if none is known."""
        ...


class EffectLedger:
    """Immutable after construction."""

    def __init__(self, store: HotStore, records: EffectRecords, owners: Owners, measurer: EffectMeasurer) -> None:
        self._store, self._records, self._owners, self._measurer = store, records, owners, measurer

    async def page(self, query: EffectsQuery) -> LedgerPage:
        """Raises InvalidInput (cursor). A source that does not respond becomes a note. O(rows in the range)."""
        waiting = [*self._waiting(to_micros(query.start), to_micros(query.end))]
        notes: list[str] = []
        facts: list[EffectFact] = []
        try:
            with self._store.reads.page():
                facts = await self._store.reads.ask(self._read, to_micros(query.start), to_micros(query.end))
        except SourceError as error:
            notes.append(f"Measured effects could not be read: {placeless(error.detail)}.")
        return self._page(query, self._rows(facts, waiting), facts, notes)

    def _read(self, start: Micros, end: Micros) -> list[EffectFact]:
        self._owners.refresh()
        return self._records.newest(start, end)

    def _rows(self, facts: Sequence[EffectFact], waiting: Sequence[_Waiting]) -> list[LedgerRow]:
        measured = {(fact.table_uuid, fact.operation_id, fact.job_name, fact.measure) for fact in facts}
        rows = [_measured(fact, *self._named(fact.table_uuid, _recorded(fact))) for fact in facts]
        return rows + [
            _unmeasured(each, *self._named(each.operation.table_uuid, each.operation.name))
            for each in waiting
            if (each.operation.table_uuid, each.operation.operation_id, each.job, "duration") not in measured
        ]

    def _waiting(self, start: Micros, end: Micros) -> Iterable[_Waiting]:
        """Operations without a measurement."""
        for effect in self._measurer.awaited:
            if effect.done == 0 and start <= effect.operation.committed_at < end:
                text = (
                    "runs have not been counted yet"
                    if effect.runs_after is None
                    else f"{effect.runs_after} of {MARKS[0]} runs"
                )
                yield _Waiting(effect.operation, effect.job.name, effect.runs_after, text)
        for operation in self._measurer.unread.values():
            if start <= operation.committed_at < end:
                yield _Waiting(operation, "", None, NO_READER)

    def _named(self, uuid: str, recorded: TableName) -> tuple[TableName, str | None]:
        """The table's current name, and its owner; of a table that is gone, the name when it was measured."""
        table = self._store.reading.lake.tables.get(uuid)
        name = (table.name if table else None) or recorded
        return name, self._owners.of_table(uuid, name)

    def _page(
        self, query: EffectsQuery, rows: Sequence[LedgerRow], facts: Sequence[EffectFact], notes: list[str]
    ) -> LedgerPage:
        chosen = [row for row in rows if _matches(row, query)]
        counts = Counter(row.verdict for row in chosen)
        keys = {(row.table_uuid, row.operation_id, row.job_name, row.measure) for row in chosen}
        checked = [fact for fact in facts if (fact.table_uuid, fact.operation_id, fact.job_name, fact.measure) in keys]
        question = cursors.of_effects(query)
        shown = sorted((row for row in chosen if query.verdict in {None, row.verdict}), key=_place)
        if query.cursor:
            at = tuple(cursors.decode(question, query.cursor, _POSITION))
            shown = [row for row in shown if _place(row) > at]
        part, rest = shown[: query.limit], shown[query.limit :]
        return LedgerPage(
            rows=part,
            counts=LedgerCounts(**{verdict: counts[verdict] for verdict in get_args(LedgerVerdict)}),
            coverage=LedgerCoverage(
                cuts=sum(fact.placebo_cuts or 0 for fact in checked),
                covered=sum(fact.placebo_covered or 0 for fact in checked),
            ),
            choices=_choices(rows),
            since=query.start,
            watermark=to_millis(self._store.watermark),
            notes=notes,
            next_cursor=cursors.encode(question, list(_place(part[-1]))) if rest else None,
        )


class _Waiting(NamedTuple):
    operation: Operation
    job: str
    runs_after: int | None
    because: str


def _recorded(fact: EffectFact) -> TableName:
    return TableName(fact.catalog or "", fact.namespace or "", fact.table or "")


def _measured(fact: EffectFact, name: TableName, owner: str | None) -> LedgerRow:
    return LedgerRow(
        **name.plain._asdict(),
        table_uuid=fact.table_uuid,
        operation_id=fact.operation_id,
        snapshot_id=_snapshot_id(fact.operation_id),
        action=fact.action,
        writer=fact.writer,
        owner=owner,
        committed_at=to_millis(fact.committed_at or EPOCH),
        job_name=fact.job_name,
        measure=cast(Measure, fact.measure),
        verdict=cast(LedgerVerdict, fact.verdict or "unknown"),
        because=fact.because or "",
        ratio=fact.ratio,
        ratio_low=fact.ratio_low,
        ratio_high=fact.ratio_high,
        change=fact.change,
        change_low=fact.change_low,
        change_high=fact.change_high,
        runs_before=fact.runs_before,
        runs_after=fact.runs_after,
        more_runs=fact.more_runs,
        controls=fact.controls,
        others=fact.others or [],
        measured_at=to_millis(fact.measured_at),
    )


def _unmeasured(waiting: _Waiting, name: TableName, owner: str | None) -> LedgerRow:
    operation = waiting.operation
    return LedgerRow(
        **name.plain._asdict(),
        table_uuid=operation.table_uuid,
        operation_id=operation.operation_id,
        snapshot_id=_snapshot_id(operation.operation_id),
        action=operation.action,
        writer=operation.writer,
        owner=owner,
        committed_at=to_millis(operation.committed_at),
        job_name=waiting.job,
        measure="duration",
        verdict="no_data_yet",
        because=waiting.because,
        ratio=None,
        ratio_low=None,
        ratio_high=None,
        change=None,
        change_low=None,
        change_high=None,
        runs_before=None,
        runs_after=waiting.runs_after,
        more_runs=None if waiting.runs_after is None else max(0, MARKS[0] - waiting.runs_after),
        controls=None,
        others=[],
        measured_at=None,
    )


def _snapshot_id(operation_id: str) -> str | None:
    return None if operation_id.startswith(EXPIRED_PREFIX) else operation_id


def _matches(row: LedgerRow, query: EffectsQuery) -> bool:
    return (
        query.table in {"", _dotted(row)}
        and query.owner in {"", row.owner}
        and query.action in {"", row.action}
        and query.writer in {"", row.writer}
        and query.job in {"", row.job_name}
        and query.measure in {None, row.measure}
    )


def _place(row: LedgerRow) -> tuple[int, str, str, str, str]:
    return -row.committed_at, row.table_uuid, row.operation_id, row.job_name, row.measure


def _choices(rows: Iterable[LedgerRow]) -> LedgerChoices:
    found = [(_dotted(row), row.owner, row.action, row.writer, row.job_name) for row in rows]
    tables, owners, actions, writers, jobs = (
        sorted({value for value in column if value}) for column in (zip(*found, strict=True) if found else [()] * 5)
    )
    return LedgerChoices(tables=tables, owners=owners, actions=actions, writers=writers, jobs=jobs)


def _dotted(row: LedgerRow) -> str:
    return ".".join(part for part in (row.catalog, row.namespace, row.table) if part)
