"""Events of the live stream, as they stand on the wire."""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.alerts import AlertStreamEvent
from limnograph.domain.answers.tables import SourceStatus, View
from limnograph.domain.time import Millis


class CommitStreamEvent(View, frozen=True, kw_only=True):
    """Event `commit`: a commit came, or the pipeline's row took the place of the watcher's (`provisional` false)."""

    catalog: str
    table_namespace: str
    table: str
    snapshot_id: str
    t: Millis | None
    operation: str | None
    added_data_files: int | None
    removed_data_files: int | None
    provisional: bool


class TableStreamEvent(View, frozen=True, kw_only=True):
    """Event `table`: anything known of a table changed; its pages are worth asking for again. `commits`: how many came,
    of which at most a hundred are told one by one.
    """

    catalog: str
    table_namespace: str
    table: str
    commits: int


class SourcesStreamEvent(View, frozen=True, kw_only=True):
    """Event `sources`: a source answers now, or no longer does."""

    sources: tuple[SourceStatus, ...]


class ResetStreamEvent(View, frozen=True, kw_only=True):
    """Event `reset`: what happened meanwhile is not known here any more; ask for everything that is on the page."""

    reason: Literal["new-server", "too-long-ago", "too-much"]


STREAM_EVENTS: dict[str, type[View]] = {
    "commit": CommitStreamEvent,
    "alert": AlertStreamEvent,
    "table": TableStreamEvent,
    "sources": SourcesStreamEvent,
    "reset": ResetStreamEvent,
}
"""Event names -> what their data is."""
