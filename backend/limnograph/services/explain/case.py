"""A case for Explain, built from known facts: the job's runs and the commits of the tables it reads.

Pure. Instants are epoch microseconds inside and milliseconds in the case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from limnograph.analysis.explain.case import FEATURES
from limnograph.domain.answers.explanations import CaseCommit, RunSeries
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.time import MICROS_PER_MS, Micros
from limnograph.services.jobs.run_log import RunRecord
from limnograph.services.lake.columns import NULL, Ints
from limnograph.services.lake.history import History
from limnograph.services.lake.rows import places_of


def series_of(job: str, runs: Iterable[RunRecord]) -> RunSeries:
    """Ended, successful runs in the engine's format."""
    ended = [(run.began / MICROS_PER_MS, run.seconds) for run in runs if run.status == "ok" and run.seconds]
    return RunSeries(job, [at for at, _ in ended], [seconds for _, seconds in ended])


def commits_of(history: History, start: Micros, end: Micros, read_ms: Mapping[int, float]) -> list[CaseCommit]:
    """Commits of a table that main pointed at, with when it first did. `read_ms`: the result of `jobs.first_reads`."""
    moved: dict[int, int] = {}
    for at, snapshot_id in history.main:
        moved.setdefault(snapshot_id, at)
    commits = history.between(start, end)
    schemas = history.schemas_changed(commits.first, commits.last)
    specs = _specs_changed(history, commits.first, commits.last)
    found = []
    for place, row in enumerate(commits):
        if row.committed_at is None or (moved and row.snapshot_id not in moved):
            continue
        numbers = {name: getattr(row, name) for name in FEATURES}
        found.append(
            CaseCommit(
                id=str(row.snapshot_id),
                table=str(history.name),
                committed_at=max(row.committed_at, moved.get(row.snapshot_id, 0)) / MICROS_PER_MS,
                operation=row.operation,
                app_id=writer_of(row),
                schema_changed=bool(schemas[place]),
                spec_changed=bool(specs[place]),
                first_read_at=read_ms.get(row.snapshot_id),
                **numbers,
            )
        )
    return found


def writer_of(row: SnapshotFact) -> str | None:
    """The writer of a commit. An application's name is preferred: its id differs at each start."""
    return row.app_name or row.app_id


def _specs_changed(history: History, first: int, last: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which rows were written with a different partition spec than their parent; false if either is unknown."""
    own: Ints = history.numbers("spec_id")[first:last]
    parents = history.numbers("parent_id")[first:last]
    places = places_of(history.numbers("snapshot_id"), parents)
    before = history.numbers("spec_id")[places]
    known = (places >= 0) & (parents != NULL) & (own != NULL) & (before != NULL)
    changed: np.ndarray[tuple[int], np.dtype[np.bool_]] = known & (before != own)
    return changed
