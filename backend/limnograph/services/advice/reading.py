"""Reads what advice needs of one table. Runs in the killable child process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from limnograph.analysis.advice.retention import expiry_within, retention_rule
from limnograph.domain.advice.document import NotKnown
from limnograph.domain.advice.reading import AdviceReading, HeldReading
from limnograph.domain.advice.survey import SurveyedPartition, TableSurvey
from limnograph.domain.errors import MetadataError, SourceError
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.actions import STAMP
from limnograph.domain.maintenance.policy import RetainedSnapshots
from limnograph.domain.metadata.due import ColumnChoice, DueTable
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.domain.time import EPOCH, Micros, Millis, to_micros
from limnograph.ports.clock import Clock
from limnograph.ports.table_planner import TablePlanner
from limnograph.ports.table_reader import TableReader
from limnograph.services.extraction.extract import ENTRIES_AT_ONCE, facts_of
from limnograph.services.extraction.private_partitions import HIDDEN, PrivatePartitions
from limnograph.services.pipeline.changes import ObservedTable, state_changes
from limnograph.services.pipeline.ledger import Ledger

UNNAMED = TableName("", "", "")
"""Name of a table that was read without a catalog."""
NEWEST, REWRITES = 30, 20
"""Snapshots that are read to their entries: the newest, and the newest rewrites with the commits before them, so that
rules see what a rewrite changed. Of all others, the summaries suffice.
"""
_SUMMARY = ("operation", "wap.id", "published-wap-id", "hudi.action", STAMP)


def advice_reading(
    metadata: TableMetadata,
    planner: TablePlanner | None,
    now: Millis,
    changes: list[ChangeFact] | None = None,
    *,
    private: Sequence[str] = (),
    retain: RetainedSnapshots | None = None,
) -> AdviceReading:
    """The table at `now`. What cannot be read is a reason, not an error. `private`: patterns of columns of which no
    value may be in it. `retain`: of a policy.
    """
    survey, unread = _survey(metadata, planner)
    if survey is not None and PrivatePartitions(metadata, private):
        survey = without_partitions(survey)
    held, unsummed = _held(metadata, planner, now, retain)
    return AdviceReading(
        metadata=metadata.outlined(_SUMMARY),
        now=now,
        survey=survey,
        unread=unread,
        held=held,
        unsummed=unsummed,
        changes=changes or [],
    )


def _survey(metadata: TableMetadata, planner: TablePlanner | None) -> tuple[TableSurvey | None, str | None]:
    if planner is None:
        return None, f"plans for tables of format {metadata.format}"
    if metadata.head_id is None:
        return None, "a current snapshot: nothing was committed to the table"
    try:
        return planner.survey(metadata), None
    except (MetadataError, SourceError) as error:
        return None, f"the current files: {error.detail}"


def _held(
    metadata: TableMetadata, planner: TablePlanner | None, now: Millis, retain: RetainedSnapshots | None
) -> tuple[HeldReading | None, str | None]:
    if planner is None:
        return None, f"bytes that older versions of a table of format {metadata.format} hold"
    expiry = expiry_within(metadata, now, None if retain is None else retention_rule(retain))
    try:
        found = planner.held(metadata, now, expiry.snapshot_ids)
    except SourceError as error:
        return None, f"the files of all retained snapshots: {error.detail}"
    return (None, found.missing) if isinstance(found, NotKnown) else (found, None)


def without_partitions(survey: TableSurvey) -> TableSurvey:
    """The survey without values of partitions, so that plans can only be for the whole table."""

    def hidden(each: SurveyedPartition) -> SurveyedPartition:
        return SurveyedPartition(spec_id=each.spec_id, text=HIDDEN if each.text else "", values=[])

    groups = [replace(each, partitions=list(map(hidden, each.partitions))) for each in survey.groups]
    deletes = [replace(each, partitions=list(map(hidden, each.partitions))) for each in survey.deletes]
    return replace(survey, groups=groups, deletes=deletes, partitions=[])


def judged_at(metadata: TableMetadata) -> Millis | None:
    """Time of the newest snapshot."""
    times = [each.timestamp_ms for each in metadata.snapshots.values() if each.timestamp_ms is not None]
    return max(times, default=None)


def history(metadata: TableMetadata, reader: TableReader, clock: Clock) -> Iterator[list[SnapshotFact]]:
    """Facts of all snapshots. Raises SourceError. O(snapshots), and O(live files) of each that is read deeply."""
    ordered = metadata.ordered
    chosen = _deep(ordered)
    shallow = [each.snapshot_id for each in ordered if each.snapshot_id not in chosen]
    deep = [each.snapshot_id for each in ordered if each.snapshot_id in chosen]
    if shallow:
        yield facts_of(metadata, _due(metadata, shallow), reader, clock)
    for first in range(0, len(deep), ENTRIES_AT_ONCE):
        due = _due(metadata, deep[first : first + ENTRIES_AT_ONCE], ColumnChoice())
        yield facts_of(metadata, due, reader, clock)


def _deep(ordered: list[Snapshot]) -> set[int]:
    rewrites = [each for each in ordered if each.operation == "replace"][-REWRITES:]
    found = {each.snapshot_id for each in (*ordered[-NEWEST:], *rewrites)}
    return found | {each.parent_id for each in rewrites if each.parent_id is not None}


def _due(metadata: TableMetadata, snapshot_ids: list[int], columns: ColumnChoice | None = None) -> DueTable:
    return DueTable(
        catalog=UNNAMED.catalog,
        namespace=UNNAMED.namespace,
        table=UNNAMED.table,
        table_uuid=metadata.table_uuid,
        metadata_location=metadata.metadata_location,
        snapshot_ids=snapshot_ids,
        format=metadata.format,
        columns=columns,
    )


def states(
    metadata: TableMetadata, now: Millis, older: Sequence[tuple[Micros, TableMetadata]] = ()
) -> list[ChangeFact]:
    """Changes of the table's states that its metadata shows. `older`: earlier versions of it. What no version dates
    counts as set when the table was created: nothing shows that a property came later.
    """
    found = state_changes(ObservedTable(metadata.table_uuid, UNNAMED, metadata, tuple(older)), Ledger(), to_micros(now))
    first = older[0][0] if older else to_micros(metadata.last_updated_ms or now)
    return [replace(each, at=EPOCH) if each.kind == "property" and each.at == first else each for each in found]
