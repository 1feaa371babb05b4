"""What parent and child say to each other, as JSON: foreign schemas hold integers that msgpack cannot."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from limnograph.adapters.storage.scan import ScannedFolder
from limnograph.domain.errors import (
    InvalidInput,
    LimnographError,
    MetadataError,
    SourceError,
    SourceRejected,
    SourceTimeout,
    SourceUnavailable,
)
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.manifests import CacheRow, ManifestWork
from limnograph.domain.metadata.table import TableMetadata

DEADLINE_SECONDS = 60.0
DETAIL_CHARACTERS = 1_000
"""Of a sentence: it may quote foreign text of any length."""


class StorageAccess(msgspec.Struct, frozen=True):
    """How a child, or a worker that has one, reaches storage. Holds credentials: to children it travels over pipes.

    `catalogs`: properties by catalog name; `stores`: by the location of a table without one. `path_map`: location
    prefixes to replace. `roots`: places that any table may name; `confining`: those of them below which pointers of
    catalogs must lie. `cache_dir`: of what can be rebuilt; empty: none.
    `deadline_seconds`: for one table. `command`: of the child; empty: our own. `most_manifests`: new ones of a table
    that one reader takes upon itself; 0: any number.
    """

    catalogs: dict[str, dict[str, str]]
    path_map: dict[str, str] = {}
    roots: tuple[str, ...] = ()
    stores: dict[str, dict[str, str]] = {}
    cache_dir: str = ""
    deadline_seconds: float = DEADLINE_SECONDS
    command: tuple[str, ...] = ()
    most_manifests: int = 0
    confining: tuple[str, ...] = ()


class Setup(msgspec.Struct, frozen=True, tag=True):
    """How to reach storage from now on. `environment`: variables in which stores' clients look for credentials."""

    access: StorageAccess
    environment: dict[str, str]


class Home(msgspec.Struct, frozen=True):
    """The table that an older metadata file belongs to, and what it claims as its places."""

    pointer: str
    location: str
    properties: dict[str, str]


class Outline(msgspec.Struct, frozen=True, tag=True):
    """Metadata without what only extraction needs. `home`: `location` is an older file of that table."""

    catalog: str
    format: str
    location: str
    home: Home | None = None


class Extract(msgspec.Struct, frozen=True, tag=True):
    """Facts of one table."""

    due: DueTable


class ManifestRequest(msgspec.Struct, frozen=True, tag=True):
    """Manifests that extraction of a table would read now: ManifestWork."""

    due: DueTable


class Group(msgspec.Struct, frozen=True, tag=True):
    """Values of a group of a table's manifests for the cache: CacheRow after CacheRow."""

    due: DueTable
    work: ManifestWork


class UnreadFacts(msgspec.Struct, frozen=True, tag=True):
    """Facts of one table from its metadata alone, because of `code`."""

    due: DueTable
    code: str


class NewestPointer(msgspec.Struct, frozen=True, tag=True):
    """The newest metadata pointer of a table without a catalog."""

    format: str
    location: str


class Scan(msgspec.Struct, frozen=True, tag=True):
    """Tables below a folder, as far as `seconds` reach. `waiting`: folders of it to look at, by their levels."""

    location: str
    formats: tuple[str, ...]
    waiting: list[tuple[str, ...]]
    seconds: float


class Inspect(msgspec.Struct, frozen=True, tag=True):
    """The document of `inspect`. `format` None: by the folder."""

    format: str | None
    location: str


Question = Outline | Extract | ManifestRequest | Group | UnreadFacts | NewestPointer | Scan | Inspect


class Ask(msgspec.Struct, frozen=True, tag=True):
    """A question and how many seconds its answer may take."""

    seconds: float
    question: Question


class AnswerPart(msgspec.Struct, frozen=True, tag=True):
    """A part of an answer. A long one comes in several, in order."""

    body: msgspec.Raw


class Done(msgspec.Struct, frozen=True, tag=True):
    """The response is complete. `spent`: the child must not be used again."""

    spent: bool = False


class FailedAnswer(msgspec.Struct, frozen=True, tag=True):
    """An error instead of an answer. `about`: code, source or field, as the kind has it."""

    kind: Literal["metadata", "unavailable", "timeout", "rejected", "input"]
    about: str
    detail: str
    spent: bool = False


class Ready(msgspec.Struct, frozen=True, tag=True):
    """The child is ready."""


ParserMessage = AnswerPart | Done | FailedAnswer | Ready

encode = msgspec.json.Encoder().encode
_TOLD: msgspec.json.Decoder[ParserMessage] = msgspec.json.Decoder(ParserMessage)
decode_request = msgspec.json.Decoder(Setup | Ask).decode
decode_outline = msgspec.json.Decoder(TableMetadata).decode
decode_pointer = msgspec.json.Decoder(str).decode
decode_scanned = msgspec.json.Decoder(ScannedFolder).decode
decode_work = msgspec.json.Decoder(ManifestWork).decode
decode_cache_rows = msgspec.json.Decoder(list[CacheRow]).decode
decode_facts = msgspec.json.Decoder(list[SnapshotFact]).decode


def decode_told(body: bytes) -> ParserMessage:
    """A message of the child. Raises msgspec.DecodeError, UnicodeDecodeError."""
    return _TOLD.decode(body)


_KINDS: tuple[tuple[type[LimnographError], Any], ...] = (
    (MetadataError, "metadata"),
    (SourceTimeout, "timeout"),
    (SourceRejected, "rejected"),
    (SourceError, "unavailable"),
    (InvalidInput, "input"),
)
_ABOUT = {"metadata": "code", "input": "field"}


def failed(error: LimnographError) -> FailedAnswer:
    """An error of ours as a message."""
    kind = next((kind for known, kind in _KINDS if isinstance(error, known)), None)
    if kind is None:
        return FailedAnswer("metadata", "parser_crashed", f"{type(error).__name__}: {error}")
    detail = str(getattr(error, "detail", error))[:DETAIL_CHARACTERS]
    return FailedAnswer(kind, getattr(error, _ABOUT.get(kind, "source")), detail)


def raised(message: FailedAnswer) -> LimnographError:
    """The error in a message."""
    made: dict[str, type[Any]] = {
        "metadata": MetadataError,
        "timeout": SourceTimeout,
        "rejected": SourceRejected,
        "unavailable": SourceUnavailable,
        "input": InvalidInput,
    }
    error: LimnographError = made[message.kind](message.about, message.detail)
    return error
