"""Converts any error in parsing an observed file to damage of that file: its bytes and its schema are untrusted."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from limnograph.domain.errors import MetadataError

_P = ParamSpec("_P")
_R = TypeVar("_R")


def as_damage(read: Callable[_P, _R]) -> Callable[_P, _R]:
    """The reader with every error of bytes or schema as MetadataError (`avro_damaged`)."""

    @wraps(read)
    def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return read(*args, **kwargs)
        except (
            *(KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError),
            *(RecursionError, EOFError, MemoryError, struct.error),
        ) as error:
            raise MetadataError("avro_damaged", f"a manifest is damaged: {error!r}") from error

    return guarded
