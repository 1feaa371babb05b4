"""Builds what a server needs for notes: the registry, owners, and look-ups of what notes are about."""

from __future__ import annotations

from limnograph.domain.facts.notes import NoteFact
from limnograph.ports.clock import Clock
from limnograph.services.alerts.pages import AlertPages
from limnograph.services.findings.pages import FindingPages
from limnograph.services.lake.store import HotStore
from limnograph.services.notes.pages import NotePages
from limnograph.services.notes.registry import NoteRegistry
from limnograph.services.notes.targets import TargetSources, table_target
from limnograph.services.notes.views import note_stream_event
from limnograph.services.server.live import Live
from limnograph.services.table.commit import CommitDetails


def note_pages(
    registry: NoteRegistry,
    store: HotStore,
    services: tuple[FindingPages, CommitDetails, AlertPages],
    clock: Clock,
    live: Live,
) -> NotePages:
    """Pages of notes; new events are published on the live stream."""
    findings, commits, alerts = services
    sources = TargetSources(
        findings.note_target, commits.note_target, alerts.note_target, lambda name: table_target(store, name)
    )

    def publish(fact: NoteFact, note_id: str) -> None:
        live.publish("note", note_stream_event(fact, note_id))

    return NotePages(registry, store, sources, clock, publish=publish)
