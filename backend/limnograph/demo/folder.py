"""The demo's folder: its paths, its lock, and whether its lake is complete. Deletes only what the demo created."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from limnograph.adapters import private_files
from limnograph.demo.lake.commits import LakeLocation
from limnograph.demo.login import read_token
from limnograph.domain.errors import Conflict, EnvironmentFault

OWN = (
    "built.json",
    "story.json",
    "alerts.json",
    "alerts-delivered.json",
    "running.json",
    "token",
    "maintenance.toml",
    "limnograph.toml",
    "prometheus.yml",
    "thresholds.yml",
    "alertmanager.yml",
    "catalog.db",
    "catalog.db-wal",
    "catalog.db-shm",
    "warehouse",
    "prometheus",
    "alertmanager",
    "scratch",
    "files",
    "checkpoints",
    "logs",
    ".limnograph",
)
"""Names that the demo creates in its folder; nothing else is ever deleted."""


class Folder:
    """Paths below the demo's root, named as in OWN."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.config = self.root / "limnograph.toml"
        self.maintenance = self.root / "maintenance.toml"
        self.database = self.root / "catalog.db"
        self.warehouse = self.root / "warehouse"
        self.story = self.root / "story.json"
        self.logs = self.root / "logs"
        self.scratch = self.root / "scratch"
        self.files = self.root / "files"
        self.checkpoints = self.root / "checkpoints"
        self.tsdb = self.root / "prometheus"
        self.prometheus_config = self.root / "prometheus.yml"
        self.thresholds = self.root / "thresholds.yml"
        self.alertmanager = self.root / "alertmanager"
        self.alertmanager_config = self.root / "alertmanager.yml"
        self._built = self.root / "built.json"
        self.alerts = self.root / "alerts.json"
        self._running = self.root / "running.json"
        self.token = self.root / "token"
        self._alerts_delivered = self.root / "alerts-delivered.json"

    @property
    def place(self) -> LakeLocation:
        """Location of catalog `lake`, as PyIceberg opens it."""
        return LakeLocation(f"sqlite:///{self.database}", f"file://{self.warehouse}")

    @property
    def built(self) -> dict[str, Any] | None:
        """The marker that is written when lake and history are complete; None for an incomplete lake."""
        return _read(self._built)

    @property
    def running(self) -> dict[str, Any] | None:
        """Addresses of the demo that is running in this folder, and its token; None if there is none."""
        found = _read(self._running)
        return None if found is None else {**found, "token": read_token(self.token)}

    def mark_built(self, facts: dict[str, Any]) -> None:
        """Write the marker, as the last step of a build."""
        self._built.write_text(json.dumps(facts, indent=1) + "\n")

    @property
    def alerts_delivered(self) -> bool:
        """Whether the server has received the alerts of the history."""
        return self._alerts_delivered.exists()

    def mark_alerts_delivered(self, transitions: int) -> None:
        """Note that the server has received them, so that the next start does not send them again."""
        self._alerts_delivered.write_text(json.dumps({"transitions": transitions}) + "\n")

    @contextmanager
    def announced(self, addresses: dict[str, Any]) -> Iterator[None]:
        """Publish the addresses of the running demo for other commands."""
        self._running.write_text(json.dumps(addresses, indent=1) + "\n")
        try:
            yield
        finally:
            self._running.unlink(missing_ok=True)

    def make(self) -> None:
        """Create the folders that children write to."""
        private_files.make_folder(self.root)
        for path in (self.logs, self.scratch, self.warehouse, self.tsdb):
            path.mkdir(parents=True, exist_ok=True)

    def clear(self) -> None:
        """Delete everything that the demo created; the marker first, so that an interrupted deletion leaves no complete
        lake.
        """
        for name in OWN:
            path = self.root / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the folder's lock, which ends with the process. Raises Conflict if another demo holds it."""
        try:
            private_files.make_folder(self.root)
            lock = (self.root / "lock").open("w")
        except OSError as error:
            raise EnvironmentFault(f"--dir {self.root} is not writable: {error.strerror}") from error
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Conflict(f"a demo is already running in {self.root}; stop it, or pass another --dir") from None
            self._running.unlink(missing_ok=True)
            yield


def _read(file: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return found
