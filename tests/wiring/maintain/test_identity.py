"""The name of an executor outlives its process, and two processes never have it at once."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from limnograph.wiring.maintain.identity import ExecutorIdentity


def test_the_next_process_takes_the_name(tmp_path: Path) -> None:
    with ExecutorIdentity(tmp_path) as first:
        name = first.executor_id
        with ExecutorIdentity(tmp_path) as second:
            assert second.executor_id != name
            second.has_jvm(1)  # without the lock, it does not write
    with ExecutorIdentity(tmp_path) as third:
        assert third.executor_id == name


def test_the_jvm_of_the_predecessor_must_have_ended(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1.0)"]) as jvm:
        with ExecutorIdentity(tmp_path) as first:
            first.has_jvm(jvm.pid)
        began_at = time.monotonic()
        with ExecutorIdentity(tmp_path):
            assert jvm.poll() is not None or time.monotonic() - began_at > 0.5


def test_a_jvm_that_does_not_end_keeps_its_name(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as jvm:
        with ExecutorIdentity(tmp_path) as first:
            name = first.executor_id
            first.has_jvm(jvm.pid)
        with ExecutorIdentity(tmp_path, longest_s=0.1) as second:
            assert second.executor_id != name, "its leases are waited for"
        jvm.kill()


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "maintain.lock").write_bytes(b"\xff{not json")
    with ExecutorIdentity(tmp_path) as first:
        name = first.executor_id
    with ExecutorIdentity(tmp_path) as second:
        assert second.executor_id == name
