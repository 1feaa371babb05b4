"""Targets: the table's own size first, then its format's default; nonsense is not known."""

from __future__ import annotations

import pytest

from limnograph.domain.metadata.targets import GIB, MIB, delete_target, targets_of


@pytest.mark.parametrize(
    ("table_format", "properties", "expected"),
    [
        ("iceberg", {}, (512 * MIB, 384 * MIB, int(921.6 * MIB))),
        ("iceberg", {"write.target-file-size-bytes": "1000001"}, (1_000_001, 750_000, 1_800_001)),
        ("delta", {}, (128 * MIB, 64 * MIB, None)),
        ("delta", {"delta.targetFileSize": "1GB"}, (GIB, GIB // 2, None)),
        ("delta", {"delta.targetFileSize": "104857600"}, (100 * MIB, 50 * MIB, None)),
        ("hudi", {}, (120 * MIB, 100 * MIB, None)),
        ("hudi", {"hoodie.parquet.small.file.limit": "0"}, None),
        ("hudi", {"hoodie.parquet.max.file.size": "10", "hoodie.parquet.small.file.limit": "7"}, (10, 7, None)),
    ],
)
def test_a_target_comes_from_the_table_or_its_format(
    table_format: str, properties: dict[str, str], expected: tuple[int, int, int | None] | None
) -> None:
    found = targets_of(table_format, properties)
    assert (found and found[:3]) == expected
    if found:
        assert ("default" in found.rule) == (not properties)


@pytest.mark.parametrize("text", ["", "0", "-1", "big", "1e9", "5 parsecs", "9" * 5_000, str(2**50 + 1), "4096t"])
def test_a_target_that_is_not_a_size_is_unknown(text: str) -> None:
    assert targets_of("iceberg", {"write.target-file-size-bytes": text}) is None
    assert delete_target({"write.delete.target-file-size-bytes": text}) is None


def test_delete_files_have_their_own_target() -> None:
    assert delete_target({}) == 64 * MIB
