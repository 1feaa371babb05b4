"""The pipeline as a program. In one Spark session it runs passes until nothing is due, a rebuild, a repair, or a stream
until a signal.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from limnograph.domain.errors import SourceError
from limnograph.domain.facts.meta_tables import MetaTable
from limnograph.domain.failpoints import Failpoints
from limnograph.jobs.housekeeping import run_due_steps, run_steps_between_passes
from limnograph.jobs.logs import cause
from limnograph.jobs.supervising import Query, supervise
from limnograph.ports.meter import Meter
from limnograph.services.pipeline.backoff import BackOff
from limnograph.services.pipeline.drain import DrainReport
from limnograph.services.pipeline.rebuild import Rebuilt
from limnograph.services.pipeline.repair import RepairReport, Repairs
from limnograph.services.pipeline.report import PassReport
from limnograph.settings import Settings
from limnograph.wiring import pipeline as wiring
from limnograph.wiring.housekeeping import housekeeping
from limnograph.wiring.metering import exported, metered_drain, metered_passes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RETRIES = 3
"""Passes without progress, with the same failing sources, after which `--once` ends."""

Progress = Callable[[str], None]
_log = logging.getLogger("limnograph.pipeline")
_T = TypeVar("_T")


class PassRunner(Protocol):
    """Runs passes: `services.pipeline.passes.Passes`."""

    def run(self) -> PassReport:
        """Run one pass."""
        ...


class Total(msgspec.Struct, frozen=True):
    """Totals over the passes of one `--once`."""

    run_id: str
    tables_seen: int
    tables_changed: int
    snapshots_appended: int
    gaps: int
    unreadable: int
    seconds: float
    failed: tuple[str, ...] = ()

    def document(self) -> dict[str, object]:
        """The JSON document of the contract."""
        return {name: getattr(self, name) for name in self.__struct_fields__ if name != "failed"}


def run_once(settings: Settings, progress: Progress, *, verbose: bool = False) -> Total:
    """Run passes until nothing is due, or until RETRIES passes made no progress because the same sources fail."""
    started = time.monotonic()
    session = wiring.spark_session(settings, verbose=verbose)
    try:
        total = passes_and_house(settings, session, progress)
    finally:
        session.stop()
    return msgspec.structs.replace(total, seconds=round(time.monotonic() - started, 3))


def passes_and_house(
    settings: Settings, session: SparkSession, progress: Progress, failpoints: Failpoints | None = None
) -> Total:
    """Everything that `--once` does, in an existing session: drain the inbox, passes, housekeeping."""
    undrained = drain_inbox(wiring.drain(settings, session, failpoints=failpoints, progress=progress), progress)
    made = wiring.passes(settings, session, failpoints=failpoints, progress=progress)
    reports = until_settled(wiring.marked(settings, made, progress), progress)
    run_due_steps(housekeeping(settings, session, failpoints=failpoints), progress)
    total = total_of(reports, 0.0)
    return msgspec.structs.replace(total, failed=(*undrained, *total.failed))


class InboxDrainer(Protocol):
    """Drains the inbox: `services.pipeline.drain.Drain`."""

    def run(self) -> DrainReport:
        """Run one drain."""
        ...


def drain_inbox(drain: InboxDrainer, progress: Progress, rounds: int = 1_000) -> tuple[str, ...]:
    """Drain until the inbox is empty. Returns a sentence if that failed; the remaining items are not lost."""
    try:
        for _ in range(rounds):
            report = drain.run()
            if report.committed or report.set_aside:
                progress(f"inbox: {report.appended} rows appended, {report.set_aside} items set aside")
            if not report.more:
                break
    except SourceError as error:
        progress(f"inbox not drained, retrying at the next drain: {error}")
        return (str(error),)
    return ()


def run_or_log(failed: str, act: Callable[[], _T], progress: Progress) -> _T | None:
    """The result of one step of the stream; None if it fails, which is logged and does not end the stream."""
    try:
        return act()
    except SourceError as error:
        progress(f"{failed}: {error}")
    except Exception as error:  # noqa: BLE001 - a stream survives the failure of a step
        _log.exception("%s", failed)
        progress(f"{failed}: unexpected {cause(error)}")
    return None


def stream_drain(drain: InboxDrainer, progress: Progress) -> None:
    """Run one drain of the stream, and only one, so that a full inbox does not delay the pass. Never raises."""
    run_or_log(
        "inbox not drained, retrying at the next drain", lambda: drain_inbox(drain, progress, rounds=1), progress
    )


def total_of(reports: Sequence[PassReport], seconds: float) -> Total:
    """Totals over passes; a table that changed in several passes counts once."""
    last = reports[-1]
    return Total(
        run_id=last.run_id,
        tables_seen=last.tables_seen,
        tables_changed=len(frozenset[str | None]().union(*(report.changed for report in reports))),
        snapshots_appended=sum(report.snapshots_appended for report in reports),
        gaps=sum(report.gaps for report in reports),
        unreadable=last.unreadable,
        seconds=seconds,
        failed=last.failed,
    )


def until_settled(
    made: PassRunner, progress: Progress, pause: Callable[[float], None] = time.sleep
) -> list[PassReport]:
    """Run passes until nothing is due, and return their reports. Commits that arrive meanwhile do not prolong the
    retries of a failing source.
    """
    reports: list[PassReport] = []
    barren: Counter[frozenset[str]] = Counter()
    while True:
        report = made.run()
        reports.append(report)
        for sentence in report.failed:
            progress(f"still due: {sentence}")
        if not report.pending:
            return reports
        if report.more and report.snapshots_appended:
            continue
        failing = frozenset(sentence.split(": ", 1)[0] for sentence in report.failed)
        barren[failing] += 1
        if barren[failing] >= RETRIES:
            return reports
        pause(0.5 * 2 ** barren[failing])


def stream_pass(made: PassRunner, progress: Progress) -> None:
    """Run one pass of the stream. Never raises: the next trigger retries."""
    report = run_or_log("pass failed, the next pass retries", made.run, progress)
    if report is not None and (report.tables_changed or report.failed):
        told = {name: getattr(report, name) for name in report.__struct_fields__ if name != "changed"}
        progress(msgspec.json.encode(told).decode())


class RebuildTotal(msgspec.Struct, frozen=True):
    """The result of a rebuild and of the passes that filled the tables."""

    rebuilt: Rebuilt
    total: Total

    def document(self) -> dict[str, object]:
        """The fields of a pass, and the tables that were rebuilt, are empty, and were forgotten."""
        told = {name: getattr(self.rebuilt, name) for name in ("tables", "emptied", "forgotten")}
        return self.total.document() | told | {"gaps": self.total.gaps + self.rebuilt.gaps}


def rebuild_once(
    settings: Settings, named: Sequence[MetaTable], progress: Progress, *, verbose: bool = False
) -> RebuildTotal:
    """Rebuild lost meta tables and those in `named`, then do everything that `--once` does."""
    started = time.monotonic()
    session = wiring.spark_session(settings, verbose=verbose)
    try:
        rebuilt = wiring.rebuild(settings, session, progress=progress).run(named)
        total = passes_and_house(settings, session, progress)
    finally:
        session.stop()
    seconds = round(time.monotonic() - started, 3)
    return RebuildTotal(rebuilt, msgspec.structs.replace(total, seconds=seconds))


def repair_once(
    settings: Settings, act: Callable[[Repairs], RepairReport], progress: Progress, *, verbose: bool = False
) -> RepairReport:
    """Run one repair in a new session."""
    session = wiring.spark_session(settings, verbose=verbose)
    try:
        return act(wiring.repairs(settings, session, progress=progress))
    finally:
        session.stop()


def run_stream(settings: Settings, seconds: int, progress: Progress, *, verbose: bool = False) -> None:
    """Run the stream until SIGTERM or SIGINT; a portion in progress is finished first. Raises EnvironmentFault."""
    with exported(settings, progress) as meter:
        _stream(settings, seconds, progress, meter, verbose=verbose)


def _stream(settings: Settings, seconds: int, progress: Progress, meter: Meter, *, verbose: bool) -> None:
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    session = wiring.spark_session(settings, verbose=verbose)
    busy = threading.Lock()
    drain = metered_drain(settings, session, meter, progress=progress)
    lake = wiring.standing_lake(settings, progress)
    made = metered_passes(settings, session, meter, progress=progress, backoff=BackOff(), stop=stop.is_set, lake=lake)
    passes = wiring.marked(settings, made, progress)
    house = housekeeping(settings, session, meter=meter, lake=lake)

    def one_pass() -> None:
        # `end` holds `busy` while it waits for this function, so waiting for `busy` without a timeout would deadlock.
        while not busy.acquire(timeout=1):
            if stop.is_set():
                return
        try:
            if stop.is_set():
                return
            stream_drain(drain, progress)
            stream_pass(passes, progress)
            run_steps_between_passes(house, progress, seconds, stop=stop.is_set)
        finally:
            busy.release()

    def start() -> Query:
        found: Query = wiring.start_stream(
            settings, session, one_pass, trigger=f"{seconds} seconds", seconds=float(seconds), progress=progress
        )
        progress(f"pipeline runs every {seconds} s")
        return found

    def end(query: Any) -> None:
        with busy:
            query.stop()

    try:
        supervise(start, end, stop, progress)
    finally:
        lake.close()
        session.stop()
