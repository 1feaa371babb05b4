"""Compiles a writer's schema to a program for the kernel: what to keep of a record and how to skip the rest.

One row of `code` is `(operation, a, b)`; the operations are those of `kernel.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.adapters.avro.kernel import (
    ADD,
    BRANCH,
    BYTES,
    END,
    ENTER,
    EXTREME,
    FIND,
    FIXED,
    GROUP,
    JUMP,
    KEEP_BYTES,
    KEEP_TAG,
    KEEP_VARINT,
    KEY,
    MARK,
    MATCH,
    NEXT,
    NUMBERS,
    OPTIONAL,
    PAIRS,
    PRESENT,
    VALUE,
    VARINTS,
)

MAX_SLOTS = 62
_MOST = 1 << 31

Keep = Literal["number", "bytes", "tag", "group", "bound", "added", "least", "greatest"]
_WIDTH: dict[Keep, int] = {
    "number": 1,
    "bytes": 2,
    "tag": 1,
    "group": 1,
    "bound": 2,
    "added": 0,
    "least": 2,
    "greatest": 2,
}
_VARINTS = ("int", "long", "enum")
_SIZES = {"null": 0, "boolean": 1, "float": 4, "double": 8}


class WantedField(NamedTuple):
    """A field by its id, or by one of its names if the writer left out ids. `inside`: fields of a nested record.
    `measure`: of a field that is `added`, its place among the measures.
    """

    field_id: int
    names: tuple[str, ...]
    keep: Keep = "number"
    inside: tuple[WantedField, ...] = ()
    measure: int = 0


class Plan(NamedTuple):
    """A compiled program.

    slots      first column of each kept field, by field id
    depth      nesting depth of loops
    min_bytes  minimum size of a record
    """

    code: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    slots: Mapping[int, int]
    width: int
    depth: int
    min_bytes: int


def compile_plan(
    schema: dict[str, Any], wanted: tuple[WantedField, ...], key_ids: tuple[int, ...] = (), gate: int | None = None
) -> Plan:
    """Program for one record. `key_ids`: field ids of the key in a bound's items (by default, the field `key`). `gate`:
    the wanted number that decides which records are added up.

    Raises KeyError, TypeError, ValueError for an invalid schema.
    """
    compiler = _Compiler(key_ids, gate)
    min_bytes = compiler.record(schema, wanted)
    compiler.emit(END)
    code = np.array(compiler.code, np.int64).reshape(-1, 3)
    targets = np.array(compiler.targets or [0], np.int64)
    return Plan(code, targets, compiler.slots, compiler.width, compiler.depth, min_bytes)


def find_field(schema: Any, wanted: WantedField) -> dict[str, Any] | None:
    """The wanted field of a record; None if the writer's schema lacks it."""
    fields = schema["fields"]
    for field in fields:
        if field.get("field-id") == wanted.field_id:
            return field  # type: ignore[no-any-return]
    return next((field for field in fields if field.get("name") in wanted.names), None)


def bare(kind: Any) -> Any:
    """A type without the null branch of its union and without redundant braces."""
    if isinstance(kind, list):
        kind = next((branch for branch in kind if branch != "null"), "null")
    while isinstance(kind, dict) and isinstance(kind.get("type"), dict | list):
        kind = bare(kind["type"])
    return kind


class _Compiler:
    """Emits the program field by field. Methods that skip a value return its minimum size in bytes."""

    def __init__(self, key_ids: tuple[int, ...], gate: int | None) -> None:
        self.code: list[tuple[int, int, int]] = []
        self.targets: list[int] = []
        self.slots: dict[int, int] = {}
        self.width = PRESENT + 1
        self.depth = 0
        self._loops = 0
        self._key_ids, self._gate = key_ids, gate
        self._barrier = 0

    def emit(self, operation: int, a: int = 0, b: int = 0) -> int:
        """Append an operation; runs of numbers are merged into one. Returns its position."""
        if operation == VARINTS and len(self.code) > self._barrier and self.code[-1][0] == VARINTS:
            self.code[-1] = (VARINTS, self.code[-1][1] + a, 0)
        else:
            self.code.append((operation, a, b))
        return len(self.code) - 1

    def here(self) -> int:
        """A jump target: later operations must not be merged with earlier ones."""
        self._barrier = len(self.code)
        return self._barrier

    def patch(self, at: int, a: int | None = None, b: int | None = None) -> None:
        operation, old_a, old_b = self.code[at]
        self.code[at] = (operation, old_a if a is None else a, old_b if b is None else b)

    def slot(self, wanted: WantedField) -> int:
        if wanted.field_id not in self.slots:
            self.slots[wanted.field_id] = self.width
            self.width += _WIDTH[wanted.keep]
            if self.width > MAX_SLOTS:
                raise ValueError("too many fields are requested")
        return self.slots[wanted.field_id]

    def record(self, schema: Any, wanted: tuple[WantedField, ...] = ()) -> int:
        """All fields of a record in the order of the writer's schema."""
        kept = {id(field): one for one in wanted if (field := find_field(schema, one)) is not None}
        total = 0
        for field in schema["fields"]:
            one = kept.get(id(field))
            total += self.skip(field["type"]) if one is None else self.keep(field["type"], one)
        return min(total, _MOST)

    def keep(self, kind: Any, wanted: WantedField) -> int:  # noqa: PLR0911 - one return a kind of type
        """A wanted field; one of an unexpected type is skipped and counts as absent."""
        if wanted.keep == "group":
            slot = self.slot(wanted)
            self.emit(MARK, slot)
            least = self.skip(kind)
            self.emit(GROUP, slot)
            return least
        if isinstance(kind, list):
            return self._union(kind, wanted)
        name = kind["type"] if isinstance(kind, dict) else kind
        if isinstance(name, dict | list):
            return self.keep(name, wanted)
        if wanted.inside and name == "record":
            return self.record(kind, wanted.inside)
        if name == "array" and wanted.keep == "added":
            return self._added(kind["items"], wanted)
        if name == "array" and wanted.keep in {"bound", "least", "greatest"}:
            return self._bounds(kind["items"], wanted)
        operation = _KEEPS.get((wanted.keep, name))
        if operation is None:
            return self.skip(kind)
        self.emit(operation, self.slot(wanted))
        return 1

    def skip(self, kind: Any) -> int:  # noqa: PLR0911 - one return a kind of type
        """Skip a value of any type."""
        if isinstance(kind, list):
            return self._union(kind, None)
        name = kind["type"] if isinstance(kind, dict) else kind
        if isinstance(name, dict | list):
            return self.skip(name)
        if name in _VARINTS:
            self.emit(VARINTS, 1)
            return 1
        if name in {"bytes", "string"}:
            self.emit(BYTES)
            return 1
        if name == "record":
            return self.record(kind)
        if name == "array":
            return self._array(kind["items"])
        if name == "map":
            return self._loop(lambda: self.skip("string") + self.skip(kind["values"]))
        size = _fixed_size(kind) if name == "fixed" else _SIZES[name]
        if size:
            self.emit(FIXED, size)
        return size

    def _union(self, branches: list[Any], wanted: WantedField | None) -> int:
        step = self.skip if wanted is None else lambda branch: self.keep(branch, wanted)
        if len(branches) == 2 and "null" in branches:
            null = branches.index("null")
            at = self.emit(OPTIONAL, null)
            step(branches[1 - null])
            self.patch(at, b=self.here())
            return 1
        base = len(self.targets)
        self.targets.extend([0] * len(branches))
        self.emit(BRANCH, len(branches), base)
        ends: list[int] = []
        for index, branch in enumerate(branches):
            self.targets[base + index] = self.here()
            step(branch)
            ends.append(self.emit(JUMP))
        for end in ends:
            self.patch(end, a=self.here())
        return 1

    def _array(self, items: Any) -> int:
        """Skip an array. Iceberg's statistics, arrays of (number, number or bytes), take one operation."""
        kinds = [bare_name(f["type"]) for f in items["fields"]] if _is_record(items) else [bare_name(items)]
        if len(kinds) == 2 and kinds[0] in _VARINTS and kinds[1] in {"bytes", "string"}:
            self.emit(PAIRS)
            return 1
        if kinds and all(kind in _VARINTS for kind in kinds):
            self.emit(NUMBERS, len(kinds))
            return 1
        return self._loop(lambda: self.skip(items))

    def _bounds(self, items: Any, wanted: WantedField) -> int:
        """An array of key and value: the value of the wanted key."""
        fields = items["fields"] if _is_record(items) else []
        keys = [f for f in fields if f.get("field-id") in self._key_ids or f.get("name") == "key"]
        if len(fields) != 2 or len(keys) != 1 or bare_name(keys[0]["type"]) not in _VARINTS[:2]:
            return self._array(items)
        (value,) = (field for field in fields if field is not keys[0])
        if bare_name(value["type"]) not in {"bytes", "string"}:
            return self._array(items)
        slot = self.slot(wanted)
        if fields[0] is keys[0]:
            gate = None if self._gate is None or wanted.keep == "bound" else self.slots.get(self._gate)
            if gate is None:
                self.emit(FIND, slot)
            else:
                self.emit(EXTREME, slot, 2 * gate + (wanted.keep == "greatest"))
            return 1

        def item() -> int:
            for field in fields:
                self.emit(KEY if field is keys[0] else VALUE)
            self.emit(MATCH, slot)
            return 2

        return self._loop(item)

    def _added(self, items: Any, wanted: WantedField) -> int:
        """An array of key and number, in this order; another layout is skipped, so that its measure is unknown."""
        fields = items["fields"] if _is_record(items) else []
        gate = None if self._gate is None else self.slots.get(self._gate)
        if gate is None or len(fields) != 2 or any(bare_name(field["type"]) not in _VARINTS[:2] for field in fields):
            return self._array(items)
        if fields[0].get("field-id") not in self._key_ids and fields[0].get("name") != "key":
            return self._array(items)
        self.emit(ADD, wanted.measure, gate)
        return 1

    def _loop(self, item: Any) -> int:
        self.emit(ENTER)
        self._loops += 1
        self.depth = max(self.depth, self._loops)
        head = self.here()
        self.emit(NEXT)
        least = item()
        self.emit(JUMP, head)
        self.patch(head, a=self.here(), b=min(least, _MOST))
        self._loops -= 1
        return 1


def bare_name(kind: Any) -> str | None:
    """Name of a type; None for a union."""
    while isinstance(kind, dict):
        kind = kind["type"]
    return kind if isinstance(kind, str) else None


def _is_record(kind: Any) -> bool:
    return isinstance(kind, dict) and kind["type"] == "record"


def _fixed_size(kind: Any) -> int:
    size = kind["size"]
    if not isinstance(size, int) or not 0 <= size < _MOST:
        raise ValueError(f"a fixed of {size} bytes")
    return size


_KEEPS: dict[tuple[Keep, str], int] = {
    ("number", "int"): KEEP_VARINT,
    ("number", "long"): KEEP_VARINT,
    ("bytes", "string"): KEEP_BYTES,
    ("bytes", "bytes"): KEEP_BYTES,
    ("tag", "string"): KEEP_TAG,
}
