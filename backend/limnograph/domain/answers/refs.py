"""Branches and tags as the API returns them. Wire structs, as `domain/answers/tables.py`."""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.structure import PageHead
from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis


class Retention(View, frozen=True, kw_only=True):
    """What snapshot expiry keeps for a ref. Each value with its origin: the ref, a property of the table, or Iceberg's
    default. `max_ref_age_ms` null: the ref never expires.
    """

    min_snapshots_to_keep: int | None
    max_snapshot_age_ms: int | None
    max_ref_age_ms: int | None
    min_snapshots_said_by: Literal["ref", "table", "default"] | None
    max_age_said_by: Literal["ref", "table", "default"] | None
    max_ref_age_said_by: Literal["ref", "table", "default"] | None


class RefRow(View, frozen=True, kw_only=True):
    """A branch or tag now. `committed_at`: of its snapshot. `ancestors`: number of its known ancestors, its own
    snapshot included; `protected`: how many of those snapshot expiry would keep now because of this ref, the oldest
    committed at `protected_from`; `ahead`, `behind`: snapshots that main does not have, and snapshots of main that it
    does not have. `expires_at`: when expiry would remove the ref itself.
    """

    name: str
    type: Literal["branch", "tag"]
    snapshot_id: str
    committed_at: Millis | None
    moved_at: Millis | None
    retention: Retention | None
    ancestors: int | None
    protected: int | None
    protected_from: Millis | None
    ahead: int | None
    behind: int | None
    expires_at: Millis | None
    sentence: str


class RefMove(View, frozen=True, kw_only=True):
    """A ref that was created, moved or removed. `kind` for main: commits are omitted, `rolled_back` is a move to an
    ancestor, `advanced` to a descendant, `moved` to any other or unknown snapshot.
    """

    name: str
    type: Literal["branch", "tag"]
    kind: Literal["created", "advanced", "rolled_back", "moved", "removed"]
    t: Millis
    not_before: Millis | None
    from_snapshot_id: str | None
    to_snapshot_id: str | None
    sentence: str


class RefsPage(PageHead, frozen=True, kw_only=True):
    """Branches and tags now, main first, and their moves, newest first. `live_snapshots`: of the table."""

    live_snapshots: int | None
    refs: list[RefRow]
    moves: list[RefMove]
