"""The pipeline's own exposition over real HTTP: names, types, ports that are taken, and the guide that explains it."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from limnograph.adapters.prometheus.exporter import Exporter
from limnograph.domain.errors import EnvironmentFault
from limnograph.domain.metrics import pipeline as metrics
from limnograph.domain.metrics.pipeline import PIPELINE_METRICS

GUIDE = Path(__file__).parents[3] / "docs" / "operate.md"


def scraped(port: int) -> dict[str, list[tuple[dict[str, str], float]]]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        families = text_string_to_metric_families(answer.read().decode())
        return {family.name: [(s.labels, s.value) for s in family.samples] for family in families}


def test_known_numbers_are_scraped_and_unknown_ones_have_no_sample() -> None:
    exporter = Exporter(PIPELINE_METRICS)
    port = exporter.listen("127.0.0.1", 0)
    try:
        exporter.put(metrics.TABLES_SEEN, 40, 'la"ke\n')
        exporter.put(metrics.PASS_SECONDS, 2.5)
        exporter.add(metrics.APPENDS, 1, "snapshots", "conflict")
        exporter.add(metrics.APPENDS, 2, "snapshots", "conflict")
        found = scraped(port)
        assert found["limnograph_pipeline_tables_seen"] == [({"catalog": 'la"ke\n'}, 40)]
        assert found["limnograph_pipeline_last_pass_duration_seconds"] == [({}, 2.5)]
        assert found["limnograph_pipeline_appends"] == [({"table": "snapshots", "result": "conflict"}, 3)]
        assert found["limnograph_pipeline_newest_commit_timestamp_seconds"] == []
        exporter.put(metrics.TABLES_SEEN, None, 'la"ke\n')
        assert scraped(port)["limnograph_pipeline_tables_seen"] == []
        assert "process_resident_memory_bytes" in found
    finally:
        exporter.close()


def test_a_port_in_use_is_a_one_line_error() -> None:
    first, second = Exporter(PIPELINE_METRICS), Exporter(PIPELINE_METRICS)
    port = first.listen("127.0.0.1", 0)
    try:
        with pytest.raises(EnvironmentFault, match=rf"cannot listen on 127\.0\.0\.1:{port} for pipeline\.metrics"):
            second.listen("127.0.0.1", port)
    finally:
        first.close()


def test_names_follow_prometheus_and_no_label_is_one_that_prometheus_overwrites() -> None:
    for metric in PIPELINE_METRICS:
        assert re.fullmatch(r"limnograph_[a-z_]+", metric.name)
        assert metric.name.endswith("_total") == (metric.kind == "counter")
        assert not {"job", "namespace", "instance"} & set(metric.labels)
    listed = [value for value in vars(metrics).values() if isinstance(value, metrics.Metric)]
    assert sorted(listed) == sorted(PIPELINE_METRICS)


def test_the_operating_guide_explains_every_number_and_no_other() -> None:
    told = re.findall(r"^\| `(limnograph_[a-z_]+)`", GUIDE.read_text(), flags=re.MULTILINE)
    assert sorted(told) == sorted(metric.name for metric in PIPELINE_METRICS)
