"""Parts that plans of rewrites share: which groups a plan takes up, its arguments, and whether it pays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from limnograph.analysis.advice.estimates import CORES, GB, FileLayout, bytes_out_bounds, rewrite_seconds, total
from limnograph.analysis.advice.facts import AdviceFacts
from limnograph.analysis.advice.guards import quiet_guard, replace_guard
from limnograph.analysis.advice.money import payback_days, rewrite_cost, rewrite_saving
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.advice.statements.selection import MOST_CONJUNCTIONS
from limnograph.analysis.advice.stating import is_exact
from limnograph.analysis.advice.words import money
from limnograph.domain.advice.document import (
    MEASURED,
    Estimate,
    NotKnown,
    NotWorth,
    PlanGuard,
    PlanValue,
    Predicted,
    SavedTime,
)
from limnograph.domain.advice.survey import GroupPlan, SurveyedPartition
from limnograph.domain.time import Micros

MOST_PARTITIONS = MOST_CONJUNCTIONS
"""Partitions of one plan: as many as a condition may name. The next plan takes up the others."""
LEAST_SAVED_PER_MONTH = 1.0
"""In the currency of the prices: what costs a person's attention should save more."""
MOST_PAYBACK_DAYS = 30
UNPRICED = frozenset({"compact_deletes"})
"""Rules whose value is not the number of files: what applying deletes costs a reader is unknown until measured."""
CONDITION = (
    "a condition that selects only these partitions and no other file; a plan for the whole table has to wait until no "
    "partition was written within the quiet time"
)


class ChosenGroup(NamedTuple):
    """A group of files with the rewrite that a plan would do there."""

    partitions: Sequence[SurveyedPartition]
    written_at: Micros | None
    plan: GroupPlan


class ChosenGroups(NamedTuple):
    """Groups of a plan. `whole`: the plan needs no condition. `hot`: partitions that are left out."""

    groups: Sequence[ChosenGroup]
    whole: bool
    hot: int

    def sum(self, name: str) -> int:
        """Sum of a number of all groups."""
        return sum(getattr(group.plan, name) for group in self.groups)

    def bytes_out(self, layout: FileLayout) -> Estimate:
        """Bytes that are left."""
        return total([bytes_out_bounds(group.plan, layout) for group in self.groups])

    @property
    def written_at(self) -> Micros | None:
        """The latest commit to one of the groups."""
        return max((at for group in self.groups if (at := group.written_at) is not None), default=None)


def arguments(selection: ChosenGroups, action: str, options: Mapping[str, str]) -> dict[str, Any]:
    """Exact arguments: partitions with the digest of their files, and options."""
    return {
        "action": action,
        "options": dict(sorted(options.items())),
        "groups": [
            {
                "partitions": [[each.spec_id, each.text] for each in group.partitions],
                "files": group.plan.files,
                "bytes": group.plan.bytes,
                "files_sha256": group.plan.sha256,
            }
            for group in sorted(selection.groups, key=_place)
        ],
        "whole_table": selection.whole,
    }


def _place(group: ChosenGroup) -> list[tuple[int, str]]:
    return [(each.spec_id, each.text) for each in group.partitions]


def scope_of(selection: ChosenGroups) -> list[SurveyedPartition]:
    """Partitions that a statement must select; empty: no condition is needed."""
    return [] if selection.whole else [each for group in selection.groups for each in group.partitions]


def predicted(facts: AdviceFacts, selection: ChosenGroups) -> Predicted:
    """Files, bytes, seconds and cost of a rewrite."""
    files_in, files_out, bytes_in = selection.sum("files"), selection.sum("outputs"), selection.sum("bytes")
    seconds = rewrite_seconds(bytes_in)
    return Predicted(
        files_in=files_in,
        files_out=files_out,
        bytes_in=bytes_in,
        bytes_out=round(selection.bytes_out(facts.layout).mid),
        seconds=seconds,
        cost=cost_of(facts, bytes_in, files_in, files_out, seconds),
    )


def cost_of(facts: AdviceFacts, bytes_in: int, files_in: int, files_out: int, seconds: Estimate) -> Estimate:
    """Cost of a rewrite, with the storage of its outputs until the old files expire."""
    return rewrite_cost(
        bytes_in=bytes_in,
        files_in=files_in,
        files_out=files_out,
        seconds=seconds,
        cores=CORES,
        retention_days=facts.retention_days,
        prices=facts.prices,
    )


def value_of(facts: AdviceFacts, rule: str, plan: Predicted) -> PlanValue:
    """What fewer files save; unknown without known reads, and for UNPRICED rules."""
    saved = facts.saved.get(rule)
    seconds = SavedTime(mid=saved[0], basis=saved[1]) if saved else None
    if rule in UNPRICED or facts.reads is None or plan.files_in is None or plan.files_out is None or plan.cost is None:
        return PlanValue(seconds_per_day=seconds)
    saving = rewrite_saving(plan.files_in, plan.files_out, facts.reads.scans_per_day, facts.prices)
    days = payback_days(plan.cost.mid, saving)
    return PlanValue(seconds_per_day=seconds, money_per_month=saving, payback_days=days)


def _is_measured(saved: SavedTime | None) -> bool:
    return saved is not None and saved.basis == MEASURED and saved.mid > 0


def unworthy(rule: str, facts: AdviceFacts, plan: Predicted, value: PlanValue) -> NotWorth | None:
    """Why a rewrite does not pay; None: it does, or that is not known, or it need not. Time that jobs of this table
    were measured to save always pays; that of other tables' jobs does not show that this rewrite would.
    """
    if not facts.limits.paying:
        return None
    saving, most_days = value.money_per_month, facts.limits.payback_days
    if saving is None or plan.cost is None or _is_measured(value.seconds_per_day):
        return None
    late = value.payback_days is None or value.payback_days > (MOST_PAYBACK_DAYS if most_days is None else most_days)
    if saving >= LEAST_SAVED_PER_MONTH and not late:
        return None
    currency = facts.prices.currency
    # A rewrite reads the files once and writes them once.
    rewritten = f"{(plan.bytes_in or 0) / GB:,.0f} GB" if (plan.bytes_in or 0) >= GB else "less than 1 GB"
    runs = ", by the job runs that read it" if facts.reads is not None and facts.reads.basis == "runs" else ""
    saves, costs = money(saving, currency), money(plan.cost.mid, currency)
    return NotWorth(rule=rule, text=f"saves {saves} a month{runs}, costs {costs} and a rewrite of {rewritten}")


def rewrite_guards(facts: AdviceFacts, selection: ChosenGroups) -> list[PlanGuard]:
    """Guards of every rewrite."""
    return [quiet_guard(facts, selection.written_at, selection.hot), replace_guard(facts)]


def planned(
    facts: AdviceFacts,
    what: tuple[str, str],
    selection: ChosenGroups,
    options: Mapping[str, str],
    codes: Sequence[str],
) -> PlannedAction | NotWorth:
    """The plan of a rewrite, or why it does not pay. `what`: rule and action. `codes`: of findings that it resolves."""
    rule, action = what
    plan = predicted(facts, selection)
    value = value_of(facts, rule, plan)
    if (reason := unworthy(rule, facts, plan, value)) is not None:
        return reason
    return PlannedAction(
        action=action,
        rule=rule,
        because=facts.open_codes(codes),
        arguments=arguments(selection, action, options),
        predicted=plan,
        value=value,
        guards=rewrite_guards(facts, selection),
        partitions=scope_of(selection),
        options=options,
        bytes_out=selection.bytes_out(facts.layout),
    )


def selected(
    facts: AdviceFacts, rule: str, paying: Sequence[ChosenGroup], every: Sequence[ChosenGroup]
) -> ChosenGroups | NotKnown | None:
    """Of the groups that pay, those that a plan takes up. `every`: all groups in which the procedure would rewrite
    something without a condition. None: there is none.

    A plan for partitions needs a condition that selects no other file, of older specs neither. Without one, the plan
    is for the whole table, if nothing in it was written within the quiet time.
    """
    survey = facts.survey
    if survey is None or not paying:
        return None
    if all(not partition.text for group in every for partition in group.partitions):
        return ChosenGroups(every, whole=True, hot=0)  # an unpartitioned table: its guard says when it is hot
    calm = [group for group in paying if not facts.is_hot(group.written_at)]
    hot = len(paying) - len(calm)
    if not calm:
        return None
    chosen = sorted(calm, key=lambda group: group.plan.outputs - group.plan.files)[:MOST_PARTITIONS]
    if is_exact([each for group in chosen for each in group.partitions], survey):
        return ChosenGroups(chosen, whole=False, hot=hot)
    if any(facts.is_hot(group.written_at) for group in every):
        return NotKnown(rule=rule, missing=CONDITION)
    return ChosenGroups(every, whole=True, hot=0)
