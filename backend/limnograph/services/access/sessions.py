"""Browser sessions: a signed cookie holds the identity, the expiry and the token; ended sessions are remembered.

No state is stored for an active session, so a restart ends none, and any process with the key recognises all of them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from collections import OrderedDict
from typing import NamedTuple

import msgspec

from limnograph.domain.access import AccessScope, Identity
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.ports.access import EndedSessions
from limnograph.ports.clock import Clock
from limnograph.services.access.tokens import Tokens

_LONGEST = 4_096
_REMEMBERED = 4_096
_HOUR = 3_600 * MICROS_PER_SECOND


class _Session(msgspec.Struct, frozen=True, array_like=True):
    id: str
    subject: str
    scopes: tuple[AccessScope, ...]
    expires_at: Micros
    token_id: str | None


class _VerifiedCookie(NamedTuple):
    """The contents of a cookie whose signature is valid."""

    session: _Session
    identity: Identity


class OpenedSession(NamedTuple):
    """A new session: the cookie's value and how long it lasts, seconds."""

    cookie: str
    seconds: int


class Sessions:
    """`key`: at least 32 random bytes, shared by the servers of one installation. Thread-safe: `_known` is changed by
    single steps, and a value is the same whichever thread computes it.
    """

    def __init__(self, key: bytes, ended: EndedSessions, tokens: Tokens, clock: Clock, hours: float = 12.0) -> None:
        self._key, self._ended, self._tokens, self._clock = key, ended, tokens, clock
        self._length = int(hours * _HOUR)
        self._decoder = msgspec.json.Decoder(_Session)
        self._known: OrderedDict[bytes, _VerifiedCookie] = OrderedDict()

    def now(self) -> Micros:
        """Epoch microseconds of the clock that expires sessions."""
        return self._clock.now()

    def open(self, identity: Identity) -> OpenedSession:
        """A session for a user who has just authenticated. It never outlives its token."""
        session = _Session(
            secrets.token_hex(16),
            identity.subject,
            tuple(sorted(identity.scopes)),
            self._clock.now() + self._length,
            identity.token_id,
        )
        return OpenedSession(self.signed(msgspec.json.encode(session), "session"), self._length // MICROS_PER_SECOND)

    def identity(self, cookie: str) -> Identity | None:
        """The identity in a cookie; None if the cookie is not ours or expired, or if the session or its token was
        ended.
        """
        found = self._read(cookie)
        if found is None or self._ended.ended(found.session.id):
            return None
        session, identity = found
        if session.token_id is not None and not self._tokens.standing(session.token_id):
            return None
        return identity

    def end(self, cookie: str) -> Identity | None:
        """End a session everywhere and return its identity."""
        found = self._read(cookie)
        if found is None:
            return None
        self._ended.end(found.session.id, found.session.expires_at, self._clock.now())
        return found.identity

    def _read(self, cookie: str) -> _VerifiedCookie | None:
        """The contents of a valid cookie. Verified signatures are cached by the digest of the cookie."""
        digest = hashlib.sha256(cookie.encode()).digest()
        found = self._known.get(digest)
        if found is None:
            found = self._verified(cookie)
            if found is None:
                return None
            self._known[digest] = found
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return found if self._clock.now() < found.session.expires_at else None

    def _verified(self, cookie: str) -> _VerifiedCookie | None:
        payload = self.unsigned(cookie, "session")
        if payload is None:
            return None
        try:
            session = self._decoder.decode(payload)
        except msgspec.MsgspecError:
            return None
        return _VerifiedCookie(
            session, Identity(session.subject, frozenset(session.scopes), "session", session.token_id)
        )

    def signed(self, payload: bytes, purpose: str) -> str:
        """Text for one purpose that only this installation can produce."""
        return f"{_text(payload)}.{_text(self._mac(payload, purpose))}"

    def unsigned(self, text: str, purpose: str) -> bytes | None:
        """The payload of `signed`, or None."""
        body, dot, mac = text.partition(".")
        if not dot or len(text) > _LONGEST:
            return None
        try:
            payload, given = _bytes(body), _bytes(mac)
        except (binascii.Error, ValueError):
            return None
        return payload if hmac.compare_digest(self._mac(payload, purpose), given) else None

    def _mac(self, payload: bytes, purpose: str) -> bytes:
        return hmac.digest(self._key, purpose.encode() + b"\0" + payload, hashlib.sha256)


def _text(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
