"""When each snapshot of a table was first read by a job. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from limnograph.domain.time import MICROS_PER_MS
from limnograph.services.jobs.run_log import RunRecord
from limnograph.services.lake.history import History

NEVER = 8.64e15
"""First read of a commit that no run has read yet, if reads are known."""


def first_reads(history: History, runs: Sequence[RunRecord]) -> Mapping[int, float]:
    """Snapshot -> start (ms) of the first run that read it, if two consecutive runs report what they read.

    Snapshots after the newest one read were not read yet: NEVER. Between a run that does not report what it read and
    the next one that does, nothing is known: it may have read them first. A run without a known start shows that a
    snapshot was read, but not when.
    """
    position: dict[int, int] = {}
    for index, snapshot_id in enumerate(history.main_ids):
        position.setdefault(snapshot_id, index)
    ids = history.main_ids
    found: dict[int, float] = {}
    last: int | None = None
    sure = True
    for run in sorted(runs, key=lambda run: run.began):
        if run.read_snapshot_id is None:
            sure = False
            continue
        here = position.get(run.read_snapshot_id)
        if here is None:
            last = None
            continue
        if sure and last is not None and run.started_at is not None:
            for index in range(last + 1, here + 1):
                found.setdefault(ids[index], run.started_at / MICROS_PER_MS)
        last = max(here, last if last is not None else here)
        sure = True
    if sure and last is not None:
        for index in range(last + 1, len(ids)):
            found.setdefault(ids[index], NEVER)
    return found
