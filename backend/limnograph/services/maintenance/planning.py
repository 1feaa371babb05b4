"""Plans of the executor: its own reading of the opened metadata, its own rules, its own policy."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from limnograph.analysis.advice.expire import RULE as EXPIRE
from limnograph.analysis.advice.facts import PlanLimits
from limnograph.analysis.advice.planned import PlannedAction, plan_id
from limnograph.analysis.maintenance.limits import limits_of
from limnograph.domain.advice.document import NotKnown, NotWorth
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.actions import PROCEDURES, place_of
from limnograph.domain.maintenance.policy import MaintenancePolicy, PolicyRule
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.time import Micros, to_millis
from limnograph.ports.advice_source import AdviceSource
from limnograph.ports.table_maintainer import OpenedTable, TableMaintainer, UnreferencedFile
from limnograph.services.advice.table_advice import JudgedTable, KnownOfTable, advise_table
from limnograph.services.maintenance import orphan_plans
from limnograph.services.maintenance.narrowing import (
    approved_arguments,
    is_same,
    narrowed_expiry,
    narrowed_reading,
    narrowed_removal,
)


class ExactPlan(NamedTuple):
    """A plan of the executor. `where`: condition of Spark that selects its partitions."""

    plan_id: str
    plan: PlannedAction
    where: str | None
    statement: str | None = None


class PlannedTable(NamedTuple):
    """An opened table with all plans that its policy may run, in the order in which they run.

    listed         unreferenced files by location; None: they were not listed
    older_than_ms  age from which the policy lets unreferenced files be deleted, as an instant
    """

    opened: OpenedTable
    reading: AdviceReading
    judged: JudgedTable
    plans: list[ExactPlan]
    unplanned: list[NotWorth | NotKnown]
    listed: Mapping[str, UnreferencedFile] | None = None
    older_than_ms: int | None = None


class MaintenancePlanner:
    """Immutable after construction; blocks.

    known  what is known of a table besides its own files
    """

    def __init__(
        self,
        maintainer: TableMaintainer,
        source: AdviceSource,
        policy: MaintenancePolicy,
        known: Callable[[OpenedTable], KnownOfTable],
        prices: Prices,
    ) -> None:
        self._maintainer, self._source, self._policy = maintainer, source, policy
        self._known, self._prices = known, prices

    def plan(
        self, opened: OpenedTable, rule: PolicyRule, now: Micros, *, listing: bool = True, reading: AdviceReading | None = None
    ) -> PlannedTable:
        """All plans at the opened metadata. `listing`: whether unreferenced files are listed if the policy has a rule for
        them. `reading`: of the same metadata file. Raises MetadataError, SourceError.
        """
        reading = reading or self._read(opened, now)
        limits = limits_of(self._policy, rule)
        judged = self._judged(opened, reading, limits)
        unplanned: list[NotWorth | NotKnown] = [*judged.advised.not_worth, *judged.advised.not_known]
        plans = _exact(judged)
        table = PlannedTable(opened, reading, judged, plans, unplanned)
        if listing and opened.format == "iceberg" and limits.orphan_age_ms is not None and rule.orphans is not None:
            table = self._with_listing(table, to_millis(now) - limits.orphan_age_ms, limits)
        table.plans.sort(key=lambda each: place_of(each.plan.rule))
        return table

    def read_at(self, opened: OpenedTable, metadata_location: str, now: Micros) -> AdviceReading:
        """The table at one of its earlier metadata files. Raises MetadataError, SourceError."""
        return self._source.read(due_at(opened, metadata_location), to_millis(now))

    def _with_listing(self, table: PlannedTable, older_than_ms: int, limits: PlanLimits) -> PlannedTable:
        unplanned = [each for each in table.unplanned if each.rule != orphan_plans.RULE]
        try:
            files = self._maintainer.unreferenced(table.opened, older_than_ms)
        except (MetadataError, SourceError) as error:
            unplanned.append(NotKnown(rule=orphan_plans.RULE, missing=f"a listing of its folder: {error}"))
            return table._replace(unplanned=unplanned)
        held = table.reading.held
        live, metadata = held.bytes.live if held else None, table.reading.metadata
        found = orphan_plans.orphan_plan(metadata, files, self._prices, live, limits.freed_bytes)
        plans = list(table.plans)
        if isinstance(found, PlannedAction):
            plans.append(ExactPlan(plan_id(table.opened.table_uuid, found), found, None))
        elif found is not None:
            unplanned.append(found)
        listed = {each.location: each for each in files}
        return PlannedTable(table.opened, table.reading, table.judged, plans, unplanned, listed, older_than_ms)

    def approved(self, table: PlannedTable, fact: PlanFact, rule: PolicyRule) -> ExactPlan | None:
        """The plan that was approved, as the executor plans it itself; None: it is no longer due, or never was. Only its
        id, digest and, once they match the digest, its arguments are used; they can only leave something out.
        """
        same = next((each for each in table.plans if each.plan_id == fact.plan_id), None)
        if same is not None:
            return same if is_same(fact, table.opened.table_uuid, same.plan) else None
        arguments = approved_arguments(fact)
        if arguments is None:
            return None
        own = next((each.plan for each in table.plans if each.plan.rule == EXPIRE), None)
        removal = next((each.plan for each in table.plans if each.plan.rule == orphan_plans.RULE), None)
        candidates = [
            narrowed_expiry(own, arguments) if own else None,
            narrowed_removal(arguments, removal, lambda paths: self._removal(table, paths)) if removal else None,
        ]
        for plan in candidates:
            if plan is not None and is_same(fact, table.opened.table_uuid, plan):
                return ExactPlan(fact.plan_id, plan, None)
        narrowed = narrowed_reading(table.reading, arguments)
        if narrowed is None:
            return None
        judged = self._judged(table.opened, narrowed, limits_of(self._policy, rule))
        same = next((each for each in _exact(judged) if each.plan_id == fact.plan_id), None)
        # Without a condition, the engine would rewrite what the narrowed reading left out.
        is_exact = same is not None and same.plan.partitions and is_same(fact, table.opened.table_uuid, same.plan)
        return same if is_exact else None

    def _removal(self, table: PlannedTable, paths: Collection[str]) -> PlannedAction:
        files = [each for path, each in (table.listed or {}).items() if path in paths]
        return orphan_plans.removal_of(table.reading.metadata, files, self._prices)

    def _read(self, opened: OpenedTable, now: Micros) -> AdviceReading:
        reading = self._source.read(due_at(opened), to_millis(now))
        if reading.metadata.table_uuid != opened.table_uuid or reading.metadata.head_id != opened.head_id:
            raise MetadataError("moved", "the opened table and its metadata file differ")
        return reading

    def _judged(self, opened: OpenedTable, reading: AdviceReading, limits: PlanLimits) -> JudgedTable:
        return advise_table(reading, self._known(opened), self._prices, limits)


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
