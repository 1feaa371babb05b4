"""Port IdentityProvider on OpenID Connect: discovery, authorisation code with PKCE, keys of the provider.

The provider's URLs come from its discovery document, which must name the configured issuer; redirects are not followed;
every answer has a deadline and a size. Needs the extra `oidc`.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import secrets
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import httpx
import msgspec

from limnograph.domain.access import Claims
from limnograph.domain.errors import (
    EnvironmentFault,
    SourceError,
    SourceRejected,
    SourceTimeout,
    SourceUnavailable,
    Unauthenticated,
)
from limnograph.ports.access import Started

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Asymmetric ones only: a public key must never be taken for a shared secret."""
LEEWAY_S = 60
_DEADLINE_S = 10.0
_LARGEST = 1024 * 1024
_KEYS_FRESH_S = 3_600.0
_KEYS_AGAIN_S = 30.0
_LONGEST_TOKEN = 16_384
_GROUPS = 500


class OidcClient(NamedTuple):
    """Who we are to the provider. `audience`: of bearer tokens, default the client id. `scopes`: what is asked for."""

    issuer: str
    client_id: str
    client_secret: str
    redirect_uri: str
    scopes: tuple[str, ...] = ("openid", "email", "profile")
    groups_claim: str = "groups"
    audience: str = ""
    trust_email: bool = False


class _Discovered(msgspec.Struct, frozen=True):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class OidcProvider:
    """One provider. Opens no connection before it is asked for something."""

    def __init__(self, client: OidcClient, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._jwt = _library()
        self._client = client
        self._http = httpx.AsyncClient(transport=transport, timeout=_DEADLINE_S, follow_redirects=False)
        self._discovered: _Discovered | None = None
        self._keys: dict[str, Any] = {}
        self._keys_at = float("-inf")
        self._reading_keys = asyncio.Lock()

    async def start(self) -> Started:
        found = await self._discovery()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "response_type": "code",
            "client_id": self._client.client_id,
            "redirect_uri": self._client.redirect_uri,
            "scope": " ".join(self._client.scopes),
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        joint = "&" if urlsplit(found.authorization_endpoint).query else "?"
        return Started(f"{found.authorization_endpoint}{joint}{urlencode(asked)}", state, nonce, verifier)

    async def finish(self, code: str, started: Started) -> Claims:
        found = await self._discovery()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._client.redirect_uri,
            "client_id": self._client.client_id,
            "code_verifier": started.verifier,
        }
        basic = None
        if self._client.client_secret and "client_secret_basic" in found.token_endpoint_auth_methods_supported:
            basic = httpx.BasicAuth(self._client.client_id, self._client.client_secret)
        elif self._client.client_secret:
            form["client_secret"] = self._client.client_secret
        answer = await self._ask("POST", found.token_endpoint, data=form, auth=basic)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise Unauthenticated("the identity provider gave no id token")
        claims = await self._verified(token, self._client.client_id)
        if not hmac.compare_digest(str(claims.get("nonce", "")), started.nonce):
            raise Unauthenticated("the login was not started here")
        if claims.get("azp", self._client.client_id) != self._client.client_id:
            raise Unauthenticated("the id token is for somebody else")
        return self._person(claims)

    async def bearer(self, token: str) -> Claims:
        return self._person(await self._verified(token, self._client.audience or self._client.client_id))

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _verified(self, token: str, audience: str) -> Mapping[str, Any]:
        """Claims of a token whose signature, issuer, audience and times hold. Raises Unauthenticated, SourceError."""
        if len(token) > _LONGEST_TOKEN:
            raise Unauthenticated("the token is too long")
        try:
            header = self._jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                raise Unauthenticated("the token is signed by an algorithm that is not taken here")
            key = await self._key(str(header.get("kid", "")))
            claims: dict[str, Any] = self._jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                audience=audience,
                issuer=self._client.issuer,
                leeway=LEEWAY_S,
                options={"require": ["exp", "iat", "sub", "aud", "iss"]},
            )
        except self._jwt.PyJWTError as error:
            raise Unauthenticated(f"the token does not hold ({type(error).__name__})") from error
        return claims

    async def _key(self, kid: str) -> Any:
        """A key of the provider; keys that are not known are asked for, not more often than each half minute."""
        age = time.monotonic() - self._keys_at
        if age > _KEYS_FRESH_S or (kid not in self._keys and age > _KEYS_AGAIN_S):
            async with self._reading_keys:
                if time.monotonic() - self._keys_at >= min(age, _KEYS_AGAIN_S):
                    await self._read_keys()
        if kid in self._keys:
            return self._keys[kid]
        if not kid and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        raise Unauthenticated("the token names a key that the identity provider does not have")

    async def _read_keys(self) -> None:
        found = await self._discovery()
        document = await self._ask("GET", found.jwks_uri)
        keys: dict[str, Any] = {}
        for entry in document.get("keys") or []:
            try:
                keys[str(entry.get("kid", ""))] = self._jwt.PyJWK(entry)
            except (self._jwt.PyJWTError, AttributeError, ValueError, TypeError):
                continue  # a key of a kind that we do not take
        self._keys, self._keys_at = keys, time.monotonic()

    async def _discovery(self) -> _Discovered:
        if self._discovered is None:
            url = self._client.issuer.rstrip("/") + "/.well-known/openid-configuration"
            try:
                found = msgspec.convert(await self._ask("GET", url), _Discovered)
            except msgspec.ValidationError as error:
                raise SourceRejected("oidc", f"the discovery document is none: {error}") from error
            if found.issuer.rstrip("/") != self._client.issuer.rstrip("/"):
                raise SourceRejected("oidc", "the discovery document names another issuer")
            for endpoint in (found.authorization_endpoint, found.token_endpoint, found.jwks_uri):
                if urlsplit(endpoint).scheme != urlsplit(self._client.issuer).scheme:
                    raise SourceRejected("oidc", "the discovery document names an endpoint of another scheme")
            self._discovered = found
        return self._discovered

    async def _ask(self, method: str, url: str, **given: Any) -> dict[str, Any]:
        """A JSON object. Raises SourceError; Unauthenticated when a code is refused."""
        headers = {"accept": "application/json", "accept-encoding": "identity"}
        try:
            async with (
                asyncio.timeout(_DEADLINE_S),
                self._http.stream(method, url, headers=headers, **given) as answer,
            ):
                body = bytearray()
                async for part in answer.aiter_bytes():
                    body += part
                    if len(body) > _LARGEST:
                        raise SourceRejected("oidc", "an answer is too large")
        except TimeoutError as error:
            raise SourceTimeout("oidc", f"no answer within {_DEADLINE_S:.0f} s") from error
        except httpx.HTTPError as error:
            raise SourceUnavailable("oidc", f"not reachable ({type(error).__name__})") from error
        return _object(answer.status_code, bytes(body), code_asked=method == "POST")

    def _person(self, claims: Mapping[str, Any]) -> Claims:
        email = claims.get("email")
        verified = claims.get("email_verified") is True or self._client.trust_email
        groups = claims.get(self._client.groups_claim)
        listed = groups if isinstance(groups, list) else [groups] if isinstance(groups, str) else []
        return Claims(
            subject=str(claims["sub"]),
            email=email if isinstance(email, str) and verified else None,
            groups=tuple(str(group) for group in listed[:_GROUPS]),
        )


def _object(status: int, body: bytes, *, code_asked: bool) -> dict[str, Any]:
    if status in {400, 401, 403} and code_asked:
        raise Unauthenticated("the identity provider refused the login")
    if status != 200:
        kind: type[SourceError] = SourceUnavailable if status >= 500 or status == 429 else SourceRejected
        raise kind("oidc", f"answered {status}")
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise SourceRejected("oidc", "the answer is no JSON object") from error


def _library() -> Any:
    try:
        import jwt
        from cryptography.hazmat.primitives import hashes  # noqa: F401  # PyJWT knows no public keys without it
    except ImportError as error:
        raise EnvironmentFault("auth.mode = \"oidc\" needs the extra: pip install 'limnograph[oidc]'") from error
    return jwt
