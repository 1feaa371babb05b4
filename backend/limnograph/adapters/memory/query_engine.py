"""QueryEngine over facts in memory, for tests and small tools; passes the same contract suite as the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import polars as pl

from limnograph.adapters.embedded import frames
from limnograph.domain.facts.effects import EffectFact
from limnograph.domain.facts.events import ReportFact, RunFact
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.facts.forecasts import ForecastFact
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.ports.query_engine import MetaHead, MetaQuery, Table


class MemoryEngine:
    """The given facts and those appended later; each append is a new head. Every read raises `failure`, if set.
    Thread-safe for one writer: an append replaces whole lists.
    """

    name = "memory"

    def __init__(self) -> None:
        self._snapshots: list[SnapshotFact] = []
        self._changes: list[ChangeFact] = []
        self._runs: list[RunFact] = []
        self._effects: list[EffectFact] = []
        self._findings: list[FindingFact] = []
        self._notes: list[NoteFact] = []
        self._plans: list[PlanFact] = []
        self._reports: list[ReportFact] = []
        self._forecasts: list[ForecastFact] = []
        self._rolled: dict[str, pl.DataFrame] = {}
        self._properties: dict[str, Mapping[str, str]] = {}
        self._version = 0
        self.failure: Exception | None = None

    def append(
        self,
        snapshots: Sequence[SnapshotFact],
        changes: Sequence[ChangeFact],
        runs: Sequence[RunFact] = (),
        *,
        effects: Sequence[EffectFact] = (),
        findings: Sequence[FindingFact] = (),
        notes: Sequence[NoteFact] = (),
        plans: Sequence[PlanFact] = (),
        reports: Sequence[ReportFact] = (),
        forecasts: Sequence[ForecastFact] = (),
    ) -> None:
        """Add rows as one pass does."""
        self._snapshots = [*self._snapshots, *snapshots]
        self._changes = [*self._changes, *changes]
        self._runs = [*self._runs, *runs]
        self._effects = [*self._effects, *effects]
        self._findings = [*self._findings, *findings]
        self._notes = [*self._notes, *notes]
        self._plans = [*self._plans, *plans]
        self._reports = [*self._reports, *reports]
        self._forecasts = [*self._forecasts, *forecasts]
        self._version += 1

    def roll(self, table: Table, rows: pl.DataFrame) -> None:
        """Replace all rows of a roll-up."""
        self._rolled[table] = rows

    def describe(self, table: Table, properties: Mapping[str, str]) -> None:
        """Set properties of a table."""
        self._properties[table] = properties

    def properties(self, table: Table) -> Mapping[str, str]:
        """The properties that were set."""
        self._check()
        return self._properties.get(table, {})

    def head(self) -> MetaHead:
        """The snapshot id is the number of appends."""
        self._check()
        observed = [row.observed_at for row in self._snapshots if row.observed_at is not None]
        return MetaHead(
            snapshots=self._version if self._snapshots else None,
            changes=self._version if self._changes else None,
            written_at=max(observed, default=None),
            run_id=self._snapshots[-1].run_id if self._snapshots else None,
        )

    def select(self, query: MetaQuery) -> pl.DataFrame:
        """Rows, as the port specifies."""
        self._check()
        if query.table in self._rolled:
            return frames.answer(self._rolled[query.table].lazy(), query)
        held: dict[str, Sequence[msgspec.Struct]] = {
            "snapshots": self._snapshots,
            "changes": self._changes,
            "runs": self._runs,
            "effects": self._effects,
            "findings": self._findings,
            "notes": self._notes,
            "plans": self._plans,
            "reports": self._reports,
            "forecasts": self._forecasts,
        }
        return frames.answer(frames.frame(query.table, held.get(query.table, ())).lazy(), query)

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure
