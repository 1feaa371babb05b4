"""Families of executed maintenance are what Prometheus reads back."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from limnograph.api.metrics.exposition import Exposition
from limnograph.api.metrics.maintenance_metrics import MaintenanceMetrics
from limnograph.domain.metrics.maintenance import SECONDS, ActionDurations, MaintenanceNumbers

NUMBERS = MaintenanceNumbers(
    plans={("vacuum", "verified"): 2, ("vacuum", "failed"): 0},
    durations={"vacuum": ActionDurations((1, 0, 2, *[0] * (len(SECONDS) - 2)), 21.5)},
    rewritten={"optimize": 2**40},
    breakers={("table", "conflicts"): 3},
    unverified=1,
)


def samples(numbers: MaintenanceNumbers | None) -> dict[tuple[str, ...], float]:
    page = Exposition(lambda: (1, []), lambda: None, collectors=[MaintenanceMetrics(lambda: numbers)])().decode()
    return {
        (sample.name.removeprefix("limnograph_maintenance_"), *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name.startswith("limnograph_maintenance_")
    }


def test_each_number_has_its_sample() -> None:
    found = samples(NUMBERS)
    assert found["plans_total", "vacuum", "verified"] == 2
    assert found["plans_total", "vacuum", "failed"] == 0
    assert (found["seconds_count", "vacuum"], found["seconds_sum", "vacuum"]) == (3, 21.5)
    assert (found["seconds_bucket", "vacuum", "1.0"], found["seconds_bucket", "vacuum", "15.0"]) == (1, 3)
    assert found["seconds_bucket", "vacuum", "+Inf"] == 3
    assert found["bytes_rewritten_total", "optimize"] == 2**40
    assert found["breaker_open", "conflicts", "table"] == 3
    assert found["verification_failures_total",] == 1


def test_a_server_that_keeps_no_plans_has_none() -> None:
    assert samples(None) == {}
