"""Builds the gate of an installation from its settings: credentials and accepted host names."""

from __future__ import annotations

from urllib.parse import urlsplit

from limnograph.api.front.gate import Authenticator, Credentials, TrustedProxy
from limnograph.settings import Settings
from limnograph.wiring.access import Authentication, access, audit, networks

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def gate(settings: Settings, host: str) -> Authenticator:
    """The gate of a server that listens on `host`. Raises EnvironmentFault, SettingsError."""
    public = settings.server.public_url
    found = access(settings)
    hosts = None
    if found is None and not settings.server.insecure:
        # DNS rebinding: a page of another site whose name resolves to this machine would have our origin.
        hosts = {*LOOPBACK, host.lower(), *([name] if (name := urlsplit(public).hostname) else [])}
    return Authenticator(_credentials(settings, found), hosts=hosts, public_url=public, audit=audit(settings))


def _credentials(settings: Settings, found: Authentication | None) -> Credentials | None:
    if found is None:
        return None
    proxy = _proxy(settings) if settings.auth.mode == "proxy" else None
    return Credentials(found.tokens, found.sessions, found.attempts, found.provider, found.grants, proxy)


def _proxy(settings: Settings) -> TrustedProxy | None:
    given = settings.auth.proxy
    if given is None:
        return None
    return TrustedProxy(
        networks(settings),
        given.secret.encode(),
        given.user_header.encode(),
        given.groups_header.encode(),
        given.email_header.encode(),
        given.grants,
    )
