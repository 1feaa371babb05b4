"""Pages of the effect ledger: measured effects, and operations that still wait for runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, cast, get_args

from limnograph.domain import cursors
from limnograph.domain.advice.recorded import predicted_of, result_of
from limnograph.domain.answers.effect_ledger import (
    LedgerChoices,
    LedgerCounts,
    LedgerCoverage,
    LedgerPage,
    LedgerPlan,
    LedgerRow,
    LedgerVerdict,
    Measure,
)
from limnograph.domain.errors import SourceError
from limnograph.domain.facts.effects import MARKS, EffectFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.queries import EffectsQuery
from limnograph.domain.secrecy import placeless
from limnograph.domain.time import EPOCH, MICROS_PER_SECOND, Micros, to_micros, to_millis
from limnograph.services.effects.measuring import EffectMeasurer
from limnograph.services.effects.operations import EXPIRED_PREFIX, Operation
from limnograph.services.effects.promises import OperationPlans
from limnograph.services.effects.records import EffectRecords
from limnograph.services.lake.store import HotStore

NO_READER = "no job is known to read this table"
CONFIRMED_WITHIN = 86_400 * MICROS_PER_SECOND
"""How long after its commit the result of a plan may be confirmed, microseconds."""
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
    """`confirmed`: transitions of plans in a span at which a table confirmed their result. Immutable after
    construction.
    """

    def __init__(
        self,
        store: HotStore,
        records: EffectRecords,
        owners: Owners,
        measurer: EffectMeasurer,
        confirmed: Callable[[Micros, Micros], Sequence[PlanFact]] = lambda _start, _end: (),
    ) -> None:
        self._store, self._records, self._owners, self._measurer = store, records, owners, measurer
        self._confirmed = confirmed

    async def page(self, query: EffectsQuery) -> LedgerPage:
        """Raises InvalidInput (cursor). A source that does not respond becomes a note. O(rows in the range)."""
        waiting = [*self._waiting(to_micros(query.start), to_micros(query.end))]
        notes: list[str] = []
        facts: list[EffectFact] = []
        plans = OperationPlans(())
        try:
            with self._store.reads.page():
                facts, plans = await self._store.reads.ask(self._read, to_micros(query.start), to_micros(query.end))
        except SourceError as error:
            notes.append(f"Measured effects could not be read: {placeless(error.detail)}.")
        return self._page(query, self._rows(facts, waiting, plans), facts, notes)

    def _read(self, start: Micros, end: Micros) -> tuple[list[EffectFact], OperationPlans]:
        self._owners.refresh()
        return self._records.newest(start, end), OperationPlans(self._confirmed(start, Micros(end + CONFIRMED_WITHIN)))

    def _rows(self, facts: Sequence[EffectFact], waiting: Sequence[_Waiting], plans: OperationPlans) -> list[LedgerRow]:
        measured = {(fact.table_uuid, fact.operation_id, fact.job_name, fact.measure) for fact in facts}
        rows = [
            _measured(fact, *self._named(fact.table_uuid, _recorded(fact)), _plan(plans.of(*_operation_of(fact))))
            for fact in facts
        ]
        return rows + [
            _unmeasured(
                each,
                *self._named(each.operation.table_uuid, each.operation.name),
                _plan(plans.of(each.operation.table_uuid, each.operation.operation_id, each.operation.committed_at)),
            )
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


def _operation_of(fact: EffectFact) -> tuple[str, str, Micros]:
    return fact.table_uuid, fact.operation_id, fact.committed_at or EPOCH


def _plan(fact: PlanFact | None) -> LedgerPlan | None:
    if fact is None:
        return None
    return LedgerPlan(
        plan_id=fact.plan_id,
        attempt=fact.attempt,
        rule=fact.rule or "",
        promised=predicted_of(fact),
        confirmed=result_of(fact),
        currency=fact.currency,
    )


def _measured(fact: EffectFact, name: TableName, owner: str | None, plan: LedgerPlan | None) -> LedgerRow:
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
        plan=plan,
    )


def _unmeasured(waiting: _Waiting, name: TableName, owner: str | None, plan: LedgerPlan | None) -> LedgerRow:
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
        plan=plan,
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
