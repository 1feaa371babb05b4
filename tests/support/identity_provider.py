"""A small OpenID Connect provider as an ASGI application: discovery, keys, tokens. A test can bend what it says."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

ISSUER = "https://idp.example.org"
CLIENT = "limnograph"


class Provider:
    """`claims`: of the next id token, over the honest ones; `key`, `algorithm`: what signs it; `answers`: of the token
    endpoint, instead of its own.
    """

    def __init__(self, now: int) -> None:
        self.now = now
        self.own = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        self.key: Any = self.own
        self.algorithm = "RS256"
        self.kid: str | None = "k1"
        self.broken = False
        self.claims: dict[str, Any] = {}
        self.document: dict[str, Any] = {}
        self.answer: tuple[int, bytes] | None = None
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.keys_read = 0
        self._codes: dict[str, dict[str, str]] = {}

    def rotate(self) -> None:
        """Another key under the same id."""
        self.own = self.key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)

    def log_in(self, url: str) -> str:
        """What a browser does at the provider; the code it comes back with."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        self._codes["a-code"] = query
        return "a-code"

    def token(self, nonce: str | None = None, **claims: Any) -> str:
        """A signed token."""
        honest = {
            "iss": ISSUER,
            "aud": CLIENT,
            "sub": "ann-1",
            "iat": self.now,
            "exp": self.now + 300,
            "email": "Ann@Example.org",
            "email_verified": True,
            "groups": ["sre"],
            **({"nonce": nonce} if nonce else {}),
        }
        said = {name: value for name, value in {**honest, **self.claims, **claims}.items() if value is not None}
        return jwt.encode(said, self.key, algorithm=self.algorithm, headers={"kid": self.kid} if self.kid else {})

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            message = await receive()
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        status, found = self._answer(scope["path"], {n: v[0] for n, v in parse_qs(body.decode()).items()})
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": found})

    def _answer(self, path: str, form: dict[str, str]) -> tuple[int, bytes]:
        if path == "/.well-known/openid-configuration":
            document = {
                "issuer": ISSUER,
                "authorization_endpoint": f"{ISSUER}/authorize",
                "token_endpoint": f"{ISSUER}/token",
                "jwks_uri": f"{ISSUER}/keys",
                **self.document,
            }
            return 200, json.dumps(document).encode()
        if path == "/keys":
            self.keys_read += 1
            if self.broken:
                return 500, b""
            key = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.own.public_key()))
            return 200, json.dumps(
                {"keys": [{"kty": "weird", "kid": "x"}, {**key, "kid": "k1", "alg": "RS256"}]}
            ).encode()
        self.asked.append((path, form))
        if self.answer:
            return self.answer
        return self._exchanged(form)

    def _exchanged(self, form: dict[str, str]) -> tuple[int, bytes]:
        begun = self._codes.pop(form.get("code", ""), None)
        verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).rstrip(b"=").decode()
        if begun is None or begun["code_challenge"] != challenge or begun["redirect_uri"] != form["redirect_uri"]:
            return 400, b'{"error":"invalid_grant"}'
        return 200, json.dumps({"id_token": self.token(begun["nonce"]), "access_token": "x"}).encode()
