"""`/metrics`: the process's own numbers and the gauges of every table, rendered once per change of the lake.

A table's lines are made again only when its numbers changed; the page is those lines, family by family, as bytes.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from limnograph import __version__
from limnograph.domain.gauges import LABELS, SERVER_METRICS, TABLE_COUNTERS, TABLE_GAUGES
from limnograph.domain.ids import TableName
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.services.gauges import TableNumbers

MAX_SERIES = 250_000
"""Series of tables on one page; 14 a table."""
_SPECIAL = re.compile(r'[\\"\n]')
_LABELS = "{{" + ",".join(f'{label}="{{}}"' for label in LABELS) + "}} "
_NAMES = [metric.name for metric in (*TABLE_GAUGES, *TABLE_COUNTERS)]
_HEADS = [
    *(f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} gauge\n" for metric in TABLE_GAUGES),
    *(f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} counter\n" for metric in TABLE_COUNTERS),
]


class Exposition:
    """Callable that renders everything. `numbers` answers the tables' numbers with a version that changes with them;
    `own` the server's numbers by the names of SERVER_METRICS.
    """

    def __init__(
        self,
        numbers: Callable[[], tuple[int, list[TableNumbers]]],
        watermark: Callable[[], int | None],
        *,
        own: Callable[[], dict[str, float | None]] = dict,
        max_series: int = MAX_SERIES,
        collectors: Iterable[Any] = (),
    ) -> None:
        self._numbers, self._watermark, self._own = numbers, watermark, own
        self._pages = TablePage(max_series)
        self._lock = threading.Lock()
        self._registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)
        for extra in collectors:
            self._registry.register(extra)
        Gauge("limnograph_build_info", "Version of the server.", ["version"], registry=self._registry).labels(
            __version__
        ).set(1)
        self._gauges = {
            metric.name: Gauge(metric.name, metric.help, registry=self._registry) for metric in SERVER_METRICS
        }
        self._rendered: tuple[int, bytes] = (-1, b"")

    def __call__(self) -> bytes:
        """The whole page."""
        with self._lock:
            tables = self._tables()
            watermark = self._watermark()
            told = {
                "limnograph_watermark_timestamp_seconds": None if watermark is None else watermark / MICROS_PER_SECOND
            }
            told["limnograph_table_series_left_out"] = self._pages.left_out
            for name, value in {**told, **self._own()}.items():
                self._gauges[name].set(float("nan") if value is None else value)
            return generate_latest(self._registry) + tables

    def _tables(self) -> bytes:
        version, numbers = self._numbers()
        if version != self._rendered[0]:
            self._rendered = (version, self._pages.render(numbers))
        return self._rendered[1]


class TablePage:
    """Families of DESIGN §7 in the text format; a number that is not known has no sample. `left_out`: series beyond the
    budget, of the tables that stand last.
    """

    def __init__(self, max_series: int = MAX_SERIES) -> None:
        self._tables = max_series // len(_NAMES)
        self._lines: dict[TableName, tuple[TableNumbers, list[str]]] = {}
        self.left_out = 0

    def render(self, numbers: list[TableNumbers]) -> bytes:
        """The page. O(tables), and a few string operations for each line of those that changed."""
        self.left_out = sum(len(n.gauges) + len(n.counters) for n in numbers[self._tables :])
        kept, tables = self._lines, []
        self._lines = {}
        for one in numbers[: self._tables]:
            known = kept.get(one.name)
            made = known if known is not None and known[0] is one else (one, _lines(one))
            self._lines[one.name] = made
            tables.append(made[1])
        families = zip(_HEADS, zip(*tables, strict=True), strict=True) if tables else ()
        texts = (head + text for head, lines in families if (text := "".join(lines)))
        return "".join(texts).encode()


def _lines(one: TableNumbers) -> list[str]:
    """Lines of one table in the order of the families; nothing where a number is not known."""
    labels = _LABELS.format(*(_escaped(part) if _SPECIAL.search(part) else part for part in one.name))
    values = one.gauges | one.counters
    return [f"{name}{labels}{values[name]}\n" if name in values else "" for name in _NAMES]


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
