"""The advice of all tables that were evaluated, as one immutable value: the queue by value per cost, and by table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from limnograph.analysis.advice.facts import ReadLoad
from limnograph.analysis.advice.own_retention import OwnRetention
from limnograph.analysis.advice.readers import RetainedRef
from limnograph.domain.advice.comparison import TableLoad
from limnograph.domain.advice.document import AdvisedTable, Recommendation
from limnograph.domain.time import Millis

_LEAST_COST = 0.01


class TableAdvice(NamedTuple):
    """Advice of one table. `location`: the metadata file that was read, with its `retention` and `refs`. `writer`,
    `job`: who writes the files that the recommendations are about; None: not known. `load`: what its scans open;
    `reads`: how often it is read.
    """

    advised: AdvisedTable
    location: str
    evaluated_at: Millis
    retention: OwnRetention = OwnRetention()
    refs: Sequence[RetainedRef] = ()
    writer: str | None = None
    job: str | None = None
    load: TableLoad = TableLoad()
    reads: ReadLoad | None = None

    @property
    def counts_runs(self) -> bool:
        """Whether its reads are those of job runs, because no engine reports scans."""
        return self.reads is not None and self.reads.basis == "runs"


class QueuedPlan(NamedTuple):
    """A recommendation with its place in the queue, from 1."""

    rank: int
    table: TableAdvice
    recommendation: Recommendation


class AdviceBoard:
    """`tables`: advice by table uuid. `failed`: why a table could not be evaluated, by uuid."""

    def __init__(
        self, tables: Mapping[str, TableAdvice] | None = None, failed: Mapping[str, str] | None = None, version: int = 0
    ) -> None:
        self.tables, self.failed, self.version = dict(tables or {}), dict(failed or {}), version

    def with_table(self, uuid: str, advice: TableAdvice) -> AdviceBoard:
        """The board with new advice of one table."""
        failed = {key: why for key, why in self.failed.items() if key != uuid}
        return AdviceBoard({**self.tables, uuid: advice}, failed, self.version + 1)

    def with_failure(self, uuid: str, why: str) -> AdviceBoard:
        """The board with a table that could not be evaluated; its last advice stays."""
        return AdviceBoard(self.tables, {**self.failed, uuid: why}, self.version + 1)

    def without(self, uuids: frozenset[str]) -> AdviceBoard:
        """The board without tables that are gone."""
        tables = {uuid: advice for uuid, advice in self.tables.items() if uuid not in uuids}
        failed = {uuid: why for uuid, why in self.failed.items() if uuid not in uuids}
        return AdviceBoard(tables, failed, self.version + 1)

    @cached_property
    def counting_runs(self) -> int:
        """Tables whose reads are those of job runs. O(n), once a version."""
        return sum(each.counts_runs for each in self.tables.values())

    @cached_property
    def queue(self) -> list[QueuedPlan]:
        """All recommendations: those of the writer first within a table, tables by their best value per cost. Plans of
        unknown value follow, those with a finding first. O(n log n), once a version.
        """
        every = [(table, plan) for table in self.tables.values() for plan in table.advised.recommendations]
        every.sort(key=lambda each: _order(*each))
        return [QueuedPlan(rank, table, plan) for rank, (table, plan) in enumerate(every, 1)]


def _order(table: TableAdvice, plan: Recommendation) -> tuple[float, int, int, str, str]:
    saved, cost = plan.value.money_per_month, plan.predicted.cost
    value = 0.0 if saved is None else saved / max(cost.mid if cost else 0.0, _LEAST_COST)
    severity = {"critical": 0, "warning": 1, "info": 2}
    because = min(
        (severity.get(each.severity, 3) for each in table.advised.findings if each.code in plan.because), default=3
    )
    return (-value, because, -(plan.predicted.files_in or 0), table.advised.table or "", plan.plan_id)
