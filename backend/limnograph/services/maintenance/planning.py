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
    """An opened table with all plans that its policy may run, in the order in which they run. `listed`: unreferenced
    files by location; None: they were not listed.
    """

    opened: OpenedTable
    reading: AdviceReading
    judged: JudgedTable
    plans: list[ExactPlan]
    unplanned: list[NotWorth | NotKnown]
    listed: Mapping[str, UnreferencedFile] | None


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
        listed = None
        if listing and opened.format == "iceberg" and limits.orphan_age_ms is not None and rule.orphans is not None:
            unplanned = [each for each in unplanned if each.rule != orphan_plans.RULE]
            try:
                files = self._maintainer.unreferenced(opened, to_millis(now) - limits.orphan_age_ms)
            except (MetadataError, SourceError) as error:
                unplanned.append(NotKnown(rule=orphan_plans.RULE, missing=f"a listing of its folder: {error}"))
            else:
                listed = {each.location: each for each in files}
                found = orphan_plans.orphan_plan(
                    *(reading.metadata, files, self._prices),
                    reading.held.bytes.live if reading.held else None,
                    limits.freed_bytes,
                )
                if isinstance(found, PlannedAction):
                    plans.append(ExactPlan(plan_id(opened.table_uuid, found), found, None))
                elif found is not None:
                    unplanned.append(found)
        plans.sort(key=lambda each: place_of(each.plan.rule))
        return PlannedTable(opened, reading, judged, plans, unplanned, listed)

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
        due = DueTable(
            catalog=opened.name.catalog,
            namespace=opened.name.namespace,
            table=opened.name.table,
            table_uuid=opened.table_uuid,
            metadata_location=opened.metadata_location,
            snapshot_ids=[],
            format=opened.format,
        )
        reading = self._source.read(due, to_millis(now))
        if reading.metadata.table_uuid != opened.table_uuid or reading.metadata.head_id != opened.head_id:
            raise MetadataError("moved", "the opened table and its metadata file differ")
        return reading

    def _judged(self, opened: OpenedTable, reading: AdviceReading, limits: PlanLimits) -> JudgedTable:
        return advise_table(reading, self._known(opened), self._prices, limits)


def _exact(judged: JudgedTable) -> list[ExactPlan]:
    """Plans of rules that can be executed."""
    found = []
    for advised in judged.advised.recommendations:
        plan = judged.plans.get(advised.plan_id)
        if plan is not None and PROCEDURES.get(plan.rule) == plan.action:
            found.append(ExactPlan(advised.plan_id, plan, advised.scope.where, advised.statements.spark))
    return found
