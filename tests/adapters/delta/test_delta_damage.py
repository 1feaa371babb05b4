"""Damaged and hostile Delta logs: whatever stands in them, the answer is a reading or a MetadataError."""

from __future__ import annotations

import copy
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from delta_log import DeltaLog, add, field, info, metadata, protocol, read_all, remove, state_rows, vector
from limnograph.adapters.delta.log import newest_version
from limnograph.adapters.delta.reader import DeltaReader, SharedCaches
from limnograph.domain.errors import InvalidInput, MetadataError
from limnograph.domain.metadata.content import Reading, Want
from limnograph.ports.storage import ListedFile

CASES = int(os.environ.get("LIMNOGRAPH_STEPS", "800"))
ROOT = "mem://lake/table"
PLACES = [
    "file:///etc/passwd",
    "../../../../etc/shadow",
    "s3://elsewhere/x",
    "//host/share",
    "%2e%2e%2f",
    "\u0000",
    "a" * 9_000,
]
VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    2**31,
    2**63,
    2**64,
    10**400,
    1.5,
    1e308,
    "",
    "x",
    "\ud7ff",
    [],
    {},
    [[]],
    {"a": {}},
    *PLACES,
]
FILLINGS = [b"", b"\x00" * 50, b"[" * 100_000, b'{"a":' * 50_000, b"\xff" * 9, b"\n" * 9, b"{}\n" * 99]


class MemoryStorage:
    """Port Storage over a dictionary; names are relative to the log's folder. `asked`: locations outside of it."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files, self.asked = files, set[str]()

    def read(self, location: str, limit: int) -> bytes:
        name = location.removeprefix(f"{ROOT}/_delta_log/")
        if name == location:
            self.asked.add(location)
            raise MetadataError("location_refused", location[:100])
        if name not in self.files:
            raise MetadataError("file_missing", name[:100])
        if len(self.files[name]) > limit:
            raise MetadataError("file_too_large", name[:100])
        return self.files[name]

    def size(self, location: str) -> int:
        return len(self.read(location, 2**63))

    def list(self, location: str, *, deep: bool = False) -> list[ListedFile]:
        assert location == f"{ROOT}/_delta_log"
        assert not deep
        return sorted(ListedFile(name, len(content)) for name, content in self.files.items() if "/" not in name)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A log with everything: cleaned beginning, v2 checkpoint with a sidecar, parts, vectors, partitions, checksums."""
    log = DeltaLog(tmp_path_factory.mktemp("delta") / "table")
    log.begin(add("a", p="1"), add("b", p=None), columns=(field("p"), field("id")), partitions=("p",))
    log.commit(info("WRITE", 1_000, operationMetrics={"numFiles": "1"}), add("c", p="1"))
    log.commit(info("DELETE", 2_000), remove("a", 100, p="1"), add("a", dv=vector("v", 2), p="1"))
    rows = state_rows(log)
    log.parquet(f"{2:020}.checkpoint.0000000001.0000000002.parquet", rows[:3])
    log.parquet(f"{2:020}.checkpoint.0000000002.0000000002.parquet", rows[3:])
    evolved = metadata(field("p"), field("id"), field("n"), partitions=("p",))
    log.commit(info("WRITE", 3_000), protocol(3, ("deletionVectors",)), evolved, add("d", p="2"))
    rows = state_rows(log)
    log.parquet("_sidecars/s.parquet", rows[2:])
    sidecar = {"sidecar": {"path": "s.parquet", "sizeInBytes": 1, "modificationTime": 1}}
    log.parquet(f"{3:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.parquet", [*rows[:2], *log.rows([], sidecar)])
    lines = [json.dumps(action) for action in (metadata(), protocol(), sidecar, add("z", p="9"))]
    (log.log / f"{4:020}.checkpoint.3a0d65cd-4056-49b8-937b-95f9e3ee90e5.json").write_text("\n".join(lines))
    log.commit(info("OPTIMIZE", 4_000), remove("a", 100, dv=vector("v", 2), p="1"), add("e", p="1"))
    log.commit(info("WRITE", 5_000), add("f", p="3"))
    (log.log / f"{5:020}.crc").write_text('{"numFiles":5,"tableSizeBytes":500}')
    log.drop(0)
    return {str(file.relative_to(log.log)): file.read_bytes() for file in log.log.rglob("*") if file.is_file()}


def read_everything(files: dict[str, bytes]) -> dict[int, Reading]:
    storage = MemoryStorage(files)
    reader = DeltaReader(storage, SharedCaches())
    table = reader.metadata(newest_version(ROOT, storage))
    return read_all(reader, table)


def assert_in_reason(reading: Reading) -> None:
    if reading.content is None:
        assert reading.tier == "summary"
        assert reading.problems
        return
    for part in (reading.content.totals, reading.content.changed):
        for name in part.__struct_fields__:
            value = getattr(part, name)
            assert value is None or 0 <= value <= 2**62, name
    assert all(count >= 0 for count in reading.content.histogram or ())


def test_the_undamaged_log_is_read_completely(sound: dict[str, bytes]) -> None:
    readings = read_everything(sound)
    assert {version: reading.problems for version, reading in readings.items()} == {
        1: ("history_truncated",), 2: (), 3: (), 4: (), 5: (),
    }  # fmt: skip


@pytest.mark.parametrize("part", range(8))
def test_damage_is_never_more_than_a_code(sound: dict[str, bytes], part: int) -> None:
    for seed in range(part * CASES // 8, (part + 1) * CASES // 8):
        chance = random.Random(seed)
        files = dict(sound)
        for _ in range(chance.randint(1, 3)):
            damage(chance, files)
        try:
            readings = read_everything(files)
        except (MetadataError, InvalidInput):
            continue
        for reading in readings.values():
            assert_in_reason(reading)


def damage(chance: random.Random, files: dict[str, bytes]) -> None:
    """One change of one file, or of which files there are."""
    if not files:
        return
    name = chance.choice(sorted(files))
    other = chance.choice(sorted(files))
    match chance.choice(["value"] * 6 + ["raw"] * 6 + ["gone", "moved", "swapped"]):
        case "value" if name.endswith(".json"):
            files[name] = changed_value(chance, files[name])
        case "gone":
            del files[name]
        case "moved":
            files[f"{chance.choice([0, 1, 3, 6, 9, 2**63 - 1, 2**63]):020}{name[20:]}"] = files.pop(name)
        case "swapped":
            files[name], files[other] = files[other], files[name]
        case _:
            files[name] = changed_bytes(chance, files[name])


def changed_bytes(chance: random.Random, content: bytes) -> bytes:
    """Bytes flipped, cut off, lines mixed up, or something else altogether."""
    match chance.choice(["flip", "flip", "flip", "cut", "lines", "filled"]):
        case "flip":
            raw = bytearray(content)
            for _ in range(chance.randint(1, 8) if raw else 0):
                raw[chance.randrange(len(raw))] = chance.randrange(256)
            return bytes(raw)
        case "cut":
            return content[: chance.randint(0, len(content))]
        case "lines":
            lines = content.split(b"\n")
            return b"\n".join(chance.choices(lines, k=chance.randint(0, 2 * len(lines))))
        case _:
            return chance.choice(FILLINGS)


def changed_value(chance: random.Random, content: bytes) -> bytes:
    """One line with one value replaced somewhere in its tree."""
    lines = content.split(b"\n")
    place = chance.randrange(len(lines))
    try:
        action = copy.deepcopy(json.loads(lines[place]))
    except (ValueError, RecursionError):
        return content
    at = action
    while isinstance(at, dict) and at:
        key = chance.choice(sorted(at))
        if not isinstance(at[key], dict) or not at[key] or chance.random() < 0.3:
            at[key] = chance.choice(VALUES)
            break
        at = at[key]
    lines[place] = json.dumps(action).encode("utf-8", "surrogatepass")
    return b"\n".join(lines)


def test_names_that_lead_elsewhere_are_refused_by_storage(sound: dict[str, bytes]) -> None:
    for place in ("file:///etc/passwd", "/etc/passwd", "s3://elsewhere/x.parquet"):
        files = {name: content for name, content in sound.items() if "checkpoint" not in name}
        lines = [metadata(), protocol(), {"sidecar": {"path": place, "sizeInBytes": 1, "modificationTime": 1}}]
        name = f"{5:020}.checkpoint.3a0d65cd-4056-49b8-937b-95f9e3ee90e5.json"
        files[name] = "\n".join(json.dumps(line) for line in lines).encode()
        storage = MemoryStorage(files)
        reader = DeltaReader(storage, SharedCaches())
        table = reader.metadata(newest_version(ROOT, storage))
        assert reader.read(table, table.snapshots[5], Want())
        assert storage.asked == {place}


def test_a_path_of_a_data_file_is_never_opened(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path / "table")
    log.begin(*(add(place) for place in PLACES))
    files = {file.name: file.read_bytes() for file in log.log.iterdir()}
    storage = MemoryStorage(files)
    reader = DeltaReader(storage, SharedCaches())
    table = reader.metadata(newest_version(ROOT, storage))
    read_all(reader, table)
    assert storage.asked == set()


@pytest.mark.parametrize("features", [1.5, -1, "x", {"a": 1}, [{"a": 1}, ["b"], None, "deletionVectors"]])
def test_features_of_any_shape_are_accepted(tmp_path: Path, features: object) -> None:
    log = DeltaLog(tmp_path / "t")
    log.commit(
        {"protocol": {"minReaderVersion": 3, "readerFeatures": features, "writerFeatures": features}}, metadata()
    )
    log.commit(add("a"))
    table = log.reader().metadata(log.newest())
    assert (table.head_id, table.format_version, table.problems) == (1, 3, ())


def test_damage_is_reported_once_with_its_file_and_the_reason(tmp_path: Path) -> None:
    log = DeltaLog(tmp_path / "t")
    log.begin(add("a"))
    log.write(b'{"add":{"path":"b"}}\n')
    log.commit(add("c"))
    reader = log.reader()
    table = reader.metadata(log.newest())
    assert table.problems == ()
    readings = read_all(reader, table)
    assert [reading.problems for reading in readings.values()] == [(), ("commit_unreadable",), ("history_damaged",)]
    for version in (1, 2):
        (detail,) = readings[version].details.values()
        assert detail == f"file://{log.log}/{1:020}.json: a file action has size None"
