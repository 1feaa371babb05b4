"""The snapshots that Iceberg's snapshot expiry retains because of a ref.

Iceberg's spec, "Snapshot Retention Policy": of a branch the newest `min-snapshots-to-keep` ancestors and those younger
than `max-snapshot-age-ms`; of a tag its snapshot; a ref other than main is removed when its snapshot is older than
`max-ref-age-ms`. Defaults: TableProperties (`history.expire.*`): 1 snapshot, 5 days, forever.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from limnograph.domain.answers.refs import Retention
from limnograph.domain.metadata.table import MAIN
from limnograph.domain.time import Millis

_SaidBy = Literal["ref", "table", "default"]
_DEFAULT_SNAPSHOTS, _DEFAULT_AGE_MS, _FOR_EVER = 1, 5 * 86_400_000, 2**63 - 1


def retention(kind: str, name: str, detail: Mapping[str, Any], properties: Mapping[str, str]) -> Retention:
    """The retention of a branch or tag, from the detail of its newest change. A ref that was recorded before details
    had `retention` may override the table's settings: then it is unknown.
    """
    own = detail.get("retention")

    def said(key: str, default: int) -> tuple[int | None, _SaidBy | None]:
        if not isinstance(own, dict):
            return None, None
        if isinstance(own.get(key), int):
            return own[key], "ref"
        text = properties.get(f"history.expire.{key}", "").strip()
        return (int(text), "table") if text.isdecimal() else (default, "default")

    least = said("min-snapshots-to-keep", _DEFAULT_SNAPSHOTS) if kind == "branch" else (None, None)
    age = said("max-snapshot-age-ms", _DEFAULT_AGE_MS) if kind == "branch" else (None, None)
    ref_age = said("max-ref-age-ms", _FOR_EVER) if name != MAIN else (None, None)
    return Retention(
        min_snapshots_to_keep=least[0],
        max_snapshot_age_ms=age[0],
        max_ref_age_ms=None if ref_age[0] == _FOR_EVER else ref_age[0],
        min_snapshots_said_by=least[1],
        max_age_said_by=age[1],
        max_ref_age_said_by=ref_age[1],
    )


def protected(kind: str, rule: Retention, times: Sequence[Millis | None], now_ms: Millis) -> int | None:
    """How many of a ref's ancestors, newest first with their commit times (ms), an expiry now would retain because of
    it.

    None if the rule or a decisive time is unknown.
    """
    if kind == "tag":
        return 1
    if rule.min_snapshots_to_keep is None or rule.max_snapshot_age_ms is None:
        return None
    oldest = now_ms - rule.max_snapshot_age_ms
    kept = 0
    for at in times:
        if kept >= rule.min_snapshots_to_keep:
            if at is None:
                return None
            if at < oldest:
                break
        kept += 1
    return kept


def details(text: str | None) -> dict[str, Any]:
    """The detail of a ref's change; empty if it cannot be parsed."""
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
