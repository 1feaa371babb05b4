"""All rules on one table. A table whose format has no rule for something gets no answer for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from limnograph.analysis.advice.compact import compact, files_left
from limnograph.analysis.advice.deletes import compact_deletes, position_deletes
from limnograph.analysis.advice.delta import delta_compact, delta_files_left, delta_purge, delta_vacuum
from limnograph.analysis.advice.expire import expire
from limnograph.analysis.advice.facts import AdviceFacts
from limnograph.analysis.advice.hudi import hudi_compaction
from limnograph.analysis.advice.manifests import manifests
from limnograph.analysis.advice.planned import PlannedAction, RuleAnswer
from limnograph.analysis.advice.unlisted import cluster, orphans
from limnograph.analysis.advice.writing import metadata_versions, writer
from limnograph.domain.advice.survey import TableSurvey

Rule = Callable[[AdviceFacts], Sequence[RuleAnswer]]
ICEBERG: tuple[Rule, ...] = (
    *(writer, compact_deletes, compact, position_deletes, manifests, expire, metadata_versions, orphans, cluster),
)
"""In the order in which they should be run: first the cause; deletes before files; expiry last."""
DELTA: tuple[Rule, ...] = (delta_purge, delta_compact, delta_vacuum, cluster)
HUDI: tuple[Rule, ...] = (hudi_compaction,)
RULES: Mapping[str, tuple[Rule, ...]] = {"iceberg": ICEBERG, "delta": DELTA, "hudi": HUDI}
"""Rules by table format."""
FILES_LEFT: Mapping[str, Callable[[TableSurvey], int]] = {"iceberg": files_left, "delta": delta_files_left}
"""Data files that a compaction would leave, by table format."""


def compacted_files(facts: AdviceFacts) -> int | None:
    """Data files that a compaction would leave; None: not known."""
    survey, count = facts.survey, FILES_LEFT.get(facts.metadata.format)
    if survey is None or count is None or survey.left_out or facts.metadata.targets is None:
        return None
    return count(survey)


def answers(facts: AdviceFacts, rules: Sequence[Rule]) -> list[RuleAnswer]:
    """Answers of all rules. O(groups of the survey + snapshots)."""
    return [answer for rule in rules for answer in rule(facts)]


def plans_first(found: Sequence[RuleAnswer]) -> list[PlannedAction]:
    """The plans, those about the writer first, then by value per cost; plans without a known value keep their order."""
    plans = [answer for answer in found if isinstance(answer, PlannedAction)]
    return sorted(plans, key=lambda plan: (plan.rule != "writer", -value_per_cost(plan)))


def value_per_cost(plan: PlannedAction) -> float:
    """Rank of a plan: what it saves in a month for each unit of its cost; 0 if that is unknown."""
    saving, cost = plan.value.money_per_month, plan.predicted.cost
    if saving is None:
        return 0.0
    return saving / max(cost.mid if cost else 0.0, LEAST_COST)


LEAST_COST = 0.01
"""An action without a known cost still takes a person a minute."""
