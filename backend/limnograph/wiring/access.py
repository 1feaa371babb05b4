"""Builds authentication from settings: token file, sessions, identity provider, proxy, audit log."""

from __future__ import annotations

import hashlib
import ipaddress
from typing import NamedTuple

from limnograph.adapters.access.audit import AuditFile
from limnograph.adapters.access.files import session_key
from limnograph.adapters.access.tokens import EndedFile, TokenFile
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.access import Grants
from limnograph.domain.errors import SettingsError
from limnograph.ports.access import IdentityProvider
from limnograph.ports.clock import Clock
from limnograph.services.access.attempts import Attempts
from limnograph.services.access.sessions import Sessions
from limnograph.services.access.tokens import Tokens
from limnograph.settings import Settings


class Authentication(NamedTuple):
    """Credentials for `api/front/gate.py`, if authentication is on."""

    tokens: Tokens
    sessions: Sessions
    attempts: Attempts
    provider: IdentityProvider | None
    grants: Grants


Networks = tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]


def tokens(settings: Settings, clock: Clock | None = None) -> Tokens:
    """The API tokens of an installation."""
    return Tokens(TokenFile(settings.tokens_file), clock or SystemClock())


def audit(settings: Settings) -> AuditFile:
    """The audit log of an installation."""
    return AuditFile(settings.audit_file)


def access(settings: Settings, clock: Clock | None = None) -> Authentication | None:
    """The means of authentication; None if it is off. Raises EnvironmentFault, SettingsError."""
    auth, clock = settings.auth, clock or SystemClock()
    if auth.mode == "none":
        return None
    known = tokens(settings, clock)
    ended = EndedFile(settings.state_dir / "sessions-ended.json")
    given = hashlib.sha256(auth.session_key.encode()).digest() if auth.session_key else None
    key = given or session_key(settings.state_dir / "session.key")
    sessions = Sessions(key, ended, known, clock, auth.session_hours)
    provider = _provider(settings) if auth.mode == "oidc" else None
    grants = auth.oidc.grants if auth.mode == "oidc" and auth.oidc else {}
    return Authentication(known, sessions, Attempts(clock), provider, grants)


def networks(settings: Settings) -> Networks:
    """Networks that the trusted proxy connects from."""
    if settings.auth.proxy is None:
        raise SettingsError("auth.proxy", "is missing")
    return tuple(ipaddress.ip_network(address) for address in settings.auth.proxy.addresses)


def _provider(settings: Settings) -> IdentityProvider | None:
    oidc = settings.auth.oidc
    if oidc is None:
        return None
    from limnograph.adapters.access.oidc import OidcClient, OidcProvider

    return OidcProvider(
        OidcClient(
            issuer=oidc.issuer,
            client_id=oidc.client_id,
            client_secret=oidc.client_secret,
            redirect_uri=settings.server.public_url.rstrip("/") + "/login/callback",
            scopes=oidc.scopes,
            groups_claim=oidc.groups_claim,
            audience=oidc.audience,
            trust_email=oidc.trust_email,
        )
    )
