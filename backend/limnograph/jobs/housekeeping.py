"""Runs housekeeping in the pipeline's program: all due steps after `--once`; between the passes of a stream at least
one step, and more within a share of the time. It never raises, and delays passes only briefly.
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
"""Maximum number of steps of `--once`; the rest is left to the next run."""
SHARE = 0.25
"""Share of the time between two passes within which housekeeping may begin further steps."""
_log = logging.getLogger("limnograph.housekeeping")


class HousekeepingRunner(Protocol):
    """Runs the steps: `services.housekeeping.runner.Housekeeping`."""

    def run_due(self) -> StepReport | None:
        """Run one step and return its report; None if no step is due."""
        ...


def run_due_steps(
    made: HousekeepingRunner, progress: Callable[[str], None], most: int = STEPS_AT_ONCE
) -> list[StepReport]:
    """Run steps until none is due, at most `most`. Returns their reports."""
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
    """Run due steps between two passes that are `trigger` seconds apart: one, and more until SHARE of that time is
    used, so that a stream with rare passes keeps up. Returns the number of steps.
    """
    started, done = elapsed(), 0
    while not stop() and run_due_step(made, progress) is not None:
        done += 1
        if elapsed() - started >= trigger * SHARE:
            break
    return done


def run_due_step(made: HousekeepingRunner, progress: Callable[[str], None]) -> StepReport | None:
    """Run one step if one is due."""
    try:
        report = made.run_due()
    except FailpointReached:
        raise
    except SourceError as error:
        progress(f"housekeeping cannot read the meta tables, retrying later: {error}")
        return None
    except Exception as error:  # noqa: BLE001 - the pipeline survives any failure of housekeeping
        _log.exception("housekeeping failed")
        progress(f"housekeeping failed, retrying later: unexpected {cause(error)}")
        return None
    if report is not None and (report.did or report.problem):
        what = " ".join(filter(None, (report.kind, report.table, report.subject)))
        done = f"{report.seconds} s{f': {report.note}' if report.note else ''}"
        progress(f"housekeeping: {what}: {report.problem or done}")
    return report
