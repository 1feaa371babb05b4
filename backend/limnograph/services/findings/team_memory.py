"""What a team wrote on findings: acknowledgements, owners and the number of notes. Joined when findings are read, never
an input of their evaluation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from limnograph.domain.answers.findings import Finding
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.finding_codes import severity_rank
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.services.findings.board import FindingsBoard, key_of
from limnograph.services.findings.records import FindingRecords
from limnograph.services.findings.views import view
from limnograph.services.notes.owners import OwnerDirectory
from limnograph.services.notes.registry import NoteRegistry
from limnograph.services.notes.targets import finding_key

NEVER = Micros(2**63 - 1)


class Acknowledged(NamedTuple):
    """The acknowledgements in force.

    by_finding the newest acknowledgement by finding id
    number     differs when one began or ended
    until      when the next one ends
    """

    by_finding: dict[str, NoteFact]
    number: int
    until: Micros


class TeamMemory:
    """An acknowledgement ends at its time, or when a transition raises the severity above the one that was
    acknowledged; it does not come back when the severity falls. Thread-safe: `_acknowledged` and `_risen` are replaced
    whole, and a race computes the same value twice.
    """

    def __init__(
        self, registry: NoteRegistry, owners: OwnerDirectory, records: FindingRecords | None, clock: Clock
    ) -> None:
        self.registry, self.owners = registry, owners
        self._records, self._clock = records, clock
        self._risen: frozenset[str] = frozenset()
        self._checked = False
        self._observed: tuple[FindingsBoard | None, int] = None, 0
        self._read_for = (-1, 0)
        self._acknowledged = Acknowledged({}, 0, NEVER)

    @property
    def acknowledged(self) -> Acknowledged:
        """The acknowledgements in force now. O(acknowledgements) if one began or ended, else a comparison."""
        now, state = self._clock.now(), (self.registry.kinds_version("ack"), len(self._risen))
        known = self._acknowledged
        if state == self._read_for and now < known.until:
            return known
        found = {
            fact.target or "": fact
            for fact in self.registry.newest_of("ack")
            if (fact.until or EPOCH) > now and fact.event_id not in self._risen
        }
        until = min((fact.until or EPOCH for fact in found.values()), default=NEVER)
        number = known.number + (found != known.by_finding)
        self._acknowledged, self._read_for = Acknowledged(found, number, until), state
        return self._acknowledged

    def version(self, table_uuid: str | None) -> tuple[object, ...]:
        """Differs when a note on a table, or on any, was written, an acknowledgement ended, or an owner changed."""
        return self.registry.version(table_uuid), self.acknowledged.number, self.owners.version

    def observe(self, board: FindingsBoard) -> None:
        """Note the acknowledged findings whose severity has risen. O(acknowledgements) if anything changed."""
        acknowledged = self.acknowledged
        if (board, acknowledged.number) != self._observed:
            self._observed = board, acknowledged.number
            self._learn(fact for finding_id in acknowledged.by_finding if (fact := board.by_id.get(finding_id)))

    def hidden(self, board: FindingsBoard) -> frozenset[str]:
        """Ids of the open findings that are acknowledged. O(acknowledgements)."""
        facts = (board.by_id.get(finding_id) for finding_id in self.acknowledged.by_finding)
        return frozenset(fact.finding_id for fact in facts if fact is not None and self.acknowledgement(fact))

    def catch_up(self) -> None:
        """Once, after the notes were read: which severities rose before the start of this server. Blocks. Raises
        SourceError; the next call tries again.
        """
        if self._checked or not self.registry.complete or self._records is None:
            return
        found = self.acknowledged.by_finding.values()
        if found:
            begin = min((fact.at or EPOCH for fact in found), default=EPOCH)
            now = self._clock.now()
            self._learn(fact for fact in self._records.since(begin) if (fact.observed_at or EPOCH) <= now)
        self._checked = True

    def _learn(self, transitions: Iterable[FindingFact]) -> None:
        acknowledged, risen = self.acknowledged.by_finding, set[str]()
        for fact in transitions:
            ack = acknowledged.get(fact.finding_id)
            if ack is not None and _is_above(fact, ack):
                risen.add(ack.event_id)
        if risen - self._risen:
            self._risen = self._risen | risen

    def acknowledgement(self, fact: FindingFact) -> NoteFact | None:
        """The acknowledgement that hides an open finding; None if it is shown."""
        ack = self.acknowledged.by_finding.get(fact.finding_id)
        return None if ack is None or fact.state != "open" or _is_above(fact, ack) else ack

    def shown(self, fact: FindingFact, of_table: Sequence[FindingFact]) -> Finding:
        """A finding with what was written on it. `of_table`: all findings of its table."""
        ack = self.acknowledgement(fact)
        return msgspec.structs.replace(
            view(fact, of_table),
            acknowledged_until=to_millis(ack.until) if ack else None,
            acknowledged_by=ack.author if ack else None,
            owner=self.owner(fact),
            notes=self.registry.count(finding_key(fact.finding_id)),
        )

    def owners_of(self, facts: Sequence[FindingFact]) -> dict[str, str | None]:
        """Owners by finding id. O(findings), with one look-up for each table."""
        named, of_table, found = self.owners.of_findings(), dict[str, str | None](), dict[str, str | None]()
        for fact in facts:
            owner = named.get(fact.finding_id)
            if owner is None:
                key = fact.table_uuid or key_of(fact)
                if key not in of_table:
                    of_table[key] = self.owner(fact)
                owner = of_table[key]
            found[fact.finding_id] = owner
        return found

    def owner(self, fact: FindingFact) -> str | None:
        """Who is responsible for a finding."""
        name = TableName(fact.catalog or "", fact.namespace or "", fact.table or "")
        return self.owners.of_finding(fact.finding_id, fact.table_uuid, name)


def _is_above(fact: FindingFact, ack: NoteFact) -> bool:
    """Whether a transition that came after an acknowledgement raised the severity above it."""
    later = (fact.observed_at or EPOCH) >= (ack.at or EPOCH)
    return later and severity_rank(fact.severity) < severity_rank(ack.severity)
