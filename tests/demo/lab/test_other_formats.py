"""The laboratory's Delta and Hudi tables: another library reads the one, our readers agree with the files of both."""

from __future__ import annotations

from pathlib import Path

import deltalake
import pyarrow.parquet as pq

from limnograph.demo.lab import formats


def test_both_tables_are_created_once_and_grow(tmp_path: Path) -> None:
    made = formats.create(tmp_path)
    assert formats.create(tmp_path) == made
    for _ in range(2):
        formats.grow(tmp_path)
    devices = deltalake.DeltaTable(str(tmp_path / "devices"))
    assert devices.version() == 2
    assert sum(devices.get_add_actions().column("num_records").to_pylist()) == 3 * formats.ROWS
    for name, (kind, folder) in made.items():
        files = list(folder.glob("*.parquet"))
        assert len(files) == 3, name
        assert {pq.read_metadata(file).num_rows for file in files} == {formats.ROWS}
        assert kind in {"delta", "hudi"}
