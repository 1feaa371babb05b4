"""Whether runs can show an effect yet: "no data yet" is not "no effect".

A commit affects a job's duration from the first successful run that starts after it. If the heaviest commit of a range
has no such run, the explanation must not say that nothing changed. Pure; instants are epoch ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from limnograph.domain.answers.explanations import CaseCommit, Explanation, Pending
from limnograph.domain.time import MS_PER_SECOND, Millis, to_millis
from limnograph.services.explain.baseline import Windows
from limnograph.services.jobs.run_log import RUNNING, RunRecord

HEAVIER = 2.0
"""A commit after the last run is pending only if it changed this many times as many files as any before it: among
steady small commits there are always some after the last run.
"""


def pending(asked: Windows, runs: Iterable[RunRecord], commits: Iterable[CaseCommit]) -> Pending | None:
    """What cannot be explained yet: the whole range, or the effect of its heaviest commit. None: everything can.
    `runs`: the job's runs since `asked.since`; `commits`: those of all tables that it reads.
    """
    known = [(to_millis(run.began), run) for run in runs]
    ended = [at for at, run in known if run.status == "ok" and run.seconds and at < asked.end]
    last = max(ended, default=None)
    running = [at for at, run in known if run.status == RUNNING and run.ended_at is None and at >= (last or 0)]
    inside = [each for each in commits if _within(asked, each)]
    unseen = [each for each in inside if last is None or (each.committed_at or 0) > last]
    commit = max(unseen, key=_weight, default=None)
    seen = max((_weight(each) for each in inside if each not in unseen), default=0.0)
    if commit is not None and _weight(commit) < HEAVIER * seen:
        commit = None
    if commit is None and last is not None and last >= asked.start:
        return None
    return Pending(
        last_run=last,
        running_since=max(running, default=None),
        commits=len(unseen),
        commit_id=commit.id if commit else None,
        committed_at=Millis(commit.committed_at) if commit and commit.committed_at is not None else None,
    )


def told(answer: Explanation, waits: Pending | None, job: str) -> Explanation:
    """The explanation with a verdict that reports what is unknown yet, if it found no change."""
    if waits is None or answer.changes:
        return answer
    return msgspec.structs.replace(answer, verdict=verdict(waits, job), confidence="none")


def verdict(waits: Pending, job: str) -> str:
    """`Not known yet: no run of churn started after the commit at …; the last one started at …`."""
    after = f" after the commit at {_clock(waits.committed_at)}" if waits.committed_at is not None else " in this range"
    last = waits.last_run
    seen = "no earlier run is known" if last is None else f"the last one started at {_clock(last)}"
    if waits.running_since is not None:
        seen += f", and one that started at {_clock(waits.running_since)} is still running"
    return f"Not known yet: no run of {job} started{after} and succeeded; {seen}."


def _within(asked: Windows, each: CaseCommit) -> bool:
    return each.committed_at is not None and asked.start <= each.committed_at < asked.end


def _weight(each: CaseCommit) -> float:
    """The number of files that it changed."""
    files: Sequence[float | None] = (each.added_data_files, each.removed_data_files, each.added_delete_files)
    return sum(number or 0.0 for number in files)


def _clock(at: Millis) -> str:
    return datetime.fromtimestamp(at / MS_PER_SECOND, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
