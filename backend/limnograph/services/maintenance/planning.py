"""Plans of the executor: its own reading of the opened metadata, its own rules, its own policy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from limnograph.analysis.advice.facts import PlanLimits
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.maintenance.limits import limits_of, retain_of
from limnograph.domain.advice.document import NotKnown, NotWorth
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.actions import PROCEDURES, place_of
from limnograph.domain.maintenance.policy import MaintenancePolicy, PolicyRule
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Micros, Millis, to_millis
from limnograph.ports.advice_source import AdviceSource
from limnograph.ports.table_maintainer import OpenedTable, TableMaintainer, UnreferencedFile
from limnograph.services.advice.table_advice import JudgedTable, advise_table
from limnograph.services.maintenance.known import TableKnowledge, TableSurroundings
from limnograph.services.maintenance.narrowing import (
    approved_arguments,
    is_same,
    narrowed_expiry,
    narrowed_reading,
    oldest_files,
)

EXPIRE, ORPHANS = "expire", "orphans"


class ExactPlan(NamedTuple):
    """A plan of the executor. `where`: condition of Spark that selects its partitions."""

    plan_id: str
    plan: PlannedAction
    where: str | None = None
    statement: str | None = None


class PlannedTable(NamedTuple):
    """An opened table with all plans of its rules, in the order in which they run.

    listed         unreferenced files; None: they were not listed
    unlisted       why they were not, if they should have been
    older_than_ms  instant before which unreferenced files must have been modified
    """

    opened: OpenedTable
    reading: AdviceReading
    known: TableSurroundings
    judged: JudgedTable
    plans: list[ExactPlan]
    unplanned: Sequence[NotWorth | NotKnown]
    listed: Sequence[UnreferencedFile] | None = None
    unlisted: str | None = None
    older_than_ms: Millis | None = None


class MaintenancePlanner:
    """Immutable after construction; blocks. `knowledge`: what is known of tables besides their own files."""

    def __init__(
        self,
        maintainer: TableMaintainer,
        source: AdviceSource,
        policy: MaintenancePolicy,
        knowledge: TableKnowledge,
        *,
        prices: Prices,
    ) -> None:
        self._maintainer, self._source, self._policy = maintainer, source, policy
        self._knowledge, self._prices = knowledge, prices

    def plan(self, opened: OpenedTable, rule: PolicyRule, now: Micros, *, listing: bool = True) -> PlannedTable:
        """All plans at the opened metadata. `listing`: whether unreferenced files are listed, if the policy may remove
        them. Raises MetadataError, SourceError.
        """
        reading = self._source.read(due_at(opened), to_millis(now), retain_of(rule))
        if reading.metadata.table_uuid != opened.table_uuid or reading.metadata.head_id != opened.head_id:
            raise MetadataError("moved", "the opened table and its metadata file differ")
        known, limits = self._knowledge.of(opened, reading, rule), limits_of(self._policy, rule)
        older_than_ms, listed, unlisted = None, None, None
        if listing and limits.orphan_age_ms is not None and opened.format == "iceberg":
            older_than_ms = to_millis(now) - limits.orphan_age_ms
            try:
                listed = self._maintainer.unreferenced(opened, older_than_ms)
            except (MetadataError, SourceError) as error:
                unlisted = str(error)
        judged = self._judged(reading, known, limits, listed)
        plans = sorted(_exact(judged), key=lambda each: place_of(each.plan.rule))
        unplanned: list[NotWorth | NotKnown] = [*judged.advised.not_worth, *judged.advised.not_known]
        return PlannedTable(opened, reading, known, judged, plans, unplanned, listed, unlisted, older_than_ms)

    def read_at(self, opened: OpenedTable, metadata_location: str, now: Micros) -> AdviceReading:
        """The table at one of its earlier metadata files. Raises MetadataError, SourceError."""
        return self._source.read(due_at(opened, metadata_location), to_millis(now))

    def approved(self, table: PlannedTable, fact: PlanFact, rule: PolicyRule) -> ExactPlan | None:
        """The plan that was approved, as the executor plans it itself; None: it is no longer due, or never was. Of the
        recorded plan, only the id, the digest and, if they match the digest, the arguments are used; these can only
        leave something out.
        """
        uuid = table.opened.table_uuid
        candidates = [each for each in table.plans if each.plan_id == fact.plan_id]
        arguments = approved_arguments(fact)
        if not candidates and arguments is not None:
            own = next((each.plan for each in table.plans if each.plan.rule == EXPIRE), None)
            expiry = narrowed_expiry(own, arguments) if own else None
            candidates += [ExactPlan(fact.plan_id, expiry)] if expiry else []
            limits = limits_of(self._policy, rule)
            if table.listed is not None and (files := oldest_files(table.listed, arguments)):
                candidates += _exact(self._judged(table.reading, table.known, limits, files))
            if (narrowed := narrowed_reading(table.reading, arguments)) is not None:
                # Without a condition, the engine would rewrite what the narrowed reading left out.
                found = _exact(self._judged(narrowed, table.known, limits, None))
                candidates += [each for each in found if each.plan.partitions]
        return next((each for each in candidates if is_same(fact, uuid, each.plan)), None)

    def _judged(
        self,
        reading: AdviceReading,
        known: TableSurroundings,
        limits: PlanLimits,
        listed: Sequence[UnreferencedFile] | None,
    ) -> JudgedTable:
        return advise_table(reading, known.advice._replace(unreferenced=listed), self._prices, limits)


def due_at(opened: OpenedTable, metadata_location: str | None = None) -> DueTable:
    """A request for the table at a metadata file; None: the opened one."""
    return DueTable(
        catalog=opened.name.catalog,
        namespace=opened.name.namespace,
        table=opened.name.table,
        table_uuid=opened.table_uuid,
        metadata_location=metadata_location or opened.metadata_location,
        snapshot_ids=[],
        format=opened.format,
    )


def _exact(judged: JudgedTable) -> list[ExactPlan]:
    """Plans of rules that can be executed."""
    found = []
    for advised in judged.advised.recommendations:
        plan = judged.plans.get(advised.plan_id)
        if plan is not None and PROCEDURES.get(plan.rule) == plan.action:
            found.append(ExactPlan(advised.plan_id, plan, advised.scope.where, advised.statements.spark))
    return found
