"""Messages from the watcher's process to the server, encoded as one JSON object per line."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros


class WatchState(NamedTuple):
    """State of the watcher, as its supervisor sees it. `at`: time of the latest message, epoch microseconds."""

    status: Literal["ok", "stale", "error", "absent"]
    at: Micros | None
    detail: str | None


class CatalogSeen(msgspec.Struct, frozen=True):
    """One catalog in a round: its number of tables, the seconds that its newest listing took (None before the first),
    whether it responded, and the first sentence about what did not; empty: nothing. `requests`, `failed`, `p95_s`: of
    the last quarter of an hour, the durations in seconds. `fullest`: listed tables of the namespaces that have most.
    """

    name: str
    tables: int
    seconds: float | None
    answers: bool
    trouble: str = ""
    requests: int = 0
    failed: int = 0
    p95_s: float | None = None
    fullest: dict[str, int] = {}


class PartedTable(msgspec.Struct, frozen=True):
    """Names of one table location that point at different snapshots, in the same order; None: at none."""

    names: list[TableName]
    snapshot_ids: list[int | None]


class Sighted(NamedTuple):
    """The watcher's progress over all catalogs: numbers of tables `listed` and `observed`, catalogs that responded, and
    whether a round over all catalogs has ended. `troubles`: one sentence per trouble of the last round. `unmatched`:
    see ProbeRound. `parted`: locations whose names point at different snapshots.
    """

    listed: int
    observed: int
    read: tuple[str, ...]
    whole: bool
    troubles: tuple[str, ...]
    catalogs: tuple[CatalogSeen, ...] = ()
    unmatched: tuple[str, ...] = ()
    parted: tuple[PartedTable, ...] = ()


class Trouble(msgspec.Struct, frozen=True):
    """A catalog or table that did not respond in this round; `detail` is for users."""

    source: str
    detail: str


class StartingNotice(msgspec.Struct, frozen=True, tag="starting"):
    """Something that must start before tables are read, in words for users: `parser: compiling, 12 CPU s`."""

    what: str


class ProbeRound(msgspec.Struct, frozen=True, tag="probed"):
    """A round over all catalogs: the pointers read at `at` (epoch microseconds), tables, and facts of tables that
    changed.

    A large round is sent in parts; `last` marks the final one, which alone reports the coverage of the round: `read`
    lists the catalogs whose pointers were read, so that their tables are known up to `at`, except for `failed` ones
    (`catalog.namespace.table`). `tables` counts observed tables, `listed` all tables. `unmatched` names settings that
    match no table, such as `observe.include[0] 'lake.slaes.**'`. `parted` as in Sighted. `cpu_s`: CPU time of the
    process and its parsers so far, seconds.
    """

    at: Micros
    tables: int
    snapshots: list[SnapshotFact] = []
    changes: list[ChangeFact] = []
    troubles: list[Trouble] = []
    last: bool = True
    read: list[str] = []
    failed: list[str] = []
    listed: int = 0
    catalogs: list[CatalogSeen] = []
    unmatched: list[str] = []
    parted: list[PartedTable] = []
    cpu_s: float = 0.0


def encode(message: ProbeRound | StartingNotice) -> bytes:
    """A message as one line."""
    return msgspec.json.encode(message) + b"\n"


def decode(line: bytes) -> ProbeRound | StartingNotice:
    """Inverse of `encode`. Raises msgspec.MsgspecError."""
    return _decoder.decode(line)


_decoder: msgspec.json.Decoder[ProbeRound | StartingNotice] = msgspec.json.Decoder(ProbeRound | StartingNotice)
