"""Locations in metadata as an attacker writes them: whatever they say, only places of the table are opened."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastavro
import msgspec
import pytest

from lakes import Lake, path_of, rows
from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.storage.allowed import Roots, TableStorage, table_folder
from limnograph.adapters.storage.files import FileStorage
from limnograph.adapters.storage.places import Location
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.content import Want
from limnograph.ports.storage import ListedFile

HOSTILE = (
    *(
        "file:///etc/passwd",
        "/etc/passwd",
        "file:/etc/passwd",
        "etc/passwd",
        "../../../etc/passwd",
        "/proc/self/environ",
    ),
    *("s3://127.0.0.1/x", "s3://169.254.169.254/latest", "s3://other/x", "s3a://user:pw@host/x", "s3://host:81/x"),
    *("gs://b/x", "http://127.0.0.1:1/x", "https://evil/x", "hdfs://nn/x", "abfss://c@a/x", "hf://x/y", "ftp://x/y"),
    *("//host/share", "\\\\host\\share", "file://host/x", "\x00", "", " ", "s3:/x", "data:,x", "s3://", "/dev/zero"),
)


class Recording(FileStorage):
    """Files of local disk; what is on any other store is only noted."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[Location] = []

    def read_place(self, place: Location, limit: int) -> bytes:
        self.opened.append(place)
        return super().read_place(place, limit)

    def size_place(self, place: Location) -> int:
        self.opened.append(place)
        return super().size_place(place)

    def list_place(self, place: Location, *, deep: bool) -> Sequence[ListedFile]:
        self.opened.append(place)
        return super().list_place(place, deep=deep)


@pytest.fixture
def metadata(lake: Lake) -> Path:
    table = lake.table()
    table.append(rows("eu", "us"))
    table.append(rows("eu"))
    return path_of(table.metadata_location)


def read_all(location: str) -> tuple[list[Location], list[str]]:
    """What was opened, and codes of what could not be read, when every snapshot is read to its entries."""
    files = Recording()
    storage = TableStorage(files, Roots(), table_folder(location))
    reader = IcebergReader(storage)
    try:
        found = reader.metadata(location)
    except MetadataError as error:
        return files.opened, [error.code]
    storage.claim(found.location, found.properties)
    codes = [code for snapshot in found.ordered for code in reader.read(found, snapshot, Want()).problems]
    return files.opened, codes


def only_its_own(opened: list[Location], metadata: Path) -> bool:
    home = metadata.parents[1]
    return all(place.local is not None and place.local.is_relative_to(home) for place in opened)


def test_an_honest_table_is_read_in_full(metadata: Path) -> None:
    opened, codes = read_all(f"file://{metadata}")
    assert codes == []
    assert len(opened) >= 5
    assert only_its_own(opened, metadata)


def test_a_hostile_manifest_list_is_refused(metadata: Path) -> None:
    honest = metadata.read_bytes()
    for hostile in HOSTILE:
        document = msgspec.json.decode(honest)
        document["location"] = hostile or "x"
        document["properties"] = {"write.data.path": hostile, "write.metadata.path": hostile}
        document["snapshots"][0]["manifest-list"] = hostile
        metadata.write_bytes(msgspec.json.encode(document))
        opened, codes = read_all(f"file://{metadata}")
        assert (hostile, codes) == (hostile, ["manifest_list_refused"])
        assert only_its_own(opened, metadata)


def test_a_hostile_manifest_is_refused(metadata: Path) -> None:
    (newest,) = sorted(metadata.parent.glob("snap-*"), key=lambda file: file.stat().st_mtime_ns)[-1:]
    for hostile in HOSTILE:
        _point_manifests_at(newest, hostile)
        opened, codes = read_all(f"file://{metadata}")
        assert (hostile, codes) == (hostile, ["manifest_refused"])
        assert only_its_own(opened, metadata)


def test_200_documents_with_hostile_locations_anywhere_open_nothing_else(metadata: Path) -> None:
    rng, honest = random.Random(20_261_121), metadata.read_bytes()
    for _ in range(200):
        document = msgspec.json.decode(honest)
        for _ in range(rng.randint(1, 4)):
            _spoil(document, rng)
        metadata.write_bytes(msgspec.json.encode(document))
        opened, _ = read_all(f"file://{metadata}")
        assert only_its_own(opened, metadata), document


def _spoil(document: dict[str, Any], rng: random.Random) -> None:
    """Put a hostile location, alone or glued to an honest one, where the format has a location."""
    snapshot = rng.choice(document["snapshots"])
    hostile = rng.choice(HOSTILE)
    glued = rng.choice(
        (hostile, f"{snapshot.get('manifest-list')}/{hostile}", f"{document['location']}/../../{hostile}")
    )
    match rng.randrange(5):
        case 0:
            document["location"] = glued or "x"
        case 1:
            document["properties"][rng.choice(("write.data.path", "write.metadata.path"))] = glued
        case 2:
            snapshot["manifest-list"] = glued
        case 3:
            snapshot.pop("manifest-list", None)
            snapshot["manifests"] = [glued, hostile]
        case _:
            document["metadata-log"] = [{"timestamp-ms": 1, "metadata-file": glued}]


def _point_manifests_at(manifest_list: Path, location: str) -> None:
    reader = fastavro.reader(io.BytesIO(manifest_list.read_bytes()))
    records: list[Any] = [{**record, "manifest_path": location} for record in reader if isinstance(record, dict)]
    with manifest_list.open("wb") as out:
        fastavro.writer(out, reader.writer_schema, records, codec="deflate")
