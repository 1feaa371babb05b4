"""Port CounterStore on one file in the server's state folder, replaced as a whole."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from limnograph.adapters import private_files
from limnograph.ports.counters import CounterState

_log = logging.getLogger("limnograph.counters")


class CounterFile:
    """`path` need not exist. An invalid file is ignored and rewritten."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> dict[str, CounterState]:
        """Counter states by table uuid."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, CounterState])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError) as error:
            _log.warning("counters restart at 0: %s: %s", self._path, error)
            return {}

    def save(self, counted: Mapping[str, CounterState]) -> None:
        """Written to a temporary file, then renamed: a crash leaves the old file or the new one."""
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            private_files.make_folder(self._path.parent)
            private_files.write(beside, msgspec.json.encode(counted))
            beside.replace(self._path)
        except OSError as error:
            _log.warning("counters cannot be stored: %s", error)
