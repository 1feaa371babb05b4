"""A gate of its own for tests: tokens in a folder, a clock that stands, an audit log in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from limnograph.adapters.access.tokens import EndedFile, TokenFile
from limnograph.api.front.gate import Authenticator, Credentials
from limnograph.domain.access import AuditEvent
from limnograph.services.access.attempts import MOST_FAILURES, Attempts
from limnograph.services.access.sessions import Sessions
from limnograph.services.access.tokens import Tokens
from serving_kit import FixedClock


class Remembered:
    """An audit log that can be asked."""

    def __init__(self) -> None:
        self.events: list[AuditEvent] = []

    def write(self, event: AuditEvent) -> None:
        self.events.append(event)


class Guarded(NamedTuple):
    """A gate and what stands behind it."""

    gate: Authenticator
    tokens: Tokens
    sessions: Sessions
    audit: Remembered
    clock: FixedClock

    def bearer(self, *scopes: str, name: str = "", expires_at: int | None = None) -> dict[str, str]:
        """Headers with a new token."""
        token, _ = self.tokens.create(name or "-".join(scopes), scopes, expires_at)
        return {"authorization": f"Bearer {token}"}


def guarded(
    folder: Path, *, public_url: str = "", hosts: Any = None, most: int = MOST_FAILURES, **given: Any
) -> Guarded:
    """`given`: provider, grants, proxy."""
    clock, audit = FixedClock(), Remembered()
    tokens = Tokens(TokenFile(folder / "tokens.json"), clock)
    sessions = Sessions(b"k" * 32, EndedFile(folder / "ended.json"), tokens, clock)
    credentials = Credentials(tokens, sessions, Attempts(clock, most), **given)
    gate = Authenticator(credentials, hosts=hosts, public_url=public_url, audit=audit)
    return Guarded(gate, tokens, sessions, audit, clock)
