"""A snapshot's summary as written, parsed only on demand: most summaries of a long history are never used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

_decode_strings = msgspec.json.Decoder(dict[str, str]).decode


class WrittenSummary(Mapping[str, str]):
    """The JSON object of a summary as a string map; a value of another type is its JSON text."""

    __slots__ = ("_found", "_text")

    def __init__(self, text: msgspec.Raw | bytes) -> None:
        self._text: msgspec.Raw | bytes = text
        self._found: dict[str, str] | None = None

    def __getitem__(self, key: str) -> str:
        return self._read()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return repr(self._read())

    def _read(self) -> dict[str, str]:
        if self._found is None:
            self._found = _strings(bytes(self._text))
            self._text = b""
        return self._found


def string_map(found: Any) -> dict[str, str] | None:
    """A JSON object with all values as text; None for any other value."""
    if not isinstance(found, dict):
        return None
    return {k: v if isinstance(v, str) else msgspec.json.encode(v).decode() for k, v in found.items()}


def _strings(text: bytes) -> dict[str, str]:
    try:
        return _decode_strings(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    try:
        # The syntax was checked with the file, so invalid UTF-8 is the only possible damage.
        return string_map(msgspec.json.decode(text.decode("utf-8", "replace"))) or {}
    except msgspec.DecodeError:
        return {}
