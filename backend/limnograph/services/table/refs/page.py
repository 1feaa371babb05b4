"""The page of a table's branches and tags: their snapshots, what expiry retains because of them, and their moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from limnograph.domain.answers.refs import RefRow, RefsPage, Retention
from limnograph.domain.answers.structure import Note
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.table import MAIN
from limnograph.domain.time import Millis, to_millis
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.columns import NULL
from limnograph.services.lake.history import History
from limnograph.services.lake.store import HotStore
from limnograph.services.lake.table_changes import ChangeLog, told
from limnograph.services.table.histories import TableHistories
from limnograph.services.table.refs import retention as ref_retention
from limnograph.services.table.refs.moves import MOVES_SHOWN, Ancestry, moves_of

_THIN = ("snapshot_id", "parent_id", "committed_at")
_PROPERTIES = "history.expire."


class RefPages:
    """Branches and tags of one table. Immutable after construction."""

    def __init__(self, store: HotStore, engine: QueryEngine, clock: Clock) -> None:
        self._store, self._engine, self._clock = store, engine, clock
        self._tables = TableHistories(store, clock)

    async def page(self, name: TableName) -> tuple[RefsPage, bool]:
        """The page, and whether the meta tables could not be read. Raises NotFound, or SourceError if the table is
        unknown.
        """
        return await self._store.reads.ask(self._page, name)

    def _page(self, name: TableName) -> tuple[RefsPage, bool]:
        history = self._tables.now(name)
        found = told(self._engine, history, ("ref", "property"))
        refs = [change for change in found.changes if change.kind == "ref" and change.subject]
        ancestry = self._ancestry(history, found)
        moves, left_out = moves_of(refs, ancestry)
        standing = _standing(refs)
        properties = _expiry_properties(found.changes)
        rows = [_Row(change, standing.get(MAIN), properties, ancestry, history) for change in standing.values()]
        notes = [*found.notes, *_notes(history, standing, left_out)]
        now = to_millis(self._clock.now())
        page = RefsPage(
            **self._tables.head(name, history, notes),
            live_snapshots=history.head.live_snapshots if history.head else None,
            refs=sorted((row.told(now) for row in rows), key=lambda ref: (ref.name != MAIN, ref.type, ref.name)),
            moves=moves,
        )
        return page, found.failed

    def _ancestry(self, history: History, found: ChangeLog) -> Ancestry:
        """Parents and commit times of all snapshots in the rows."""
        columns = (history.numbers(column).tolist() for column in _THIN)
        known = {
            snapshot_id: (None if parent == NULL else parent, None if at == NULL else to_millis(at))
            for snapshot_id, parent, at in zip(*columns, strict=True)
        }
        if history.uuid and not found.failed:
            query = MetaQuery(table="snapshots", columns=_THIN, table_uuids=(history.uuid,))
            for snapshot_id, parent, at in self._engine.select(query).iter_rows():
                known.setdefault(snapshot_id, (parent, to_millis(at)))
        return Ancestry(known)


def _standing(refs: Sequence[ChangeFact]) -> dict[str, ChangeFact]:
    """The newest change of every existing ref."""
    newest = {change.subject or "": change for change in refs}
    return {name: change for name, change in newest.items() if change.to_value is not None}


def _expiry_properties(changes: Sequence[ChangeFact]) -> dict[str, str]:
    newest = {
        change.subject: change.to_value
        for change in changes
        if change.kind == "property" and change.subject and change.subject.startswith(_PROPERTIES)
    }
    return {key: value for key, value in newest.items() if value is not None}


class _Row(NamedTuple):
    """Input of a row of the page."""

    change: ChangeFact
    main: ChangeFact | None
    properties: Mapping[str, str]
    ancestry: Ancestry
    history: History

    def told(self, now_ms: Millis) -> RefRow:
        """The row in the page's format."""
        change, detail = self.change, ref_retention.details(self.change.detail)
        name, snapshot_id = change.subject or "", int(change.to_value or 0)
        kind: Literal["branch", "tag"] = "tag" if detail.get("type") == "tag" else "branch"
        iceberg = self.history.head is None or self.history.head.format == "iceberg"
        rule = ref_retention.retention(kind, name, detail, self.properties) if iceberg else None
        chain = self.ancestry.chain(snapshot_id)
        times = [self.ancestry.time(found) for found in chain]
        kept = ref_retention.protected(kind, rule, times, now_ms) if rule and chain else None
        live = self.history.head.live_snapshots if self.history.head else None
        kept = kept if kept is None or live is None else min(kept, live)
        ahead, behind = self._distance(chain)
        age = rule.max_ref_age_ms if rule else None
        return RefRow(
            name=name,
            type=kind,
            snapshot_id=str(snapshot_id),
            committed_at=times[0] if times else None,
            moved_at=to_millis(change.at),
            retention=rule,
            ancestors=len(chain) or None,
            protected=kept,
            protected_from=times[kept - 1] if kept and kept <= len(times) else None,
            ahead=ahead,
            behind=behind,
            expires_at=times[0] + age if times and times[0] is not None and age is not None else None,
            sentence=_sentence(kind, rule, kept),
        )

    def _distance(self, chain: Sequence[int]) -> tuple[int | None, int | None]:
        """Snapshots on either side of the newest one that the ref and main share; None if no shared one is known."""
        if self.main is None or self.main is self.change:
            return None, None
        main = self.ancestry.chain(int(self.main.to_value or 0))
        places = {snapshot_id: place for place, snapshot_id in enumerate(main)}
        meeting = next(((own, places[found]) for own, found in enumerate(chain) if found in places), None)
        return meeting or (None, None)


def _sentence(kind: str, rule: Retention | None, kept: int | None) -> str:
    if rule is None:
        return (
            "Its snapshot is kept as long as the tag exists" if kind == "tag" else "The table's cleaning policy decides"
        )
    if kind == "tag":
        age = rule.max_ref_age_ms
        gone = "" if age is None else f"; expiry removes the tag when its snapshot is {_duration(age)} old"
        return f"Expiry keeps its snapshot as long as the tag exists{gone}"
    least, oldest = rule.min_snapshots_to_keep, rule.max_snapshot_age_ms
    if least is None or oldest is None:
        return "Its retention has not been read yet; it is known after the next change of the branch"
    count = "" if kept is None else f", currently {kept:,}"
    newest = "the newest snapshot" if least == 1 else f"the newest {least:,} snapshots"
    return f"Expiry keeps {newest} and all of the last {_duration(oldest)}{count}"


def _duration(ms: int) -> str:
    for unit, size in (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1_000)):
        if ms >= size and ms % size == 0:
            return f"{ms // size:,} {unit}{'' if ms == size else 's'}"
    return f"{ms:,} ms"


def _notes(history: History, standing: Mapping[str, ChangeFact], left_out: int) -> list[Note]:
    notes = []
    kind = history.head.format if history.head else None
    if kind == "delta":
        notes.append(Note(code="one_branch", sentence="Delta tables have a linear history: no branches or tags."))
    if kind == "hudi":
        notes.append(
            Note(code="savepoints", sentence="Hudi tables have no branches; their savepoints are shown as tags.")
        )
    main = standing.get(MAIN)
    if main and kind == "iceberg" and "retention" not in ref_retention.details(main.detail):
        said = "The retention settings of main have not been read yet; they are known after its next change."
        notes.append(Note(code="retention_unknown", sentence=said))
    if left_out:
        said = f"The latest {MOVES_SHOWN} changes are shown; {left_out:,} older ones are not."
        notes.append(Note(code="moves_left_out", sentence=said))
    return notes
