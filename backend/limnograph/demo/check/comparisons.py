"""The named comparisons of `--check`, over ports. Pure except for the ports; imports neither Spark nor HTTP."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from limnograph.demo.metrics.rule_history import PastAlert
from limnograph.demo.processes.alerting import BURST_ALERT
from limnograph.demo.story.calendar import HOUR, MINUTE, SECOND
from limnograph.demo.story.plan import ON_REQUEST
from limnograph.demo.story.story import Story
from limnograph.domain.answers.alerts import AlertView, Incident
from limnograph.domain.answers.effect_ledger import LedgerRow
from limnograph.domain.answers.explanations import Explanation
from limnograph.domain.answers.timeline import Bar
from limnograph.domain.inbound.alert_labels import fingerprint

RATIO_LOW, RATIO_HIGH = 2.5, 3.5
NONE_SURE = 0.5
"""Minimum probability that Explain must assign to "no commit" in the lake without the burst."""


class SnapshotTotals(NamedTuple):
    """Live data files, delete files and records of a snapshot; None = unknown."""

    data_files: int | None
    delete_files: int | None
    records: int | None


class MetaRow(NamedTuple):
    """Columns of the meta table `snapshots` that the comparisons need. `table`: `catalog.namespace.table`."""

    table: str
    table_uuid: str
    snapshot_id: int
    sequence_number: int
    committed_at: int
    metadata_location: str
    app_id: str | None
    totals: SnapshotTotals


class Lane(NamedTuple):
    """A lane of the HTTP timeline: instants (epoch ms) and values."""

    t: Sequence[int]
    v: Sequence[float | None]


class MetaTableReader(Protocol):
    """The meta table, read at one of its snapshots."""

    def rows(self) -> Sequence[MetaRow]:
        """All rows."""
        ...


class LedgerReader(Protocol):
    """The effect ledger of the running server."""

    def rows(self, awaited: str) -> Sequence[LedgerRow]:
        """All measured rows, once the operation `awaited` is among them or too much time has passed."""
        ...


class ObservedTables(Protocol):
    """The observed lake, as PyIceberg reads it."""

    def tables(self) -> Sequence[str]:
        """All observed tables, `catalog.namespace.table`."""
        ...

    def snapshot_ids(self, metadata_location: str) -> set[int]:
        """Ids in one metadata file."""
        ...


class Engine(Protocol):
    """Spark, whose metadata tables are queried."""

    def totals(self, table: str, snapshot_id: int) -> SnapshotTotals:
        """Totals of a table at a snapshot."""
        ...


class TimelineAnswers(Protocol):
    """The server's timeline, over HTTP."""

    def lane(self, table: str, lane: str, start: int, end: int, *, step: int, job: str | None = None) -> Lane:
        """One lane of a table between two instants (epoch ms), `step` in seconds."""
        ...


class ExplainAnswers(Protocol):
    """Explain, which is queried for a change of a job."""

    def explanation(self, table: str, job: str, span: tuple[int, int], without: str | None = None) -> Explanation:
        """The explanation for a range of epoch ms; `without`: on the lake without this snapshot."""
        ...


class LiveChain(Protocol):
    """The live part: the live job's own numbers and its rows in the meta table."""

    def newest_commit(self) -> MetaRow | None:
        """The newest row of a live table that was committed after the check began; None if none arrived in time."""
        ...

    def application_ids(self) -> set[str]:
        """Values of label `application_id` of the live job's metrics, as stored in Prometheus."""
        ...


class AlertReader(Protocol):
    """Alerts as the server lists them, on the page of an incident and in the lane of a table."""

    def rows(self) -> Sequence[AlertView]:
        """All alerts of the last thirty days."""
        ...

    def incident(self, fingerprint: str, starts_at: int) -> Incident:
        """The page of one alert."""
        ...

    def bars(self, table: str, start: int, end: int) -> Sequence[Bar]:
        """Lane Alerts of a table between two instants (epoch ms)."""
        ...


class ComparisonResult(NamedTuple):
    """The outcome of one comparison."""

    name: str
    ok: bool
    detail: str
    figures: dict[str, Any]


Comparison = Callable[[], Iterable[ComparisonResult]]


def heads(rows: Iterable[MetaRow]) -> dict[str, MetaRow]:
    """The newest row of each table."""
    found: dict[str, MetaRow] = {}
    for row in rows:
        if row.table not in found or row.sequence_number > found[row.table].sequence_number:
            found[row.table] = row
    return found


def same_snapshots(meta: MetaTableReader, lake: ObservedTables) -> Iterable[ComparisonResult]:
    """Each table's snapshot ids equal those in the metadata file that its newest row was read from."""
    rows = meta.rows()
    newest = heads(rows)
    for table in lake.tables():
        name, head = f"snapshots of {table}", newest.get(table)
        if head is None:
            yield ComparisonResult(name, ok=False, detail="the meta table has no row of it", figures={})
            continue
        noted = [row.snapshot_id for row in rows if row.table_uuid == head.table_uuid]
        real = lake.snapshot_ids(head.metadata_location)
        missing, extra = real - set(noted), set(noted) - real
        doubled = len(noted) - len(set(noted))
        detail = f"{len(missing)} missing, {len(extra)} unknown to the table, {doubled} doubled"
        example = {"missing_example": str(min(missing))} if missing else {}
        figures = {"meta": len(noted), "lake": len(real), **example}
        yield ComparisonResult(name, ok=not (missing or extra or doubled), detail=detail, figures=figures)


def same_totals(meta: MetaTableReader, engine: Engine) -> Iterable[ComparisonResult]:
    """The totals of every head equal those of Spark's metadata tables at that snapshot."""
    for table, head in sorted(heads(meta.rows()).items()):
        theirs = engine.totals(table, head.snapshot_id)
        detail = f"meta {head.totals}, Spark {theirs}, at snapshot {head.snapshot_id}"
        figures = {"data_files": theirs.data_files, "delete_files": theirs.delete_files, "records": theirs.records}
        yield ComparisonResult(f"totals of {table}", ok=head.totals == theirs, detail=detail, figures=figures)


def files_rise(timelines: TimelineAnswers, told: Story) -> Iterable[ComparisonResult]:
    """The data-files lane rises by exactly the files that the story added, at the story's second."""
    at, expected = told.burst.at, told.files_after - told.files_before
    lane = timelines.lane(told.table, "data_files", at - 2 * MINUTE, at + 2 * MINUTE, step=1)
    known = {t: v for t, v in zip(lane.t, lane.v, strict=True) if v is not None}
    before, after = known.get(at - SECOND), known.get(at + SECOND)
    rise = None if before is None or after is None else after - before
    detail = f"from {before} to {after} around the append, expected {told.files_before} to {told.files_after}"
    figures = {"before": before, "after": after, "rise": rise}
    ok = rise == expected and before == told.files_before
    yield ComparisonResult("data files rise at the append", ok=ok, detail=detail, figures=figures)


def job_slows(timelines: TimelineAnswers, told: Story) -> Iterable[ComparisonResult]:
    """The reader's median duration from the first slow run to the repair, compared with the hour before the append."""
    job, slow = told.slowdown.job_name, told.slowdown
    before = _durations(timelines, told, told.burst.at - HOUR, told.burst.at, job)
    # Starts after the first slow run has finished, because its duration is unknown before.
    after = _durations(timelines, told, slow.start + 5 * MINUTE, slow.end, job)
    name = "job slows down after the append"
    if not before or not after:
        detail = f"{len(before)} durations before and {len(after)} after the append"
        yield ComparisonResult(name, ok=False, detail=detail, figures={})
        return
    low, high = statistics.median(before), statistics.median(after)
    ratio = high / low
    detail = f"median {low:.1f} s before, {high:.1f} s after: {ratio:.2f} times, expected {RATIO_LOW} to {RATIO_HIGH}"
    figures = {"before_seconds": round(low, 2), "after_seconds": round(high, 2), "ratio": round(ratio, 3)}
    yield ComparisonResult(name, ok=RATIO_LOW <= ratio <= RATIO_HIGH, detail=detail, figures=figures)


def _durations(timelines: TimelineAnswers, told: Story, start: int, end: int, job: str) -> list[float]:
    lane = timelines.lane(told.table, "job_duration", start, end, step=60, job=job)
    return [v for t, v in zip(lane.t, lane.v, strict=True) if v is not None and start <= t < end]


def burst_is_blamed(explanations: ExplainAnswers, told: Story) -> Iterable[ComparisonResult]:
    """Explain names the story's commit first; without it, no commit of the slow hours explains them."""
    span, job, burst = (told.view_from, told.view_to), told.slowdown.job_name, told.burst.snapshot_id
    said = explanations.explanation(told.table, job, span)
    detail = f"{said.verdict} ({said.confidence}); expected commit {burst}"
    first = said.hypotheses[0]
    figures = {"posterior": round(first.posterior, 3), "confidence": said.confidence}
    yield ComparisonResult("explain names the append", ok=said.blamed[:1] == [burst], detail=detail, figures=figures)
    said = explanations.explanation(told.table, job, span, without=burst)
    first = said.hypotheses[0]
    ok = (first.kind, said.verdict.startswith("No commit explains")) == ("none", True) and first.posterior >= NONE_SURE
    figures = {"posterior": round(first.posterior, 3), "confidence": said.confidence}
    detail = f"{said.verdict} {first.kind} {first.posterior:.2f}, expected none with {NONE_SURE} or more"
    yield ComparisonResult("without the append no commit explains it", ok=ok, detail=detail, figures=figures)


def repair_is_measured(ledger: LedgerReader, told: Story) -> Iterable[ComparisonResult]:
    """The ledger states that the repair made the reader faster, with bounds that contain the generator's ratio. It
    claims no effect of compactions of other tables; of some of them it says that there is none, or how many runs would
    show it.
    """
    name, rows = "the ledger measures the repair", ledger.rows(told.repair.snapshot_id or "")
    row = next(
        (each for each in rows if each.operation_id == told.repair.snapshot_id and each.measure == "duration"), None
    )
    if row is None:
        yield ComparisonResult(name, ok=False, detail="the repair has no measured effect", figures={})
        return
    truth = told.slowdown.usual_seconds / told.slowdown.slow_seconds
    low, high = row.ratio_low or 0, row.ratio_high or float("inf")
    detail = f"{row.verdict}: ratio {low:.3f} to {high:.3f} of {row.job_name}, expected helped around {truth:.3f}"
    figures = {"verdict": row.verdict, "low": round(low, 3), "high": round(high, 3), "truth": round(truth, 3)}
    yield ComparisonResult(name, ok=row.verdict == "helped" and low <= truth <= high, detail=detail, figures=figures)
    # A compaction on request repairs a burst: what it did to the job is true, and no part of the story.
    innocent = [
        each
        for each in rows
        if each.operation_id != told.repair.snapshot_id and each.measure == "duration" and each.writer not in ON_REQUEST
    ]
    claims = [
        f"{each.table}: {each.verdict} ({each.because})" for each in innocent if each.verdict in {"helped", "worse"}
    ]
    detail = "; ".join(claims) or f"{len(innocent)} rows without a claim"
    ok = bool(innocent) and not claims
    verdicts = {"verdicts": sorted({each.verdict for each in innocent})}
    yield ComparisonResult("no effect is claimed of innocent compactions", ok=ok, detail=detail, figures=verdicts)
    judged = [each for each in innocent if each.verdict == "none" or (each.verdict == "unknown" and each.more_runs)]
    detail = (
        "; ".join(f"{each.table}: {each.verdict}, {each.more_runs} more runs" for each in judged) or "none is judged"
    )
    name = "an innocent compaction has no effect, or the runs that would show it"
    yield ComparisonResult(name, ok=bool(judged), detail=detail or "no row is", figures={"judged": len(judged)})


def past_alerts_are_listed(reader: AlertReader, past: Sequence[PastAlert]) -> Iterable[ComparisonResult]:
    """The server lists every alert that the rules raise on the history, with its start and its end."""
    listed = {(row.fingerprint, row.starts_at): row for row in reader.rows()}
    missing = []
    for alert in past:
        row = listed.get((fingerprint(alert.labels), alert.starts_at))
        # One that had no end in the history ends when the live Prometheus raises it again.
        if row is None or alert.ends_at not in {None, row.ends_at}:
            missing.append(f"{alert.labels['alertname']} of {alert.labels.get('table')} at {alert.starts_at}: {row}")
    detail = "; ".join(missing) or f"{len(past)} alerts"
    names = sorted({alert.labels["alertname"] for alert in past})
    figures = {"alerts": len(past), "names": names}
    name = "the alerts of the history are listed"
    yield ComparisonResult(name, ok=bool(past) and not missing, detail=detail, figures=figures)


def burst_raised_an_alert(reader: AlertReader, told: Story) -> Iterable[ComparisonResult]:
    """The append raised its alert within two minutes; it was resolved before the repair, because the rule is about the
    rate; its incident shows the append, and the lane of alerts its bar.
    """
    name, burst = "the append raised its alert", told.burst
    row = next(
        (
            each
            for each in reader.rows()
            if each.alert_name == BURST_ALERT
            and each.table is not None
            and f"{each.table.catalog}.{each.table.table_namespace}.{each.table.table}" == told.table
            and burst.at <= each.starts_at <= burst.at + 2 * MINUTE
        ),
        None,
    )
    if row is None:
        yield ComparisonResult(name, ok=False, detail=f"no {BURST_ALERT} within 2 minutes of the append", figures={})
        return
    resolved = row.ends_at is not None and row.starts_at < row.ends_at < told.repair.at
    seconds = round((row.starts_at - burst.at) / SECOND)
    detail = f"{seconds} s after the append until {row.ends_at}; expected an end before the repair at {told.repair.at}"
    yield ComparisonResult(name, ok=resolved, detail=detail, figures={"seconds_after": seconds})
    incident = reader.incident(row.fingerprint, row.starts_at)
    shown = burst.snapshot_id in {str(commit.snapshot_id) for commit in incident.commits}
    window = incident.window
    inside = window.start < burst.at and window.end is not None and window.end > (row.ends_at or 0)
    detail = f"window {window.start} to {window.end}, append among {len(incident.commits)} commits: {shown}"
    yield ComparisonResult("its incident shows the append", ok=shown and inside, detail=detail, figures={})
    bars = reader.bars(told.table, told.view_from, told.view_to)
    drawn = [(bar.label, bar.begins, bar.end) for bar in bars]
    ok = (BURST_ALERT, row.starts_at, row.ends_at) in drawn
    yield ComparisonResult("the lane of alerts shows it", ok=ok, detail=f"{drawn}", figures={"bars": len(drawn)})


def live_commit_arrives(live: LiveChain) -> Iterable[ComparisonResult]:
    """A commit of the live job reaches the meta table, and its application id equals the one in Prometheus."""
    row = live.newest_commit()
    if row is None:
        yield ComparisonResult("live commit reaches the meta table", ok=False, detail="none came in time", figures={})
        return
    figures = {"table": row.table, "snapshot_id": str(row.snapshot_id), "app_id": row.app_id}
    yield ComparisonResult("live commit reaches the meta table", ok=True, detail=f"{row.snapshot_id}", figures=figures)
    known = live.application_ids()
    detail = f"app-id {row.app_id}, application_id {', '.join(sorted(known)) or 'none'}"
    yield ComparisonResult("app-id equals application_id", ok=row.app_id in known, detail=detail, figures={})
