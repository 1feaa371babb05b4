"""Processes cases in JSON lines: parses each line into a struct, answers in order, and reports errors by line and
field.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, Generic, TypeVar

import click
import msgspec

from limnograph.domain.errors import InvalidInput

FAILED = 1
Case = TypeVar("Case", bound=msgspec.Struct)


class CaseReader(Generic[Case]):
    """Decodes lines into `kind`. NaN and infinities, which are not JSON but which programs write, become null."""

    def __init__(self, kind: type[Case]) -> None:
        self._kind = kind
        self._decoder = msgspec.json.Decoder(kind)

    def parse(self, line: bytes) -> Case:
        """Parse one line. Raises InvalidInput, which names the field."""
        try:
            return self._decoder.decode(line)
        except msgspec.ValidationError as error:
            raise _named(error) from None
        except RecursionError:
            raise InvalidInput("line", "is nested too deeply") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return self._lenient(line, error)

    def _lenient(self, line: bytes, first: Exception) -> Case:
        try:
            value = _finite(json.loads(line))
        except UnicodeEncodeError:
            raise InvalidInput("line", "has an escape that is half of a character (a lone surrogate)") from None
        except (ValueError, RecursionError):
            raise InvalidInput("line", f"is not JSON: {str(first).removeprefix('JSON is malformed: ')}") from None
        try:
            return msgspec.convert(value, self._kind)
        except msgspec.ValidationError as error:
            raise _named(error) from None


def answer_lines(lines: BinaryIO, answer: Callable[[bytes], msgspec.Struct]) -> None:
    """Write one answer per line to stdout, and errors as JSON objects to stderr. Exits with 1 if there was an error."""
    failed = False
    out = sys.stdout.buffer
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            out.write(msgspec.json.encode(answer(line)) + b"\n")
            out.flush()
        except InvalidInput as error:
            failed = True
            problem = {"line": number, "field": error.field, "error": error.detail}
            click.echo(msgspec.json.encode(problem).decode(), err=True)
    if failed:
        raise SystemExit(FAILED)


def _finite(value: Any) -> Any:
    """With null for every number that is not finite. Raises UnicodeEncodeError for text that UTF-8 cannot hold."""
    if isinstance(value, str):
        value.encode()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return {key: _finite(each) for key, each in value.items()} if isinstance(value, dict) else value


def _named(error: msgspec.ValidationError) -> InvalidInput:
    detail, _, path = str(error).partition(" - at `$")
    parts = [path.rstrip("`").lstrip(".")]
    if "field" in detail and "`" in detail:
        parts.append(detail.split("`")[-2])  # a missing or unknown field: the path leads to its parent
    return InvalidInput(".".join(part for part in parts if part) or "case", detail)
