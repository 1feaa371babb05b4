"""Memoisation for inputs of clients, bounded so that a client cannot fill the memory with unique inputs."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Concatenate, ParamSpec, TypeVar

LONGEST = 1_024
"""Paths and headers of usual clients are shorter. Results for longer texts are not kept."""
_Text = TypeVar("_Text", str, bytes)
_Rest = ParamSpec("_Rest")
_Found = TypeVar("_Found")
_Asked = Callable[Concatenate[_Text, _Rest], _Found]


def remembered(entries: int) -> Callable[[_Asked[_Text, _Rest, _Found]], _Asked[_Text, _Rest, _Found]]:
    """Decorator that keeps the latest `entries` results of a function of a text (and short arguments of our own)."""

    def around(function: _Asked[_Text, _Rest, _Found]) -> _Asked[_Text, _Rest, _Found]:
        kept = lru_cache(maxsize=entries)(function)

        @wraps(function)
        def answer(text: _Text, /, *args: _Rest.args, **kwargs: _Rest.kwargs) -> _Found:
            if len(text) > LONGEST:
                return function(text, *args, **kwargs)
            return kept(text, *args, **kwargs)  # type: ignore[arg-type]

        return answer

    return around
