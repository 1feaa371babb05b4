"""Builds the parser process: for every request, the storage of one table and the reader of its format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import msgspec

from limnograph.adapters.sandbox.board import ProgressBoard
from limnograph.adapters.sandbox.messages import (
    AdviseLocation,
    AdviseTable,
    Extract,
    Group,
    Inspect,
    ManifestRequest,
    NewestPointer,
    Outline,
    Question,
    ReadEvidence,
    ReadFolders,
    ReadStorage,
    Scan,
    StorageAccess,
    UnreadFacts,
)
from limnograph.adapters.sandbox.serving import ToldStorage
from limnograph.adapters.storage.allowed import Roots, TableStorage, table_folder
from limnograph.adapters.storage.files import FileStorage
from limnograph.adapters.storage.places import PathMap, place_of
from limnograph.adapters.storage.pointers import PointerRule, pointer_rule, warehouse_of
from limnograph.adapters.storage.scan import ScannedFolder, scan
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.errors import InvalidInput, MetadataError
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.ids import normalise_location
from limnograph.domain.metadata.content import Reading, Want
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.manifests import CacheRow, ManifestWork
from limnograph.domain.metadata.table import Snapshot, TableMetadata
from limnograph.domain.time import to_millis
from limnograph.ports.storage import Storage
from limnograph.ports.table_planner import TablePlanner
from limnograph.ports.table_reader import TableReader
from limnograph.services.advice.older_versions import older_versions
from limnograph.services.advice.reading import advice_reading, history, judged_at, states
from limnograph.services.extraction.extract import extract, facts_of, to_entries
from limnograph.services.extraction.inspect import inspect
from limnograph.services.extraction.stored import storage_reading
from limnograph.wiring.formats import FORMATS, Format, format_of, table_of
from limnograph.wiring.locations.no_table import no_table

FACTS_A_PART = 200


class ParsedTable(NamedTuple):
    """One table and the storage that it may be read from. `allowed` restricts access; `storage` also reports reads to
    the board.
    """

    allowed: TableStorage
    storage: Storage


class LocatedTable(NamedTuple):
    """A table that was found in a folder. `older`: reads one of its older metadata files, which claims no location."""

    format: str
    pointer: str
    reader: TableReader
    storage: Storage
    older: Callable[[str], TableMetadata]


class TableParser:
    """Answers requests with one access to storage. `formats`: factories by name."""

    def __init__(
        self, access: StorageAccess, board: ProgressBoard, formats: Mapping[str, Callable[[], Format]] = FORMATS
    ) -> None:
        self._access, self._board, self._formats = access, board, formats
        self._path_map = PathMap(access.path_map)
        self._files: dict[str, FileStorage] = {}
        self._loaded: dict[str, Format] = {}
        self._rules: dict[str, PointerRule] = {}

    def answer(self, question: Question) -> Iterator[object]:  # noqa: C901 - a case for each request
        """The response, in parts. Raises LimnographError and any exception of a reader."""
        match question:
            case Outline():
                yield self._outline(question)
            case Extract(due=due):
                facts = extract(due, self._reader(due), SystemClock(), self._access.private)
                yield from (facts[at : at + FACTS_A_PART] for at in range(0, len(facts), FACTS_A_PART))
            case ManifestRequest(due=due):
                yield self._wanted(due)
            case Group(due=due, work=work):
                yield self._group(due, work)
            case UnreadFacts(due=due, code=code):
                yield self._unread(due, code)
            case NewestPointer(format=table_format, location=location):
                yield self._format(table_format).newest(location, self._table("", location).storage)
            case Scan():
                yield self._scanned(question)
            case Inspect(format=table_format, location=location):
                found = self._located(table_format, location)
                yield inspect(found.pointer, found.reader, found.format)
            case AdviseLocation():
                yield from self._location_for_advice(question)
            case AdviseTable() | ReadStorage() | ReadEvidence() | ReadFolders():
                yield self._planned(question)

    def _planned(self, question: AdviseTable | ReadStorage | ReadEvidence | ReadFolders) -> object:
        """What plans need of a table of a catalog, and what they did."""
        metadata, planner = self._for_advice(question.due)
        private = self._access.private
        if isinstance(question, AdviseTable):
            return advice_reading(metadata, planner, question.now, private=private, retain=question.retain)
        if isinstance(question, ReadStorage):
            snapshot_id, now = question.snapshot_id, question.now
            return storage_reading(metadata, planner, snapshot_id=snapshot_id, now=now, private=private)
        if planner is None:
            raise MetadataError("format_unknown", f"tables of format {question.due.format} are not maintained")
        if isinstance(question, ReadFolders):
            return planner.folders(metadata)
        return planner.evidence(metadata, question.request)

    def _outline(self, question: Outline) -> TableMetadata:
        home, read = question.home, self._format(question.format)
        table = self._of_catalog(question.catalog, home.pointer if home else question.location)
        if home:
            table.allowed.claim(home.location, home.properties)
        reader = read.reader(table.storage, self._access)
        return reader.metadata(question.location).outlined()

    def _wanted(self, due: DueTable) -> ManifestWork:
        from limnograph.adapters.iceberg.groups import unread
        from limnograph.adapters.iceberg.reader import IcebergReader
        from limnograph.adapters.iceberg.sums.cache import shared_cache

        table, cache = self._believed(due), shared_cache(self._access.cache_dir)
        reader = IcebergReader(table.storage, cache)
        metadata = reader.metadata(due.metadata_location)
        return unread(reader, cache, metadata, to_entries(metadata, due))

    def _group(self, due: DueTable, work: ManifestWork) -> list[CacheRow]:
        from limnograph.adapters.iceberg.groups import read_group

        return list(read_group(self._believed(due).storage, work))

    def _believed(self, due: DueTable) -> ParsedTable:
        """The table, with access to the locations that its metadata claims."""
        table = self._of_catalog(due.catalog, due.metadata_location)
        _ClaimingReader(self._format(due.format).reader(table.storage, self._access), table.allowed).metadata(
            due.metadata_location
        )
        return table

    def _unread(self, due: DueTable, code: str) -> list[SnapshotFact]:
        known = self._reader(due).metadata(due.metadata_location)
        facts = facts_of(known, due, _UnreadReader(known, code), SystemClock())
        return [msgspec.structs.replace(fact, status="unreadable") for fact in facts]

    def _scanned(self, question: Scan) -> ScannedFolder:
        name, properties = self._properties("", question.location)
        files = self._files.setdefault(name, FileStorage(properties))
        root = place_of(self._path_map.resolve(question.location))
        return scan(files, root, question.formats, question.waiting, question.seconds)

    def _location_for_advice(self, question: AdviseLocation) -> Iterator[object]:
        found = self._located(question.format, question.location)
        metadata = found.reader.metadata(found.pointer)
        now = question.now if question.now is not None else judged_at(metadata)
        now = now if now is not None else to_millis(SystemClock().now())
        for facts in history(metadata, found.reader, SystemClock()):
            yield from (facts[at : at + FACTS_A_PART] for at in range(0, len(facts), FACTS_A_PART))
        planner = self._format(found.format).planner
        changes = states(metadata, now, older_versions(metadata, found.older))
        yield advice_reading(metadata, planner(found.storage) if planner else None, now, changes)

    def _for_advice(self, due: DueTable) -> tuple[TableMetadata, TablePlanner | None]:
        table, form = self._of_catalog(due.catalog, due.metadata_location), self._format(due.format)
        reader = _ClaimingReader(form.reader(table.storage, self._access), table.allowed)
        metadata = reader.metadata(due.metadata_location)
        return metadata, form.planner(table.storage) if form.planner else None

    def _located(self, table_format: str | None, location: str) -> LocatedTable:
        folder = table_of(location)
        table = self._table("", folder)
        kind = table_format or format_of(location, folder, table.storage)
        if kind is None:
            raise no_table(location, folder, table.allowed)
        read = self._format(kind)
        try:
            pointer = read.newest(location, table.storage)
        except InvalidInput as error:
            other = format_of(folder, folder, table.storage)
            if other in {None, kind}:
                raise no_table(location, folder, table.allowed, error.detail.partition(": ")[2]) from error
            raise InvalidInput("--format", f"{location} is a {other} table, not {kind}") from error
        reader = read.reader(table.storage, self._access)
        return LocatedTable(kind, pointer, _ClaimingReader(reader, table.allowed), table.storage, older=reader.metadata)

    def _reader(self, due: DueTable) -> TableReader:
        table = self._of_catalog(due.catalog, due.metadata_location)
        return _ClaimingReader(self._format(due.format).reader(table.storage, self._access), table.allowed)

    def _of_catalog(self, catalog: str, pointer: str) -> ParsedTable:
        """The table that a catalog points to. Raises MetadataError with code `location_refused`. Pointers without a
        catalog are not checked, because the settings or the command line name them.
        """
        if catalog in self._access.catalogs:
            if catalog not in self._rules:
                access = self._access
                properties = access.catalogs[catalog]
                rule = pointer_rule(catalog, properties, access.roots, access.confining, self._path_map)
                self._rules[catalog] = rule
            self._rules[catalog].check(pointer)
        return self._table(catalog, table_folder(pointer))

    def _table(self, catalog: str, folder: str) -> ParsedTable:
        name, properties = self._properties(catalog, folder)
        if name not in self._files:
            self._files[name] = FileStorage(properties)
        roots = Roots((*self._access.roots, warehouse_of(properties) or ""), self._path_map)
        allowed = TableStorage(self._files[name], roots, folder)
        return ParsedTable(allowed, ToldStorage(allowed, self._board))

    def _properties(self, catalog: str, folder: str) -> tuple[str, dict[str, str]]:
        """A name and the properties of a catalog, or of the store of a table without a catalog."""
        if catalog in self._access.catalogs:
            return catalog, self._access.catalogs[catalog]
        place = normalise_location(folder)
        stores = [(normalise_location(location), location) for location in self._access.stores]
        # The longest enclosing location applies: tables below a warehouse use the warehouse's properties.
        over = [(root, location) for root, location in stores if place == root or place.startswith(f"{root}/")]
        _, location = max(over, default=("", ""))
        return location, self._access.stores.get(location, {})

    def _format(self, name: str) -> Format:
        if name not in self._formats:
            raise MetadataError("format_unknown", f"format {name} is not supported")
        if name not in self._loaded:
            self._loaded[name] = self._formats[name]()
        return self._loaded[name]


class _ClaimingReader:
    """Reader that, once it has read the metadata, lets the storage access the locations that the metadata claims."""

    def __init__(self, reader: TableReader, allowed: TableStorage) -> None:
        self._reader, self._allowed = reader, allowed

    def metadata(self, location: str) -> TableMetadata:
        found = self._reader.metadata(location)
        self._allowed.claim(found.location, found.properties)
        return found

    def read(self, metadata: TableMetadata, snapshot: Snapshot, want: Want) -> Reading:
        return self._reader.read(metadata, snapshot, want)


class _UnreadReader:
    """Reader that reads no files: every snapshot has the problem `code`."""

    def __init__(self, known: TableMetadata, code: str) -> None:
        self._known, self._reading = known, Reading(tier="summary", problems=(code,))

    def metadata(self, _location: str) -> TableMetadata:
        return self._known

    def read(self, _metadata: TableMetadata, _snapshot: Snapshot, _want: Want) -> Reading:
        return self._reading
