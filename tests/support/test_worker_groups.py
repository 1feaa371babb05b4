"""All tests of a group run in one worker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONFTEST = """
from worker_groups import pytest_configure_node, pytest_xdist_make_scheduler, write_groups

def pytest_collection_modifyitems(config, items):
    write_groups(config, items)
"""
TESTS = """
import os, pathlib, pytest, time

GROUPS = ["a", "a", "b", "b"] * 3
TESTS = [pytest.param(n, group, marks=pytest.mark.xdist_group(group)) for n, group in enumerate(GROUPS)]

@pytest.mark.parametrize(("number", "group"), TESTS)
def test_grouped(number, group):
    time.sleep(0.05)
    pathlib.Path(__file__).with_name(f"{number}.{group}").write_text(os.environ["PYTEST_XDIST_WORKER"])
"""


def test_a_group_has_one_worker_and_two_groups_run_side_by_side(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_groups.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    options = ["-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider", "-p", "no:schemathesis", "-q"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    run = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    found = subprocess.run(run, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert found.returncode == 0, found.stdout + found.stderr
    workers = [{file.read_text() for file in tmp_path.glob(f"*.{group}")} for group in "ab"]
    assert [len(each) for each in workers] == [1, 1]
    assert workers[0] != workers[1]
