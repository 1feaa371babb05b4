"""Rank and magnitude of every table's reason as vectors, by which the fleet is sorted.

Rules are evaluated for all tables at once, the strongest last; states are looked up only where no stronger rule
applies. If a rule needs single changes, or numbers are on an edge, tables are evaluated one by one. Those results are
cached while they and the commits of the range stay the same.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from limnograph.domain.ids import TableName
from limnograph.domain.thresholds import JobPace, Thresholds
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.services.fleet import reasons
from limnograph.services.fleet import view as table_view
from limnograph.services.fleet.burst_columns import Bursts
from limnograph.services.fleet.reasons import RANK
from limnograph.services.fleet.state_vectors import StateVectorCache, StateVectors
from limnograph.services.lake.columns import NULL, Ints
from limnograph.services.lake.history import History
from limnograph.services.lake.table import HotTable

_ANSWERS_KEPT = 50_000
_Key = tuple[str | int, ...]
_Ranks = tuple[Ints, NDArray[np.float64]]


class AttentionRanks(NamedTuple):
    """Each table's rank (smallest first), the magnitude of its reason, and its burst, if any."""

    ranks: Ints
    magnitudes: NDArray[np.float64]
    bursts: Bursts


class Attention:
    """Guarded by the lock of the FleetService: one query at a time."""

    def __init__(self, limits: Thresholds) -> None:
        self._limits = limits
        self._answers: OrderedDict[_Key, tuple[int, float]] = OrderedDict()

    def of(
        self,
        standings: StateVectorCache,
        tables: Sequence[HotTable],
        slots: Ints,
        span: tuple[Micros, Micros],
        paces: Mapping[TableName, JobPace],
    ) -> AttentionRanks:
        """Ranks in the range (epoch microseconds). `slots`: those of the tables."""
        columns = standings.columns
        with columns.lock:
            columns.hold(tables, slots)
            bursts, replaced = columns.bursts(slots, *span), columns.replaced(slots, *span)
        told = np.array([t.schema_at >= span[0] or t.unreadable for t in tables], np.bool_)
        ranks, magnitudes = np.full(len(tables), RANK["none"]), np.zeros(len(tables))
        ranks[bursts.speaks], magnitudes[bursts.speaks] = RANK["file_burst"], bursts.files[bursts.speaks]
        settled = bursts.speaks | self._slower(tables, paces, ranks, magnitudes)
        rest = np.flatnonzero(~settled | told)
        some = [tables[place] for place in rest.tolist()]
        before = standings.at(some, span[0], span[0] - 1, slots[rest])
        after = standings.at(some, span[1] - 1, span[1] - 1, slots[rest])
        ranks[rest], magnitudes[rest] = self._states(before, after, replaced[rest], span[1])
        doubtful = told[rest] | bursts.doubtful[rest] | (after.next_move == span[1])
        for place in np.flatnonzero(doubtful).tolist():
            table = some[place]
            changes = span if table.schema_at >= span[0] else (0, 0)
            key = (
                *(table.uuid, table.version, int(before.moved[place]), int(before.ordinal[place])),
                *(int(after.moved[place]), int(after.ordinal[place]), *changes),
            )
            found = self._exactly(table, key, span, paces.get(table.name) if table.name else None)
            ranks[rest[place]], magnitudes[rest[place]] = found
        return AttentionRanks(ranks, magnitudes, bursts)

    def _slower(
        self,
        tables: Sequence[HotTable],
        paces: Mapping[TableName, JobPace],
        ranks: Ints,
        magnitudes: NDArray[np.float64],
    ) -> NDArray[np.bool_]:
        """Rank tables whose job slowed down, and return which they are."""
        if not paces:
            return np.zeros(len(tables), np.bool_)
        found = (paces.get(table.name) if table.name else None for table in tables)
        ratios = np.array([np.nan if pace is None else pace.ratio for pace in found])
        slower: NDArray[np.bool_] = ratios >= self._limits.slower_ratio
        ranks[slower], magnitudes[slower] = RANK["job_slower"], ratios[slower]
        return slower

    def _states(self, before: StateVectors, after: StateVectors, replaced: NDArray[np.bool_], end: Micros) -> _Ranks:
        """Apply the rules that need the states at both ends, and what was `replaced`; the strongest rule comes last."""
        limits = self._limits
        count = after.ordinal - before.ordinal
        ranks, magnitudes = np.full(len(count), RANK["none"]), count.astype(np.float64)

        def speak(code: str, where: NDArray[np.bool_], magnitude: NDArray[np.float64]) -> None:
            ranks[where] = RANK[code]
            magnitudes[where] = magnitude[where]

        age = (end - after.moved) / MICROS_PER_SECOND
        least = stale_ages_s(limits, after.usual)
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

    def _exactly(
        self, table: HotTable, key: _Key, span: tuple[Micros, Micros], pace: JobPace | None
    ) -> tuple[int, float]:
        known = self._answers.get(key) if pace is None else None
        if known is not None:
            return known
        found = reasons.reason(table_view.view(History(table), *span, pace, self._limits))
        answer = RANK[found.code], found.magnitude
        if pace is None and found.code != "stale":
            self._answers[key] = answer
            while len(self._answers) > _ANSWERS_KEPT:
                self._answers.popitem(last=False)
        return answer


def stale_ages_s(limits: Thresholds, usual_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """`stale_after_s` for many tables."""
    ages: NDArray[np.float64] = np.fmax(limits.stale_least_s, limits.stale_intervals * usual_s)
    return ages
