"""Public keys of an OpenID provider: cached for an hour, refreshed with a rate limit when a token matches none."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any

from joserfc.errors import JoseError
from joserfc.jwk import KeySet, import_key

from limnograph.domain.errors import SourceError

FRESH_S = 3_600.0
LONGEST_S = 86_400.0
"""Keys that could not be refreshed for this long are no longer used: one of them may have been revoked."""
AGAIN_S = 30.0
"""Minimum interval between refreshes, whatever tokens arrive: strangers must not make Limnograph hammer the provider.
"""
FAILED_S = 5.0
"""A failed read is not repeated sooner; until then, callers receive the same error."""
_MOST = 100
_log = logging.getLogger("limnograph.access")


class ProviderKeys:
    """`read` returns the provider's JWK set and raises SourceError. For use on the event loop only."""

    def __init__(
        self, read: Callable[[], Awaitable[dict[str, Any]]], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._read, self._clock = read, clock
        self._found: KeySet | None = None
        self._read_at = self._tried_at = float("-inf")
        self._failed: tuple[float, SourceError] | None = None
        self._reading = asyncio.Lock()

    async def current(self) -> KeySet:
        """The keys. Raises SourceError if there are none, or only expired ones, and the provider returns none."""
        if self._found is None or self._clock() - self._read_at > FRESH_S:
            await self.renew()
        async with self._reading:
            if self._found is None or self._clock() - self._read_at > LONGEST_S:
                return await self._renewed()
            return self._found

    async def renew(self) -> bool:
        """Refresh the keys for a token that matches none: the provider may have replaced a key, even under the same id.

        False when the last attempt was less than half a minute ago, or when it fails while older keys are valid.
        """
        async with self._reading:
            if self._clock() - self._tried_at < AGAIN_S:
                return False
            if self._found is None:
                await self._renewed()
                return True
            try:
                await self._renewed()
            except SourceError as error:
                _log.warning("the keys of the identity provider could not be refreshed: %s", error)
                return False
            return True

    async def _renewed(self) -> KeySet:
        if self._found is not None:
            self._tried_at = self._clock()
        if self._failed is not None and self._clock() - self._failed[0] < FAILED_S:
            raise self._failed[1].with_traceback(None)
        try:
            document = await self._read()
        except SourceError as error:
            self._failed = self._clock(), error
            raise
        self._failed = None
        self._found = KeySet(_usable(document))
        self._read_at = self._tried_at = self._clock()
        return self._found


def _usable(document: dict[str, Any]) -> list[Any]:
    """Public signature keys; other kinds and damaged ones are skipped."""
    listed = document.get("keys")
    found = []
    for entry in listed[:_MOST] if isinstance(listed, list) else []:
        try:
            if entry["kty"] != "oct" and entry.get("use", "sig") == "sig":
                found.append(import_key(entry))
        except (JoseError, AttributeError, KeyError, TypeError, ValueError):
            continue
    return found
