"""A simulated table, scraped: what happens to its files at which second, and the samples that Prometheus gets of it.

Every metric follows from the same events, as in the server: gauges stand at the newest commit, counters count what
commits of all operations but `replace` added. A test chooses the scrape interval and which scrapes fail.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import NamedTuple

MB = 10**6
TARGET = 512 * MB
Series = dict[str, list[float | None]]
"""Values of each metric at each scrape; None: the table is not there, or its number is not known."""


class Gap(NamedTuple):
    """Scrapes from `begin` until before `end` (seconds) fail. `marked`: with a staleness marker, as Prometheus does."""

    begin: float
    end: float
    marked: bool = True


class Table:
    """Gauges and counters of a table over time, from events in the order of their seconds. `put` at 0 adds others."""

    def __init__(self, files: int = 2_000, small: int = 100, mean: int = 400 * MB) -> None:
        self._now: dict[str, float | None] = {
            "data_files": files,
            "small_files": small,
            "debt_files": small,
            "bytes": float(files * mean),
            "target_file_bytes": TARGET,
            "added_data_files_total": 0,
            "added_bytes_total": 0.0,
            "commits_total": 0,
        }
        self._events: list[tuple[float, Callable[[dict[str, float | None]], None]]] = []

    def _at(self, at: float, act: Callable[[dict[str, float | None]], None]) -> Table:
        self._events.append((at, act))
        return self

    def append(self, at: float, files: int, size: int = MB) -> Table:
        """A commit that adds files of one size."""
        small = files if size < 0.75 * TARGET else 0

        def act(now: dict[str, float | None]) -> None:
            for name in ("data_files", "added_data_files_total"):
                _add(now, name, files)
            for name in ("bytes", "added_bytes_total"):
                _add(now, name, float(files * size))
            for name in ("small_files", "debt_files"):
                _add(now, name, small)
            _add(now, "commits_total", 1)

        return self._at(at, act)

    def compact(self, at: float, files: int, into: int) -> Table:
        """A `replace` that makes a few large files of many small ones: no counter moves."""

        def act(now: dict[str, float | None]) -> None:
            _add(now, "data_files", into - files)
            for name in ("small_files", "debt_files"):
                _add(now, name, -files)

        return self._at(at, act)

    def put(self, at: float, **values: float | None) -> Table:
        """Metrics jump to these values."""
        return self._at(at, lambda now: now.update(values))

    def add(self, at: float, **values: float) -> Table:
        """Metrics change by these values."""

        def act(now: dict[str, float | None]) -> None:
            for name, value in values.items():
                _add(now, name, value)

        return self._at(at, act)

    def forget_counters(self, at: float) -> Table:
        """The server lost its counters: they begin at 0 again."""
        return self.put(at, added_data_files_total=0, added_bytes_total=0.0, commits_total=0)

    def scraped(self, interval: int, seconds: int, gaps: Iterable[Gap] = ()) -> Series:
        """Samples at 0, interval, … until `seconds`. A failed scrape is NaN here where a marker is written."""
        now, failed = dict(self._now), list(gaps)
        events = sorted(self._events, key=lambda event: event[0])
        place = sum(at == 0 for at, _ in events)
        for _, act in events[:place]:
            act(now)
        found: Series = {name: [] for name in now}
        for at in range(0, seconds + 1, interval):
            while place < len(events) and events[place][0] <= at:
                events[place][1](now)
                place += 1
            gap = next((gap for gap in failed if gap.begin <= at < gap.end), None)
            for name, values in found.items():
                values.append(now[name] if gap is None else MARKER if gap.marked else None)
        return {name: values for name, values in found.items() if any(value is not None for value in values)}


MARKER = float("nan")
"""In place of a value: a scrape failed, and Prometheus wrote staleness markers."""


def _add(now: dict[str, float | None], name: str, value: float) -> None:
    before = now[name]
    if before is not None:
        now[name] = before + value


def promtool_values(values: Iterable[float | None]) -> str:
    """In promtool's notation, runs of equal steps as one word. Nothing is missing before a series has begun."""
    words: list[str] = []
    for kind, run in itertools.groupby(_typed(values), key=lambda pair: pair[0]):
        told = [value for _, value in run]
        words += _numbers(told) if kind == "number" else _missing(kind, len(told))
    return " ".join(words)


def _typed(values: Iterable[float | None]) -> Iterable[tuple[str, float]]:
    begun = False
    for value in values:
        if value is None or (value != value and not begun):
            yield "none", 0.0
        elif value != value:
            yield "marker", 0.0
        else:
            begun = True
            yield "number", value


def _missing(kind: str, count: int) -> list[str]:
    """After a marker nothing is there until the next value."""
    if kind == "none":
        return [f"_x{count}"]
    return ["stale", f"_x{count - 1}"] if count > 1 else ["stale"]


def _numbers(values: list[float]) -> list[str]:
    """Greedy runs `start+step x count`; only where the sums are exact."""
    words, place = [], 0
    while place < len(values):
        start, last = values[place], place
        step = values[place + 1] - start if place + 1 < len(values) else 0.0
        while last + 1 < len(values) and values[last + 1] == start + (last + 1 - place) * step:
            last += 1
        words.append(f"{start:.17g}" if last == place else f"{start:.17g}{step:+.17g}x{last - place}")
        place = last + 1
    return words
