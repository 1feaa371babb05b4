"""Pages of recommended maintenance: the queue of the fleet and the advice of one table, from memory.

Cost: O(rows of a page), with filters O(plans); order, sums and owners are computed once for each version of the board.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from limnograph.analysis.advice.words import lasting
from limnograph.domain import cursors
from limnograph.domain.advice.document import AdvisedTable, PlanGuard, Predicted, Recommendation
from limnograph.domain.advice.pages import (
    MaintenanceChoices,
    MaintenanceCounts,
    MaintenancePage,
    MaintenanceRow,
    MaintenanceTotals,
    PlanRecord,
    TableMaintenance,
)
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.states import OPEN
from limnograph.domain.queries import MaintenanceQuery
from limnograph.domain.time import EPOCH, MICROS_PER_SECOND, Millis, to_micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.services.advice.board import AdviceBoard, QueuedPlan, TableAdvice
from limnograph.services.advice.evaluator import AdviceEvaluator
from limnograph.services.advice.plan_queue import PlanQueue, RecordedPlan, recorded_row
from limnograph.services.lake.store import HotStore
from limnograph.services.notes.owners import OwnerDirectory
from limnograph.services.plans.plan_log import PlanLog
from limnograph.services.table.histories import TableHistories

_POSITION = (int,)
PLANS_SHOWN = 50
NOT_YET = "the table has not been evaluated yet"


class MaintenancePages:
    """`_known` is replaced whole, and a race computes the same value twice."""

    def __init__(
        self,
        store: HotStore,
        evaluator: AdviceEvaluator,
        plans: PlanLog,
        owners: OwnerDirectory,
        clock: Clock,
        *,
        queue: PlanQueue,
    ) -> None:
        self._known: _QueueView | None = None
        self._queue = queue
        self._store, self._evaluator, self._plans, self._owners = store, evaluator, plans, owners
        self._tables, self._prices, self._clock = TableHistories(store, clock), evaluator.prices, clock

    @property
    def board(self) -> AdviceBoard:
        """The advice of all tables."""
        return self._evaluator.board

    def page(self, query: MaintenanceQuery) -> MaintenancePage:
        """The queue. Raises InvalidInput (cursor). O(plans) with filters, else O(rows of the page). Blocks if it asks
        for states that are not open.
        """
        view = self._view()
        chosen, others, sums = view.queue, view.others, view.sums
        if query.states:
            chosen, others = self._queue.of(view.board, query.states)
            sums = _sums([*view.board.tables.values()], chosen)
        if query.text or query.owner:
            tables = [each for each in view.board.tables.values() if view.is_wanted(each, query)]
            wanted = {id(each) for each in tables}
            chosen = [each for each in chosen if id(each.table) in wanted]
            others = [each for each in others if self._is_wanted(each.fact, query)]
            sums = _sums(tables, chosen)
        if query.rule or query.action:
            chosen = [each for each in chosen if _matches(each.recommendation, query)]
            others = [each for each in others if _matches(each.fact, query)]
            sums = sums.of(chosen)
        question = cursors.of_maintenance(query)
        plans: list[QueuedPlan | RecordedPlan] = [*chosen, *others]
        first = 0
        if query.cursor:
            (after,) = cursors.decode(question, query.cursor, _POSITION)
            first = bisect_right(plans, int(after), key=lambda each: each.rank)
        part, rest = plans[first : first + query.limit], plans[first + query.limit :]
        return MaintenancePage(
            rows=[
                self._row(each, view) if isinstance(each, QueuedPlan) else recorded_row(each, self._owner_of(each.fact))
                for each in part
            ],
            counts=sums.counts,
            totals=sums.totals,
            choices=view.choices,
            currency=self._prices.currency,
            prices_as_of=self._prices.as_of,
            prices_are_default=self._prices.is_default,
            evaluated_at=sums.evaluated_at,
            watermark=to_millis(self._store.watermark),
            notes=self._notes(view.board),
            next_cursor=cursors.encode(question, [part[-1].rank]) if rest else None,
        )

    def table(self, name: TableName) -> TableMaintenance:
        """The advice of one table. Blocks. Raises NotFound, SourceError."""
        history = self._tables.now(name)
        board = self.board
        found, problem = board.tables.get(history.uuid), board.failed.get(history.uuid)
        if found is None and history.uuid:
            self._evaluator.want(history.uuid)
        plans = self._plans.of_table(history.uuid)[:PLANS_SHOWN]
        return TableMaintenance(
            advice=self._fresh(found) if found else None,
            evaluated_at=found.evaluated_at if found else None,
            writer=found.writer if found else None,
            writer_job=found.job if found else None,
            problem=problem or (None if found else NOT_YET),
            prices_are_default=self._prices.is_default,
            plans=list(map(_record, plans)),
            notes=[f"The last evaluation failed: {problem}."] if found and problem else [],
        )

    def _view(self) -> _QueueView:
        """What all pages of one board share; computed once for each board and each change of owners."""
        board, version = self.board, (self._owners.version, self._queue.version)
        if self._known is None or (self._known.board, self._known.version) != (board, version):
            self._known = _queue_view(board, version, self._owners, self._queue.of(board, OPEN))
        return self._known

    def _is_wanted(self, fact: PlanFact, query: MaintenanceQuery) -> bool:
        """Whether a recorded plan matches the filters of tables."""
        if query.text and query.text.lower() not in f"{fact.catalog}.{fact.namespace}.{fact.table}".lower():
            return False
        return not query.owner or self._owner_of(fact) == query.owner

    def _owner_of(self, fact: PlanFact) -> str | None:
        name = TableName(fact.catalog or "", fact.namespace or "", fact.table or "")
        return self._owners.of_table(fact.table_uuid, name)

    def _row(self, each: QueuedPlan, view: _QueueView) -> MaintenanceRow:
        advised = each.table.advised
        seq, fact = self._queue.recorded(each.recommendation.plan_id)
        return MaintenanceRow(
            catalog=advised.catalog or "",
            namespace=advised.namespace or "",
            table=advised.table or "",
            table_uuid=advised.table_uuid or "",
            owner=view.owners[id(each.table)],
            format=advised.format or "",
            rank=each.rank,
            evaluated_at=each.table.evaluated_at,
            recommendation=self._with_commits(each.recommendation, each.table),
            state=self._queue.state(each.recommendation.plan_id),
            seq=seq,
            arguments_sha256=fact.arguments_sha256 if fact else None,
            entered_at=to_millis(fact.at) if fact else None,
            actor=fact.actor if fact else None,
        )

    def _fresh(self, table: TableAdvice) -> AdvisedTable:
        plans = [self._with_commits(plan, table) for plan in table.advised.recommendations]
        return replace(table.advised, recommendations=plans)

    def _with_commits(self, plan: Recommendation, table: TableAdvice) -> Recommendation:
        """The plan with a guard that does not hold if the table was committed to since the plan was made."""
        lake, uuid = self._store.reading.lake, table.advised.table_uuid or ""
        if uuid not in lake.tables:
            return plan
        moves = lake.histories[uuid].moves
        since = len(moves) - int(np.searchsorted(moves, to_micros(table.evaluated_at), "right"))
        if not since:
            return plan
        ago = lasting(max(0, (self._clock.now() - int(moves[-1])) / MICROS_PER_SECOND))
        commits = "One commit" if since == 1 else f"{since:,} commits"
        text = (
            f"{commits} since the plan was made, the last {ago} ago: a rewrite beside a writer may fail, or let the "
            "writer fail. The plan is made again within the hour."
        )
        return replace(plan, guards=[*plan.guards, PlanGuard(code="unchanged", ok=False, text=text)])

    def _notes(self, board: AdviceBoard) -> list[str]:
        waiting = len(self._store.reading.lake.tables) - len(board.tables) - len(board.failed)
        notes = []
        if waiting > 0:
            notes.append(f"{waiting:,} tables have not been evaluated yet.")
        if board.failed:
            notes.append(f"{len(board.failed):,} tables could not be evaluated.")
        return notes


_Version = tuple[tuple[int, int], int]


class _Sums(NamedTuple):
    """Numbers over the tables that match."""

    counts: MaintenanceCounts
    totals: MaintenanceTotals
    evaluated_at: Millis | None

    def of(self, plans: Sequence[QueuedPlan]) -> _Sums:
        """The same for fewer plans of these tables."""
        saved, cost = _saved(plans), _cost(plans)
        return self._replace(totals=replace(self.totals, saved_per_month=saved, cost=cost))


class _QueueView(NamedTuple):
    """A board with the owners of its tables, by identity of the value, and the open plans."""

    board: AdviceBoard
    version: _Version
    owners: Mapping[int, str | None]
    queue: Sequence[QueuedPlan]
    others: Sequence[RecordedPlan]
    choices: MaintenanceChoices
    sums: _Sums

    def is_wanted(self, table: TableAdvice, query: MaintenanceQuery) -> bool:
        """Whether a table matches the filters of tables."""
        if query.text and query.text.lower() not in _name(table.advised).lower():
            return False
        return not query.owner or self.owners[id(table)] == query.owner


def _queue_view(
    board: AdviceBoard,
    version: _Version,
    directory: OwnerDirectory,
    open_plans: tuple[Sequence[QueuedPlan], Sequence[RecordedPlan]],
) -> _QueueView:
    queue, others = open_plans
    owners = {id(each): _owner(each.advised, directory) for each in board.tables.values()}
    plans, facts = [each.recommendation for each in queue], [each.fact for each in others]
    choices = MaintenanceChoices(
        rules=sorted({*(plan.rule for plan in plans), *(fact.rule for fact in facts if fact.rule)}),
        actions=sorted({*(plan.action for plan in plans), *(fact.action for fact in facts if fact.action)}),
        owners=sorted({owner for owner in owners.values() if owner}),
    )
    sums = _sums([*board.tables.values()], queue)
    return _QueueView(board, version, owners, queue, others, choices, sums)


def _owner(advised: AdvisedTable, directory: OwnerDirectory) -> str | None:
    name = TableName(advised.catalog or "", advised.namespace or "", advised.table or "")
    return directory.of_table(advised.table_uuid, name)


def _sums(tables: Sequence[TableAdvice], plans: Sequence[QueuedPlan]) -> _Sums:
    counts = MaintenanceCounts(
        recommended=len(plans),
        not_worth=sum(len(each.advised.not_worth) for each in tables),
        not_known=sum(len(each.advised.not_known) for each in tables),
    )
    return _Sums(counts, _totals(tables, plans), min((each.evaluated_at for each in tables), default=None))


def _matches(plan: Recommendation | PlanFact, query: MaintenanceQuery) -> bool:
    return (not query.rule or plan.rule == query.rule) and (not query.action or plan.action == query.action)


def _name(advised: AdvisedTable) -> str:
    return f"{advised.catalog}.{advised.namespace}.{advised.table}"


def _totals(tables: Sequence[TableAdvice], plans: Sequence[QueuedPlan]) -> MaintenanceTotals:
    held = [each.advised.bytes for each in tables]
    monthly = [each.advised.cost_per_month for each in tables]
    return MaintenanceTotals(
        saved_per_month=_saved(plans),
        cost=_cost(plans),
        held_bytes=_whole(each.held for each in held if each),
        cost_per_month=_sum(_known(each.storage, each.held, each.requests) for each in monthly if each),
    )


def _saved(plans: Sequence[QueuedPlan]) -> float | None:
    return _sum(each.recommendation.value.money_per_month for each in plans)


def _cost(plans: Sequence[QueuedPlan]) -> float | None:
    return _sum(cost.mid for each in plans if (cost := each.recommendation.predicted.cost))


def _known(*parts: float | None) -> float | None:
    return _sum(parts)


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _whole(values: Iterable[int]) -> int | None:
    known = list(values)
    return sum(known) if known else None


def _record(fact: PlanFact) -> PlanRecord:
    return PlanRecord(
        plan_id=fact.plan_id,
        action=fact.action or "",
        rule=fact.rule or "",
        state=fact.state or "",
        at=to_millis(fact.at if fact.at is not None else EPOCH),
        predicted=Predicted(
            files_in=fact.files_in,
            files_out=fact.files_out,
            bytes_in=fact.bytes_in,
            bytes_out=fact.bytes_out,
            bytes_freed=fact.bytes_freed,
        ),
        seq=fact.seq,
        arguments_sha256=fact.arguments_sha256,
        actor=fact.actor,
        problem=fact.problem,
    )
