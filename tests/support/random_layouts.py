"""Random Iceberg tables that exist only as metadata: sizes around the thresholds of their own target, deletes of every
kind, several specs, format v1 to v3.
"""

from __future__ import annotations

import random
from pathlib import Path

from metadata_writer import BY_REGION, POSITION_DELETES, UNPARTITIONED, Field, File, MetadataTable

TARGETS = (1_000, 40_000, 64 << 20, 512 << 20, 3 << 30)
SPECS = (
    BY_REGION,
    UNPARTITIONED,
    (Field(1, "id_bucket", "bucket[4]", "int"),),
    (Field(2, "region"), Field(1, "id_bucket", "bucket[4]", "int")),
)


def random_table(folder: Path, seed: int) -> MetadataTable:
    """A table of up to 150 data files in a few commits."""
    rng = random.Random(seed)
    version = rng.choice((1, 2, 2, 2, 3))
    table = MetadataTable(folder, version=version, spec=rng.choice(SPECS), seed=seed)
    table.properties["write.target-file-size-bytes"] = str(rng.choice(TARGETS))
    if rng.random() < 0.3:
        table.properties["write.delete.target-file-size-bytes"] = str(rng.choice(TARGETS))
    splits = int(table.properties["write.target-file-size-bytes"]) in TARGETS[-2:]
    for _ in range(1 if splits else rng.randint(1, 4)):
        # Groups that exceed their maximum are split in the order of planning, which threads over manifests decide.
        _commit(table, rng)
        if not splits and rng.random() < 0.25:
            # Fields of another spec have other names, as their ids are others.
            table.set_spec(tuple(f._replace(name=f"{f.name}_{len(table.specs)}") for f in rng.choice(SPECS)))
    if version > 1 and rng.random() < 0.7:
        _delete(table, rng)
    return table


def _commit(table: MetadataTable, rng: random.Random) -> None:
    target = int(table.properties["write.target-file-size-bytes"])
    partitions = [_partition(table.specs[-1], rng) for _ in range(rng.randint(1, 5))]
    count = rng.choice((1, 4, 5, 6, 20, 40))
    files = [table.file(*rng.choice(partitions), size=_size(target, rng), records=100) for _ in range(count)]
    gone = [file for file in table.files() if rng.random() < 0.1]  # type: ignore[attr-defined]
    if gone and table.head() is not None:
        table.overwrite(files, gone)
    else:
        table.append(*files)


def _partition(spec: tuple[Field, ...], rng: random.Random) -> list[object]:
    return [
        rng.choice(("eu", "us", None, "null")) if field.kind == "string" else rng.choice((0, 1, None)) for field in spec
    ]


def _size(target: int, rng: random.Random) -> int:
    """Around the thresholds: 0.75 and 1.8 of the target, and its multiples."""
    near = rng.choice((0.01, 0.1, 0.5, 0.75, 0.76, 1.0, 1.1, 1.79, 1.8, 1.81, 2.5, 4.0))
    return max(1, int(target * near) + rng.randint(-1, 1))


def _delete(table: MetadataTable, rng: random.Random) -> None:
    """Deletes of some files: scoped to one, or of a whole partition; one vector a file in v3."""
    found: list[File] = []
    for file in table.files():
        if rng.random() < 0.4:
            continue
        records = rng.choice((1, 9, 10, 29, 30, 100))
        if table.version > 2:
            found.append(table.vector(file, records=records))
            continue
        delete = table.file(*file.partition, content=POSITION_DELETES, size=_size(64 << 20, rng), records=records)
        scoped = file.path if rng.random() < 0.7 else None
        found.append(delete._replace(spec_id=file.spec_id, scoped_to=scoped))
    if found:
        table.overwrite(found, [])
