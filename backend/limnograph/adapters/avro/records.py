"""Any Avro file as plain records: slow, general and bounded. Iceberg's manifests go through the kernel instead."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from limnograph.adapters.avro.container import open_container, parse_schema
from limnograph.domain.errors import MetadataError

MAX_VALUES = 20_000_000
"""Maximum values of one file, including those of zero bytes: bounds time and memory, far above any real commit."""


def read_records(content: bytes) -> list[dict[str, Any]]:
    """All records of an Avro file. Records and maps become dicts, enums their symbol, fixed values bytes. Logical types
    keep their underlying numbers or bytes.

    Raises MetadataError: avro_damaged, avro_codec_unknown, avro_too_large.
    """
    container = open_container(content)
    try:
        read = _reader(parse_schema(container.schema_text))
        found: list[dict[str, Any]] = []
        values = _Values()
        for count, body in container.blocks():
            values.turn_to(bytes(body))
            found.extend(read(values) for _ in range(values.counted(count)))
            values.finish()
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, struct.error) as error:
        raise MetadataError("avro_damaged", f"an Avro file is damaged: {error!r}") from error
    return found


def record_values(schema: dict[str, Any]) -> Callable[[bytes], tuple[Any, ...]]:
    """A function that decodes a single record to its field values. Raises MetadataError."""
    readers = [_reader(field["type"]) for field in schema["fields"]]

    def read(content: bytes) -> tuple[Any, ...]:
        values = _Values()
        values.turn_to(content)
        return tuple(one(values) for one in readers)

    return read


class _Values:
    """A cursor in the bytes of a block; every step is counted and checked against the end."""

    def __init__(self) -> None:
        self._content, self._position, self._left = b"", 0, MAX_VALUES

    def turn_to(self, content: bytes) -> None:
        self._content, self._position = content, 0

    def finish(self) -> None:
        if self._position != len(self._content):
            raise MetadataError("avro_damaged", "a block is longer than its records")

    def counted(self, items: int) -> int:
        """The number of items to come, if the block has enough bytes for them."""
        self._left -= items
        if items < 0 or self._left < 0:
            raise MetadataError("avro_too_large", f"an Avro file of more than {MAX_VALUES} values")
        return items

    def take(self, size: int) -> bytes:
        end = self._position + size
        if size < 0 or end > len(self._content):
            raise MetadataError("avro_damaged", "a value ends after its block")
        found = self._content[self._position : end]
        self._position = end
        return found

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 63:
                raise MetadataError("avro_damaged", "a number is too long")
        value &= 0xFFFF_FFFF_FFFF_FFFF
        return (value >> 1) ^ -(value & 1)

    def block_counts(self) -> Any:
        """Item counts of the blocks of an array or a map; a negative count is followed by the block's size."""
        while count := self.number():
            if count < 0:
                self.number()
            yield self.counted(abs(count))


_Read = Callable[[_Values], Any]


def _reader(kind: Any) -> _Read:  # noqa: PLR0911 - one return a kind of type
    name = kind["type"] if isinstance(kind, dict) else kind
    if isinstance(kind, list):
        branches = [_reader(branch) for branch in kind]
        return lambda values: _branch(branches, values.number())(values)
    if isinstance(name, dict | list):
        return _reader(name)
    if name == "fixed":
        size = int(kind["size"])
        return lambda values: values.take(size)
    if name == "enum":
        symbols = list(kind["symbols"])
        return lambda values: _branch(symbols, values.number())
    if name == "record":
        return _record([(str(field["name"]), _reader(field["type"])) for field in kind["fields"]])
    if name == "array":
        item = _reader(kind["items"])
        return lambda values: [item(values) for count in values.block_counts() for _ in range(count)]
    if name == "map":
        value = _reader(kind["values"])
        return lambda values: {_text(values): value(values) for count in values.block_counts() for _ in range(count)}
    return _PRIMITIVES[name]


def _record(fields: list[tuple[str, _Read]]) -> _Read:
    return lambda values: {name: read(values) for name, read in fields}


def _branch(choices: list[Any], index: int) -> Any:
    if not 0 <= index < len(choices):
        raise MetadataError("avro_damaged", f"branch {index} of {len(choices)}")
    return choices[index]


def _text(values: _Values) -> str:
    return values.take(values.number()).decode()


_PRIMITIVES: dict[str, _Read] = {
    "null": lambda _values: None,
    "boolean": lambda values: values.take(1) != b"\x00",
    "int": _Values.number,
    "long": _Values.number,
    "float": lambda values: struct.unpack("<f", values.take(4))[0],
    "double": lambda values: struct.unpack("<d", values.take(8))[0],
    "bytes": lambda values: values.take(values.number()),
    "string": _text,
}
