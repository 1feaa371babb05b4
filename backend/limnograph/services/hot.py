"""The hot store: the last 48 hours of every table in memory, refreshed off the event loop; older spans are read cold.

One `Lake` at a time is current; readers take the reference and never see a half-built one. Facts of the watcher are
provisional: they disappear as soon as a durable row has their key.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from limnograph.domain.errors import LimnographError, SourceError, SourceUnavailable
from limnograph.domain.facts import SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaHead, QueryEngine
from limnograph.services import lake as lakes
from limnograph.services.lake import Facts, Lake
from limnograph.services.loading import HOT_COLUMNS, load

HOUR = 3_600 * MICROS_PER_SECOND
WINDOW = 48 * HOUR
_SLIDE = HOUR
_COLD_KEPT = 8
_NOTHING = MetaHead(snapshots=None, changes=None)
_log = logging.getLogger("limnograph.hot")


class Reading(NamedTuple):
    """A lake with the state of its source: `error` when the newest read failed, `partial` when older rows are out."""

    lake: Lake
    error: SourceError | None
    partial: bool
    head: MetaHead
    read_at: int | None


class HotStore:
    """Thread-safe. `refresh` and cold reads block: call them in a thread."""

    def __init__(self, engine: QueryEngine, clock: Clock, window: int = WINDOW) -> None:
        self._engine, self._clock, self._window = engine, clock, window
        self._refreshing, self._swapping, self._reading_cold = threading.Lock(), threading.Lock(), threading.Lock()
        self._durable = Facts([], [])
        self._groups: dict[str | None, Facts] = {}
        self._provisional = Facts([], [])
        self._cold: OrderedDict[tuple[MetaHead, int, tuple[str, ...]], Facts] = OrderedDict()
        self._reading = Reading(lakes.EMPTY, None, partial=False, head=_NOTHING, read_at=None)
        self._floor: int | None = None
        self.attempted = False
        self._probed: dict[str, int] = {}
        self._behind: dict[str, int | None] = {}
        self._read: frozenset[str] | None = None

    @property
    def reading(self) -> Reading:
        """The hot lake now."""
        return self._reading

    @property
    def watermark(self) -> int | None:
        """Metadata is known up to here (epoch microseconds): newest probe of the watcher that read a catalog, or the
        time at which the newest pass looked at the lake; None when neither has happened.
        """
        return _newest(*self._probed.values(), self._reading.lake.observed_at)

    def known_until(self, name: TableName) -> int | None:
        """The watermark of one table: older than that of the lake while its catalog or its metadata cannot be read.

        Then a pass that read other tables says nothing about this one; what counts are the table's own rows.
        """
        text, lake = str(name), self._reading.lake
        probed = self._behind[text] if text in self._behind else self._probed.get(name.catalog)
        if text not in self._behind and (self._read is None or name.catalog in self._read):
            return _newest(probed, lake.observed_at)
        history = lake.histories.get(lake.names.get(name, ""))
        return _newest(probed, *(row.observed_at for row in (history.snapshots.values() if history else ())))

    def probed(self, at: int, read: Collection[str], failed: Collection[str]) -> None:
        """A round of the watcher ended: tables of the catalogs `read` are known up to `at`, but for `failed` ones."""
        still = {name: known for name, known in self._behind.items() if _catalog(name) not in read}
        behind = {name: self._behind.get(name, self._probed.get(_catalog(name))) for name in failed}
        self._behind = {**still, **behind}
        self._probed = {**self._probed, **dict.fromkeys(read, at)}
        self._read = frozenset(read)

    def refresh(self) -> bool:
        """Read again if the meta tables moved or the window slid by an hour. True when the lake changed."""
        with self._refreshing:
            now = self._clock.now()
            try:
                return self._refresh(now)
            except SourceError as error:
                _log.warning("meta tables: %s", error)
                self._reading = self._reading._replace(error=error)
                return False
            except Exception as error:  # noqa: BLE001  # whatever it was, the pages say that the numbers are old
                _log.exception("meta tables: reading failed")
                failed = SourceUnavailable("meta", f"reading failed ({type(error).__name__}); the log has the trace")
                self._reading = self._reading._replace(error=failed)
                return False
            finally:
                self.attempted = True

    def _refresh(self, now: int) -> bool:
        head, floor = self._engine.head(), now - self._window
        same = head == self._reading.head and self._floor is not None and floor - self._floor < _SLIDE
        if same:
            self._reading = self._reading._replace(error=None, read_at=now)
            return False
        durable = load(self._engine, floor, known=self._durable) if head.snapshots or head.changes else Facts([], [])
        with self._swapping:
            groups = lakes.by_table(durable)
            touched = _differing(self._groups, groups) | _tables_of(self._provisional)
            self._durable, self._floor, self._groups = durable, floor, groups
            self._provisional = _within(_still_provisional(self._provisional, durable), floor)
            fresh = _split(self._provisional, touched)[1]
            newer = lakes.build(_joined([groups.get(uuid, Facts([], [])) for uuid in touched]), fresh, floor)
            lake = lakes.patched(self._reading.lake, newer, gone=touched, nameless=None in touched)
            lake = lake._replace(floor=floor, observed_at=lakes.read_until(durable), facts=durable)
            self._reading = Reading(lake, None, partial=False, head=head, read_at=now)
        return True

    def apply(self, facts: Facts) -> None:
        """Lay facts of the watcher over the durable ones."""
        if not facts.snapshots and not facts.changes:
            return
        touched = _tables_of(facts)
        with self._swapping:
            others, own = _split(self._provisional, touched)
            merged = _latest(Facts([*own.snapshots, *facts.snapshots], [*own.changes, *facts.changes]))
            durable = _joined([self._groups.get(uuid, Facts([], [])) for uuid in touched])
            fresh = _still_provisional(merged, durable)
            self._provisional = _joined([others, fresh])
            floor = self._floor if self._floor is not None else self._clock.now() - self._window
            lake = lakes.patched(
                self._reading.lake, lakes.build(durable, fresh, floor), gone=touched, nameless=None in touched
            )
            self._reading = self._reading._replace(lake=lake)

    def provisional_row(self, table_uuid: str, snapshot_id: int) -> SnapshotFact | None:
        """The watcher's whole row of a commit that is not durable yet."""
        for row in self._provisional.snapshots:
            if row.table_uuid == table_uuid and row.snapshot_id == snapshot_id:
                return row
        return None

    def since(self, start: int, table_uuids: tuple[str, ...] = ()) -> Reading:
        """A lake that reaches back to `start`: the hot one if it does, else cold rows and hot ones united by key."""
        hot = self._reading
        if start >= hot.lake.floor or (hot.head.snapshots is None and hot.head.changes is None):
            return hot
        try:
            cold = self._cold_facts(hot.head, start // HOUR * HOUR, table_uuids)
        except LimnographError as error:
            failed = error if isinstance(error, SourceError) else SourceUnavailable("meta", str(error))
            return hot._replace(error=failed, partial=True)
        return hot._replace(lake=self._united(cold, hot.lake, start, table_uuids))

    def _cold_facts(self, head: MetaHead, start: int, table_uuids: tuple[str, ...]) -> Facts:
        key = (head, start, table_uuids)
        with self._reading_cold:
            if key not in self._cold:
                self._cold[key] = load(self._engine, start, table_uuids)
                while len(self._cold) > _COLD_KEPT:
                    self._cold.popitem(last=False)
            return self._cold[key]

    def _united(self, cold: Facts, hot: Lake, start: int, table_uuids: tuple[str, ...]) -> Lake:
        """Union by key: no overlap at the edge, no hole."""
        newest, fresh = hot.facts, self._provisional
        if table_uuids:
            newest, fresh = (_split(facts, set(table_uuids))[1] for facts in (newest, fresh))
        return lakes.build(_joined([cold, newest]), fresh, start)


def _catalog(name: str) -> str:
    return name.split(".", 1)[0]


def _newest(*instants: int | None) -> int | None:
    return max((at for at in instants if at is not None), default=None)


def _split(facts: Facts, table_uuids: Collection[str | None]) -> tuple[Facts, Facts]:
    """Facts of other tables, and of these."""
    parts = []
    for inside in (False, True):
        rows = [row for row in facts.snapshots if (row.table_uuid in table_uuids) == inside]
        parts.append(Facts(rows, [c for c in facts.changes if (c.table_uuid in table_uuids) == inside]))
    return parts[0], parts[1]


def _tables_of(facts: Facts) -> set[str | None]:
    return {row.table_uuid for row in facts.snapshots} | {change.table_uuid for change in facts.changes}


def _differing(old: dict[str | None, Facts], new: dict[str | None, Facts]) -> set[str | None]:
    """Tables whose facts are not the same objects as before."""
    nothing = Facts([], [])
    return {uuid for uuid in old.keys() | new.keys() if not _same(old.get(uuid, nothing), new.get(uuid, nothing))}


def _same(one: Facts, other: Facts) -> bool:
    pairs = ((one.snapshots, other.snapshots), (one.changes, other.changes))
    return all(len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True)) for a, b in pairs)


def _joined(parts: Sequence[Facts]) -> Facts:
    return Facts([row for part in parts for row in part.snapshots], [c for part in parts for c in part.changes])


def _within(facts: Facts, floor: int) -> Facts:
    """Without rows that left the window, but for the newest of them of every table: the state at its first instant."""
    newest: dict[str, SnapshotFact] = {}
    for row in facts.snapshots:
        at, known = row.committed_at, newest.get(row.table_uuid)
        if at is not None and at < floor and (known is None or at > (known.committed_at or 0)):
            newest[row.table_uuid] = row
    kept = [
        row
        for row in facts.snapshots
        if row.committed_at is None or row.committed_at >= floor or newest.get(row.table_uuid) is row
    ]
    return Facts(kept, facts.changes)


def _latest(facts: Facts) -> Facts:
    rows = {(row.table_uuid, row.snapshot_id): row for row in facts.snapshots}
    changes = {(c.table_uuid, c.kind, c.subject, c.to_value, c.at): c for c in facts.changes}
    return Facts(list(rows.values()), list(changes.values()))


def _still_provisional(provisional: Facts, durable: Facts) -> Facts:
    """What no durable row completes yet. A row stays while it knows a hot column that the durable one does not."""
    known = {(row.table_uuid, row.snapshot_id): row for row in durable.snapshots}
    rows = []
    for row in provisional.snapshots:
        found = known.get((row.table_uuid, row.snapshot_id))
        if found is None or any(getattr(found, c) is None and getattr(row, c) is not None for c in HOT_COLUMNS):
            rows.append(row)
    have = {(c.table_uuid, c.kind, c.subject, c.to_value, c.at) for c in durable.changes}
    changes = [c for c in provisional.changes if (c.table_uuid, c.kind, c.subject, c.to_value, c.at) not in have]
    return Facts(rows, changes)
