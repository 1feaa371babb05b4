"""Authentication: bearer token, session cookie, trusted proxy, or none."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from limnograph.api.front.hosts import hostname
from limnograph.domain.access import NOBODY_ELSE, Claims, Grants, Identity, granted
from limnograph.domain.errors import Forbidden, InvalidInput, LimnographError, Unauthenticated
from limnograph.ports.access import AuditLog, IdentityProvider
from limnograph.services.access.attempts import Attempts
from limnograph.services.access.sessions import Sessions
from limnograph.services.access.tokens import PREFIX, Tokens

Headers = Mapping[bytes, bytes]
PROXY_SECRET = b"x-limnograph-proxy-secret"
PLAIN_COOKIE = "limnograph"
"""Name of the session cookie; over https it has the prefix `__Host-`."""
SAFE = frozenset(("GET", "HEAD", "OPTIONS", "TRACE"))
_NO_TOKEN = "invalid token"  # noqa: S105  # a sentence
_HASHING = 2
"""Maximum number of tokens hashed concurrently: each takes 16 MB and 40 ms of a core."""


class TrustedProxy(NamedTuple):
    """The trusted proxy and its identity headers, in lower case."""

    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]
    secret: bytes
    user_header: bytes
    groups_header: bytes
    email_header: bytes
    grants: Grants

    @property
    def headers(self) -> frozenset[bytes]:
        """Headers that only the proxy may set."""
        return frozenset((PROXY_SECRET, self.user_header, self.groups_header, self.email_header))


class Credentials(NamedTuple):
    """The means of authentication; absent without authentication."""

    tokens: Tokens
    sessions: Sessions
    attempts: Attempts
    provider: IdentityProvider | None = None
    grants: Grants = MappingProxyType({})
    proxy: TrustedProxy | None = None


class Authenticator:
    """Authenticates requests and rejects misdirected or cross-site ones. Immutable after construction. `hosts`: host
    names that a server without authentication accepts, which prevents DNS rebinding; None = any. `public_url`: the
    server's address for browsers; cookies are `Secure` if it is https.
    """

    def __init__(
        self,
        credentials: Credentials | None = None,
        *,
        hosts: Collection[str] | None = None,
        public_url: str = "",
        audit: AuditLog | None = None,
    ) -> None:
        self.credentials, self.audit = credentials, audit
        self.hosts = None if hosts is None else frozenset(_plain(name) for name in hosts)
        self.secure = public_url.startswith("https://")
        self.cookie = f"__Host-{PLAIN_COOKIE}" if self.secure else PLAIN_COOKIE
        self._origin = public_url.rstrip("/").encode()
        self._cookie = self.cookie.encode() + b"="
        self._hashing = asyncio.Semaphore(_HASHING)

    def known(self, scope: Any, headers: Headers) -> Identity | None:
        """The caller, if it can be determined without waiting."""
        found = self.credentials
        if found is None:
            return NOBODY_ELSE
        bearer = headers.get(b"authorization")
        if bearer is not None:
            token = _bearer(bearer)
            return found.tokens.known(token) if token and token.startswith(PREFIX) and _once(scope, headers) else None
        if found.proxy is not None:
            return None
        cookie = self.session_cookie(headers)
        return found.sessions.identity(cookie) if cookie else None

    async def identify(self, scope: Any, headers: Headers) -> Identity | None:
        """The caller; None without credentials. Raises Unauthenticated, TooManyRequests, SourceError."""
        known = self.known(scope, headers)
        found = self.credentials
        if known is not None or found is None:
            return known
        if b"authorization" in headers:
            token = _bearer(headers[b"authorization"])
            if token is None or not _once(scope, headers):
                raise Unauthenticated("send exactly one header `Authorization: Bearer …`")
            return await self.verify(token, peer(scope))
        return _vouched(found.proxy, scope, headers) if found.proxy else None

    async def verify(self, token: str, address: str) -> Identity:
        """The owner of a token or JWT. Slow: it hashes or verifies a signature. Failed attempts are counted. Raises as
        `identify`.
        """
        found = self.credentials
        if found is None:
            raise Unauthenticated('authentication is off (auth.mode = "none")')
        found.attempts.check(address)
        try:
            identity = await self._verified(found, token)
        except Unauthenticated:
            found.attempts.failed(address)
            raise
        if not identity.scopes:
            raise Forbidden("nothing is granted to this identity")
        return identity

    async def _verified(self, found: Credentials, token: str) -> Identity:
        if token.startswith(PREFIX) or found.provider is None:
            async with self._hashing:
                identity = await asyncio.to_thread(found.tokens.verify, token)
            if identity is None:
                raise Unauthenticated(_NO_TOKEN)
            return identity
        claims = await found.provider.bearer(token)
        return Identity(claims.email or claims.subject, granted(claims, found.grants), "jwt")

    def session_cookie(self, headers: Headers) -> str | None:
        """The value of the session cookie, if it was sent."""
        for part in headers.get(b"cookie", b"").split(b";"):
            stripped = part.strip()
            if stripped.startswith(self._cookie):
                return stripped[len(self._cookie) :].decode("latin-1")
        return None

    def refusal(self, scope: Any, headers: Headers, identity: Identity | None) -> LimnographError | None:
        """Why a request is misdirected or cross-site; None if it may proceed."""
        host = headers.get(b"host", b"")
        if (reason := self._foreign(scope, headers, host)) is not None:
            return reason
        if scope["method"] in SAFE or (identity is not None and identity.method in {"token", "jwt"}):
            return None
        site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
        if site is not None:
            foreign = site != b"same-origin"
        elif origin is not None:
            foreign = origin not in {self._origin, b"http://" + host, b"https://" + host}
        else:  # every browser sends one of the two with a request that changes something
            foreign = identity is not None and identity.method == "session"
        return Forbidden("cross-site request") if foreign else None

    def _foreign(self, scope: Any, headers: Headers, host: bytes) -> LimnographError | None:
        """Why the `Host` is rejected; one that violates RFC 9110 §7.2 always is."""
        if b"host" not in headers:
            return None  # HTTP/1.0: a probe, never a browser
        if _sent(scope, headers, b"host") > 1:
            return InvalidInput("host", "send exactly one header `Host`")
        name = hostname(host)
        if self.hosts is not None and name not in self.hosts:
            return Forbidden("unknown host; set server.public_url to the address of this server")
        return InvalidInput("host", "is not a host name or address") if name is None else None


def _sent(scope: Any, headers: Headers, name: bytes) -> int:
    """How often a header that is present was sent."""
    given = scope["headers"]
    return 1 if len(given) == len(headers) else [header for header, _ in given].count(name)


def peer(scope: Any) -> str:
    """Address of the connected peer."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def _plain(name: str) -> str:
    """An accepted host name as `hostname` spells it."""
    return hostname(f"[{name}]".encode() if ":" in name else name.encode("idna")) or name.lower()


def _bearer(header: bytes) -> str | None:
    scheme, _, token = header.partition(b" ")
    if scheme.lower() != b"bearer" or not token.strip():
        return None
    return token.strip().decode("latin-1")


def _once(scope: Any, headers: Headers) -> bool:
    return _sent(scope, headers, b"authorization") == 1


def _vouched(proxy: TrustedProxy, scope: Any, headers: Headers) -> Identity | None:
    """The identity that the proxy reports. None without identity headers; raises Unauthenticated if they are not from
    the trusted proxy.
    """
    trusted = proxy.headers
    for name, _ in scope["headers"]:
        # `X_Forwarded_User` becomes the same variable as `X-Forwarded-User` in more than one program on the way.
        if b"_" in name and name.lower().replace(b"_", b"-") in trusted:
            raise Unauthenticated("a proxy header is spelled with an underscore")
    if proxy.user_header not in headers and PROXY_SECRET not in headers:
        return None
    dropped = {option.strip().lower() for option in headers.get(b"connection", b"").split(b",")}
    names = [name for name, _ in scope["headers"] if name in trusted]
    if len(names) != len(set(names)) or dropped & trusted:
        raise Unauthenticated("a proxy header is duplicated or listed in Connection")
    if not _from(proxy, peer(scope)) or not hmac.compare_digest(headers.get(PROXY_SECRET, b""), proxy.secret):
        raise Unauthenticated("identity headers are accepted only from the trusted proxy")
    user = _text(headers.get(proxy.user_header, b""))
    if not user:
        raise Unauthenticated("the proxy sent no user")
    groups = tuple(part.strip() for part in _text(headers.get(proxy.groups_header, b"")).split(",") if part.strip())
    claims = Claims(user, _text(headers.get(proxy.email_header, b"")) or None, groups)
    scopes = granted(claims, proxy.grants)
    if not scopes:
        raise Forbidden("nothing is granted to this identity")
    return Identity(user, scopes, "proxy")


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace").strip()


def _from(proxy: TrustedProxy, address: str) -> bool:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped:
        found = found.ipv4_mapped
    return any(found in network for network in proxy.networks if network.version == found.version)
