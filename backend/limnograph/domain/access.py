"""Callers and their permissions: scopes, identities, stored API tokens, entries of the audit log."""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping
from typing import Literal, NamedTuple, get_args

import msgspec

from limnograph.domain.errors import Forbidden
from limnograph.domain.time import Micros

AccessScope = Literal["read", "webhook", "annotate", "maintain", "maintain:propose", "maintain:approve"]
"""`read`: pages, the API and the stream. `webhook`: events that other programs push. `annotate`: labels and notes,
visible to everyone. `maintain:propose`: propose plans of maintenance, and take them back. `maintain:approve`: approve,
dismiss and cancel plans, and close breakers. `maintain`: both.
"""

SCOPES: tuple[AccessScope, ...] = get_args(AccessScope)
Method = Literal["none", "token", "session", "jwt", "proxy"]


class Identity(NamedTuple):
    """An authenticated caller. `subject` is recorded in the audit log; `token_id` is set for an API token."""

    subject: str
    scopes: frozenset[AccessScope]
    method: Method
    token_id: str | None = None


def permits(scopes: Collection[AccessScope], needed: AccessScope) -> bool:
    """Whether the scopes of a caller include the needed one."""
    return needed in scopes or (needed.startswith("maintain:") and "maintain" in scopes)


def actor_of(subject: str) -> str:
    """The name under which decisions of a caller are recorded. Raises Forbidden for names of programs: a caller with
    such a name could pass as the rules, the executor or a policy.
    """
    if subject.strip().casefold() == PROGRAM or subject.strip().casefold().startswith(OF_POLICY):
        raise Forbidden(f"{subject!r} is a name of programs; use a token or an account with another name")
    return subject


PROGRAM, OF_POLICY = "limnograph", "policy:"
"""Actors of plans that are no users: the rules and the executor, and policies of mode `auto` with their names."""
NOBODY_ELSE = Identity("local", frozenset(("read", "webhook", "annotate")), "none")
"""The identity of every caller if authentication is off: on loopback, or with `server.insecure`."""


class TokenRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A stored API token: its scrypt salt and hash in hex, never the token itself. Times are epoch microseconds."""

    id: str
    name: str
    scopes: tuple[AccessScope, ...]
    salt: str
    hash: str
    created_at: Micros
    expires_at: Micros | None = None
    revoked_at: Micros | None = None

    def valid(self, now: Micros) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class AuditEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the audit log. It contains no secrets: no header, no query string, no body."""

    at: str
    who: str
    what: str
    outcome: str
    method: str = ""
    path: str = ""
    address: str = ""
    request_id: str = ""
    detail: str = ""


class Claims(NamedTuple):
    """Claims of an identity provider or a trusted proxy about a user. `email` is set only if it is verified."""

    subject: str
    email: str | None
    groups: tuple[str, ...]


Grants = Mapping[str, Collection[AccessScope]]
"""Grants of scopes, by `user:EMAIL_OR_SUBJECT`, `group:NAME`, `domain:example.org` or `*`."""


def granted(claims: Claims, grants: Grants) -> frozenset[AccessScope]:
    """Scopes of a user: the union of all matching grants, empty without a match."""
    keys = {"*", f"user:{claims.subject}", *(f"group:{group}" for group in claims.groups)}
    if claims.email:
        email = claims.email.lower()
        keys |= {f"user:{email}", f"domain:{email.rpartition('@')[2]}"}
    return frozenset(scope for key in keys for scope in grants.get(key, ()))


def address_group(address: str) -> str:
    """Key for counting login attempts: an IPv4 address, or the /64 prefix of an IPv6 address, which one user owns."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return address


def return_path(text: str | None) -> str:
    """Where to redirect after a login: a path of this server, or the front page, never another site (open redirect).
    Browsers drop tabs and newlines and read a backslash as a slash, so paths with any of those are rejected.
    """
    if not text or not text.startswith("/") or text.startswith("//") or len(text) > 4096:
        return "/"
    if "\\" in text or any(ord(character) <= 0x20 or ord(character) == 0x7F for character in text):
        return "/"
    if text.split("?", 1)[0].startswith(("/login", "/api/")):
        return "/"
    return text
