"""Ports by environment, state in one folder, memory of a tree of processes."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from lakehouse.parts.memory import memory_mb, processor_s
from lakehouse.parts.places import Places, Ports
from limnograph.domain.errors import Conflict, InvalidInput


def test_a_port_that_is_named_must_be_free() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        with pytest.raises(InvalidInput, match="LAKEHOUSE_PORT_TRINO"):
            Ports.choose({"LAKEHOUSE_PORT_TRINO": str(number)})
    assert Ports.choose({"LAKEHOUSE_PORT_TRINO": str(number)}).trino == number
    with pytest.raises(InvalidInput, match="LAKEHOUSE_PORT_STORE"):
        Ports.choose({"LAKEHOUSE_PORT_STORE": "http"})


def test_a_start_deletes_its_own_state_and_nothing_else(tmp_path: Path) -> None:
    places = Places(tmp_path, Ports())
    places.renew()
    (places.logs / "old.log").touch()
    kept = tmp_path / "notes.txt"
    kept.touch()
    places.renew()
    assert kept.exists()
    assert not list(places.logs.iterdir())


def test_a_check_that_holds_leaves_its_logs(tmp_path: Path) -> None:
    places = Places(tmp_path, Ports())
    places.renew()
    (places.logs / "serve.log").touch()
    (places.objects / "lake" / "data.parquet").touch()
    places.clear()
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
    assert (places.logs / "serve.log").exists()


def test_a_folder_belongs_to_one_lakehouse(tmp_path: Path) -> None:
    with Places(tmp_path, Ports()).held(), pytest.raises(Conflict, match="--dir"), Places(tmp_path, Ports()).held():
        pass


def test_the_second_place_has_other_addresses_and_the_objects_of_the_backup(tmp_path: Path) -> None:
    places = Places(tmp_path, Ports())
    second = places.standing_by()
    assert {second.catalog, second.store}.isdisjoint({places.catalog, places.store})
    assert second.objects.is_relative_to(places.backup)
    assert places.objects != second.objects


def test_memory_is_that_of_a_process_and_its_descendants(tmp_path: Path) -> None:
    for pid, name, parent, kb in ((1, "a (b) c", 0, 1000), (2, "java", 1, 2000), (3, "sh", 2, 3000), (9, "x", 0, 1)):
        folder = tmp_path / str(pid)
        folder.mkdir()
        (folder / "stat").write_text(f"{pid} ({name}) S {parent} 0 0\n")
        (folder / "smaps_rollup").write_text(f"Rss: 99999 kB\nPss:       {kb} kB\nPss_Dirty: 1 kB\n")
    assert memory_mb(tmp_path, 1) == 6000 * 1024 // 1_000_000
    assert memory_mb(tmp_path / "none") is None


def test_processor_time_includes_children_that_have_ended(tmp_path: Path) -> None:
    tick = os.sysconf("SC_CLK_TCK")
    for pid, parent, ticks in ((1, 0, (tick, 0, 3 * tick, tick)), (2, 1, (tick, tick, 0, 0)), (9, 0, (tick, 0, 0, 0))):
        folder = tmp_path / str(pid)
        folder.mkdir()
        between = " ".join("0" for _ in range(9))
        (folder / "stat").write_text(f"{pid} (a (b) c) S {parent} {between} {' '.join(map(str, ticks))} 0\n")
    assert processor_s(tmp_path, 1) == 7.0
    assert processor_s(tmp_path / "none", 1) is None
