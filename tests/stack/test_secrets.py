"""Credentials with a real Spark: not in its event log, not on its command line, not in what the pipeline says."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil

from lakes import Lake, rows
from rest_catalog import RestServer

SECRET = "Zx9-unique-"


def settings(folder: Path, near: Lake, server: RestServer) -> Path:
    (folder / "token").write_text(f"{SECRET}token")
    (folder / "events").mkdir()
    file = folder / "limnograph.toml"
    file.write_text(
        f"""[catalogs.near]
type = "sql"
uri = "{near.properties["uri"]}"
warehouse = "{near.properties["warehouse"]}"
s3.secret-access-key = "{SECRET}s3"
[catalogs.rest]
type = "rest"
uri = "{server.uri}"
token_file = "token"
header.X-Own = "{SECRET}header"
[meta]
catalog = "near"
[spark]
master = "local[1]"
[spark.conf]
"spark.eventLog.enabled" = "true"
"spark.eventLog.compress" = "false"
"spark.eventLog.dir" = "{folder / "events"}"
"""
    )
    return file


def seen_by_others(pid: int, end: threading.Event, found: set[str]) -> None:
    """Command lines of the program and all it starts, as long as it runs."""
    while not end.wait(0.2):
        try:
            processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
            found.update(" ".join(process.cmdline()) for process in processes)
        except psutil.Error:
            continue


def test_no_credential_is_in_the_event_log_the_command_lines_or_the_output(tmp_path: Path) -> None:
    for name in ("far", "near"):
        (tmp_path / name).mkdir()
    far, near = Lake(tmp_path / "far"), Lake(tmp_path / "near", "near")
    far.table().append(rows("eu"))
    near.table("web.clicks").append(rows("eu"))
    server = RestServer(far.catalog)
    server.token = f"{SECRET}token"
    lines, end = set[str](), threading.Event()
    with server.running(), (tmp_path / "said").open("wb") as said:
        command = [sys.executable, "-m", "limnograph", "pipeline", "--once", "--config"]
        command.append(str(settings(tmp_path, near, server)))
        program = subprocess.Popen(command, stdout=said, stderr=said, env=dict(os.environ))
        looking = threading.Thread(target=seen_by_others, args=(program.pid, end, lines))
        looking.start()
        try:
            assert program.wait(540) == 0, (tmp_path / "said").read_text()
        finally:
            program.kill()
            end.set()
            looking.join()
    text = (tmp_path / "said").read_text()
    assert '"snapshots_appended":2' in text
    assert len(lines) >= 2
    assert [line for line in lines if SECRET in line] == []
    assert SECRET not in text
    logs = [file for file in (tmp_path / "events").rglob("events_*") if file.is_file()]
    assert sum(file.stat().st_size for file in logs) > 100_000
    assert [file.name for file in logs if SECRET.encode() in file.read_bytes()] == []
