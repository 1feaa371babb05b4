"""Storage of tokens, ended sessions and the audit log, and the identity provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from limnograph.domain.access import AuditEvent, Claims, TokenRecord
from limnograph.domain.time import Micros


class TokenStore(Protocol):
    """API tokens at rest. Thread-safe; several processes may share one."""

    def records(self) -> Mapping[str, TokenRecord]:
        """Records by id. Changes by other processes are visible within a second."""
        ...

    def add(self, record: TokenRecord) -> None:
        """Add a token; durable when it returns. Raises EnvironmentFault."""
        ...

    def revoke(self, token_id: str, at: Micros) -> None:
        """Revoke a token; durable when it returns, and idempotent. Raises EnvironmentFault."""
        ...


class EndedSessions(Protocol):
    """Sessions that were ended before they expired. Thread-safe; several processes may share one."""

    def ended(self, session_id: str) -> bool:
        """Whether it was ended, by this process or by another at least a second ago."""
        ...

    def end(self, session_id: str, expires_at: Micros, now: Micros) -> None:
        """End a session; durable when it returns. Epoch microseconds; after `expires_at` it may be forgotten."""
        ...


class AuditLog(Protocol):
    """Who did what, when."""

    def write(self, event: AuditEvent) -> None:
        """Append; never raises: an event that cannot be written goes to the server's log."""
        ...


class LoginStart(NamedTuple):
    """A login at the provider: the URL for the browser, and the values that must come back with it."""

    url: str
    state: str
    nonce: str
    verifier: str


class IdentityProvider(Protocol):
    """OpenID Connect, authorization code with PKCE. Raises SourceError if the provider is unavailable."""

    async def start(self) -> LoginStart:
        """Start a new login."""
        ...

    async def finish(self, code: str, started: LoginStart) -> Claims:
        """The user that the code identifies. Raises Unauthenticated if it is invalid."""
        ...

    async def bearer(self, token: str) -> Claims:
        """The user that a JWT of the provider identifies. Raises Unauthenticated."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...
