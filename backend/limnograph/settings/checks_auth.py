"""Rules of `[auth]`: rejects settings that would grant access to everyone, or to no one."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from limnograph.domain.access import SCOPES, AccessScope
from limnograph.domain.errors import SettingsError
from limnograph.settings.auth import AuthSettings, OidcSettings, ProxySettings
from limnograph.settings.base import MIN_SECRET
from limnograph.settings.forms import check_http
from limnograph.settings.server import ServerSettings
from limnograph.settings.whole import is_loopback


def check_auth(auth: AuthSettings, server: ServerSettings) -> None:
    """Raises SettingsError, which names the key."""
    if auth.session_key and len(auth.session_key) < MIN_SECRET:
        raise SettingsError("auth.session_key", f"must have at least {MIN_SECRET} random characters")
    if auth.mode == "oidc":
        _check_oidc(auth.oidc, server)
    if auth.mode == "proxy":
        _check_proxy(auth.proxy)


def _check_oidc(oidc: OidcSettings | None, server: ServerSettings) -> None:
    if oidc is None:
        raise SettingsError(
            "auth.oidc", 'is required by auth.mode = "oidc": set issuer, client_id, client_secret_file and grants'
        )
    check_http("auth.oidc.issuer", oidc.issuer)
    issuer = urlsplit(oidc.issuer)
    if issuer.scheme != "https" and not is_loopback(issuer.hostname or ""):
        raise SettingsError(
            "auth.oidc.issuer", "must be https; otherwise anyone on the network path could impersonate users"
        )
    if not server.public_url:
        raise SettingsError(
            "server.public_url", 'is required by auth.mode = "oidc": the provider redirects users to it'
        )
    _check_grants("auth.oidc.grants", oidc.grants)


def _check_proxy(proxy: ProxySettings | None) -> None:
    if proxy is None:
        raise SettingsError("auth.proxy", 'is required by auth.mode = "proxy": set addresses and secret_file')
    if not proxy.addresses:
        raise SettingsError("auth.proxy.addresses", "must not be empty; list the addresses of the proxy")
    for index, address in enumerate(proxy.addresses):
        try:
            ipaddress.ip_network(address)
        except ValueError as error:
            raise SettingsError(f"auth.proxy.addresses[{index}]", "is not an address or network") from error
    if len(proxy.secret) < MIN_SECRET:
        raise SettingsError("auth.proxy.secret", f"must have at least {MIN_SECRET} random characters")
    for field in ("user_header", "groups_header", "email_header"):
        if not re.fullmatch(r"[a-z][a-z0-9-]*", getattr(proxy, field)):
            raise SettingsError(f"auth.proxy.{field}", "is not a header name; use lower-case letters, digits and -")
    _check_grants("auth.proxy.grants", proxy.grants)


def _check_grants(field: str, grants: Mapping[str, tuple[AccessScope, ...]]) -> None:
    if not grants:
        raise SettingsError(
            field, f'must not be empty, because no one could read; for example "group:sre" = ["{SCOPES[0]}"]'
        )
    for key in grants:
        if key != "*" and not re.fullmatch(r"(user|group|domain):.+", key):
            raise SettingsError(field, f"{key!r} is not user:…, group:…, domain:… or *")
