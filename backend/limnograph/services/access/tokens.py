"""API tokens: shown once on creation, stored as scrypt hashes, verified once and then cached until they expire or
change.

A token has the form `lmn_<id>_<secret>`. The id finds the record, so a request costs at most one hash, and a malformed
token none.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Collection
from typing import NamedTuple

from limnograph.domain.access import SCOPES, AccessScope, Identity, TokenRecord
from limnograph.domain.errors import InvalidInput, NotFound
from limnograph.domain.time import Micros
from limnograph.ports.access import TokenStore
from limnograph.ports.clock import Clock

PREFIX = "lmn_"
_SHAPE = re.compile(r"lmn_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
# OWASP's second choice of scrypt costs (N=2^16, r=8, p=2) halves memory by doubling passes. Our secrets are 256 random
# bits, which cannot be guessed at any cost: 16 MB and some 40 ms are enough if the file leaks.
_N, _R, _P = 2**14, 8, 1
_KNOWN = 4_096


class _VerifiedRecord(NamedTuple):
    """A record whose secret was verified. The store keeps the object while the record is unchanged."""

    record: TokenRecord
    identity: Identity


class Tokens:
    """Creates, lists, revokes and recognises tokens. Thread-safe: writing is guarded by `_lock`, reading is a single
    look-up. `verify` hashes and blocks: call it in a thread.
    """

    def __init__(self, store: TokenStore, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, _VerifiedRecord] = OrderedDict()

    def create(self, name: str, scopes: Collection[str], expires_at: Micros | None = None) -> tuple[str, TokenRecord]:
        """The token, which cannot be shown again, and its record. Raises InvalidInput, EnvironmentFault."""
        if not _NAME.fullmatch(name):
            raise InvalidInput("NAME", "must have 1 to 64 letters, digits or any of . _ @ -, a letter or digit first")
        if any(record.name == name and record.valid(self._clock.now()) for record in self.records()):
            raise InvalidInput("NAME", f"{name!r} already exists; revoke it first or choose another name")
        if expires_at is not None and expires_at <= self._clock.now():
            raise InvalidInput("--expires", "must be in the future")
        token_id, secret, salt = secrets.token_hex(6), secrets.token_urlsafe(32), secrets.token_bytes(16)
        record = TokenRecord(
            id=token_id,
            name=name,
            scopes=_scopes(scopes),
            salt=salt.hex(),
            hash=_hashed(secret, salt).hex(),
            created_at=self._clock.now(),
            expires_at=expires_at,
        )
        self._store.add(record)
        return f"{PREFIX}{token_id}_{secret}", record

    def records(self) -> list[TokenRecord]:
        """All records, oldest first, including revoked and expired ones."""
        return sorted(self._store.records().values(), key=lambda record: (record.created_at, record.id))

    def revoke(self, name_or_id: str) -> TokenRecord:
        """Revoke a token immediately. Raises NotFound, EnvironmentFault."""
        for record in self.records():
            if record.revoked_at is None and name_or_id in {record.id, record.name}:
                self._store.revoke(record.id, self._clock.now())
                return record
        raise NotFound(f"no active token {name_or_id!r}")

    def known(self, token: str) -> Identity | None:
        """The identity of a token that was verified before and is still valid. Takes microseconds."""
        found = self._known.get(hashlib.sha256(token.encode()).digest())
        if found is None:
            return None
        before, identity = found
        record = self._store.records().get(before.id)
        if record is None or record.hash != before.hash or not record.valid(self._clock.now()):
            return None
        return identity if record is before else _identity(record)

    def standing(self, token_id: str) -> bool:
        """Whether the token behind a session is still valid."""
        record = self._store.records().get(token_id)
        return record is not None and record.valid(self._clock.now())

    def verify(self, token: str) -> Identity | None:
        """The identity of a token; None if invalid. Hashes at most once."""
        shape = _SHAPE.fullmatch(token)
        record = self._store.records().get(shape[1]) if shape else None
        if shape is None or record is None or not record.valid(self._clock.now()):
            return None
        if not hmac.compare_digest(_hashed(shape[2], bytes.fromhex(record.salt)), bytes.fromhex(record.hash)):
            return None
        with self._lock:
            self._known[hashlib.sha256(token.encode()).digest()] = _VerifiedRecord(record, _identity(record))
            while len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return _identity(record)


def _identity(record: TokenRecord) -> Identity:
    return Identity(record.name, frozenset(record.scopes), "token", record.id)


def _hashed(secret: str, salt: bytes) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=salt, n=_N, r=_R, p=_P, dklen=32)


def _scopes(given: Collection[str]) -> tuple[AccessScope, ...]:
    if unknown := set(given).difference(SCOPES):
        raise InvalidInput("--scope", f"{min(unknown)!r} is not a scope; choose from {', '.join(SCOPES)}")
    if not given:
        raise InvalidInput("--scope", f"must name at least one of {', '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in given)
