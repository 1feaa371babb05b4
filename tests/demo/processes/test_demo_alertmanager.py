"""Alertmanager of a demo that is started again: an alert that fires anew is told anew."""

from __future__ import annotations

from pathlib import Path

from limnograph.demo.folder import Folder
from limnograph.demo.processes.supervisor import _alertmanager


def test_alerts_received_before_the_stop_are_forgotten_and_silences_are_kept(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.alertmanager.mkdir(parents=True)
    for name in ("nflog", "silences"):
        (folder.alertmanager / name).write_bytes(b"state")
    _alertmanager("alertmanager", folder, 9093)
    assert sorted(path.name for path in folder.alertmanager.iterdir()) == ["silences"]
    _alertmanager("alertmanager", folder, 9093)  # nothing to forget
