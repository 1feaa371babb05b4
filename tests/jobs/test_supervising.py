"""A stream outlives its queries, and ends with the reason when they all fail."""

from __future__ import annotations

import threading
from collections.abc import Iterable

import pytest

from limnograph.jobs.supervising import RESTARTS, supervise


class Failing:
    """A query that ended."""

    isActive = False  # noqa: N815 - Spark's name

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def exception(self) -> Exception | None:
        return RuntimeError(self.reason)


class Running:
    """A query that runs until the stream is told to stop, which is now."""

    isActive = True  # noqa: N815 - Spark's name

    def __init__(self, stop: threading.Event) -> None:
        stop.set()

    def exception(self) -> Exception | None:
        return None


def test_a_query_that_fails_is_followed_by_another_with_one_line() -> None:
    stop, said, ended = threading.Event(), list[str](), list[object]()
    starts: Iterable[object] = iter([Failing("garbage in offsets/7\nat Spark"), RuntimeError("no start"), None])

    def start() -> Failing | Running:
        found = next(starts)  # type: ignore[call-overload]
        if isinstance(found, Exception):
            raise found
        return found or Running(stop)

    supervise(start, ended.append, stop, said.append, lambda seconds: None)
    assert [line.rsplit(": ", 1)[1] for line in said] == ["garbage in offsets/7", "no start"]
    assert isinstance(ended[-1], Running)


def test_queries_that_all_fail_end_the_stream_with_the_reason() -> None:
    starts: list[int] = []

    def start() -> Failing:
        starts.append(1)
        return Failing("always")

    with pytest.raises(RuntimeError, match="always"):
        supervise(start, lambda query: None, threading.Event(), lambda line: None, lambda seconds: None)
    assert len(starts) == RESTARTS + 1
