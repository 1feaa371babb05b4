"""Whole Iceberg tables under seeded damage, read end to end: a result, problem codes or a MetadataError. Never a crash,
a hang, or a file that is not the table's.

LIMNOGRAPH_STEPS: cases (CI 2,000, nightly more).
"""

from __future__ import annotations

import os
import re
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest
from rich.console import Console

from busy_table import busy
from lakes import path_of
from limnograph.adapters.iceberg.metadata.locate import newest_metadata
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.meta.schema import arrow_table
from limnograph.adapters.sandbox.board import ProgressBoard, shared_page
from limnograph.adapters.sandbox.messages import Extract, Inspect, Outline, StorageAccess
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.cli.inspect_view import draw
from limnograph.domain.errors import MetadataError
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS, SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.metadata.due import DueTable
from limnograph.domain.metadata.inspection import InspectionReport
from limnograph.ports.storage import ListedFile, Storage
from limnograph.services.pipeline.changes import ObservedTable, state_changes
from limnograph.services.pipeline.identity import series_ids
from limnograph.services.pipeline.ledger import Ledger
from limnograph.services.pipeline.sightings import first_seen, named
from limnograph.wiring.formats import Format
from limnograph.wiring.parsing import TableParser
from metadata_writer import MetadataTable
from mutations import mutation_for

CASES = max(2_000, int(os.environ.get("LIMNOGRAPH_STEPS", "0")))
IN_CHILDREN = CASES // 20
SHARES = 10
HANGS_SECONDS = 60
NAME = TableName("lake", "sales", "orders")
CODE = re.compile(r"[a-z][a-z0-9_]*")


class Victim(NamedTuple):
    """A whole table, and its files that may be damaged."""

    table: MetadataTable
    files: list[Path]

    def due(self, of: str = "u") -> DueTable:
        return DueTable(
            catalog="lake",
            namespace="sales",
            table="orders",
            table_uuid=of,
            metadata_location=self.table.metadata_location,
            snapshot_ids=list(self.table.snapshots),
        )


@pytest.fixture(scope="module")
def victims(tmp_path_factory: pytest.TempPathFactory) -> list[Victim]:
    found = []
    for version, inline in ((1, False), (1, True), (2, False), (3, False)):
        folder = tmp_path_factory.mktemp("victim")
        table = busy(MetadataTable(folder, version=version, inline_manifests=inline, seed=version))
        lists = [path_of(s["manifest-list"]) for s in table.snapshots.values() if "manifest-list" in s]
        manifests = sorted({path_of(m.path) for of in table.manifests.values() for m in of})
        found.append(Victim(table, [path_of(table.metadata_location), *lists, *manifests]))
    return found


class Seen:
    """Port Storage that remembers what was really read or listed."""

    def __init__(self, storage: Storage, places: list[str]) -> None:
        self._storage, self._places = storage, places

    def read(self, location: str, limit: int) -> bytes:
        found = self._storage.read(location, limit)
        self._places.append(location)
        return found

    def size(self, location: str) -> int:
        return self._storage.size(location)

    def list(self, location: str, *, deep: bool = False) -> list[ListedFile]:
        return self._storage.list(location, deep=deep)


@contextmanager
def damaged(victim: Victim, seed: int) -> Iterator[None]:
    """One file of the table, seldom two, is damaged for a while."""
    chance = Random(seed)
    chosen = [victim.files[0]] if chance.random() < 0.5 else chance.sample(victim.files, chance.choice([1, 1, 1, 2]))
    whole = {path: path.read_bytes() for path in chosen}
    try:
        for path, content in whole.items():
            path.write_bytes(mutation_for(path.name, chance)(content, chance, victim.table.location))
        yield
    finally:
        for path, content in whole.items():
            path.write_bytes(content)


def check_facts(facts: list[SnapshotFact]) -> None:
    assert arrow_table(SNAPSHOTS, facts).num_rows == len(facts)
    assert len({fact.snapshot_id for fact in facts}) == len(facts)
    for fact in facts:
        assert fact.status in {"ok", "partial", "unreadable"}
        assert (fact.status == "ok") or fact.problems
        assert all(CODE.fullmatch(code) for code in fact.problems or ())
        numbers = {
            name: getattr(fact, name) for name in fact.__struct_fields__ if re.match("total|added|removed", name)
        }
        assert all(number is None or 0 <= number < 2**63 for number in numbers.values()), numbers


def check_changes(metadata: Any) -> None:
    """What a pass would make of such metadata."""
    uuid = series_ids({NAME: metadata}, Ledger())[NAME]
    observed, ledger = ObservedTable(uuid, NAME, metadata), Ledger()
    rows = [
        first_seen(observed, ledger, 2**50),
        named(observed, ledger, 2**50),
        *state_changes(observed, ledger, 2**50),
    ]
    arrow_table(CHANGES, [row for row in rows if row is not None])


def check_drawing(found: InspectionReport) -> None:
    """What a person would see of it."""
    console = Console(width=80, color_system=None, force_terminal=False)
    with console.capture() as capture:
        draw(found, console)
    lines = capture.get().splitlines()
    assert all(line.isprintable() and len(line) <= 80 for line in lines), lines


def surprise(act: Callable[[], None]) -> str:
    """What went otherwise than told; empty when nothing did."""
    try:
        act()
    except MetadataError as error:
        return "" if CODE.fullmatch(error.code) and str(error).isprintable() else f"a strange error {error!r}"
    except BaseException:  # noqa: BLE001 - that is what is looked for
        return traceback.format_exc(limit=-3)
    return ""


def in_process(victim: Victim, seed: int) -> Iterator[Callable[[], None]]:
    """The ways in which a table is read, in this process."""
    places: list[str] = []
    form = Format(lambda storage, _access: IcebergReader(Seen(storage, places)), newest_metadata)
    with shared_page() as descriptor:
        parsing = TableParser(StorageAccess({"lake": {}}), ProgressBoard(descriptor), {"iceberg": lambda: form})

        def outline() -> None:
            (metadata,) = parsing.answer(Outline("lake", "iceberg", victim.table.metadata_location))
            msgspec.json.encode(metadata)
            check_changes(metadata)

        def extract() -> None:
            parts: list[Any] = list(parsing.answer(Extract(victim.due())))
            check_facts([fact for part in parts for fact in part])

        def inspect() -> None:
            (found,) = parsing.answer(Inspect("iceberg", victim.table.metadata_location))
            assert isinstance(found, InspectionReport)
            msgspec.json.encode(found)
            check_drawing(found)

        def only_its_own() -> None:
            home = os.path.realpath(victim.table.folder)
            strangers = {place for place in places if not os.path.realpath(path_of(place)).startswith(home + "/")}
            assert not strangers

        # The document asks of a table what extraction asks: every third time is often enough.
        yield from (outline, extract, *([inspect] if seed % 3 == 0 else []), only_its_own)


def ring(_signal: int, _frame: Any) -> None:
    raise TimeoutError("a damaged table was read for too long")


@pytest.mark.parametrize("share", range(SHARES))
def test_damage_of_any_file_is_a_result_a_code_or_a_known_error(victims: list[Victim], share: int) -> None:
    found: list[str] = []
    before = signal.signal(signal.SIGALRM, ring)
    try:
        for seed in range(share, CASES, SHARES):
            victim = victims[seed % len(victims)]
            signal.alarm(HANGS_SECONDS)
            with damaged(victim, seed):
                found += [f"seed {seed}: {told}" for act in in_process(victim, seed) if (told := surprise(act))]
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert not found, f"{len(found)} of {CASES // SHARES} cases\n" + "\n".join(found[:5])


def test_a_child_reads_damaged_tables_and_survives(victims: list[Victim]) -> None:
    tables = SandboxTables(StorageAccess({"lake": {}}, deadline_seconds=float(HANGS_SECONDS)))
    found: list[str] = []
    for seed in range(IN_CHILDREN):
        victim = victims[seed % len(victims)]
        with damaged(victim, seed):
            told = surprise(lambda of=victim: check_facts(tables.extract(of.due())))
        found += [f"seed {seed}: {told}"] if told else []
    assert not found, "\n".join(found[:5])
    (facts,) = [tables.extract(victims[2].due())]
    assert {fact.status for fact in facts} == {"ok"}
