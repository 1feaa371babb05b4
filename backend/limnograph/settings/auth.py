"""Authentication: tokens, an OpenID Connect provider, or a trusted proxy (docs/adr/0020-access.md)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from limnograph.domain.access import AccessScope
from limnograph.settings.base import FrozenSettings, Secret

MAX_SESSION_HOURS = 720


class OidcSettings(FrozenSettings, frozen=True, kw_only=True):
    """An OpenID Connect provider. Its redirect URI is `server.public_url` + `/login/callback`."""

    issuer: str
    """URL of the provider; https, except on loopback."""
    client_id: str
    """Client id, as registered with the provider."""
    client_secret: Secret = ""
    """Client secret; default: a public client without one."""
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    """Scopes to request from the provider."""
    groups_claim: str = "groups"
    """Claim that lists a user's groups."""
    audience: str = ""
    """Audience of bearer tokens; default `client_id`."""
    trust_email: bool = False
    """Treat email addresses as verified when the provider does not state it."""
    grants: dict[str, tuple[AccessScope, ...]] = msgspec.field(default_factory=dict)
    """`user:…`, `group:…`, `domain:…` or `*` -> scopes; anyone else is denied. `domain:`, and `user:` with an email
    address, require a verified address (`email_verified`).
    """


class ProxySettings(FrozenSettings, frozen=True, kw_only=True):
    """A trusted proxy that authenticates users."""

    addresses: tuple[str, ...]
    """Addresses or networks of the proxy; headers from any other address are rejected."""
    secret: Secret
    """Sent by the proxy in `x-limnograph-proxy-secret`; at least 16 random characters."""
    user_header: str = "x-forwarded-user"
    """Header with the user name."""
    groups_header: str = "x-forwarded-groups"
    """Header with the groups, comma-separated."""
    email_header: str = "x-forwarded-email"
    """Header with the email address."""
    grants: dict[str, tuple[AccessScope, ...]] = msgspec.field(default_factory=dict)
    """As in `[auth.oidc]`."""


class AuthSettings(FrozenSettings, frozen=True, kw_only=True):
    """Authentication. API tokens (`limnograph token`) work in every mode except `none`."""

    mode: Literal["none", "tokens", "oidc", "proxy"] = "none"
    """`none`: no authentication (loopback only)."""
    tokens: str = ""
    """File of API tokens; default `.limnograph/tokens.json` next to the settings file."""
    audit: str = ""
    """File of the audit log; default `.limnograph/audit.log` next to the settings file."""
    session_hours: Annotated[float, msgspec.Meta(gt=0, le=MAX_SESSION_HOURS)] = 12.0
    """Lifetime of a browser session, hours."""
    session_key: Secret = ""
    """Key that signs sessions, shared by the servers of one installation; at least 16 random characters. Default:
    generated and stored in a file.
    """
    open_metrics: bool = False
    """Serve `/metrics`, which names all tables, without authentication."""
    oidc: OidcSettings | None = None
    """The provider, for mode `oidc`."""
    proxy: ProxySettings | None = None
    """The proxy, for mode `proxy`."""
