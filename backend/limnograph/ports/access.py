"""Storage of tokens, ended sessions and the audit log, and the identity provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from limnograph.domain.access import AuditEvent, Claims, TokenRecord
from limnograph.domain.time import Micros


class TokenStore(Protocol):
    """API tokens at rest. Thread-safe; several processes may share one."""

    def records(self) -> Mapping[str, TokenRecord]:
        """By id. What another process changed is seen within a second."""
        ...

    def add(self, record: TokenRecord) -> None:
        """Durable when it returns. Raises EnvironmentFault."""
        ...

    def revoke(self, token_id: str, at: Micros) -> None:
        """Durable when it returns; a repeat changes nothing. Raises EnvironmentFault."""
        ...


class EndedSessions(Protocol):
    """Sessions that were ended before they expired. Thread-safe; several processes may share one."""

    def ended(self, session_id: str) -> bool:
        """Whether it was ended, here or in another process within the last second."""
        ...

    def end(self, session_id: str, expires_at: Micros, now: Micros) -> None:
        """Durable when it returns. Epoch microseconds; after `expires_at` it may be forgotten."""
        ...


class AuditLog(Protocol):
    """Who did what, when."""

    def write(self, event: AuditEvent) -> None:
        """Append; never raises: what cannot be written goes to the server's log."""
        ...


class LoginStart(NamedTuple):
    """A login that goes to the provider: where the browser is sent, and what must come back with it."""

    url: str
    state: str
    nonce: str
    verifier: str


class IdentityProvider(Protocol):
    """OpenID Connect, authorisation code with PKCE. Raises SourceError when the provider does not serve us."""

    async def start(self) -> LoginStart:
        """A new login."""
        ...

    async def finish(self, code: str, started: LoginStart) -> Claims:
        """The user that the code identifies. Raises Unauthenticated if it is invalid."""
        ...

    async def bearer(self, token: str) -> Claims:
        """Who a JWT of the provider stands for. Raises Unauthenticated."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...
