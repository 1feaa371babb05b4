"""The pipeline as a program: one session, passes until nothing is due, or a stream that ends on a signal."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable

import msgspec

from limnograph.domain.errors import SourceError
from limnograph.services.passes import Passes, PassReport
from limnograph.settings import Settings
from limnograph.wiring import pipeline as wiring

RETRIES = 3
"""Passes in a row that may leave something due for a failing source before `--once` ends."""

Progress = Callable[[str], None]


class Total(msgspec.Struct, frozen=True):
    """Sum over the passes of one `--once`."""

    run_id: str
    tables_seen: int
    tables_changed: int
    snapshots_appended: int
    gaps: int
    unreadable: int
    seconds: float
    failed: tuple[str, ...] = ()

    def document(self) -> dict[str, object]:
        """The contract's JSON (DESIGN §11)."""
        return {name: getattr(self, name) for name in self.__struct_fields__ if name != "failed"}


def run_once(settings: Settings, progress: Progress) -> Total:
    """Passes until nothing is due, or a source failed RETRIES times in a row."""
    started = time.monotonic()
    session = wiring.spark_session(settings)
    try:
        made = wiring.passes(settings, session, progress=progress)
        reports = list(_until_settled(made, progress))
    finally:
        session.stop()
    last = reports[-1]
    return Total(
        run_id=last.run_id,
        tables_seen=last.tables_seen,
        tables_changed=max(report.tables_changed for report in reports),
        snapshots_appended=sum(report.snapshots_appended for report in reports),
        gaps=sum(report.gaps for report in reports),
        unreadable=last.unreadable,
        seconds=round(time.monotonic() - started, 3),
        failed=last.failed,
    )


def _until_settled(made: Passes, progress: Progress) -> list[PassReport]:
    reports: list[PassReport] = []
    barren = 0
    while True:
        report = made.run()
        reports.append(report)
        for sentence in report.failed:
            progress(f"still due: {sentence}")
        if not report.pending:
            return reports
        barren = 0 if report.snapshots_appended else barren + 1
        if barren >= RETRIES:
            return reports
        time.sleep(min(0.5 * 2**barren, 5) if barren else 0)


def run_stream(settings: Settings, seconds: int, progress: Progress) -> None:
    """Stream until SIGTERM or SIGINT; a pass that has begun is finished first."""
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    session = wiring.spark_session(settings)
    busy = threading.Lock()
    made = wiring.passes(settings, session, progress=progress)

    def one_pass() -> None:
        with busy:
            if stop.is_set():
                return
            try:
                report = made.run()
            except SourceError as error:
                progress(f"pass failed, the next one tries again: {error}")
                return
            if report.tables_changed or report.failed:
                progress(msgspec.json.encode(report).decode())

    query = wiring.start_stream(settings, session, one_pass, trigger=f"{seconds} seconds", seconds=float(seconds))
    progress(f"pipeline runs every {seconds} s")
    while query.isActive and not stop.wait(0.5):
        pass
    failure = query.exception() if not query.isActive else None
    with busy:
        query.stop()
    session.stop()
    if failure is not None:
        raise failure
