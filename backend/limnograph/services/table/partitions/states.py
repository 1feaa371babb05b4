"""States of partitions at snapshots, from rows that contain only changes.

A `changed` row contains the differences from the row `partitions_base`; a `full` row names the largest partitions. The
state at a snapshot is that of the nearest full row before it, overlaid with the rows in between. A chain is
within one UTC day.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from limnograph.domain.facts.meta_tables import PartitionFact, SnapshotFact
from limnograph.domain.metadata.manifests import PartitionKey
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.lake.loading import snapshot_facts

DAY = 86_400 * MICROS_PER_SECOND
FULL_ROW = 1_000
"""Assumed number of partitions of a row that does not report it: the most that a row names."""
State = Mapping[PartitionKey, PartitionFact]
_THIN = ("snapshot_id", "committed_at", "partitions_base", "partitions_scope", "changed_partitions")
_WHOLE = (
    *("table_uuid", "snapshot_id", "committed_at", "partitions", "partitions_scope", "partitions_base"),
    *("partitions_total", "total_data_files", "total_delete_files", "total_bytes", "small_files"),
    *(
        "total_delete_bytes",
        "oldest_delete_at",
        "target_file_bytes",
        "skew_max_over_median",
        "skew_top1_share",
        "file_size_histogram",
    ),
)
_LISTED = 500
"""Ids that are queried by value; for more, whole days are read and the rows filtered here."""


class StateLink(NamedTuple):
    """The row that a row's partitions are relative to. `cost`: the number of partitions that it names."""

    scope: str | None
    base: int | None
    cost: int


class StateLinks:
    """Chains of rows. `links`: by snapshot id."""

    def __init__(self, links: Mapping[int, StateLink]) -> None:
        self._links = links

    def chain(self, snapshot_id: int) -> list[int] | None:
        """Ids from a snapshot back to its full row; None if the chain does not reach one."""
        found: list[int] = []
        at: int | None = snapshot_id
        while at is not None and at in self._links and len(found) <= len(self._links):
            link = self._links[at]
            found.append(at)
            if link.scope == "full":
                return found
            at = link.base if link.scope == "changed" else None
        return None

    def cost(self, snapshot_ids: Iterable[int]) -> int:
        """The number of partitions that those rows name."""
        return sum(self._links[found].cost for found in snapshot_ids if found in self._links)


class PartitionReader:
    """Reads rows of one table from the meta tables, completed by rows that only the watcher has. Its methods block."""

    def __init__(self, engine: QueryEngine, table_uuid: str, provisional: Mapping[int, SnapshotFact]) -> None:
        self._engine, self._uuid, self._provisional = engine, table_uuid, provisional

    def links(self, instants: Sequence[Micros]) -> StateLinks:
        """Links of all rows that may be on chains of snapshots committed at these instants (microseconds).

        Raises SourceError.
        """
        found = {fact.snapshot_id: _link(fact) for fact in self._provisional.values()}
        for first, end in spans(instants):
            query = MetaQuery(table="snapshots", columns=_THIN, table_uuids=(self._uuid,), start=first, end=end)
            for snapshot_id, _, base, scope, changed in self._engine.select(query).iter_rows():
                if scope is not None or snapshot_id not in found:
                    cost = changed if scope == "changed" and changed is not None else FULL_ROW
                    found[snapshot_id] = StateLink(scope, base, cost)
        return StateLinks(found)

    def rows(self, snapshot_ids: Iterable[int], instants: Sequence[Micros]) -> dict[int, SnapshotFact]:
        """Rows by id, with partitions and shape. Raises SourceError."""
        wanted = set(snapshot_ids)
        found = {key: fact for key, fact in self._provisional.items() if key in wanted}
        ids = tuple(sorted(wanted)) if len(wanted) <= _LISTED else ()
        for first, end in spans(instants) if wanted else ():
            query = MetaQuery(
                table="snapshots", columns=_WHOLE, table_uuids=(self._uuid,), snapshot_ids=ids, start=first, end=end
            )
            for fact in snapshot_facts(self._engine.select(query)):
                old = found.get(fact.snapshot_id)
                if fact.snapshot_id in wanted and (old is None or fact.partitions_scope is not None):
                    found[fact.snapshot_id] = fact
        return found


class PartitionStates:
    """States built from rows. Shared parts of chains are built once."""

    def __init__(self, links: StateLinks, rows: Mapping[int, SnapshotFact]) -> None:
        self._links, self._rows = links, rows
        self._known: dict[int, State] = {}

    def at(self, snapshot_id: int) -> State | None:
        """Named partitions after a snapshot, emptied ones included; None if unknown."""
        chain = self._links.chain(snapshot_id)
        if chain is None or any(found not in self._rows for found in chain):
            return None
        ready = next((place for place, found in enumerate(chain) if found in self._known), len(chain))
        state = dict(self._known[chain[ready]]) if ready < len(chain) else {}
        for found in reversed(chain[:ready]):
            state.update(told(self._rows[found]))
        self._known[snapshot_id] = state
        return state


def told(row: SnapshotFact) -> State:
    """The partitions in a row itself."""
    return {(found.spec_id or 0, found.partition): found for found in row.partitions or ()}


def live(state: State) -> list[PartitionFact]:
    """Partitions with a file."""
    return [found for found in state.values() if found.data_files != 0 or found.delete_files]


def spans(instants: Sequence[Micros]) -> list[tuple[Micros, Micros]]:
    """Whole UTC days `[start, end)` that contain the instants; adjacent days are merged."""
    found: list[tuple[Micros, Micros]] = []
    for day in sorted({instant // DAY for instant in instants}):
        if found and found[-1][1] == day * DAY:
            found[-1] = (found[-1][0], Micros((day + 1) * DAY))
        else:
            found.append((Micros(day * DAY), Micros((day + 1) * DAY)))
    return found


def _link(fact: SnapshotFact) -> StateLink:
    return StateLink(fact.partitions_scope, fact.partitions_base, len(fact.partitions or ()))
