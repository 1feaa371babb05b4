"""Rule `hudi_compaction`: advice for merge-on-read tables, which only their own writer should compact.

Threshold: five delta commits since the last compaction (`hoodie.compact.inline.max.delta.commits`).
"""

from __future__ import annotations

from limnograph.analysis.advice.facts import AdviceFacts
from limnograph.analysis.advice.planned import PlannedAction, RuleAnswer
from limnograph.domain.advice.document import PlanGuard, PlanValue, Predicted

RULE = "hudi_compaction"
MOST_DELTA_COMMITS = 5


def hudi_compaction(facts: AdviceFacts) -> list[RuleAnswer]:
    """At most one piece of advice."""
    waiting = 0
    for snapshot in facts.metadata.ordered:
        summary = snapshot.summary or {}
        if summary.get("operation") == "replace":
            waiting = 0
        elif summary.get("hudi.action") == "deltacommit":
            waiting += 1
    if waiting < MOST_DELTA_COMMITS:
        return []
    text = (
        f"{waiting} delta commits were made since the last compaction, so readers merge their logs. Run compaction in "
        "the writer (hoodie.compact.inline, or a compaction job beside it): another engine must not."
    )
    return [
        PlannedAction(
            action="run_compaction",
            rule=RULE,
            because=facts.open_codes(("delete_files_growing", "deletes_not_materialized", "compaction_stopped")),
            arguments={"action": "run_compaction"},
            predicted=Predicted(),
            value=PlanValue(),
            guards=[PlanGuard(code="owner_agrees", ok=False, text=text)],
        )
    ]
