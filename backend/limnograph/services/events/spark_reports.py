"""Reports of PySpark jobs as rows of `reports`. Pure."""

from __future__ import annotations

from limnograph.domain.facts.events import ReportFact
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.client_reports import numbers
from limnograph.domain.inbound.notices import Notice, notice
from limnograph.domain.inbound.spark_reports import SparkReport, SparkReports
from limnograph.domain.time import Micros
from limnograph.services.events.naming import TableResolver
from limnograph.services.events.received import ReceivedEvents
from limnograph.services.events.reports import named, report_fact

SOURCE = "spark"
_US_PER_MS = 1_000


def read_spark_reports(sent: SparkReports, naming: TableResolver, now: Micros) -> ReceivedEvents:
    """Rows, and a notice for each commit that succeeded. A table of no configured catalog is recorded as sent."""
    rows: list[ReportFact] = []
    notices: list[Notice] = []
    for report in sent.reports:
        name = naming.by_levels(report.table.split("."))
        rows.append(_row(sent, report, name, now))
        if report.kind == "commit" and report.outcome == "ok":
            notices.append(notice(SOURCE, _identity(sent, report), name, event="commit"))
    return ReceivedEvents(reports=tuple(rows), notices=tuple(notices), messages=len(rows))


def _row(sent: SparkReports, report: SparkReport, name: TableName | None, now: Micros) -> ReportFact:
    return report_fact(
        report.kind,
        numbers(report.metrics),
        {},
        _identity(sent, report),
        at=Micros(report.at * _US_PER_MS),
        snapshot_id=None if report.snapshot_id is None else int(report.snapshot_id),
        schema_id=report.schema_id,
        projected_fields=report.columns,
        filter_columns=report.filter_columns,
        rows=report.rows,
        wall_seconds=report.wall_seconds,
        operation=report.operation,
        outcome=report.outcome,
        conflict_kind=report.conflict_kind,
        streaming=report.streaming,
        engine="spark",
        engine_version=sent.engine_version,
        application_id=sent.application_id,
        user=sent.user,
        job_name=sent.job_name,
        run_id=sent.run_id,
        query_id=str(report.execution),
        source=SOURCE,
        observed_at=now,
        **named(name, report.table),
    )


def _identity(sent: SparkReports, report: SparkReport) -> tuple[str, ...]:
    """The same for a repeated report, whatever Spark says about it then."""
    return (sent.run_id, str(report.execution), str(report.node), report.kind, report.table)
