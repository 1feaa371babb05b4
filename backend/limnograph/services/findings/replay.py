"""Findings of all tables, or one, at an instant, evaluated from the meta tables alone: what a server that was running
then recorded. O(rows of 30 days), a few tables at a time in memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from limnograph.domain.errors import NotFound
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_limits import DAY, FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.objectives import Objectives
from limnograph.domain.time import Micros
from limnograph.ports.hot_source import Fresh
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.findings.board import key_of
from limnograph.services.findings.critical_alerts import AlertNames
from limnograph.services.findings.evaluation import begun, transitions
from limnograph.services.findings.evaluator import HISTORY, RECORDED
from limnograph.services.findings.limits import TableLimits
from limnograph.services.findings.records import FindingRecords
from limnograph.services.findings.table_facts import READ_COLUMNS, facts_of
from limnograph.services.lake.loading import load

AT_ONCE = 75
"""Tables whose 30 days are in memory together: 457 MB at 288 commits a day. Fewer cost more scans."""
PIECE = 5 * DAY
"""Days that are in memory unpacked together."""


class FindingsReplay:
    """Immutable after construction. `fresh`: a faster read of the same engine, if it has one."""

    def __init__(
        self,
        engine: QueryEngine,
        records: FindingRecords,
        *,
        fresh: Fresh | None = None,
        alerts: Callable[[Micros], AlertNames] = lambda _instant: {},
        limits: FindingLimits = FindingLimits(),  # noqa: B008  # immutable
        objectives: Objectives = Objectives(),  # noqa: B008  # immutable
    ) -> None:
        self._engine, self._records, self._limits = engine, records, limits
        self._alerts, self._table_limits = alerts, TableLimits(limits, objectives)
        self._unordered = fresh.unordered if fresh else None

    def at(self, instant: Micros, only: TableName | None = None) -> Iterator[FindingFact]:
        """Findings that were open at an instant, table by table. Findings of jobs and of reports are those that were
        recorded. Raises
        NotFound for a table that the meta tables do not have; SourceError.
        """
        recorded, alerts = self._recorded(instant), self._alerts(instant)
        uuids = self._uuids(only)
        if only is not None and not uuids:
            raise NotFound(f"unknown table {only}")
        for first in range(0, len(uuids), AT_ONCE):
            part = tuple(uuids[first : first + AT_ONCE])
            start = Micros(instant - HISTORY)
            span = load(
                self._engine,
                start,
                part,
                [Micros(at) for at in range(start + PIECE, instant, PIECE)],
                unordered=self._unordered,
                columns=READ_COLUMNS,
                end=Micros(instant + 1),
            )
            for uuid, table in sorted(span.tables.items()):
                if table.name is None or table.dropped:
                    continue
                evaluation = begun(facts_of(table), 0, instant, self._table_limits.of(table.name))
                known = recorded.get(uuid, [])
                current, _ = transitions(
                    uuid,
                    table.name,
                    evaluation,
                    known,
                    instant,
                    disabled=self._limits.disabled,
                    jobs=None,
                    reported=None,
                    alert=alerts.get(table.name),
                )
                yield from (fact for fact in current if fact.state == "open")

    def _recorded(self, instant: Micros) -> dict[str, list[FindingFact]]:
        found: dict[str, list[FindingFact]] = defaultdict(list)
        for fact in self._records.newest(Micros(instant - RECORDED), Micros(instant + 1)).values():
            found[key_of(fact)].append(fact)
        return found

    def _uuids(self, only: TableName | None) -> list[str]:
        rows = self._engine.select(
            MetaQuery(table="changes", columns=("table_uuid", "subject"), kinds=("named", "first_seen"))
        )
        if only is not None:
            rows = rows.filter(rows["subject"] == str(only))
        return sorted(set(rows["table_uuid"].drop_nulls().to_list()))
