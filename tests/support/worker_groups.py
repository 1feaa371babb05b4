"""Tests of one `xdist_group` run in one worker of pytest-xdist.

xdist 3.8 passes groups on in a private field of pytest's items that pytest 9.2 no longer has, so every test went to any
worker. Here the workers write the groups to a file once they have collected, and the controller schedules by that.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from uuid import uuid4

import pytest
from xdist.scheduler import LoadScopeScheduling

_FILE = pytest.StashKey[Path]()
_INPUT = "groups_file"


class GroupScheduling(LoadScopeScheduling):
    """A group is a unit of work, and so is every test without one."""

    def __init__(self, config: pytest.Config, log: Any, file: Path) -> None:
        super().__init__(config, log)
        self._file = file

    @cached_property
    def _groups(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self._file.read_text())
        return found

    def _split_scope(self, nodeid: str) -> str:
        return self._groups.get(nodeid, nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker where to write."""
    node.workerinput[_INPUT] = str(_file_of(node.config))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling | None:
    """For `--dist loadgroup` only."""
    return GroupScheduling(config, log, _file_of(config)) if config.getvalue("dist") == "loadgroup" else None


def write_groups(config: pytest.Config, items: Iterable[pytest.Item]) -> None:
    """Write which tests have a group. Does nothing outside a worker."""
    if (file := getattr(config, "workerinput", {}).get(_INPUT)) is None:
        return
    groups = {item.nodeid: str(mark.args[0]) for item in items if (mark := item.get_closest_marker("xdist_group"))}
    part = Path(f"{file}.{uuid4().hex}")
    part.write_text(json.dumps(groups))
    part.replace(file)


def _file_of(config: pytest.Config) -> Path:
    if _FILE not in config.stash:
        folder = mkdtemp(prefix="limnograph-groups-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        config.stash[_FILE] = Path(folder) / "groups.json"
    return config.stash[_FILE]
