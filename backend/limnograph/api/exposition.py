"""`/metrics`: the process's own numbers and the gauges of every table, rendered once per change of the lake."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

from limnograph import __version__
from limnograph.domain.gauges import LABELS, TABLE_COUNTERS, TABLE_GAUGES
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.services.gauges import TableNumbers


class Exposition:
    """Callable that renders everything. `numbers` answers the tables' numbers with a version that changes with them."""

    def __init__(
        self, numbers: Callable[[], tuple[int, list[TableNumbers]]], watermark: Callable[[], int | None]
    ) -> None:
        self._numbers, self._watermark = numbers, watermark
        self._registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)
        Gauge("limnograph_build_info", "Version of the server.", ["version"], registry=self._registry).labels(
            __version__
        ).set(1)
        self._known_until = Gauge(
            "limnograph_watermark_timestamp_seconds", "Metadata is known up to here.", registry=self._registry
        )
        self._rendered: tuple[int, bytes] = (-1, b"")

    def __call__(self) -> bytes:
        """The whole page."""
        watermark = self._watermark()
        self._known_until.set(float("nan") if watermark is None else watermark / MICROS_PER_SECOND)
        return generate_latest(self._registry) + self._tables()

    def _tables(self) -> bytes:
        version, numbers = self._numbers()
        if version != self._rendered[0]:
            self._rendered = (version, render(numbers))
        return self._rendered[1]


def render(numbers: list[TableNumbers]) -> bytes:
    """Families of DESIGN §7 in the text format; a number that is not known has no sample."""
    lines: list[str] = []
    for gauge in TABLE_GAUGES:
        _family(lines, gauge.name, "gauge", gauge.help, [(n, n.gauges.get(gauge.name)) for n in numbers])
    for counter in TABLE_COUNTERS:
        _family(lines, counter.name, "counter", counter.help, [(n, n.counters.get(counter.name)) for n in numbers])
    return "".join(lines).encode()


def _family(
    lines: list[str], name: str, kind: str, text: str, samples: list[tuple[TableNumbers, float | None]]
) -> None:
    known = [(numbers, value) for numbers, value in samples if value is not None]
    if not known:
        return
    lines.append(f"# HELP {name} {text}\n# TYPE {name} {kind}\n")
    for numbers, value in known:
        labels = ",".join(f'{label}="{_escaped(part)}"' for label, part in zip(LABELS, numbers.name, strict=True))
        lines.append(f"{name}{{{labels}}} {value!r}\n")


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
