"""What the watcher found: messages between its process and the server. Values; the text form is JSON, one a line."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from limnograph.domain.facts import ChangeFact, SnapshotFact


class WatchState(NamedTuple):
    """The watcher as its supervisor sees it. `at`: newest message, epoch microseconds."""

    status: Literal["ok", "stale", "error", "absent"]
    at: int | None
    detail: str | None


class Trouble(msgspec.Struct, frozen=True):
    """A catalog or table that did not answer in this round; `detail` is for a person."""

    source: str
    detail: str


class Probed(msgspec.Struct, frozen=True, tag="probed"):
    """A round over all catalogs: pointers read at `at` (epoch microseconds), tables listed, facts of those that moved.

    A round with much to tell comes in parts; `last` marks the one after which nothing of it is missing. It alone says
    how far the round reached: `read` are the catalogs whose pointers were read, so that their tables are known up to
    `at`, but for `failed` ones (`catalog.namespace.table`).
    """

    at: int
    tables: int
    snapshots: list[SnapshotFact] = []
    changes: list[ChangeFact] = []
    troubles: list[Trouble] = []
    last: bool = True
    read: list[str] = []
    failed: list[str] = []


def encode(message: Probed) -> bytes:
    """One line."""
    return msgspec.json.encode(message) + b"\n"


def decode(line: bytes) -> Probed:
    """Inverse of `encode`. Raises msgspec.MsgspecError."""
    return _decoder.decode(line)


_decoder = msgspec.json.Decoder(Probed)
