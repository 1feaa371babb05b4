"""Settings of who may ask: tokens, an OpenID Connect provider, or a trusted proxy (docs/adr/0020-access.md)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from limnograph.domain.access import AccessScope
from limnograph.settings.base import FrozenSettings, Secret

MAX_SESSION_HOURS = 720


class OidcSettings(FrozenSettings, frozen=True, kw_only=True):
    """An OpenID Connect provider. Its redirect URI is `server.public_url` + `/login/callback`."""

    issuer: str
    """Its URL; https, except on loopback."""
    client_id: str
    """Ours, as registered there."""
    client_secret: Secret = ""
    """Ours, as registered there; default a public client."""
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    """Asked of the provider."""
    groups_claim: str = "groups"
    """Claim that names a person's groups."""
    audience: str = ""
    """Of bearer tokens; default `client_id`."""
    trust_email: bool = False
    """Addresses count as verified where the provider does not say so."""
    grants: dict[str, tuple[AccessScope, ...]] = msgspec.field(default_factory=dict)
    """`user:…`, `group:…`, `domain:…` or `*` -> scopes; nothing else gets in. `domain:` and `user:` by address need a
    verified one (`email_verified`).
    """


class ProxySettings(FrozenSettings, frozen=True, kw_only=True):
    """A proxy in front that says who asks."""

    addresses: tuple[str, ...]
    """Addresses or networks of the proxy; nobody else is believed."""
    secret: Secret
    """Sent by the proxy in `x-limnograph-proxy-secret`; at least 16 characters, random ones."""
    user_header: str = "x-forwarded-user"
    """Header with the user."""
    groups_header: str = "x-forwarded-groups"
    """Header with the groups, separated by commas."""
    email_header: str = "x-forwarded-email"
    """Header with the address."""
    grants: dict[str, tuple[AccessScope, ...]] = msgspec.field(default_factory=dict)
    """As in `[auth.oidc]`."""


class AuthSettings(FrozenSettings, frozen=True, kw_only=True):
    """Who may ask. API tokens (`limnograph token`) work in every mode but `none`."""

    mode: Literal["none", "tokens", "oidc", "proxy"] = "none"
    """`none`: nobody is asked (loopback)."""
    tokens: str = ""
    """File of the API tokens; default `.limnograph/tokens.json` beside the settings file."""
    audit: str = ""
    """File of the audit log; default `.limnograph/audit.log` beside the settings file."""
    session_hours: Annotated[float, msgspec.Meta(gt=0, le=MAX_SESSION_HOURS)] = 12.0
    """How long a browser stays logged in, hours."""
    session_key: Secret = ""
    """Shared by the servers of one installation, at least 16 characters, random ones; default a file of our own making.
    """
    open_metrics: bool = False
    """`/metrics`, which names all tables, for anybody."""
    oidc: OidcSettings | None = None
    """The provider, for mode `oidc`."""
    proxy: ProxySettings | None = None
    """The proxy, for mode `proxy`."""
