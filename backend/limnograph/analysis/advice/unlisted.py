"""Rules `orphans` and `cluster`: what they need is not in a table's metadata."""

from __future__ import annotations

from limnograph.analysis.advice.facts import AdviceFacts
from limnograph.analysis.advice.planned import RuleAnswer
from limnograph.domain.advice.document import NotKnown


def orphans(_facts: AdviceFacts) -> list[RuleAnswer]:
    """Unreferenced files are found by listing the table's folder, which only `limnograph maintain --dry-run` does."""
    return [NotKnown(rule="orphans", missing="no listing: unreferenced files are not in the metadata")]


def cluster(facts: AdviceFacts) -> list[RuleAnswer]:
    """Sorting pays if scans filter by a field in which files overlap: that follows from reported scans."""
    if facts.reads is not None and facts.reads.basis == "scans":
        return []
    return [NotKnown(rule="cluster", missing="no scan of the table is reported, so its filters are unknown")]
