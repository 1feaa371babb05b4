"""Evaluates the findings of every table as facts arrive, and records each transition.

A table that changed is evaluated from the facts in memory after a state of a day ago; the first evaluation reads its
last 30 days from the meta tables, a few tables at a time. Cost law: O(changed tables) per call, each 1 ms; O(tables)
only to see which ones changed. A table is evaluated up to the instant at which its catalog last responded, so nothing
opens or closes while it is silent.
"""

from __future__ import annotations

import logging
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.facts import no_facts
from limnograph.domain.errors import SourceError
from limnograph.domain.facts.findings import FindingEffectFact, FindingFact
from limnograph.domain.finding_codes import FindingCode, ObservedSource
from limnograph.domain.finding_limits import DAY, MINUTE, FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.objectives import Objectives
from limnograph.domain.time import Micros
from limnograph.ports.clock import Clock
from limnograph.services.findings.board import FindingsBoard, key_of, key_of_name
from limnograph.services.findings.critical_alerts import AlertNames
from limnograph.services.findings.evaluation import (
    LOOK_BACK,
    Evaluation,
    begun,
    closed,
    continued,
    rests_until,
    transitions,
    transitions_of_name,
)
from limnograph.services.findings.limits import TableLimits
from limnograph.services.findings.records import FindingRecords, decoded
from limnograph.services.findings.table_facts import READ_COLUMNS, facts_of
from limnograph.services.lake.lake import Lake
from limnograph.services.lake.store import HotStore
from limnograph.services.lake.table import HotTable

HISTORY = 30 * DAY
RECORDED = 400 * DAY
"""How far back an open finding may have had its last transition."""
KEPT = 30 * DAY
"""How long closed findings remain on the board."""
AT_ONCE = 100
"""Tables whose 30 days are read together."""
RETRY = MINUTE
_log = logging.getLogger("limnograph.findings")


class FindingsEvaluator:
    """Thread-safe for one caller of `evaluate` at a time: `board` and what `observed` leaves for it are replaced whole;
    what `measured` leaves is queued.
    """

    def __init__(
        self,
        store: HotStore,
        records: FindingRecords,
        clock: Clock,
        *,
        limits: FindingLimits = FindingLimits(),  # noqa: B008  # immutable
        alerts: Callable[[], AlertNames | None] = dict,
        objectives: Objectives = Objectives(),  # noqa: B008  # immutable
    ) -> None:
        self._table_limits = TableLimits(limits, objectives)
        self._store, self._records, self._clock, self._limits = store, records, clock, limits
        self._read_alerts = alerts
        self._alerts: AlertNames | None = {}
        self._evaluations: dict[str, Evaluation] = {}
        self._recorded: dict[str, dict[str, FindingFact]] = defaultdict(dict)
        self._current: dict[str, list[FindingFact]] = {}
        self._nameless: set[str] = set()
        self._evaluated: set[str] = set()
        self._retry: dict[str, Micros] = {}
        self._read_to: Micros | None = None
        self._learned: frozenset[str] = frozenset()
        self._observed: dict[ObservedSource, Mapping[str, Sequence[Episode]]] = {}
        self._new_observed: dict[ObservedSource, Mapping[str, Sequence[Episode]]] = {}
        self._effects: dict[str, Sequence[FindingEffectFact]] = {}
        self._new_effects: deque[Mapping[str, Sequence[FindingEffectFact]]] = deque()
        self.board = FindingsBoard()

    def evaluate(self) -> list[FindingFact]:
        """Evaluate what changed or is due; returns the recorded transitions. Blocks. Raises SourceError."""
        now, lake = self._clock.now(), self._store.reading.lake
        learned = self._learn(now)
        self._take(lake)
        waiting = [table for table in lake.listed if self._is_due(table, now)]
        first = [table for table in waiting if table.uuid not in self._evaluations][:AT_ONCE]
        rows = self._begin(first, now) if first else []
        begun_now = {table.uuid for table in first}
        for table in waiting:
            if table.uuid in self._evaluations and table.uuid not in begun_now:
                rows += self._continue(table, now)
        rows += self._damaged(lake, now)
        rows += self._of_catalogs(now)
        rows += self._retire(lake, now)
        recorded = self._record(rows, now)
        if rows or waiting or learned or self.board.evaluated is None:
            self._publish(lake, now)
        return recorded

    def measured(self, effects: Mapping[str, Sequence[FindingEffectFact]]) -> None:
        """Take effects by finding id. Thread-safe: they count from the next evaluation."""
        self._new_effects.append(effects)

    def observed(self, episodes: Mapping[str, Sequence[Episode]], source: ObservedSource = "jobs") -> None:
        """Take all episodes of a source by table uuid. Thread-safe: they count from the next evaluation."""
        self._new_observed = {**self._new_observed, source: {uuid: list(found) for uuid, found in episodes.items()}}

    def known_open(self, code: FindingCode) -> dict[str, dict[str, Micros]] | None:
        """By table uuid and subject, when the open findings of a code opened; None before the first evaluation.
        Thread-safe. O(open findings).
        """
        board = self.board
        if board.evaluated is None:
            return None
        found: dict[str, dict[str, Micros]] = defaultdict(dict)
        for fact in board.open:
            if fact.code == code and fact.opened_at is not None:
                found[key_of(fact)][fact.subject or ""] = fact.opened_at
        return found

    def _take(self, lake: Lake) -> None:
        """Take what was measured and observed and which alerts fire since the last call; the tables that it is about
        are due then.
        """
        changed = self._take_alerts(lake)
        while self._new_effects:
            effects = self._new_effects.popleft()
            for finding_id, found in effects.items():
                fact = self.board.by_id.get(finding_id)
                if fact is not None and found != self._effects.get(finding_id):
                    changed.add(key_of(fact))
            self._effects.update(effects)
        for source, new in self._new_observed.items():
            before = self._observed.get(source)
            if before is new:
                continue
            self._observed[source] = new
            changed.update(
                uuid
                for uuid in self._evaluations
                if before is None or list(before.get(uuid, ())) != list(new.get(uuid, ()))
            )
        for uuid in changed & self._evaluations.keys():
            self._evaluations[uuid] = self._evaluations[uuid]._replace(version=-1)

    def _take_alerts(self, lake: Lake) -> set[str]:
        """Take which critical alerts fire; returns the tables of those that began or ended."""
        was, self._alerts = self._alerts, self._read_alerts()
        if was is self._alerts:
            return set()
        if was is None or self._alerts is None:
            return set(self._evaluations)
        before = was
        names = {name for name in {*before, *self._alerts} if before.get(name) != self._alerts.get(name)}
        return {uuid for name in names if (uuid := lake.names.get(name)) is not None}

    def _is_due(self, table: HotTable, now: Micros) -> bool:
        known = self._evaluations.get(table.uuid)
        if known is None:
            return self._retry.get(table.uuid, now) <= now
        return known.version != table.version or known.due <= now

    def _learn(self, now: Micros) -> bool:
        """Read what is recorded: everything once, then what this and other servers wrote since."""
        if self._read_to is None:
            found: Iterable[FindingFact] = self._records.newest(Micros(now - RECORDED)).values()
        else:
            try:
                items = {item.key: item for item in self._records.items(Micros(self._read_to - MINUTE))}
            except SourceError as error:
                _log.info("recorded findings could not be read: %s", error)
                return False
            found = decoded(item for key, item in items.items() if key not in self._learned)
            self._learned = frozenset(items)
        self._read_to = now
        learned = False
        for fact in found:
            known = self._recorded[key_of(fact)].get(fact.finding_id)
            if known is None or known.seq < fact.seq:
                self._recorded[key_of(fact)][fact.finding_id] = fact
                learned = True
        return learned

    def _begin(self, tables: Sequence[HotTable], now: Micros) -> list[FindingFact]:
        """First evaluations, from the facts of 30 days. A table whose facts cannot be read is tried again later."""
        view = self._store.since(Micros(now - HISTORY), tuple(table.uuid for table in tables), READ_COLUMNS)
        rows: list[FindingFact] = []
        for table in tables:
            whole = view.lake.tables.get(table.uuid)
            until = self._known_until(table, now)
            if whole is None or view.partial:
                self._retry[table.uuid] = Micros(now + RETRY)
                continue
            self._retry.pop(table.uuid, None)
            rows += self._settle(
                table, begun(facts_of(whole), table.version, until, self._table_limits.of(table.name)), now
            )
        return rows

    def _continue(self, table: HotTable, now: Micros) -> list[FindingFact]:
        known = self._evaluations[table.uuid]
        until = self._known_until(table, now)
        if known.base.at is None:
            return []
        facts = facts_of(table, Micros(known.base.at - LOOK_BACK))
        found = continued(known, facts, table.version, until, self._table_limits.of(table.name))
        if found is None:  # a commit from before the base appeared
            del self._evaluations[table.uuid]
            self._retry[table.uuid] = Micros(now + RETRY)
            return []
        return self._settle(table, found, now)

    def _known_until(self, table: HotTable, now: Micros) -> Micros:
        """When the table's catalog last responded; without any word about that, its last commit."""
        known = self._store.known_until(table.name) if table.name else None
        return min(now, table.last_at) if known is None else min(now, known)

    def _settle(self, table: HotTable, evaluation: Evaluation, now: Micros) -> list[FindingFact]:
        """Keep an evaluation; returns the transitions to record."""
        silent = evaluation.state.at is not None and evaluation.due <= now
        later = Micros(now + RETRY) if silent else evaluation.due
        current, rows = transitions(
            table.uuid,
            table.name or TableName("", "", ""),
            evaluation,
            list(self._recorded[table.uuid].values()),
            now,
            disabled=self._limits.disabled,
            observed={source: found.get(table.uuid, ()) for source, found in self._observed.items()},
            effects=self._effects,
            alert=self._alerts.get(table.name) if self._alerts is not None and table.name else None,
            keeps_alert=self._alerts is None,
        )
        self._current[table.uuid] = current
        again = min(later, rests_until(current, now))
        self._evaluations[table.uuid] = evaluation._replace(due=again)
        self._evaluated.add(table.uuid)
        return rows

    def _damaged(self, lake: Lake, now: Micros) -> list[FindingFact]:
        """Names whose metadata was never readable: they have no history but the problem."""
        rows: list[FindingFact] = []
        names = {key_of_name(name): (name, change) for name, change in lake.damaged.items()}
        for key in self._nameless - names.keys():
            rows += [closed(fact, "retracted", now) for fact in self._recorded[key].values() if fact.state == "open"]
            self._current.pop(key, None)
        self._nameless = set(names)
        for key, (name, change) in names.items():
            if key not in self._current:
                current, new = transitions_of_name(
                    name, change, list(self._recorded[key].values()), now, disabled=self._limits.disabled
                )
                self._current[key] = current
                rows += new
        return rows

    def _of_catalogs(self, now: Micros) -> list[FindingFact]:
        """Findings of catalogs, which have no history. O(catalogs with findings)."""
        rows: list[FindingFact] = []
        for catalog, episodes in self._observed.get("catalogs", {}).items():
            name = TableName(catalog, "", "")
            key = key_of_name(name)
            current, new = transitions(
                "",
                name,
                begun(no_facts(), 0, now, self._limits),
                list(self._recorded[key].values()),
                now,
                disabled=self._limits.disabled,
                observed={"catalogs": episodes},
            )
            self._current[key] = current
            rows += new
        return rows

    def _retire(self, lake: Lake, now: Micros) -> list[FindingFact]:
        """Close the findings of tables that were dropped."""
        rows = []
        for uuid, known in self._recorded.items():
            table = lake.tables.get(uuid)
            if table is not None and table.dropped:
                rows += [closed(fact, "retired", now) for fact in known.values() if fact.state == "open"]
                self._current.pop(uuid, None)
                self._evaluations.pop(uuid, None)
        return rows

    def _record(self, rows: list[FindingFact], now: Micros) -> list[FindingFact]:
        if not rows:
            return []
        try:
            self._records.put(rows, now)
        except SourceError as error:
            # Not remembered as recorded, so the next evaluation of their tables records them.
            _log.warning("findings could not be recorded: %s", error)
            for uuid in {key_of(fact) for fact in rows} & self._evaluations.keys():
                self._evaluations[uuid] = self._evaluations[uuid]._replace(due=now)
            return []
        for fact in rows:
            self._recorded[key_of(fact)][fact.finding_id] = fact
        return rows

    def _publish(self, lake: Lake, now: Micros) -> None:
        facts: dict[str, FindingFact] = {}
        for known in self._recorded.values():
            facts.update(known)
        for current in self._current.values():
            facts.update({fact.finding_id: fact for fact in current})
        recent = (fact for fact in facts.values() if fact.closed_at is None or fact.closed_at >= now - KEPT)
        evaluated = frozenset((*self._evaluated, *self._nameless))
        behind = sum(table.uuid not in evaluated for table in lake.listed)
        self.board = FindingsBoard(recent, evaluated, behind)
