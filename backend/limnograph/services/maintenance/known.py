"""What is known of a table besides its own files: findings, readers, twins, and where other tables are.

Facts of the meta tables were pushed by others in part: they make an action less likely, never more. Without readable
meta tables, nothing is known, and what needs it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from limnograph.analysis.advice.readers import (
    DeclaredReader,
    ReaderNeed,
    RetainedRef,
    RetainedSnapshot,
    TableRead,
    needs_of,
)
from limnograph.analysis.maintenance.guards.facts import OtherTable
from limnograph.domain.advice.document import AdvisedFinding
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.ids import TableName, matches
from limnograph.domain.maintenance.policy import PolicyRule
from limnograph.domain.metadata.table import MAIN, TableMetadata
from limnograph.domain.time import MICROS_PER_MS, Micros, to_micros
from limnograph.ports.catalog import TablePointer
from limnograph.ports.table_maintainer import OpenedTable
from limnograph.services.advice.saved_times import Savings
from limnograph.services.advice.table_advice import KnownOfTable


class TableSurroundings(NamedTuple):
    """None: not known.

    advice           for the rules
    unknown_streams  whether a reader of unknown position may need old snapshots
    others           all other tables that are registered
    longest_run_us   longest run of a job that writes it
    """

    advice: KnownOfTable
    unknown_streams: bool | None
    others: Sequence[OtherTable] | None
    longest_run_us: int | None


class TableKnowledge(Protocol):
    """Thread-safe."""

    def of(self, opened: OpenedTable, reading: AdviceReading, rule: PolicyRule) -> TableSurroundings:
        """What is known of a table. Raises nothing: what cannot be read is not known."""
        ...


class RecordedFacts(NamedTuple):
    """What the meta tables record, read once a round. By table uuid, or name.

    reads      reads of the last week
    findings   open ones
    places     name, uuid and last metadata file of each table
    longest_runs_us  longest run of a job that writes the table
    """

    reads: Mapping[str, Sequence[TableRead]]
    findings: Mapping[str, Sequence[AdvisedFinding]]
    saved: Savings
    places: Sequence[tuple[TableName, str, str]]
    longest_runs_us: Mapping[str, int] = {}


class LakeKnowledge:
    """Immutable after construction.

    pointers  of all catalogs of the settings, and whether all of them answered
    recorded  None: the meta tables cannot be read
    declared  readers of the settings that match a table
    """

    def __init__(
        self,
        pointers: Sequence[TablePointer],
        recorded: RecordedFacts | None,
        declared: Callable[[TableName], Sequence[DeclaredReader]],
        *,
        complete: bool,
    ) -> None:
        self._pointers, self._recorded, self._declared, self._complete = pointers, recorded, declared, complete

    def of(self, opened: OpenedTable, reading: AdviceReading, rule: PolicyRule) -> TableSurroundings:
        recorded, uuid = self._recorded, opened.table_uuid
        advice = KnownOfTable(
            name=opened.name,
            findings=recorded.findings.get(uuid, ()) if recorded else (),
            readers=self._readers(opened, reading, rule),
            saved=recorded.saved.of_table(uuid) if recorded else {},
        )
        streams, longest_us = self._unknown_streams(opened, rule), self._longest_run_us(opened, rule)
        return TableSurroundings(advice, streams, self._others(opened), longest_us)

    def _readers(self, opened: OpenedTable, reading: AdviceReading, rule: PolicyRule) -> list[ReaderNeed] | None:
        """None unless the reads are known, or the policy says who reads."""
        reads = None if self._recorded is None else self._recorded.reads.get(opened.table_uuid)
        declared = self._all_declared(opened.name, rule)
        if not reads and not declared:
            return None
        metadata = reading.metadata
        snapshots, refs = retained(metadata)
        return needs_of(reads or (), snapshots, refs, declared, now=to_micros(reading.now))

    def _unknown_streams(self, opened: OpenedTable, rule: PolicyRule) -> bool | None:
        """False only if the policy names the readers and no other one is behind: reports are pushed by others."""
        if self._recorded is None or not rule.readers:
            return None
        readers = {read.reader for read in self._recorded.reads.get(opened.table_uuid, ())}
        return any(not any(matches(each.job, reader) for each in rule.readers) for reader in readers)

    def _all_declared(self, name: TableName, rule: PolicyRule) -> list[DeclaredReader]:
        return [*(DeclaredReader(each.job, each.lag_us) for each in rule.readers), *self._declared(name)]

    def _others(self, opened: OpenedTable) -> list[OtherTable] | None:
        """All other tables, by what is known of each: from the catalogs, and as they were recorded."""
        if not self._complete:
            return None
        recorded = {
            name: (uuid, location) for name, uuid, location in (self._recorded.places if self._recorded else ())
        }
        found = {
            pointer.name: OtherTable(
                pointer.name,
                table_uuid=_uuid_at(pointer.location, *recorded.get(pointer.name, (None, ""))),
                metadata_location=pointer.location,
            )
            for pointer in self._pointers
        }
        for name, (uuid, location) in recorded.items():
            if name not in found:
                found[name] = OtherTable(name, table_uuid=uuid, metadata_location=location)
        return [other for name, other in sorted(found.items()) if name != opened.name]

    def _longest_run_us(self, opened: OpenedTable, rule: PolicyRule) -> int | None:
        """As declared, and not shorter than what runs show. Runs are pushed by others: without a declaration they are
        not enough.
        """
        declared = rule.orphans.longest_run_us if rule.orphans else None
        observed = self._recorded.longest_runs_us.get(opened.table_uuid, 0) if self._recorded else 0
        return None if declared is None else max(declared, observed)


def _uuid_at(location: str, uuid: str | None, recorded: str) -> str | None:
    """The recorded uuid of a table; None if its metadata is in another folder now: another table may have the name."""
    return uuid if location.rpartition("/")[0] == recorded.rpartition("/")[0] else None


def retained(metadata: TableMetadata) -> tuple[list[RetainedSnapshot], list[RetainedRef]]:
    """Snapshots and references of a table's own metadata, for what readers need."""
    main = set(metadata.ancestors(metadata.head_id))
    snapshots = [
        RetainedSnapshot(each.snapshot_id, to_micros(each.timestamp_ms), each.snapshot_id in main)
        for each in metadata.snapshots.values()
        if each.timestamp_ms is not None
    ]
    refs = [
        RetainedRef(name, ref.snapshot_id, ref.type == "tag", _age_us(ref.retention.get("max-ref-age-ms")))
        for name, ref in metadata.refs.items()
        if name != MAIN
    ]
    return snapshots, refs


def _age_us(age_ms: int | None) -> Micros | None:
    return None if age_ms is None else Micros(age_ms * MICROS_PER_MS)
