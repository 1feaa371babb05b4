"""Messages between parent and child, as JSON: observed schemas contain integers that msgpack cannot encode."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from limnograph.adapters.storage.scan import ScannedFolder
from limnograph.domain.answers.storage import StorageReading
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
from limnograph.domain.maintenance.evidence import EvidenceRequest, TableEvidence
from limnograph.domain.maintenance.policy import RetainedSnapshots
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.manifests import CacheRow, ManifestWork
from limnograph.domain.metadata.table import TableMetadata
from limnograph.domain.time import Millis

DEADLINE_SECONDS = 60.0
DETAIL_CHARACTERS = 1_000
"""Maximum length of a sentence: it may quote observed text of any length."""


class StorageAccess(msgspec.Struct, frozen=True):
    """How a child process, or a worker with one, accesses storage. Contains credentials, sent to children over pipes.

    catalogs          properties by catalog name
    stores            properties by location, for tables without a catalog
    path_map          location prefixes to replace
    roots             locations that any table may name
    confining         the roots that must contain pointers of catalogs
    cache_dir         for rebuildable data; empty: none
    deadline_seconds  per table
    command           of the child; empty: the default
    private           patterns of columns of which no value may be in a fact
    most_manifests    maximum new manifests of a table for one reader; 0: unlimited
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
    private: tuple[str, ...] = ()


class Setup(msgspec.Struct, frozen=True, tag=True):
    """Configures access to storage. `environment`: variables in which clients of stores look for credentials."""

    access: StorageAccess
    environment: dict[str, str]


class Home(msgspec.Struct, frozen=True):
    """The table that an older metadata file belongs to, and the locations that it claims."""

    pointer: str
    location: str
    properties: dict[str, str]


class Outline(msgspec.Struct, frozen=True, tag=True):
    """Requests metadata without the parts that only extraction needs. `home`: the table of an older `location`."""

    catalog: str
    format: str
    location: str
    home: Home | None = None


class Extract(msgspec.Struct, frozen=True, tag=True):
    """Requests the facts of one table."""

    due: DueTable


class ManifestRequest(msgspec.Struct, frozen=True, tag=True):
    """Requests the manifests that extraction of a table would read now, as ManifestWork."""

    due: DueTable


class Group(msgspec.Struct, frozen=True, tag=True):
    """Requests the cache values of a group of a table's manifests, as a sequence of CacheRow."""

    due: DueTable
    work: ManifestWork


class UnreadFacts(msgspec.Struct, frozen=True, tag=True):
    """Requests the facts of one table from its metadata alone, because of `code`."""

    due: DueTable
    code: str


class NewestPointer(msgspec.Struct, frozen=True, tag=True):
    """Requests the latest metadata pointer of a table without a catalog."""

    format: str
    location: str


class Scan(msgspec.Struct, frozen=True, tag=True):
    """Requests the tables below a folder, within `seconds`. `waiting`: its folders still to scan, by their levels."""

    location: str
    formats: tuple[str, ...]
    waiting: list[tuple[str, ...]]
    seconds: float


class Inspect(msgspec.Struct, frozen=True, tag=True):
    """Requests the document of `inspect`. `format` None: detected from the folder."""

    format: str | None
    location: str


class AdviseLocation(msgspec.Struct, frozen=True, tag=True):
    """Requests what advice needs of a table in a folder: its facts, in parts, then an AdviceReading. `now`: the instant
    judged; None: the time of the newest snapshot.
    """

    format: str | None
    location: str
    now: Millis | None = None


class AdviseTable(msgspec.Struct, frozen=True, tag=True):
    """Requests what advice needs of a table of a catalog: an AdviceReading. `retain`: by a policy."""

    due: DueTable
    now: Millis
    retain: RetainedSnapshots | None = None


class ReadStorage(msgspec.Struct, frozen=True, tag=True):
    """Requests the bytes of a table at `now`, and the files of a snapshot: a StorageReading. `snapshot_id` None: of
    main's current snapshot.
    """

    due: DueTable
    snapshot_id: int | None
    now: Millis


class ReadEvidence(msgspec.Struct, frozen=True, tag=True):
    """Requests what a table's metadata says about an action: a TableEvidence."""

    due: DueTable
    request: EvidenceRequest


class ReadFolders(msgspec.Struct, frozen=True, tag=True):
    """Requests the folders of a table's files that are not below its location, as a list of locations."""

    due: DueTable


Question = (
    Outline
    | Extract
    | ManifestRequest
    | Group
    | UnreadFacts
    | NewestPointer
    | Scan
    | Inspect
    | AdviseLocation
    | AdviseTable
    | ReadStorage
    | ReadEvidence
    | ReadFolders
)


class Ask(msgspec.Struct, frozen=True, tag=True):
    """A request and its time limit in seconds."""

    seconds: float
    question: Question


class AnswerPart(msgspec.Struct, frozen=True, tag=True):
    """One part of a response; a long one is sent in several parts, in order."""

    body: msgspec.Raw


class Done(msgspec.Struct, frozen=True, tag=True):
    """The response is complete. `spent`: the child must not be used again."""

    spent: bool = False


class FailedAnswer(msgspec.Struct, frozen=True, tag=True):
    """An error as the response. `about`: code, source or field, depending on the kind."""

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
decode_storage = msgspec.json.Decoder(StorageReading).decode
decode_evidence = msgspec.json.Decoder(TableEvidence).decode
decode_folders = msgspec.json.Decoder(list[str]).decode
decode_facts = msgspec.json.Decoder(list[SnapshotFact]).decode


def decode_told(body: bytes) -> ParserMessage:
    """A message from the child. Raises msgspec.DecodeError, UnicodeDecodeError."""
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
    """A Limnograph error as a message."""
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
