"""Scan and commit reports of Iceberg clients as rows of `reports`. A repeated report is the same row. Only the columns
of a filter are kept.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from limnograph.domain.facts.events import ReportFact
from limnograph.domain.facts.report_contents import kept_metadata, kept_metrics
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.client_reports import ReportIn, long, numbers, texts
from limnograph.domain.inbound.filter_columns import filter_columns
from limnograph.domain.inbound.notices import notice
from limnograph.domain.inbound.openlineage import CommitReportFacet, ScanReportFacet
from limnograph.domain.time import Micros
from limnograph.services.events.received import ReceivedEvents

MOST_FIELDS = 10_000
_COLUMNS = {
    "attempts": "attempts",
    "result_data_files": "result-data-files",
    "result_delete_files": "result-delete-files",
    "skipped_data_files": "skipped-data-files",
    "scanned_data_manifests": "scanned-data-manifests",
    "skipped_data_manifests": "skipped-data-manifests",
    "total_file_bytes": "total-file-size-in-bytes",
    "added_data_files": "added-data-files",
    "removed_data_files": "removed-data-files",
}
"""Column -> name of the metric."""
_NOT_SAID = {"event_id", "at", "observed_at", "catalog", "namespace", "table", "streaming"}
_DURATIONS = ("total-duration", "total-planning-duration")
_NS = 1_000_000_000
_NS_PER_MS = 1_000_000


def read_metrics_report(
    report: ReportIn, name: TableName | None, now: Micros, source: str, spoken: tuple[str, ...] = ()
) -> ReceivedEvents:
    """A row, and for a commit a notice. An unresolved name is recorded as sent. `spoken`: the client's name of the
    table, if the report does not contain it.
    """
    spoken = spoken or (report.table_name,)
    kind = report.report_type.removesuffix("-report")
    metadata = texts(report.metadata)
    metrics = numbers(report.metrics)
    fact = report_fact(
        kind,
        metrics,
        metadata,
        spoken,
        snapshot_id=report.snapshot_id,
        sequence_number=report.sequence_number,
        operation=report.operation,
        schema_id=report.schema_id,
        filter_columns=filter_columns(report.filter),
        projected_fields=(report.projected_field_names or [])[:MOST_FIELDS] or None,
        at=now,
        source=source,
        observed_at=now,
        **named(name, report.table_name),
    )
    if kind == "scan":
        return ReceivedEvents(reports=(fact,))
    woken = notice(source, (*spoken, str(report.snapshot_id)), name, snapshot_id=report.snapshot_id, event="commit")
    return ReceivedEvents(reports=(fact,), notices=(woken,))


def of_scan_facet(facet: ScanReportFacet, spoken: tuple[str, ...], **about: Any) -> ReportFact:
    """An `icebergScanReport` of OpenLineage. `about`: columns from its event; `spoken`: the name of its dataset."""
    schema = long(facet.schema_id)
    return report_fact(
        "scan",
        _camel(facet.scan_metrics),
        texts(facet.metadata),
        spoken,
        snapshot_id=long(facet.snapshot_id),
        schema_id=schema if schema is not None and abs(schema) < 2**31 else None,
        filter_columns=filter_columns(facet.filter),
        projected_fields=(facet.projected_field_names or [])[:MOST_FIELDS] or None,
        **about,
    )


def of_commit_facet(facet: CommitReportFacet, spoken: tuple[str, ...], **about: Any) -> ReportFact:
    """An `icebergCommitReport` of OpenLineage."""
    return report_fact(
        "commit",
        _camel(facet.commit_metrics),
        texts(facet.metadata),
        spoken,
        snapshot_id=long(facet.snapshot_id),
        sequence_number=long(facet.sequence_number),
        operation=facet.operation,
        **about,
    )


def report_fact(
    kind: str, metrics: dict[str, int], metadata: dict[str, str], spoken: tuple[str, ...], **about: Any
) -> ReportFact:
    """A row. `metrics` and `metadata` by Iceberg's names; `spoken`: what identifies the report besides its contents;
    `about`: other columns, which take precedence.
    """
    duration = next((metrics[name] for name in _DURATIONS if name in metrics), None)
    columns: dict[str, Any] = {column: metrics.get(metric) for column, metric in _COLUMNS.items()}
    columns |= {
        "engine": metadata.get("engine-name"),
        "engine_version": metadata.get("engine-version"),
        "application_id": metadata.get("app-id"),
    }
    columns |= {column: value for column, value in about.items() if value is not None}
    fact = ReportFact(
        event_id="",
        kind=kind,
        duration_seconds=None if duration is None else duration / _NS,
        metrics=kept_metrics(metrics),
        metadata=kept_metadata(metadata),
        **columns,
    )
    return msgspec.structs.replace(fact, event_id=_event_id(fact, spoken))


def _event_id(fact: ReportFact, spoken: tuple[str, ...]) -> str:
    """Hash of the report's contents, without its time of arrival and without what we know about its table."""
    said = [getattr(fact, name) for name in fact.__struct_fields__ if name not in _NOT_SAID]
    return hashlib.sha256(msgspec.json.encode([spoken, said])).hexdigest()[:32]


def named(name: TableName | None, text: str) -> dict[str, str | None]:
    """Columns that name a table: as it was resolved, otherwise as its sender names it."""
    if name is not None:
        return {"catalog": name.catalog, "namespace": name.namespace, "table": name.table}
    namespace, _, table = text.rpartition(".")
    return {"namespace": namespace or None, "table": table}


def _camel(metrics: Mapping[str, Any] | None) -> dict[str, int]:
    """The same metrics in OpenLineage's spelling; its durations are milliseconds."""
    plain = {_kebab(name): long(value) for name, value in (metrics or {}).items()}
    return {
        name: value * _NS_PER_MS if name in _DURATIONS else value
        for name, value in plain.items()
        if value is not None and 0 <= value < 2**63 // _NS_PER_MS
    }


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", name.replace("DVs", "Dvs")).lower()
