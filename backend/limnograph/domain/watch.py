"""What the watcher found: messages between its process and the server. Values; the text form is JSON, one a line."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.time import Micros


class WatchState(NamedTuple):
    """The watcher as its supervisor sees it. `at`: newest message, epoch microseconds."""

    status: Literal["ok", "stale", "error", "absent"]
    at: Micros | None
    detail: str | None


class Sighted(NamedTuple):
    """What the watcher has seen of all catalogs so far: tables `listed`, those of them that are `observed`, catalogs
    that answered, and whether a round over all of them has ended. `troubles`: a sentence for each of the last round.
    """

    listed: int
    observed: int
    read: tuple[str, ...]
    whole: bool
    troubles: tuple[str, ...]


class Trouble(msgspec.Struct, frozen=True):
    """A catalog or table that did not answer in this round; `detail` is for a person."""

    source: str
    detail: str


class StartingNotice(msgspec.Struct, frozen=True, tag="starting"):
    """What has to start before tables are read, as a person reads it: `parser: compiling, 12 CPU s`."""

    what: str


class ProbeRound(msgspec.Struct, frozen=True, tag="probed"):
    """A round over all catalogs: pointers read at `at` (epoch microseconds), tables, facts of those that moved.

    A large round is sent in parts; `last` marks the final one. Only that one states how far the round reached: `read`
    are the catalogs whose pointers were read, so that their tables are known up to `at`, but for `failed` ones
    (`catalog.namespace.table`). `tables` are observed, `listed` counts all others too. `cpu_s`: what the process and
    its parsers took of a processor so far, seconds.
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
    cpu_s: float = 0.0


def encode(message: ProbeRound | StartingNotice) -> bytes:
    """One line."""
    return msgspec.json.encode(message) + b"\n"


def decode(line: bytes) -> ProbeRound | StartingNotice:
    """Inverse of `encode`. Raises msgspec.MsgspecError."""
    return _decoder.decode(line)


_decoder: msgspec.json.Decoder[ProbeRound | StartingNotice] = msgspec.json.Decoder(ProbeRound | StartingNotice)
