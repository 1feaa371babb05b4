"""Advice on real tables of other writers: a document for each, unreadable only where its metadata is."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advice_shape import check
from limnograph.adapters.sandbox.board import ProgressBoard, shared_page
from limnograph.adapters.sandbox.messages import AdviseLocation, Inspect, StorageAccess
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.inspection import InspectionReport
from limnograph.services.advice.table_advice import KnownOfTable, advise_table
from limnograph.wiring.parsing import TableParser

CORPORA = Path(os.environ.get("LIMNOGRAPH_CORPORA") or Path(__file__).parents[3] / "../shared/corpora")
MANIFEST = CORPORA / "manifest.json"
TABLES = ("iceberg", "delta", "hudi")
ENTRIES = [e for e in json.loads(MANIFEST.read_text()) if e["format"] in TABLES] if MANIFEST.exists() else []
pytestmark = pytest.mark.skipif(not ENTRIES, reason="no corpora beside the checkout (LIMNOGRAPH_CORPORA)")


@pytest.fixture
def board() -> Iterator[ProgressBoard]:
    with shared_page() as page:
        yield ProgressBoard(page)


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry["id"]) for entry in ENTRIES])
def test_a_real_table_has_advice_where_it_can_be_inspected(
    entry: dict[str, Any], tmp_path: Path, board: ProgressBoard
) -> None:
    folder = CORPORA / entry["path"]
    if folder.suffix == ".zip":
        zipfile.ZipFile(folder).extractall(tmp_path)
        folder = tmp_path / entry["zip_root"]
    prefix = entry["path_prefix"]
    parser = TableParser(StorageAccess({}, {prefix: str(folder)} if prefix else {}), board)
    (inspected,) = parser.answer(Inspect(entry["format"], str(folder)))
    assert isinstance(inspected, InspectionReport)
    report = inspected.document
    try:
        *_, reading = parser.answer(AdviseLocation(entry["format"], str(folder), None))
    except MetadataError:
        assert report.status == "unreadable"
        return
    assert isinstance(reading, AdviceReading)
    decoded = msgspec.json.decode(msgspec.json.encode(reading), type=AdviceReading)
    advised = advise_table(decoded, KnownOfTable(), Prices()).advised
    document = {"generated_at": 1, "evaluated_at": reading.now, "tables": [msgspec.to_builtins(advised)]}
    check(document)
    assert advised.status == report.status, advised.not_known
    if report.current is not None and advised.bytes is not None and report.current.bytes is not None:
        assert advised.bytes.live >= report.current.bytes
