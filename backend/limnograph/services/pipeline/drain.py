"""Drain of the inbox: moves what the server accepted to the meta tables, each key once, even with concurrent drains.

New rows are the difference by key against the table's head; the append is a compare-and-set on that head. Only then are
the items marked as committed, and an hour later deleted. A crash between any two of these steps, a lost reply or a
concurrent drain is repaired by computing the difference again.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import pyarrow as pa

from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.events import AlertFact, LabelFact, ReportFact, RunFact
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.facts.meta_tables import (
    ALERTS,
    EFFECTS,
    FINDINGS,
    LABELS,
    NOTES,
    PLANS,
    REPORTS,
    RUNS,
    MetaTable,
)
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.facts.report_contents import without_literals
from limnograph.domain.failpoints import Failpoints
from limnograph.ports.clock import Clock
from limnograph.ports.inbox import KEEP, Inbox, InboxItem, Kind
from limnograph.ports.meta_store import Key, MetaStore
from limnograph.services.pipeline.appending import MetaAppender

BATCH = 1_000
"""Items that are read and appended together."""
BATCHES = 20
"""Most batches of one drain, so that a full inbox does not hold up a pass."""
Fact = RunFact | AlertFact | ReportFact | LabelFact | EffectFact | FindingFact | NoteFact | PlanFact
_log = logging.getLogger("limnograph.inbox")


class Target(NamedTuple):
    """The table of a kind of items, and their decoder."""

    table: MetaTable
    decoder: msgspec.json.Decoder[Any]


TARGETS: dict[Kind, Target] = {
    "run": Target(RUNS, msgspec.json.Decoder(RunFact)),
    "alert": Target(ALERTS, msgspec.json.Decoder(AlertFact)),
    "report": Target(REPORTS, msgspec.json.Decoder(ReportFact)),
    "label": Target(LABELS, msgspec.json.Decoder(LabelFact)),
    "effect": Target(EFFECTS, msgspec.json.Decoder(EffectFact)),
    "finding": Target(FINDINGS, msgspec.json.Decoder(FindingFact)),
    "note": Target(NOTES, msgspec.json.Decoder(NoteFact)),
    "plan": Target(PLANS, msgspec.json.Decoder(PlanFact)),
}


class DrainReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a drain.

    `appended`: rows appended
    `committed`: items whose rows now exist
    `set_aside`: invalid items, which are logged
    `purged`: items deleted
    `more`: items are left for the next drain
    """

    appended: int = 0
    committed: int = 0
    set_aside: int = 0
    purged: int = 0
    more: bool = False


class Drain:
    """Drains one inbox into one meta store. Stateless: any process may continue where another one ended."""

    def __init__(
        self,
        inbox: Inbox,
        store: MetaStore,
        clock: Clock,
        to_arrow: Callable[[MetaTable, Sequence[Fact]], pa.Table],
        *,
        failpoints: Failpoints | None = None,
        progress: Callable[[str], None] = lambda _line: None,
    ) -> None:
        self._inbox, self._store, self._clock, self._to_arrow = inbox, store, clock, to_arrow
        self._failpoints = failpoints or Failpoints()
        self._appending = MetaAppender(store, lambda _rows: pa.table({}), progress)

    def run(self) -> DrainReport:
        """Drain the current items. Raises SourceError; remaining items wait for the next drain."""
        run_id = str(uuid.uuid4())
        total, more = DrainReport(), True
        for _ in range(BATCHES):
            items = self._inbox.waiting(TARGETS, BATCH)
            if items:
                self._store.ensure()
            for kind, target in TARGETS.items():
                if mine := [item for item in items if item.kind == kind]:
                    total = _sum(total, self._drain(target, mine, run_id))
            more = len(items) == BATCH
            if not more:
                break
        self._failpoints.reach("before_purge_inbox")
        purged = self._inbox.purge(self._clock.now() - KEEP)
        self._failpoints.reach("after_purge_inbox")
        return msgspec.structs.replace(total, purged=purged, more=more)

    def _drain(self, target: Target, items: Sequence[InboxItem], run_id: str) -> DrainReport:
        facts = _facts(target, items)
        unique: dict[Key, Fact] = {}
        for fact in facts:
            unique.setdefault(_key(target.table, fact), fact)
        rows, odd = self._rows(target.table, list(unique.values()))
        self._failpoints.reach("before_append_inbox")
        appended = self._appending.events(target.table, rows, run_id)
        self._failpoints.reach("after_append_inbox")
        self._failpoints.reach("before_mark_inbox")
        self._inbox.mark(items, self._clock.now())
        self._failpoints.reach("after_mark_inbox")
        aside = odd + len(items) - len(facts)
        return DrainReport(appended=appended, committed=len(items) - aside, set_aside=aside)

    def _rows(self, table: MetaTable, facts: Sequence[Fact]) -> tuple[pa.Table, int]:
        """Facts as rows, and the number of facts that cannot be rows: one of those must not block the others."""
        try:
            return self._to_arrow(table, facts), 0
        except _NO_ROW:
            good = [fact for fact in facts if self._fits(table, fact)]
            return self._to_arrow(table, good), len(facts) - len(good)

    def _fits(self, table: MetaTable, fact: Fact) -> bool:
        try:
            self._to_arrow(table, [fact])
        except _NO_ROW as error:
            _log.error("inbox: %s is not a valid row of %s and is skipped: %s", _key(table, fact), table.name, error)
            return False
        return True


_NO_ROW = (pa.ArrowException, OverflowError, TypeError, ValueError)


def _facts(target: Target, items: Sequence[InboxItem]) -> list[Fact]:
    """Facts, oldest first: of two with the same key the oldest counts."""
    found: list[Fact] = []
    for item in items:
        fact = _decoded(target, item)
        if fact is None:
            _log.error("inbox: item %s is not a valid %s and is skipped", item.key, item.kind)
        else:
            found.append(fact)
    return found


def _decoded(target: Target, item: InboxItem) -> Fact | None:
    try:
        fact: Fact = target.decoder.decode(item.payload)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return completed(fact)


def completed(fact: Fact) -> Fact:
    """A fact as this version stores it: older servers wrote runs without their event time and reports with literals."""
    if isinstance(fact, ReportFact):
        return without_literals(fact)
    if isinstance(fact, RunFact) and fact.at is None:
        at = fact.started_at if fact.status == "running" else fact.ended_at
        return msgspec.structs.replace(fact, at=fact.observed_at if at is None else at)
    return fact


def _key(table: MetaTable, fact: Fact) -> Key:
    return tuple(getattr(fact, name) for name in table.key)


def _sum(one: DrainReport, other: DrainReport) -> DrainReport:
    names = ("appended", "committed", "set_aside")
    return DrainReport(**{name: getattr(one, name) + getattr(other, name) for name in names})
