"""A stream's checkpoint is empty whatever lies in its folder, and is had wherever there is room."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

from limnograph.adapters.spark.checkpoint import fresh_checkpoint


def test_anything_left_in_the_folder_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint"
    (folder / "offsets").mkdir(parents=True)
    (folder / "offsets" / "7").write_bytes(b"\0garbage")
    (folder / "metadata").write_text("of another table")
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (folder / f"{socket.gethostname()}-{dead.pid}-1").mkdir()
    made = fresh_checkpoint(folder, lambda line: None)
    assert list(folder.iterdir()) == [made]
    assert fresh_checkpoint(folder, lambda line: None) != made


def test_the_checkpoint_of_a_running_pipeline_is_left_alone(tmp_path: Path) -> None:
    other = tmp_path / f"{socket.gethostname()}-{os.getppid()}-1"
    elsewhere = tmp_path / "another-host-1-1"
    for folder in (other, elsewhere):
        folder.mkdir()
    made = fresh_checkpoint(tmp_path, lambda line: None)
    assert set(tmp_path.iterdir()) == {made, other, elsewhere}


def test_an_unwritable_folder_is_reported_and_another_is_used(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    said: list[str] = []
    made = fresh_checkpoint(blocked / "checkpoint", said.append)
    assert made.is_dir()
    assert len(said) == 1
    assert str(blocked / "checkpoint") in said[0]
    made.joinpath(".writable").unlink(missing_ok=True)
    made.rmdir()
