"""Bytes and age of live delete files, per partition and of the table, from manifests alone."""

from __future__ import annotations

from pathlib import Path

from lakes import facts
from metadata_writer import EQUALITY_DELETES, POSITION_DELETES, MetadataTable


def deletes(table: MetadataTable) -> tuple[int | None, int | None]:
    """Bytes of delete files and the oldest one's commit, of the newest snapshot."""
    fact = facts(table.metadata_location)[-1]
    return fact.total_delete_bytes, fact.oldest_delete_at


def test_a_partition_has_the_bytes_of_its_deletes_and_the_commit_of_the_oldest(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu"), table.file("us"))
    first = table.file("eu", size=300, content=POSITION_DELETES)
    table.overwrite([first], ())
    table.tick(60_000)
    table.overwrite([table.file("eu", size=50, content=EQUALITY_DELETES)], ())
    table.append(table.file("us"))
    _, marked, again, _ = found = facts(table.metadata_location)
    assert [fact.oldest_delete_at for fact in found] == [None, *[marked.committed_at] * 3]
    (eu,) = again.partitions or ()
    assert (eu.partition, eu.delete_files, eu.delete_bytes, eu.oldest_delete_at) == (
        "region=eu",
        2,
        350,
        marked.committed_at,
    )
    (us,) = found[-1].partitions or ()
    assert (us.delete_files, us.delete_bytes, us.oldest_delete_at) == (0, 0, None)
    table.overwrite([table.file("eu")], [first])
    assert deletes(table) == (50, again.committed_at), "the older one was merged"


def test_a_delete_whose_snapshot_has_expired_is_of_unknown_age(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    table.append(table.file("eu"))
    marked = table.overwrite([table.file("eu", size=300, content=POSITION_DELETES)], ())
    table.append(table.file("us"))
    table.overwrite([table.file("us", size=20, content=POSITION_DELETES)], ())
    table.expire(marked)
    assert deletes(table) == (320, None)


def test_the_oldest_snapshot_is_one_that_no_branch_or_tag_keeps(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    first = table.append(table.file("eu"))
    assert facts(table.metadata_location)[-1].oldest_snapshot_at is None, "main points at it"
    table.tick(60_000)
    table.append(table.file("eu"))
    table.append(table.file("eu"))
    begun, second, _ = facts(table.metadata_location)
    assert begun.oldest_snapshot_at == begun.committed_at
    table.set_ref("release", first, "tag")
    assert facts(table.metadata_location)[-1].oldest_snapshot_at == second.committed_at
