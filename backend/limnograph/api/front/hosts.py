"""Parses the `Host` of a request as an authority (RFC 9110 §7.2, RFC 3986 §3.2)."""

from __future__ import annotations

import ipaddress
import re

from limnograph.api.wire.remembering import remembered

_AUTHORITY = re.compile(
    rb"(?:\[(?P<address>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9._~!$&'()*+,=-]{1,255}))(?::(?P<port>[0-9]{0,5}))?"
)
"""An authority without user information, zone identifiers and percent-encoding, none of which a server's name has."""


@remembered(256)
def hostname(host: bytes) -> str | None:
    """The host name or address in lower case, without the port and a trailing dot; None if it is malformed."""
    found = _AUTHORITY.fullmatch(host)
    if found is None or int(found["port"] or 0) > 65_535:
        return None
    if found["address"] is not None:
        try:
            return str(ipaddress.IPv6Address(found["address"].decode()))
        except ValueError:
            return None
    name = found["name"].decode().lower().removesuffix(".")
    return name if name and not name.endswith(".") else None
