"""Rule `manifests`: twice as many manifests as their bytes need, and at least 20 more than that.

Its arguments name no snapshot: rewriting manifests changes no file, so a plan stays the same while commits arrive.

Source: `commit.manifest.target-size-bytes` (8 MiB). One plan a partition spec, because the procedure merges the
manifests of one spec.
"""

from __future__ import annotations

from collections import defaultdict

from limnograph.analysis.advice.facts import AdviceFacts
from limnograph.analysis.advice.guards import replace_guard
from limnograph.analysis.advice.planned import PlannedAction, RuleAnswer
from limnograph.domain.advice.document import NotKnown, PlanValue, Predicted
from limnograph.domain.advice.survey import SurveyedManifests
from limnograph.domain.metadata.targets import manifest_target

RULE = "manifests"
FACTOR, LEAST_EXCESS = 2, 20


def manifests(facts: AdviceFacts) -> list[RuleAnswer]:
    """A plan for each spec with too many manifests."""
    if facts.survey is None:
        return [NotKnown(rule=RULE, missing=facts.unread or "the table's current files")]
    target = manifest_target(facts.metadata.properties)
    if target is None:
        return [NotKnown(rule=RULE, missing="a valid target size of manifests: the table's property is not a size")]
    by_spec: dict[int, list[SurveyedManifests]] = defaultdict(list)
    for each in facts.survey.manifests:
        by_spec[each.spec_id].append(each)
    if any(each.bytes is None for each in facts.survey.manifests):
        return [
            NotKnown(rule=RULE, missing="sizes of the manifests, which a table without manifest lists does not have")
        ]
    found: list[RuleAnswer] = []
    least = facts.limits.saved_files or LEAST_EXCESS
    for spec_id, parts in sorted(by_spec.items()):
        count, wanted = sum(each.count for each in parts), sum(-(-(each.bytes or 0) // target) or 1 for each in parts)
        if count >= FACTOR * wanted and count - wanted >= least:
            found.append(_plan(facts, spec_id, parts, wanted, target))
    return found


def _plan(facts: AdviceFacts, spec_id: int, parts: list[SurveyedManifests], wanted: int, target: int) -> PlannedAction:
    count, size = sum(each.count for each in parts), sum(each.bytes or 0 for each in parts)
    return PlannedAction(
        action="rewrite_manifests",
        rule=RULE,
        because=facts.open_codes(("manifests_fragmented", "metadata_large")),
        arguments={
            "action": "rewrite_manifests",
            "spec_id": spec_id,
            "target_bytes": target,
        },
        predicted=Predicted(files_in=count, files_out=wanted, bytes_in=size, bytes_out=size),
        value=PlanValue(),
        guards=[replace_guard(facts)],
        spec_id=spec_id,
    )
