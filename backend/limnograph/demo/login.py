"""The token of the demo: made once per lake, kept in a private file, part of the login link that the demo prints."""

from __future__ import annotations

import contextlib
from pathlib import Path

from limnograph.adapters import private_files
from limnograph.domain.access import AccessScope
from limnograph.domain.errors import EnvironmentFault, NotFound
from limnograph.settings import load
from limnograph.wiring.access import tokens

NAME = "demo"
SCOPES: tuple[AccessScope, ...] = ("read", "webhook", "annotate", "maintain")


def ensure_token(file: Path, config: Path) -> str:
    """The token in `file`, or a new one if there is none that the server of the settings `config` accepts. Raises
    EnvironmentFault.
    """
    known = tokens(load(config))
    token = read_token(file)
    identity = known.verify(token) if token else None
    if identity is not None and identity.scopes.issuperset(SCOPES):
        return token
    with contextlib.suppress(NotFound):
        known.revoke(NAME)
    token, _ = known.create(NAME, SCOPES)
    try:
        private_files.write(file, f"{token}\n".encode())
    except OSError as error:
        raise EnvironmentFault(f"{file} is not writable: {error.strerror}") from error
    return token


def read_token(file: Path) -> str:
    """The token in `file`; empty if there is none."""
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def login_link(server: str, token: str) -> str:
    """The link that logs a browser in. The token is in the fragment, which browsers send to no server."""
    return f"{server}/login/link#{token}"
