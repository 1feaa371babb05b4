"""Ports TokenStore and EndedSessions on files. A damaged file denies all access and is reported."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from limnograph.adapters.access.files import WatchedFile
from limnograph.domain.access import TokenRecord
from limnograph.domain.errors import EnvironmentFault

_log = logging.getLogger("limnograph.access")


class TokenFile:
    """TokenStore: a JSON list of records."""

    def __init__(self, path: Path) -> None:
        self._file: WatchedFile[Mapping[str, TokenRecord]] = WatchedFile(path, _records, {})
        self._told_at = float("-inf")

    def records(self) -> Mapping[str, TokenRecord]:
        try:
            return self._file.value()
        except (msgspec.MsgspecError, OSError) as error:
            if time.monotonic() - self._told_at > 60:
                self._told_at = time.monotonic()
                _log.error("all tokens are rejected: %s cannot be read: %s", self._file.path, error)
            return {}

    def add(self, record: TokenRecord) -> None:
        self._change(lambda records: {**records, record.id: record})

    def revoke(self, token_id: str, at: int) -> None:
        def ended(records: Mapping[str, TokenRecord]) -> Mapping[str, TokenRecord]:
            record = records.get(token_id)
            if record is None or record.revoked_at is not None:
                return records
            return {**records, token_id: msgspec.structs.replace(record, revoked_at=at)}

        self._change(ended)

    def _change(self, change: Callable[[Mapping[str, TokenRecord]], Mapping[str, TokenRecord]]) -> None:
        try:
            self._file.change(lambda records: _text(change(records)))
        except msgspec.MsgspecError as error:
            raise EnvironmentFault(f"{self._file.path} is damaged: {error}") from error


class EndedFile:
    """EndedSessions: a JSON object of session id -> expiry, epoch microseconds."""

    def __init__(self, path: Path) -> None:
        self._file: WatchedFile[dict[str, int]] = WatchedFile(path, _sessions, {})

    def ended(self, session_id: str) -> bool:
        try:
            return session_id in self._file.value()
        except (msgspec.MsgspecError, OSError):
            _log.exception("all sessions are rejected: %s cannot be read", self._file.path)
            return True

    def end(self, session_id: str, expires_at: int, now: int) -> None:
        self._file.change(
            lambda ended: msgspec.json.encode(
                {key: until for key, until in {**ended, session_id: expires_at}.items() if until > now}
            )
        )


def _sessions(content: bytes) -> dict[str, int]:
    return msgspec.json.decode(content, type=dict[str, int])


def _records(content: bytes) -> dict[str, TokenRecord]:
    return {record.id: record for record in msgspec.json.decode(content, type=list[TokenRecord])}


def _text(records: Mapping[str, TokenRecord]) -> bytes:
    return msgspec.json.format(msgspec.json.encode(list(records.values())), indent=1) + b"\n"
