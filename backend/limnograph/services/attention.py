"""Rank and magnitude of every table's reason, as vectors: what the fleet is sorted by.

Rules that look at two states are worked out for all tables at once. Where a rule looks at single commits, vectors tell
for which tables it may speak at all, and those are asked one by one; what they answered is kept while they and the
range's commits stay the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.services import reasons
from limnograph.services.history import History
from limnograph.services.hot_columns import NULL, Ints
from limnograph.services.hot_table import HotTable
from limnograph.services.move_columns import MoveColumns
from limnograph.services.reasons import RANK, JobPace, Thresholds
from limnograph.services.standings import Standing

_ANSWERS_KEPT = 50_000
_Key = tuple[str, int, int, int, int, int]


class Attention:
    """Not thread-safe: one question at a time."""

    def __init__(self, limits: Thresholds) -> None:
        self._limits = limits
        self._answers: OrderedDict[_Key, tuple[int, float]] = OrderedDict()

    def of(
        self,
        columns: MoveColumns,
        tables: Sequence[HotTable],
        ends: tuple[Standing, Standing],
        span: tuple[int, int],
        paces: Mapping[TableName, JobPace],
    ) -> tuple[Ints, NDArray[np.float64]]:
        """Rank (smallest first) and magnitude of each table's reason in the range (epoch microseconds). `ends`: where
        the tables stand at its begin and at its end.
        """
        before, after = ends
        with columns.lock:
            slots = columns.update(tables)
            burst, replaced = columns.burst(slots, *span), columns.replaced(slots, *span)
        ranks, magnitudes = self._states(before, after, replaced, span[1])
        paced = [table.name in paces for table in tables] if paces else [False] * len(tables)
        doubtful = burst | self._told(tables, after, span) | np.array(paced, np.bool_)
        for place in np.flatnonzero(doubtful).tolist():
            table = tables[place]
            pace = paces.get(table.name) if paced[place] and table.name else None
            key = (
                *(table.uuid, table.version, int(before.moved[place]), int(before.ordinal[place])),
                *(int(after.moved[place]), int(after.ordinal[place])),
            )
            ranks[place], magnitudes[place] = self._exactly(table, key, span, pace)
        return ranks, magnitudes

    def _states(
        self, before: Standing, after: Standing, replaced: NDArray[np.bool_], end: int
    ) -> tuple[Ints, NDArray[np.float64]]:
        """By the rules that need the states at both ends, and what was `replaced`; the strongest rule comes last."""
        limits = self._limits
        count = after.ordinal - before.ordinal
        ranks, magnitudes = np.full(len(count), RANK["none"]), count.astype(np.float64)

        def speak(code: str, where: NDArray[np.bool_], magnitude: NDArray[np.float64]) -> None:
            ranks[where] = RANK[code]
            magnitudes[where] = magnitude[where]

        age = (end - after.moved) / MICROS_PER_SECOND
        least = np.fmax(limits.stale_least_s, limits.stale_intervals * after.usual)
        speak("stale", (after.moved != NULL) & ~np.isnan(after.usual) & (age >= least), age)
        skew = np.ascontiguousarray(after.column("skew_max_over_median"))
        ratio = np.where(skew == NULL, np.nan, skew.view(np.float64))
        speak("skew", ratio >= limits.skew_ratio, ratio)
        kept = after.column("live_snapshots")
        speak("snapshots_many", kept >= limits.snapshots, kept.astype(np.float64))
        small, data = after.column("small_files"), after.column("total_data_files")
        uncompacted = (small >= limits.small_files) & (data > 0) & (small >= limits.small_share * data)
        speak("no_compaction", uncompacted & ~replaced, small.astype(np.float64))
        now, then = after.column("total_delete_files"), before.column("total_delete_files")
        grown = now - np.where(then == NULL, now, then)
        known = (now != NULL) & (then != NULL) & (data > 0)
        many = (grown >= limits.delete_files_grown) & (now >= limits.delete_share * data)
        speak("delete_growth", known & many, grown.astype(np.float64))
        return ranks, magnitudes

    def _told(self, tables: Sequence[HotTable], after: Standing, span: tuple[int, int]) -> NDArray[np.bool_]:
        """Tables for which a rule that looks at changes may speak, and those that move at the very end."""
        start, end = span
        told = np.array([t.schema_at >= start or t.unreadable for t in tables], np.bool_)
        found: NDArray[np.bool_] = told | (after.next_move == end)
        return found

    def _exactly(self, table: HotTable, key: _Key, span: tuple[int, int], pace: JobPace | None) -> tuple[int, float]:
        known = self._answers.get(key) if pace is None else None
        if known is not None:
            return known
        found = reasons.reason(reasons.view(History(table), *span, pace, self._limits))
        answer = RANK[found.code], found.magnitude
        if pace is None and found.code != "stale":
            self._answers[key] = answer
            while len(self._answers) > _ANSWERS_KEPT:
                self._answers.popitem(last=False)
        return answer
