"""`/metrics`: the server's own numbers and the gauges of every table, rendered once per change of the lake.

A table's lines are rendered again only if its numbers changed, and the page joins all lines by family: 50,000 lines
cost one list comprehension per family.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from limnograph import __version__
from limnograph.api.metrics.costs_exposition import CostsExposition
from limnograph.api.metrics.findings_exposition import FindingsExposition
from limnograph.api.metrics.reads_exposition import ReadsExposition
from limnograph.api.metrics.text_format import label_values
from limnograph.domain.advice.fleet import TableCosts
from limnograph.domain.ids import PlainName, TableName
from limnograph.domain.metrics.gauges import LABELS, SERVER_METRICS, TABLE_COUNTERS, TABLE_GAUGES, USUAL_INTERVAL
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.services.findings.board import FindingsBoard
from limnograph.services.fleet.gauges import TableNumbers
from limnograph.services.reads.recent import TableReadNumbers

MAX_SERIES = 250_000
"""Maximum number of series of tables, their findings, reads and costs; a table has 21."""
FINDINGS_SHARE = 10
"""One in so many of them is kept for open findings, as many for reads, and as many for costs."""
_LABELS = "{" + ",".join(f'{label}="%s"' for label in LABELS) + "} "
_FAMILIES = {"gauge": GaugeMetricFamily, "counter": CounterMetricFamily}
_GAUGES = (*TABLE_GAUGES, USUAL_INTERVAL)
_NAMES = [metric.name for metric in (*_GAUGES, *TABLE_COUNTERS)]
_HEADS = [
    *(f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} gauge\n" for metric in _GAUGES),
    *(f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} counter\n" for metric in TABLE_COUNTERS),
]


class Exposition:
    """Renders `/metrics`. `numbers` returns the tables' numbers and a version that changes with them; `board` returns
    all current findings; `reads` those of the last hour by table; `costs` what tables hold and cost; `own` returns the
    server's numbers by their names in SERVER_METRICS. Thread-safe: guarded by `_lock`, which is held while rendering.
    """

    def __init__(
        self,
        numbers: Callable[[], tuple[int, list[TableNumbers]]],
        watermark: Callable[[], int | None],
        *,
        board: Callable[[], FindingsBoard] = FindingsBoard,
        own: Callable[[], dict[str, float | None]] = dict,
        reads: Callable[[], dict[TableName, TableReadNumbers]] = dict,
        costs: Callable[[], TableCosts] = TableCosts,
        max_series: int = MAX_SERIES,
        collectors: Iterable[Any] = (),
    ) -> None:
        self._numbers, self._watermark, self._board, self._own = numbers, watermark, board, own
        share = max_series // FINDINGS_SHARE
        self._findings, self._read_reads, self._reads = FindingsExposition(share), reads, ReadsExposition(share)
        self._read_costs, self._costs = costs, CostsExposition(share)
        self._pages = TableExposition(max_series - 3 * share)
        self._lock = threading.Lock()
        self._registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)
        for extra in collectors:
            self._registry.register(extra)
        Gauge("limnograph_build_info", "Version of the server.", ["version"], registry=self._registry).labels(
            __version__
        ).set(1)
        self._told = ServerNumbers()
        self._registry.register(self._told)
        self._rendered: tuple[int, bytes] = (-1, b"")

    def __call__(self) -> bytes:
        """The whole page."""
        with self._lock:
            tables, findings = self._tables(), self._findings.render(self._board())
            reads, costs = self._reads.render(self._read_reads()), self._costs.render(self._read_costs())
            watermark = self._watermark()
            told = {
                "limnograph_watermark_timestamp_seconds": None if watermark is None else watermark / MICROS_PER_SECOND
            }
            parts = (self._pages, self._findings, self._reads, self._costs)
            told["limnograph_table_series_left_out"] = sum(part.left_out for part in parts)
            self._told.numbers = {**told, **self._own()}
            return generate_latest(self._registry) + tables + findings + reads + costs

    def _tables(self) -> bytes:
        version, numbers = self._numbers()
        if version != self._rendered[0]:
            self._rendered = (version, self._pages.render(numbers))
        return self._rendered[1]


class ServerNumbers(Collector):
    """The numbers of SERVER_METRICS: unknown ones are NaN, those without a source are absent."""

    def __init__(self) -> None:
        self.numbers: Mapping[str, float | None] = {}

    def collect(self) -> Iterator[Metric]:
        """The latest numbers."""
        for metric in SERVER_METRICS:
            if metric.name in self.numbers:
                value = self.numbers[metric.name]
                family = _FAMILIES[metric.kind]
                yield family(metric.name, metric.help, value=float("nan") if value is None else value)


class TableExposition:
    """Renders the tables' families in the text format; an unknown number has no sample. `left_out`: number of series
    over the limit, which are those of the tables that rank last.
    """

    def __init__(self, max_series: int = MAX_SERIES) -> None:
        self._tables = max_series // len(_NAMES)
        self._shown: list[TableNumbers] = []
        self._labels: list[str] = []
        self._families: list[list[str]] = [[] for _ in _NAMES]
        self.left_out = 0

    def render(self, numbers: list[TableNumbers]) -> bytes:
        """The page. O(tables), plus formatting the lines of changed tables; all lines are formatted again after tables
        were added or removed, at 0.4 µs per line.
        """
        self.left_out = sum(len(n.gauges) + len(n.counters) for n in numbers[self._tables :])
        shown = numbers[: self._tables]
        if [one.name for one in shown] == [one.name for one in self._shown]:
            self._change(shown)
        else:
            self._labels = _labels([one.name.plain for one in shown])
            self._families = _families(self._labels, shown)
        self._shown = shown
        parts = []
        for head, lines in zip(_HEADS, self._families, strict=True):
            if any(lines):
                parts.append(head)
                parts += lines
        return "".join(parts).encode()

    def _change(self, shown: list[TableNumbers]) -> None:
        for place, (before, now) in enumerate(zip(self._shown, shown, strict=True)):
            if before is not now:
                made = _families(self._labels[place : place + 1], [now])
                for lines, changed in zip(self._families, made, strict=True):
                    lines[place] = changed[0]


def _families(labels: list[str], tables: list[TableNumbers]) -> list[list[str]]:
    """Lines by family, one per table; unknown numbers have an empty line."""
    gauges, counters = [one.gauges for one in tables], [one.counters for one in tables]
    made = [_lines(metric.name, labels, gauges) for metric in _GAUGES]
    return [*made, *(_lines(metric.name, labels, counters) for metric in TABLE_COUNTERS)]


def _lines(name: str, labels: list[str], values: list[dict[str, float]]) -> list[str]:
    return [f"{name}{of}{v[name]}\n" if name in v else "" for of, v in zip(labels, values, strict=True)]


def _labels(tables: list[PlainName]) -> list[str]:
    return [_LABELS % table for table in label_values(tables)]
