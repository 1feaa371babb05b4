"""The stream that made a commit: its query and epoch, and whether the epochs of the query follow each other. Iceberg's
Spark sink writes both to the snapshot summary, Flink's sink its job and checkpoint. Pure.

An epoch of Spark has one commit, so a missing or repeated number says something. Flink commits several checkpoints at
once, or none without data, and a restarted job has a new id: its numbers are shown, not judged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from limnograph.domain.answers.commits import EarlierEpoch, EpochOrder, StreamEpoch
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.services.extraction.summary import number

LOOKED_BACK = 100
"""Commits on main before a stream's commit among which its previous epoch is searched."""
COLUMNS = ("table_uuid", "snapshot_id", "app_name", "summary")
"""Columns of `snapshots` that are needed of those commits."""
_KEYS: Mapping[Literal["spark", "flink"], tuple[str, str]] = {
    "spark": ("spark.sql.streaming.queryId", "spark.sql.streaming.epochId"),
    "flink": ("flink.job-id", "flink.max-committed-checkpoint-id"),
}


_Judged = tuple[EpochOrder, tuple[int, int] | None]


class _Mark(NamedTuple):
    """What one commit says about its stream."""

    engine: Literal["spark", "flink"]
    query_id: str
    number: int | None
    snapshot_id: int
    app_name: str | None


def is_of_stream(row: SnapshotFact) -> bool:
    """Whether the summary of a commit names a stream."""
    return _mark(row) is not None


def stream_epoch(row: SnapshotFact, before: Sequence[SnapshotFact] | None) -> StreamEpoch | None:
    """The stream of a commit; None if its summary names none. `before`: commits on main before it, the newest first;
    None: not known.
    """
    mark = _mark(row)
    if mark is None:
        return None
    marks = [found for each in before or () if (found := _mark(each)) is not None and found.engine == mark.engine]
    same = next((each for each in marks if each.query_id == mark.query_id), None)
    other = next((each for each in marks if _is_predecessor(mark, each)), None) if same is None else None
    judged: _Judged = ("not_judged", None) if before is None else _order(mark, same, other)
    order, missing = judged
    earlier = same or (other if order == "new_query" else None)
    return StreamEpoch(
        engine=mark.engine,
        query_id=mark.query_id,
        number=mark.number,
        order=order,
        missing_first=missing[0] if missing else None,
        missing_last=missing[1] if missing else None,
        earlier=None
        if earlier is None
        else EarlierEpoch(snapshot_id=str(earlier.snapshot_id), query_id=earlier.query_id, number=earlier.number),
    )


def _mark(row: SnapshotFact) -> _Mark | None:
    summary = row.summary or {}
    for engine, (query, epoch) in _KEYS.items():
        if summary.get(query):
            return _Mark(engine, summary[query], number(summary, epoch), row.snapshot_id, row.app_name)
    return None


def _is_predecessor(mark: _Mark, other: _Mark) -> bool:
    """Whether another query may be the same stream with an older checkpoint: not if their applications' names differ.
    Spark's summaries have no name unless the job sets one.
    """
    return mark.app_name == other.app_name or None in {mark.app_name, other.app_name}


def _order(mark: _Mark, same: _Mark | None, other: _Mark | None) -> _Judged:
    if mark.engine == "flink" or mark.number is None:
        return "not_judged", None
    if same is None:
        return ("new_query" if other is not None and mark.number == 0 else "first"), None
    if same.number is None:
        return "not_judged", None
    if mark.number <= same.number:
        return "repeated", None
    if mark.number == same.number + 1:
        return "next", None
    return "gap", (same.number + 1, mark.number - 1)
