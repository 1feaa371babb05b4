"""Erasure with proof: after each step every data file below the table's folder is read for the value."""

from __future__ import annotations

from lakehouse.parts.lake import Lake


def files_holding(lake: Lake, table: str, column: str, value: str, bucket: str = "") -> int:
    """Data files, live or not, that hold the value. Files are read, not searched as bytes: pages are compressed."""
    import pyarrow.parquet as pq

    folder = lake.places.objects / (bucket or "lake") / "warehouse" / "/".join(table.split(".")[1:])
    files = [file for file in folder.rglob("*.parquet") if not file.name.endswith("-deletes.parquet")]
    return sum(value in pq.read_table(file, columns=[column])[column].to_pylist() for file in files)


def delete(lake: Lake, table: str, condition: str) -> None:
    """What a request for erasure begins with. Merge-on-read: a delete file is added, the value stays."""
    lake.sql(f"delete from {table} where {condition}")


def rewrite(lake: Lake, table: str) -> None:
    """Write the files again without the deleted rows. The old files stay for old snapshots."""
    name = table.removeprefix("lake.")
    options = "map('rewrite-all', 'true', 'delete-file-threshold', '1')"
    lake.sql(f"call lake.system.rewrite_data_files(table => '{name}', options => {options})")


def expire(lake: Lake, table: str) -> None:
    """Let go of old snapshots, and of the files that only they have."""
    name = table.removeprefix("lake.")
    lake.sql(
        f"call lake.system.expire_snapshots(table => '{name}', older_than => timestamp '2099-01-01 00:00:00',"
        " retain_last => 1)"
    )
