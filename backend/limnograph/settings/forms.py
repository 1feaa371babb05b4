"""Formats shared by several settings."""

from __future__ import annotations

from urllib.parse import urlsplit

from limnograph.domain.errors import SettingsError


def check_http(field: str, url: str) -> None:
    """Raises SettingsError unless it is an http or https URL with a host."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good:
        raise SettingsError(field, "is not an http or https URL; write http://host:port")
