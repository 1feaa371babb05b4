"""Housekeeping as a part of the pipeline's program: all that is due after `--once`, and between the passes of a stream
for a share of the time, at least one step. It never raises, and it delays passes only briefly.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Protocol

from limnograph.domain.errors import SourceError
from limnograph.domain.failpoints import FailpointReached
from limnograph.jobs.logs import cause
from limnograph.services.housekeeping.runner import StepReport

STEPS_AT_ONCE = 60
"""Steps after which `--once` leaves the rest to the next run."""
SHARE = 0.25
"""Of the time between two passes, what housekeeping may take before it begins no further step."""
_log = logging.getLogger("limnograph.housekeeping")


class HousekeepingRunner(Protocol):
    """What runs the steps: `services.housekeeping.runner.Housekeeping`."""

    def run_due(self) -> StepReport | None:
        """One step; None when none is due."""
        ...


def run_due_steps(
    made: HousekeepingRunner, progress: Callable[[str], None], most: int = STEPS_AT_ONCE
) -> list[StepReport]:
    """Steps until none is due; their reports."""
    found: list[StepReport] = []
    while len(found) < most and (report := run_due_step(made, progress)) is not None:
        found.append(report)
    return found


def run_steps_between_passes(
    made: HousekeepingRunner,
    progress: Callable[[str], None],
    trigger: float,
    *,
    stop: Callable[[], bool] = lambda: False,
    elapsed: Callable[[], float] = time.monotonic,
) -> int:
    """Steps between two passes that are `trigger` seconds apart: one, and more while a share of that time is left, so
    that a stream of rare passes does not leave behind what comes due meanwhile. How many were run.
    """
    started, done = elapsed(), 0
    while not stop() and run_due_step(made, progress) is not None:
        done += 1
        if elapsed() - started >= trigger * SHARE:
            break
    return done


def run_due_step(made: HousekeepingRunner, progress: Callable[[str], None]) -> StepReport | None:
    """One step, when one is due."""
    try:
        report = made.run_due()
    except FailpointReached:
        raise
    except SourceError as error:
        progress(f"housekeeping cannot read the meta tables, retrying later: {error}")
        return None
    except Exception as error:  # noqa: BLE001 - the pipeline outlives its housekeeping's surprise
        _log.exception("housekeeping failed")
        progress(f"housekeeping failed, retrying later: unexpected {cause(error)}")
        return None
    if report is not None and (report.did or report.problem):
        what = " ".join(filter(None, (report.kind, report.table, report.subject)))
        progress(f"housekeeping: {what}: {report.problem or f'{report.seconds} s'}")
    return report
