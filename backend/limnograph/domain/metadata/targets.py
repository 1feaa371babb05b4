"""Target sizes of a table's files, from its properties and the rules of its format.

Every verdict (small, debt) can be shown with the rule and the target that produced it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

KIB, MIB, GIB = 2**10, 2**20, 2**30
MAX_TARGET_BYTES = 2**50

ICEBERG_TARGET = "write.target-file-size-bytes"
ICEBERG_DELETE_TARGET = "write.delete.target-file-size-bytes"
ICEBERG_MANIFEST_TARGET = "commit.manifest.target-size-bytes"
DELTA_TARGET = "delta.targetFileSize"
HUDI_TARGET = "hoodie.parquet.max.file.size"
HUDI_SMALL = "hoodie.parquet.small.file.limit"


class Targets(NamedTuple):
    """The rule by which data files are small, too large, or worth rewriting. Sizes are bytes.

    A file is a candidate below `small_below` or above `large_above`. Candidates of one partition are packed into groups
    of at most `max_group_bytes`; a group counts as debt if it has at least `min_input_files` files or more than
    `target` bytes. `rule` is a sentence for users that names the property or default behind it.
    """

    target: int
    small_below: int
    large_above: int | None
    min_input_files: int
    max_group_bytes: int
    rule: str


def targets_of(table_format: str, properties: Mapping[str, str]) -> Targets | None:
    """The targets of a table; None if the property with its target is not a size between 1 byte and 1 PiB."""
    return _BY_FORMAT.get(table_format, _iceberg)(properties)


def delete_target(properties: Mapping[str, str]) -> int | None:
    """Target size of Iceberg's delete files, bytes (TableProperties.DELETE_TARGET_FILE_SIZE_BYTES_DEFAULT: 64 MiB)."""
    return _size(properties, ICEBERG_DELETE_TARGET, 64 * MIB)


def manifest_target(properties: Mapping[str, str]) -> int | None:
    """Target size of Iceberg's manifests, bytes (TableProperties.MANIFEST_TARGET_SIZE_BYTES: 8 MiB)."""
    return _size(properties, ICEBERG_MANIFEST_TARGET, 8 * MIB)


def _iceberg(properties: Mapping[str, str]) -> Targets | None:
    """Iceberg's SizeBasedFileRewritePlanner: 0.75 and 1.80 of the target, 5 files, groups of 100 GiB."""
    target = _size(properties, ICEBERG_TARGET, 512 * MIB)
    if target is None:
        return None
    origin = _origin(properties, ICEBERG_TARGET)
    return Targets(
        target=target,
        small_below=int(target * 0.75),
        large_above=int(target * 1.80),
        min_input_files=5,
        max_group_bytes=100 * GIB,
        rule=f"Iceberg's planner: below 0.75 or above 1.8 of {ICEBERG_TARGET} ({origin}), 5 files per group",
    )


def _delta(properties: Mapping[str, str]) -> Targets | None:
    """Delta's auto compaction (DeltaSQLConf autoCompact): files below half of 128 MiB, at least 50 in a partition."""
    target = _size(properties, DELTA_TARGET, 128 * MIB)
    if target is None:
        return None
    return Targets(
        target=target,
        small_below=target // 2,
        large_above=None,
        min_input_files=50,
        max_group_bytes=100 * GIB,
        rule=f"Delta's auto compaction: below half of {DELTA_TARGET} ({_origin(properties, DELTA_TARGET)}), 50 files",
    )


def _hudi(properties: Mapping[str, str]) -> Targets | None:
    """Hudi's file sizing (HoodieStorageConfig, HoodieCompactionConfig): base files below 100 MiB take more records up
    to 120 MiB; clustering packs groups of 2 GiB (HoodieClusteringConfig).
    """
    target, small = _size(properties, HUDI_TARGET, 120 * MIB), _size(properties, HUDI_SMALL, 100 * MIB)
    if target is None or small is None:
        return None
    return Targets(
        target=target,
        small_below=small,
        large_above=None,
        min_input_files=2,
        max_group_bytes=2 * GIB,
        rule=f"Hudi's file sizing: below {HUDI_SMALL} ({_origin(properties, HUDI_SMALL)}), 2 files per group",
    )


_BY_FORMAT = {"iceberg": _iceberg, "delta": _delta, "hudi": _hudi}

_UNITS = {"": 1, "b": 1, "k": KIB, "kb": KIB, "m": MIB, "mb": MIB, "g": GIB, "gb": GIB, "t": 2**40, "tb": 2**40}
_TEXT = re.compile(r"(\d{1,16})\s*([a-z]{0,2})", re.ASCII)


def _size(properties: Mapping[str, str], key: str, default: int) -> int | None:
    """Bytes of a property such as `134217728`, or `128mb` as in Spark and Delta."""
    text = properties.get(key)
    if text is None:
        return default
    match = _TEXT.fullmatch(text.strip().lower())
    if match is None or match[2] not in _UNITS:
        return None
    found = int(match[1]) * _UNITS[match[2]]
    return found if 1 <= found <= MAX_TARGET_BYTES else None


def _origin(properties: Mapping[str, str], key: str) -> str:
    return "the table's own" if key in properties else "default"
