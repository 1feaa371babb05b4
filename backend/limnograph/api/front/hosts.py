"""The `Host` of a request, read as RFC 9110 §7.2 and RFC 3986 §3.2 write an authority; what is none has no name."""

from __future__ import annotations

import ipaddress
import re

from limnograph.api.wire.remembering import remembered

_AUTHORITY = re.compile(
    rb"(?:\[(?P<address>[0-9A-Fa-f:.]{2,45})\]|(?P<name>[A-Za-z0-9._~!$&'()*+,=-]{1,255}))(?::(?P<port>[0-9]{0,5}))?"
)
"""No user before it, no zone in an address, no escape: none of these is the name of a server."""


@remembered(256)
def hostname(host: bytes) -> str | None:
    """The name or address in lower case, without a port and without the dot of a full name; None when it is no host."""
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
