"""Fingerprints as Prometheus computes them, and tables by every name that labels have for them."""

import pytest

from limnograph.domain.ids import TableName
from limnograph.domain.inbound.alert_labels import fingerprint, job_of, named, tables
from limnograph.domain.inbound.alert_times import instant

ORDERS = TableName("lake", "sales", "orders")
OTHER = TableName("lake", "ops", "orders")
KNOWN = [ORDERS, OTHER, TableName("lake", "sales", "carts")]


@pytest.mark.parametrize(
    ("labels", "mark"),
    [
        ({"severity": "warning", "job": "foo"}, "9266ef3da838ad95"),  # Alertmanager's own tests of its templates
        ({"severity": "critical", "job": "foo"}, "3b15fd163d36582e"),
        ({"job": "bar", "severity": "critical"}, "c7e68cb08e3e67f9"),
        ({}, "cbf29ce484222325"),
    ],
)
def test_a_fingerprint_is_the_one_that_alertmanager_computes(labels: dict[str, str], mark: str) -> None:
    assert fingerprint(labels) == mark


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ({"catalog": "lake", "table_namespace": "sales", "table": "orders"}, [ORDERS]),
        ({"exported_namespace": "sales", "table_name": "orders", "namespace": "monitoring"}, [ORDERS]),
        ({"namespace": "monitoring", "table": "carts"}, [KNOWN[2]]),
        ({"namespace": "sales", "table": "orders"}, [ORDERS]),
        ({"dataset": "lake.sales.orders"}, [ORDERS]),
        ({"table": "sales.orders"}, [ORDERS]),
        ({"table": "orders"}, [OTHER, ORDERS]),
        ({"catalog": "lake", "table_namespace": "sales", "table": "gone"}, [TableName("lake", "sales", "gone")]),
        ({"table": "gone"}, []),
        ({"alertname": "Watchdog"}, []),
    ],
)
def test_a_table_is_found_by_any_name_in_labels(labels: dict[str, str], found: list[TableName]) -> None:
    assert tables(labels, KNOWN) == found


def test_what_kubernetes_calls_namespace_is_only_a_guess_and_job_is_prometheus_own() -> None:
    assert named({"namespace": "monitoring", "table": "t"}).weak
    assert not named({"namespace": "monitoring", "table_namespace": "sales", "table": "t"}).weak
    assert job_of({"job": "limnograph"}) is None
    assert job_of({"job_name": "churn"}) == "churn"


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("2026-11-21T03:05:00Z", 1_795_230_300_000_000),
        ("2026-11-21T03:05:00.123456789Z", 1_795_230_300_123_000),
        ("2026-11-21T04:05:00+01:00", 1_795_230_300_000_000),
        ("0001-01-01T00:00:00Z", None),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-12:00", None),
        ("yesterday", None),
        (17, None),
        (None, None),
    ],
)
def test_instants_are_read_to_the_millisecond_and_the_year_one_is_absent(text: object, micros: int | None) -> None:
    assert instant(text) == micros
