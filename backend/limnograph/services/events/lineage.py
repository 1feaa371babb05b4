"""OpenLineage run events as transitions of job runs, reports and notices.

START is `running`, COMPLETE `ok`, FAIL and ABORT `failed`. RUNNING and OTHER are no transition, as a run has any number
of them and rows are identified by `(run_id, status)`; what their facets report is stored. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from limnograph.domain.errors import InvalidInput
from limnograph.domain.facts.events import ReportFact, RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.client_reports import LARGEST, long
from limnograph.domain.inbound.notices import Notice, notice
from limnograph.domain.inbound.openlineage import (
    ApplicationFacet,
    CatalogFacet,
    CommitReportFacet,
    Dataset,
    EngineFacet,
    ErrorFacet,
    Facets,
    InputStatisticsFacet,
    ParentFacet,
    RunEvent,
    ScanReportFacet,
    SymlinksFacet,
    VersionFacet,
    facet,
)
from limnograph.domain.inbound.selectors import WHOLE, TableSelector, split_folder
from limnograph.domain.time import Micros
from limnograph.services.events.error_messages import without_statements
from limnograph.services.events.facets import kept_facets
from limnograph.services.events.naming import LONGEST, SelectedTable, TableResolver, dataset_location
from limnograph.services.events.received import ReceivedEvents
from limnograph.services.events.reports import of_commit_facet, of_scan_facet
from limnograph.services.jobs.run_log import only_written

SOURCE = "openlineage"
STATUS = {"START": "running", "COMPLETE": "ok", "FAIL": "failed", "ABORT": "failed"}
MOST_TABLES = 1_000
"""Tables of a run that are stored."""
LONGEST_MESSAGE = 2_000
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_LATEST = 32_503_680_000_000_000


class LineageEvent:
    """One event with its datasets resolved to tables. `now`: when it was accepted, epoch microseconds."""

    def __init__(self, event: RunEvent, naming: TableResolver, now: Micros) -> None:
        self._event, self._naming, self._now = event, naming, now
        self._at = instant(event.event_time)
        self._inputs = [(dataset, self._named(dataset)) for dataset in (event.inputs or [])[:MOST_TABLES]]
        self._outputs = [(dataset, self._named(dataset)) for dataset in (event.outputs or [])[:MOST_TABLES]]

    def told(self) -> ReceivedEvents:
        """Everything that the event contains."""
        return ReceivedEvents(runs=tuple(self._runs()), reports=tuple(self._reports()), notices=tuple(self._notices()))

    def _runs(self) -> Iterator[RunFact]:
        event, facets = self._event, self._event.run.facets
        status = STATUS.get(event.event_type or "OTHER")
        if status is None:
            return
        application, engine = facet(facets, "spark_applicationDetails", ApplicationFacet), _engine(facets)
        parent, error = facet(facets, "parent", ParentFacet), facet(facets, "errorMessage", ErrorFacet)
        tables = [*self._uses("reads"), *self._uses("writes")]
        yield RunFact(
            run_id=event.run.run_id,
            status=status,
            job_name=event.job.name,
            job_namespace=event.job.namespace or None,
            application_id=application.application_id if application else None,
            started_at=self._at if status == "running" else None,
            ended_at=None if status == "running" else self._at,
            tables=tables or None,
            observed_at=self._now,
            at=self._at,
            parent_run_id=parent.run.run_id[:LONGEST] if parent else None,
            engine=engine[0],
            engine_version=engine[1],
            message=without_statements(error.message)[:LONGEST_MESSAGE] if error else None,
            source=SOURCE,
            written_snapshot_id=only_written(tables),
            # An event at the start of a run can only estimate what the run will read.
            read_bytes=None if status == "running" else _read_bytes(event.inputs or ()),
        )

    def _uses(self, role: str) -> Iterator[RunTable]:
        for dataset, named in self._inputs if role == "reads" else self._outputs:
            name, selector = named or (None, WHOLE)
            catalog, namespace, table = name or (None, dataset.namespace, dataset.name)
            yield RunTable(
                catalog=catalog,
                namespace=namespace,
                table=table,
                role=role,
                read_snapshot_id=_read_snapshot(dataset, selector) if role == "reads" else None,
                location=_location(dataset, selector),
                written_snapshot_id=self._written_snapshot(dataset, selector) if role == "writes" else None,
                ref=selector.ref,
                metadata_table=selector.metadata_table,
                facets=kept_facets(dataset.facets),
            )

    def _written_snapshot(self, dataset: Dataset, selector: TableSelector) -> int | None:
        """The snapshot in the commit report, else facet `version` of a successful run. The facet holds the snapshot
        that main pointed at when the event was created: before the run's end that is the previous snapshot, and it
        ignores branches.
        """
        commit = facet(dataset.output_facets, "icebergCommitReport", CommitReportFacet)
        if commit is not None and (found := long(commit.snapshot_id)) is not None:
            return found
        if self._event.event_type != "COMPLETE" or selector != WHOLE:
            return None
        version = facet(dataset.facets, "version", VersionFacet)
        return long(version.dataset_version) if version else None

    def _reports(self) -> Iterator[ReportFact]:
        for dataset, named in self._inputs:
            name = named.name if named and not named.selector.metadata_table else None
            if (scan := facet(dataset.input_facets, "icebergScanReport", ScanReportFacet)) is not None:
                yield of_scan_facet(scan, (dataset.namespace, dataset.name), **self._about(dataset, name))
        for dataset, named in self._outputs:
            name = named.name if named else None
            if (commit := facet(dataset.output_facets, "icebergCommitReport", CommitReportFacet)) is not None:
                yield of_commit_facet(commit, (dataset.namespace, dataset.name), **self._about(dataset, name))

    def _about(self, dataset: Dataset, name: TableName | None) -> dict[str, Any]:
        catalog, namespace, table = name or (None, dataset.namespace, dataset.name)
        engine, version = _engine(self._event.run.facets)
        return {
            "at": self._at,
            "catalog": catalog,
            "namespace": namespace,
            "table": table,
            "location": dataset_location(dataset.namespace, dataset.name),
            "engine": engine,
            "engine_version": version,
            "run_id": self._event.run.run_id,
            "source": SOURCE,
            "observed_at": self._now,
        }

    def _notices(self) -> Iterator[Notice]:
        """Outputs of a run that ended, with any result, and outputs with a commit report."""
        ended = self._event.event_type in {"COMPLETE", "FAIL", "ABORT"}
        for dataset, named in self._outputs:
            name = named.name if named else None
            commit = facet(dataset.output_facets, "icebergCommitReport", CommitReportFacet)
            if not ended and commit is None:
                continue
            kind = self._event.event_type or "OTHER"
            identity = (self._event.run.run_id, kind, dataset.namespace, dataset.name)
            yield notice(
                SOURCE,
                identity,
                name,
                location=dataset_location(dataset.namespace, dataset.name),
                snapshot_id=long(commit.snapshot_id) if commit else None,
                event=kind,
            )

    def _named(self, dataset: Dataset) -> SelectedTable | None:
        """The table by its catalog, by a symlink, by its own name, or by its folder: the most certain first."""
        naming = self._naming
        symlinks = facet(dataset.facets, "symlinks", SymlinksFacet)
        links = [link for link in symlinks.identifiers if link.type.upper() in {"TABLE", ""}] if symlinks else []
        names = [levels for text in (*(link.name for link in links), dataset.name) if (levels := _levels(text))]
        location = dataset_location(dataset.namespace, dataset.name)
        if (catalog := facet(dataset.facets, "catalog", CatalogFacet)) is not None:
            for place in (catalog.uri, catalog.metadata_uri, catalog.warehouse_uri):
                for levels in names:
                    if found := naming.settled(naming.by_catalog(catalog.name, place, levels)):
                        return found
        for link in links:
            if found := naming.settled(naming.by_place(link.namespace, _levels(link.name))):
                return found
        if found := naming.selected_by_folder(location):
            return found
        for levels in names:
            found = naming.selected_by_levels(levels) or naming.settled(naming.by_warehouse(location, levels))
            if found:
                return found
        return None


def read_lineage_event(event: RunEvent, naming: TableResolver, now: Micros) -> ReceivedEvents:
    """Raises InvalidInput if the event's time is invalid."""
    return LineageEvent(event, naming, now).told()


def instant(text: str, field: str = "eventTime") -> Micros:
    """Microseconds of an ISO 8601 time; without a zone it is UTC. Raises InvalidInput."""
    try:
        found = datetime.fromisoformat(text.strip())
        micros = ((found if found.tzinfo else found.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND
    except (ValueError, OverflowError) as error:
        raise InvalidInput(field, "must be an ISO 8601 time, such as 2026-11-20T03:05:00.123Z") from error
    if not 0 <= micros <= _LATEST:
        raise InvalidInput(field, "must be between 1970 and 3000")
    return Micros(micros)


def _engine(facets: Facets | None) -> tuple[str | None, str | None]:
    found = facet(facets, "processing_engine", EngineFacet)
    return (found.name.lower() if found.name else None, found.version) if found else (None, None)


def _read_snapshot(dataset: Dataset, selector: TableSelector) -> int | None:
    """The selection, else the snapshot of the scan report, else facet `version`, which the Spark integration fills with
    main's snapshot, whatever branch, tag or instant was read.
    """
    if selector.snapshot_id is not None:
        return selector.snapshot_id
    scan = facet(dataset.input_facets, "icebergScanReport", ScanReportFacet)
    if scan is not None and (found := long(scan.snapshot_id)) is not None:
        return found
    version = facet(dataset.facets, "version", VersionFacet) if selector.ref is None and not selector.past else None
    return long(version.dataset_version) if version else None


def _read_bytes(inputs: Iterable[Dataset]) -> int | None:
    """Sum of the sizes in facet `inputStatistics`. None unless every input has one: a partial sum is too low."""
    found = [facet(dataset.input_facets, "inputStatistics", InputStatisticsFacet) for dataset in inputs]
    sizes = [each.size for each in found if each is not None and each.size is not None]
    total = sum(sizes)
    return total if sizes and len(sizes) == len(found) and total <= LARGEST else None


def _location(dataset: Dataset, selector: TableSelector) -> str | None:
    """Folder of the table, without the suffix that selects a part of it."""
    location = dataset_location(dataset.namespace, dataset.name)
    split = split_folder(location) if location and selector != WHOLE else None
    return split[0] if split else location


def _levels(text: str) -> list[str]:
    """Levels of a dotted name; none for a path."""
    return text.split(".") if "/" not in text and "." in text else []
