"""Port IdentityProvider on OpenID Connect with Authlib: authorization code with PKCE, and validation of id tokens.

Authlib builds the requests and validates the tokens. This module sends them, so that every response has a deadline and
a size limit and no redirect is followed. The provider's URLs come from its discovery document, which must name the
configured issuer. Needs the extra `oidc`.
"""

from __future__ import annotations

import asyncio
import secrets
import time
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

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
from limnograph.ports.access import LoginStart

if TYPE_CHECKING:
    from limnograph.adapters.access.provider_keys import ProviderKeys

ALGORITHMS = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
"""Asymmetric algorithms only: a public key must never be accepted as a shared secret."""
LEEWAY_S = 60
_DEADLINE_S = 10.0
_LARGEST = 1024 * 1024
_LONGEST_TOKEN = 16_384
_GROUPS = 500
_REQUIRED = ("exp", "iat", "sub", "aud", "iss")


class OidcClient(NamedTuple):
    """Limnograph's registration with the provider.

    audience  of bearer tokens; the client id by default
    scopes    the requested scopes
    """

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
    """One provider. Opens no connection before the first call. For use on the event loop only."""

    def __init__(
        self,
        client: OidcClient,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._keys = _keys(self._read_keys, clock)
        self._http = httpx.AsyncClient(transport=transport, timeout=_DEADLINE_S, follow_redirects=False)
        self._discovered: _Discovered | None = None

    async def start(self) -> LoginStart:
        from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        found = await self._discovery()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        url = prepare_grant_uri(
            found.authorization_endpoint,
            self._client.client_id,
            "code",
            redirect_uri=self._client.redirect_uri,
            scope=" ".join(self._client.scopes),
            state=state,
            nonce=nonce,
            code_challenge=create_s256_code_challenge(verifier),
            code_challenge_method="S256",
        )
        return LoginStart(url, state, nonce, verifier)

    async def finish(self, code: str, started: LoginStart) -> Claims:
        from authlib.oauth2.auth import ClientAuth
        from authlib.oauth2.rfc6749.parameters import prepare_token_request
        from authlib.oidc.core import CodeIDToken

        found, client = await self._discovery(), self._client
        body = prepare_token_request(
            "authorization_code", code=code, redirect_uri=client.redirect_uri, code_verifier=started.verifier
        )
        auth = ClientAuth(client.client_id, client.client_secret, _method(client, found))
        headers = {"content-type": "application/x-www-form-urlencoded"}
        url, headers, body = auth.prepare("POST", found.token_endpoint, headers, body)
        answer = await self._ask("POST", url, headers, content=body)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise Unauthenticated("the identity provider returned no id token")
        access = answer.get("access_token")
        about = {"nonce": started.nonce, "client_id": client.client_id}
        about |= {"access_token": access} if isinstance(access, str) else {}
        return self._person(await self._verified(token, client.client_id, CodeIDToken, about))

    async def bearer(self, token: str) -> Claims:
        from authlib.oauth2.claims import JWTClaims

        audience = self._client.audience or self._client.client_id
        return self._person(await self._verified(token, audience, JWTClaims, {}))

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _verified(self, token: str, audience: str, rules: Any, about: dict[str, str]) -> Mapping[str, Any]:
        """Claims of a token with valid signature, issuer, audience and times. Raises Unauthenticated, SourceError."""
        from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError

        if len(token) > _LONGEST_TOKEN:
            raise Unauthenticated("the token is too long")
        expected: dict[str, dict[str, object]] = {name: {"essential": True} for name in _REQUIRED}
        expected |= {"iss": {"essential": True, "value": self._client.issuer}}
        expected |= {"aud": {"essential": True, "value": audience}}
        try:
            try:
                found = _decoded(token, await self._keys.current())
            except (BadSignatureError, InvalidKeyIdError):
                if not await self._keys.renew():
                    raise
                found = _decoded(token, await self._keys.current())
            claims: Mapping[str, Any] = rules(found.claims, found.header, expected, about)
            claims.validate(leeway=LEEWAY_S)  # type: ignore[attr-defined]  # of Authlib, which has no types
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise Unauthenticated(f"the token is invalid ({type(error).__name__})") from error
        return claims

    async def _read_keys(self) -> dict[str, Any]:
        return await self._ask("GET", (await self._discovery()).jwks_uri)

    async def _discovery(self) -> _Discovered:
        if self._discovered is None:
            url = self._client.issuer.rstrip("/") + "/.well-known/openid-configuration"
            try:
                found = msgspec.convert(await self._ask("GET", url), _Discovered)
            except msgspec.ValidationError as error:
                raise SourceRejected("oidc", f"the discovery document is invalid: {error}") from error
            if found.issuer.rstrip("/") != self._client.issuer.rstrip("/"):
                raise SourceRejected("oidc", "the discovery document names another issuer")
            for endpoint in (found.authorization_endpoint, found.token_endpoint, found.jwks_uri):
                if urlsplit(endpoint).scheme != urlsplit(self._client.issuer).scheme:
                    raise SourceRejected("oidc", "the discovery document names an endpoint of another scheme")
            self._discovered = found
        return self._discovered

    async def _ask(
        self, method: str, url: str, given: Mapping[str, str] | None = None, content: str | None = None
    ) -> dict[str, Any]:
        """A JSON object. Raises SourceError; Unauthenticated when a code is refused."""
        headers = {"accept": "application/json", "accept-encoding": "identity", **(given or {})}
        try:
            async with (
                asyncio.timeout(_DEADLINE_S),
                self._http.stream(method, url, headers=headers, content=content) as answer,
            ):
                body = bytearray()
                async for part in answer.aiter_bytes():
                    body += part
                    if len(body) > _LARGEST:
                        raise SourceRejected("oidc", "the response is too large")
        except TimeoutError as error:
            raise SourceTimeout("oidc", f"no response within {_DEADLINE_S:.0f} s") from error
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
        raise Unauthenticated("the identity provider rejected the login")
    if status != 200:
        kind: type[SourceError] = SourceUnavailable if status >= 500 or status == 429 else SourceRejected
        raise kind("oidc", f"returned {status}")
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise SourceRejected("oidc", "the response is not a JSON object") from error


def _method(client: OidcClient, found: _Discovered) -> str:
    """How the client authenticates at the token endpoint."""
    if not client.client_secret:
        return "none"
    basic = "client_secret_basic" in found.token_endpoint_auth_methods_supported
    return "client_secret_basic" if basic else "client_secret_post"


def _decoded(token: str, keys: Any) -> Any:
    """Header and claims of a token signed by one of the keys. Raises JoseError, ValueError."""
    from joserfc import jwt
    from joserfc.errors import SecurityWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)  # EdDSA has a newer name; providers still use the old one
        return jwt.decode(token, keys, algorithms=list(ALGORITHMS))


def _keys(read: Any, clock: Callable[[], float]) -> ProviderKeys:
    try:
        import authlib  # noqa: F401

        from limnograph.adapters.access.provider_keys import ProviderKeys
    except ImportError as error:
        raise EnvironmentFault("auth.mode = \"oidc\" requires an extra: pip install 'limnograph[oidc]'") from error
    return ProviderKeys(read, clock)
