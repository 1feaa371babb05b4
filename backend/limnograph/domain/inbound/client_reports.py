"""Scan and commit reports of Iceberg clients: ReportMetricsRequest of the REST specification, and its metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from limnograph.domain.inbound.openlineage import Text

LARGEST = 2**63 - 1
Long = Annotated[int, msgspec.Meta(ge=-LARGEST - 1, le=LARGEST)]
_NANOSECONDS = {
    "nanoseconds": 1,
    "microseconds": 10**3,
    "milliseconds": 10**6,
    "seconds": 10**9,
    "minutes": 60 * 10**9,
    "hours": 3_600 * 10**9,
    "days": 86_400 * 10**9,
}


class ReportIn(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """ReportMetricsRequest: a scan report or a commit report. Other fields are ignored."""

    report_type: Literal["scan-report", "commit-report"]
    table_name: Text
    snapshot_id: Long
    metrics: dict[str, Any]
    sequence_number: Long | None = None
    operation: str | None = None
    filter: Any = None
    schema_id: Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)] | None = None
    projected_field_names: list[str] | None = None
    metadata: dict[str, Any] | None = None


def long(value: object) -> int | None:
    """A 64-bit integer, or its decimal text; None for anything else."""
    if isinstance(value, str) and value.removeprefix("-").isdecimal() and value.isascii() and len(value) <= 20:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and -LARGEST - 1 <= value <= LARGEST:
        return value
    return None


def numbers(metrics: Mapping[str, Any]) -> dict[str, int]:
    """CounterResult and TimerResult by name as plain numbers, durations in nanoseconds; anything else is ignored."""
    found: dict[str, int] = {}
    for name, metric in metrics.items():
        value = metric
        if isinstance(metric, dict):
            value = metric.get("value")
            unit = _NANOSECONDS.get(str(metric.get("time-unit")).lower())
            total = long(metric.get("total-duration"))
            if unit is not None and total is not None:
                value = total * unit
        number = long(value)
        if number is not None and number >= 0:
            found[name] = number
    return found


def texts(values: Mapping[str, Any] | None) -> dict[str, str]:
    """Entries with a scalar value, as text."""
    return {name: str(value) for name, value in (values or {}).items() if isinstance(value, (str, int, float))}
