"""What decides which snapshots of a table an expiry removes: its retention, its snapshots, its branches and tags."""

from __future__ import annotations

import json

from limnograph.analysis.advice.own_retention import DEFAULT_AGE, OwnRetention
from limnograph.analysis.advice.readers import RetainedRef, RetainedSnapshot
from limnograph.domain.finding_limits import KEPT_SNAPSHOTS, SNAPSHOT_AGE
from limnograph.domain.metadata.table import MAIN
from limnograph.domain.time import MICROS_PER_MS, Micros
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.lake.columns import NULL
from limnograph.services.lake.expired import RETAINED
from limnograph.services.lake.history import History
from limnograph.services.lake.table_changes import told


def own_retention(history: History) -> OwnRetention | None:
    """What expires the table's snapshots: the properties that it sets, or else the age of its oldest snapshot where
    expiries were seen. None if nothing does, as far as is known.
    """
    age, least = _number(history, SNAPSHOT_AGE), _number(history, KEPT_SNAPSHOTS) or 1
    if age is not None:
        return OwnRetention(age * MICROS_PER_MS, least, declared=True)
    if history.latest(RETAINED) is None:
        return None
    times, oldest = history.numbers("committed_at"), history.numbers("oldest_snapshot_at")
    known = (times != NULL) & (oldest != NULL)
    ages = (times - oldest)[known]
    return OwnRetention(int(ages.min()) if ages.size else DEFAULT_AGE, least)


def retained_snapshots(history: History) -> list[RetainedSnapshot]:
    """The table's snapshots in memory that did not expire. O(rows)."""
    ancestors = history.main_ancestors
    found = []
    columns = ("snapshot_id", "committed_at", "sequence_number")
    for snapshot_id, at, number in zip(*(history.numbers(name).tolist() for name in columns), strict=True):
        expired = history.retained.has_expired(None if number == NULL else number)
        if at != NULL and not expired:
            found.append(RetainedSnapshot(snapshot_id, Micros(at), snapshot_id in ancestors))
    return found


def retained_refs(engine: QueryEngine, history: History) -> list[RetainedRef]:
    """Branches and tags as last seen. Blocks. Raises LimnographError."""
    newest = {change.subject: change for change in told(engine, history, ("ref",)).changes if change.subject}
    found = []
    for name, change in newest.items():
        if change.to_value is None or not change.to_value.lstrip("-").isdecimal():
            continue
        detail = _detail(change.detail)
        own = detail.get("retention")
        age = own.get("max-ref-age-ms") if isinstance(own, dict) else None
        kept = age * MICROS_PER_MS if isinstance(age, int) and name != MAIN else None
        found.append(RetainedRef(name, int(change.to_value), detail.get("type") == "tag", kept))
    return found


def _number(history: History, key: str) -> int | None:
    """A property of the table that is a positive number."""
    values = [change.to_value for change in history.of_kind("property") if change.subject == key]
    text = (values[-1] or "").strip() if values else ""
    return int(text) if text.isascii() and text.isdecimal() and 0 < len(text) < 19 and int(text) else None


def _detail(text: str | None) -> dict[str, object]:
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
