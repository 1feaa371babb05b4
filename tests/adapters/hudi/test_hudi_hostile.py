"""Damaged and hostile tables: an answer or a code, never another exception, and no number where none is known."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hudi_timeline import HudiFolder, Stat
from limnograph.adapters.hudi.commits import parse_commit
from limnograph.adapters.hudi.kept import WeightedCache
from limnograph.adapters.hudi.locate import newest_instant
from limnograph.adapters.hudi.reader import HudiReader
from limnograph.adapters.hudi.schema import iceberg_schema
from limnograph.adapters.storage.files import FileStorage
from limnograph.domain.errors import MetadataError
from limnograph.domain.metadata.content import Reading, Want
from mutations import dumped, hostile_value

CASES = int(os.environ.get("LIMNOGRAPH_STEPS", "600"))
_WORDS = [
    b"null",
    b"-1",
    b"1e308",
    b"9" * 40,
    b'"' + b"x" * 300 + b'"',
    b"[" * 2000,
    b"{",
    b"}",
    b"file:///etc/passwd",
    b"../../..",
    b"\x00",
    b"\xff\xfe",
    b"true",
    b"\\u0000",
    b"hdfs://other/host",
]


class Cautious(FileStorage):
    """Storage that remembers where it was asked to look."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def read(self, location: str, limit: int) -> bytes:
        self.asked.append(location)
        return super().read(location, limit)


def read_all(folder: HudiFolder, storage: FileStorage) -> list[Reading]:
    reader = HudiReader(storage, WeightedCache())
    table = reader.metadata(newest_instant(folder.location, storage))
    return [reader.read(table, snapshot, Want()) for snapshot in table.ordered]


def table(root: Path, version: int) -> HudiFolder:
    """A table with everything: logs, compaction, clustering, rollback, savepoint, archive."""
    folder = HudiFolder(root, version, mor=True)
    i = folder.commit(Stat("a", 1000, 10), Stat("b", 500, 5, "region=us"), action="deltacommit")
    of = i if version < 8 else None
    folder.commit(Stat("a", 60, 2, log=True, of=of, prev=i, updates=2), action="deltacommit")
    folder.commit(Stat("a", 1101, 11, prev=i, updates=2), operation="COMPACT")
    folder.archive(2)
    undone = folder.commit(Stat("x", 1, 1), action="deltacommit")
    folder.rollback(undone, [("region=eu", f".a-0_{i}.log.2_0-9-9", 25)])
    folder.commit(Stat("n", 400, 5), action="replacecommit", operation="CLUSTER", replaced=[("region=us", "b")])
    last = folder.commit(Stat("m", 40, 5, log=True), action="deltacommit", operation="INSERT")
    folder.complete(last, "savepoint", b"")
    folder.request(folder.tick(), "compaction")
    return folder


def _flip(content: bytes, dice: random.Random) -> bytes:
    spot = dice.randrange(len(content))
    return content[:spot] + bytes([content[spot] ^ 1 << dice.randrange(8)]) + content[spot + 1 :]


def _cut(content: bytes, dice: random.Random) -> bytes:
    return content[: dice.randrange(len(content))]


def _repeat(content: bytes, dice: random.Random) -> bytes:
    start, end = sorted(dice.randrange(len(content)) for _ in range(2))
    return content[:end] + content[start:end] * dice.choice((1, 2, 20)) + content[end:]


def _plant(content: bytes, dice: random.Random) -> bytes:
    start, end = sorted(dice.randrange(len(content)) for _ in range(2))
    return content[:start] + dice.choice(_WORDS) + content[min(end, start + 30) :]


def _noise(content: bytes, dice: random.Random) -> bytes:
    start = dice.randrange(len(content))
    return content[:start] + dice.randbytes(8) + content[start + 8 :]


MUTATIONS: list[Callable[[bytes, random.Random], bytes]] = [_flip, _cut, _repeat, _plant, _noise]


@pytest.mark.parametrize("version", [6, 9])
def test_damage_of_a_timeline_is_never_more_than_a_code(tmp_path: Path, version: int) -> None:
    folder = table(tmp_path / "t", version)
    files = [path for path in (folder.root / ".hoodie").rglob("*") if path.is_file() and path.stat().st_size]
    originals = {path: path.read_bytes() for path in files}
    storage = Cautious()
    expected = read_all(folder, storage)
    assert len(expected) == 3
    told = 0
    for case in range(CASES // 2):
        dice = random.Random(f"{version}-{case}")
        path = dice.choice(files)
        content = originals[path]
        for _ in range(dice.choice((1, 1, 3))):
            content = dice.choice(MUTATIONS)(content, dice) if content else content
        path.write_bytes(content)
        try:
            readings = read_all(folder, storage)
        except MetadataError:
            told += 1
        else:
            told += any(reading.problems for reading in readings)
            _plausible(readings)
        finally:
            path.write_bytes(originals[path])
    assert told > CASES // 20
    assert all(location.startswith(folder.location) for location in storage.asked)
    assert read_all(folder, storage) == expected


def _plausible(readings: list[Reading]) -> None:
    """Counts are never negative and fit their columns."""
    for reading in readings:
        if reading.content:
            totals = reading.content.totals
            for number in (totals.data_files, totals.records, totals.bytes, totals.delete_files, totals.delete_bytes):
                assert number is None or 0 <= number < 2**63


@pytest.mark.parametrize("version", [6, 9])
def test_names_of_the_timeline_may_be_anything(tmp_path: Path, version: int) -> None:
    folder = table(tmp_path / "t", version)
    expected = read_all(folder, FileStorage())
    for name in (
        "99999999999999999.commit",
        "99999999999999999_99999999999999999.commit",
        "20260101000000000_x.commit",
        "²0260101000000000.commit",
        "20260101000000000.COMMIT",
        "x" * 200,
        "20260101000000000.commit.commit",
        "20260101000000000..commit",
        "_20260101000000000.commit",
        "20260101000000000_20260101000000000.unheard",
    ):
        (folder.timeline / name).write_bytes(b"{}")
    found = read_all(folder, FileStorage())
    assert len(found) == len(expected) + 1, "9999-99-99 is an instant without a date"


def test_paths_in_a_commit_are_names_and_never_opened(tmp_path: Path) -> None:
    folder = HudiFolder(tmp_path / "t", 6)
    folder.commit(Stat("a", 10, 1, "../../../etc", on_disk=False), Stat("../b", 10, 1, "file:///etc", on_disk=False))
    storage = Cautious()
    (reading,) = read_all(folder, storage)
    assert reading.content
    assert reading.content.totals.data_files == 2
    assert all(location.startswith(f"{folder.location}/.hoodie/") for location in storage.asked)


@pytest.mark.parametrize(
    "body", [b"[]", b"1", b'{"partitionToWriteStats": []}', b'{"partitionToWriteStats":{"p":[1]}}']
)
def test_a_malformed_body_is_a_damaged_commit(tmp_path: Path, body: bytes) -> None:
    folder = HudiFolder(tmp_path / "t", 6)
    folder.complete(folder.tick(), "commit", body)
    (reading,) = read_all(folder, FileStorage())
    assert (reading.problems, reading.tier, reading.content) == (("commit_unreadable",), "summary", None)


@pytest.mark.parametrize("number", ["-5", str(2**60), str(2**70), "1.5", "null"])
def test_impossible_sizes_and_rows_are_unknown(tmp_path: Path, number: str) -> None:
    folder = HudiFolder(tmp_path / "t", 6)
    at = folder.tick()
    stat = f'{{"fileId":"a-0","path":"p/a-0_0-1-1_{at}.parquet","numWrites":{number},"fileSizeInBytes":{number}}}'
    folder.complete(at, "commit", f'{{"partitionToWriteStats":{{"p":[{stat}]}}}}'.encode())
    (reading,) = read_all(folder, FileStorage())
    if reading.content is None:
        assert reading.problems == ("commit_unreadable",)
        return
    totals = reading.content.totals
    assert (totals.data_files, totals.bytes, totals.records) == (1, None, None)


SCHEMA = {
    "type": "record",
    "name": "trip",
    "fields": [
        {"name": "id", "type": ["null", {"type": "string", "avro.java.string": "String"}]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
        {"name": "fare", "type": {"type": "fixed", "name": "f", "size": 5, "logicalType": "decimal", "precision": 9}},
        {"name": "tips", "type": {"type": "array", "items": {"type": "map", "values": "double"}}},
        {"name": "to", "type": {"type": "record", "name": "place", "fields": [{"name": "x", "type": "float"}]}},
    ],
}


def misshapen(document: Any, chance: random.Random) -> bytes:
    """The document as JSON with something that does not belong there in one to three places."""
    document = copy.deepcopy(document)
    for _ in range(chance.randint(1, 3)):
        places: list[tuple[Any, Any]] = [(document, key) for key in document]
        for holder, key in places:
            inner = holder[key]
            keys = range(len(inner)) if isinstance(inner, list) else inner if isinstance(inner, dict) else ()
            places += [(inner, name) for name in keys]
        holder, key = chance.choice(places)
        holder[key] = hostile_value(chance, "")
    return dumped(document)


def test_a_schema_of_any_shape_is_a_schema_or_none() -> None:
    assert iceberg_schema(json.dumps(SCHEMA))
    found = [iceberg_schema(misshapen(SCHEMA, random.Random(case)).decode("utf-8", "replace")) for case in range(CASES)]
    assert {schema is None for schema in found} == {True, False}


def test_nested_types_are_resolved() -> None:
    for kind, shown in (({"type": {"type": "string"}}, "string"), ({"type": ["null", "int"]}, "union")):
        schema = iceberg_schema(json.dumps({"type": "record", "name": "r", "fields": [{"name": "a", "type": kind}]}))
        assert schema
        assert schema["fields"][0]["type"] == shown


def test_a_json_body_of_any_shape_is_a_commit_or_damage(tmp_path: Path) -> None:
    folder = HudiFolder(tmp_path / "t", 6)
    at = folder.commit(Stat("a", 10, 1), replaced=[("region=us", "b")], operation="INSERT_OVERWRITE")
    body = json.loads(next(folder.timeline.glob(f"{at}.*commit")).read_bytes())
    damaged = 0
    for case in range(CASES):
        try:
            parse_commit(misshapen(body, random.Random(case)))
        except MetadataError:
            damaged += 1
    assert 0 < damaged < CASES
