"""The server's own access to storage: with the credentials and limits of the settings, in a child process."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from lakes import Lake, due_of, rows
from limnograph.adapters.sandbox.idle import IdlePool
from limnograph.domain.errors import MetadataError
from limnograph.domain.time import Millis
from limnograph.wiring.on_request.storage import StoredTables


def test_a_table_of_a_catalog_is_read_and_a_pointer_outside_it_is_refused(lake: Lake, tmp_path: Path) -> None:
    table = lake.table()
    table.append(rows("eu", "us"))
    table.overwrite(rows("ap"))
    settings = lake.settings(observe={"columns": {"private": ["region"]}})
    pool = IdlePool()
    due, stored = due_of(lake, "orders"), StoredTables(settings, pool)
    try:
        found = stored.storage(due, None, Millis(0))
        assert found.bytes is not None
        assert found.tree is not None
        sizes = {file.name: file.stat().st_size for file in tmp_path.rglob("*.parquet")}
        assert found.bytes.live + found.bytes.held == sum(sizes.values())
        (live,) = found.tree.largest
        assert (live.path.partition("/")[0], live.bytes) == ("(private)", sizes[live.path.partition("/")[2]])
        with pytest.raises(MetadataError, match="location_refused"):
            stored.storage(replace(due, metadata_location="file:///etc/passwd.json"), None, Millis(0))
    finally:
        pool.close()
