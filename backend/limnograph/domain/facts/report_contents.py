"""What a row of `reports` may contain. Filters hold literals, which are data of the table, and a client may report
anything as metadata: a row has neither, only the columns of the filter and what the client is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from limnograph.domain.facts.events import ReportFact

METADATA_KEYS = ("app-id", "app-name", "engine-name", "engine-version", "iceberg-version", "operation")
"""Keys of `metadata` that are kept."""
LONGEST_VALUE = 1_000
_METRIC = re.compile(r"[a-z][a-z0-9-]{0,63}")


def kept_metadata(metadata: Mapping[str, str] | None) -> dict[str, str] | None:
    """The entries that are kept, in the order of their keys; None if there are none."""
    kept = {key: metadata[key][:LONGEST_VALUE] for key in METADATA_KEYS if key in metadata} if metadata else {}
    return kept or None


def kept_metrics(metrics: Mapping[str, int]) -> dict[str, str] | None:
    """Metrics whose names are spelled as those of Iceberg, as text, in the order of their names; None without any."""
    return {name: str(value) for name, value in sorted(metrics.items()) if _METRIC.fullmatch(name)} or None


def without_literals(fact: ReportFact) -> ReportFact:
    """The row without what a version before this rule stored."""
    metadata = kept_metadata(fact.metadata)
    if fact.filter is None and metadata == fact.metadata:
        return fact
    return msgspec.structs.replace(fact, filter=None, metadata=metadata)
