"""Port Meter over prometheus_client, and a small HTTP server for `/metrics`. Knows nothing of the pipeline."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from wsgiref.simple_server import WSGIServer

from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector

from limnograph import __version__
from limnograph.domain.errors import EnvironmentFault
from limnograph.domain.metrics.pipeline import Metric

_Family = CounterMetricFamily | GaugeMetricFamily | InfoMetricFamily


class Exporter(Collector):
    """Stores the values of `metrics`. A gauge has no sample before its first value and after None; a counter without
    labels starts at 0.
    """

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = tuple(metrics)
        bare = (metric for metric in self._metrics if metric.kind == "counter" and not metric.labels)
        self._values: dict[tuple[str, tuple[str, ...]], float] = {(metric.name, ()): 0.0 for metric in bare}
        self._lock = threading.Lock()
        self._server: WSGIServer | None = None
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.registry.register(self)

    def put(self, metric: Metric, value: float | None, *labels: str) -> None:
        with self._lock:
            if value is None:
                self._values.pop((metric.name, labels), None)
            else:
                self._values[metric.name, labels] = value

    def add(self, metric: Metric, amount: float, *labels: str) -> None:
        with self._lock:
            key = (metric.name, labels)
            self._values[key] = self._values.get(key, 0.0) + amount

    def collect(self) -> Iterator[_Family]:
        """All families, so that every metric is exposed."""
        with self._lock:
            values = dict(self._values)
        yield InfoMetricFamily("limnograph_build", "Version of the pipeline.", {"version": __version__})
        for metric in self._metrics:
            kind = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
            family = kind(metric.name, metric.help, labels=metric.labels)
            for (name, labels), value in values.items():
                if name == metric.name:
                    family.add_metric(labels, value)
            yield family

    def listen(self, host: str, port: int) -> int:
        """Serve `/metrics` from a thread; returns the actual port (0 requests a free one). Raises EnvironmentFault."""
        try:
            self._server, _ = start_http_server(port, host, self.registry)
        except OSError as error:
            why = error.strerror or str(error)
            detail = f"cannot listen on {host}:{port} for pipeline.metrics: {why}; choose another host:port"
            raise EnvironmentFault(detail) from error
        return int(self._server.server_port)

    def close(self) -> None:
        """Stop serving."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
