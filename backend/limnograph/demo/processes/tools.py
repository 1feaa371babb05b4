"""Finds the programs that the demo starts: in LIMNOGRAPH_TOOLS, `.tools` of the checkout or working folder, or PATH."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from limnograph.adapters.spark.jars import checkout
from limnograph.domain.errors import EnvironmentFault, InvalidInput

TOOLS_ENV = "LIMNOGRAPH_TOOLS"


def tool(name: str) -> Path:
    """Path of `prometheus` or `promtool`. Raises EnvironmentFault with the remedy."""
    for folder in folders():
        file = folder / "prometheus" / name
        if file.is_file() and os.access(file, os.X_OK):
            return file
    if found := shutil.which(name):
        return Path(found)
    raise EnvironmentFault(
        f"{name} was not found; {_setup()}install it: apt-get install prometheus (Debian),"
        " dnf install golang-github-prometheus (Fedora), brew install prometheus (macOS)"
    )


def _setup() -> str:
    return "run `make setup`, or " if checkout() else ""


def folders() -> Iterator[Path]:
    """Candidates for the folder of downloaded tools, in order."""
    if given := os.environ.get(TOOLS_ENV):
        yield Path(given)
    yield Path.cwd() / ".tools"
    yield Path(__file__).resolve().parents[4] / ".tools"


def server_port(given: int | None, usual: int) -> int:
    """The given port, or the usual one, or any free one. Raises InvalidInput if the given port is in use."""
    if given is None:
        return usual if is_free(usual) else free_port()
    if not is_free(given):
        raise InvalidInput("--port", f"{given} is in use on 127.0.0.1; pass another port, or none for any free port")
    return given


def free_port() -> int:
    """A free port of 127.0.0.1."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    """Whether a server can listen on 127.0.0.1:port."""
    with closing(socket.socket()) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
