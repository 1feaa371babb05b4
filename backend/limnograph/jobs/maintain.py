"""`limnograph maintain` as a program: one round, rounds until a signal, or a dry run, in one Spark session."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from limnograph.domain.errors import SourceError
from limnograph.jobs.ending import SIGNALS, leave
from limnograph.services.maintenance.dry_run import MaintenanceDryRun
from limnograph.services.maintenance.executor import MaintenanceExecutor
from limnograph.services.maintenance.report import RoundReport
from limnograph.settings.maintenance import MaintainSettings
from limnograph.wiring.maintain import building
from limnograph.wiring.maintain.identity import ExecutorIdentity

Progress = Callable[[str], None]
POLL_S, ROUND_S = 5.0, 60.0
"""How often approved plans are looked for, and how often all tables are planned, seconds."""
END_S = 30.0
"""How long a cancelled action may take to end after a signal, seconds."""


def maintain_once(
    maintain: MaintainSettings, progress: Progress, *, plan_id: str | None = None, verbose: bool = False
) -> RoundReport:
    """Process everything that is due, or one plan. Raises EnvironmentFault, SettingsError, SourceError."""
    building.check(maintain, changes=True)
    with _stopping() as stop, _executor(maintain, stop, progress, verbose=verbose) as executor:
        return executor.round(plan_id)


def maintain_always(
    maintain: MaintainSettings, progress: Progress, told: Callable[[RoundReport], None], *, verbose: bool = False
) -> None:
    """Rounds until SIGTERM or SIGINT. `told`: called after each round in which something was done. A round that fails
    is reported, and the next one tries again.
    """
    building.check(maintain, changes=True)
    with _stopping() as stop, _executor(maintain, stop, progress, verbose=verbose) as executor:
        progress(f"maintenance looks for approved plans every {POLL_S:.0f} s, and plans every {ROUND_S:.0f} s")
        planned_at = -ROUND_S
        while not stop.is_set():
            waiting_only = time.monotonic() - planned_at < ROUND_S
            planned_at = planned_at if waiting_only else time.monotonic()
            try:
                report = executor.round(waiting_only=waiting_only)
            except SourceError as error:
                progress(f"this round failed, the next one retries: {error}")
            else:
                if report.plans or report.troubles or report.recovered or report.expired:
                    told(report)
            stop.wait(POLL_S)


def dry_run(
    maintain: MaintainSettings, progress: Progress, *, plan_id: str | None = None, verbose: bool = False
) -> RoundReport:
    """What a round would do, and why not; nothing is changed, leased or recorded."""
    building.check(maintain, changes=False)
    session = building.spark_session(maintain, verbose=verbose)
    try:
        parts = building.parts_of(maintain, session, executor_id="", stop=threading.Event(), progress=progress)
        return MaintenanceDryRun(parts).report(plan_id)
    finally:
        session.stop()


@contextmanager
def _executor(
    maintain: MaintainSettings, stop: threading.Event, progress: Progress, *, verbose: bool
) -> Iterator[MaintenanceExecutor]:
    with ExecutorIdentity(maintain.settings.state_dir) as identity:
        session = building.spark_session(maintain, verbose=verbose)
        try:
            identity.has_jvm(building.jvm_of(session))
            parts = building.parts_of(
                *(maintain, session),
                executor_id=identity.executor_id,
                stop=stop,
                progress=progress,
                end=lambda: leave(1),
            )
            yield MaintenanceExecutor(parts)
        finally:
            session.stop()


@contextmanager
def _stopping() -> Iterator[threading.Event]:
    """An event that SIGTERM and SIGINT set. If the work has not ended in time, the process ends: what it left is
    recovered by the next one.
    """
    stop = threading.Event()

    def heard(*_: object) -> None:
        if not stop.is_set():
            stop.set()
            late = threading.Timer(END_S, leave, (1,))
            late.daemon = True
            late.start()

    before = {number: signal.signal(number, heard) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
