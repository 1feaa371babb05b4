"""Attempts of commits that clients report: counted once per report, for tables that we know, within a bound."""

import asyncio

import msgspec
from prometheus_client.parser import text_string_to_metric_families

from limnograph.api.metrics.exposition import Exposition
from limnograph.api.metrics.served_metrics import ServedMetrics
from limnograph.domain.facts.events import ReportFact
from limnograph.services.events.reported_commits import ReportedCommits
from pushed_bodies import knowing


def report(snapshot: int, attempts: int) -> bytes:
    metrics = {"attempts": {"unit": "count", "value": attempts}}
    body = {"report-type": "commit-report", "table-name": "lake.sales.orders", "snapshot-id": snapshot}
    return msgspec.json.encode({**body, "sequence-number": 1, "operation": "append", "metrics": metrics})


def test_a_report_received_twice_counts_once() -> None:
    made = knowing()
    for body in (report(1, 3), report(2, 1), report(1, 3)):
        asyncio.run(made.backend.events.rest_report(body, "lake", ["sales", "orders"]))
    page = Exposition(lambda: (1, []), lambda: None, collectors=[ServedMetrics(made.reported.told, "http://x/")])()
    samples = {s.name: s for f in text_string_to_metric_families(page.decode()) for s in f.samples}
    commits = samples["lakehouse_table_reported_commits_total"]
    assert commits.labels == {"catalog": "lake", "table_namespace": "sales", "table": "orders"}
    assert (commits.value, samples["lakehouse_table_reported_commit_attempts_total"].value) == (2, 4)
    assert samples["limnograph_public_url_info"].labels == {"url": "http://x"}


def test_scans_unknown_tables_and_tables_beyond_the_bound_are_not_counted() -> None:
    counted = ReportedCommits(most=1)
    told = {"kind": "commit", "attempts": 2, "catalog": "lake", "namespace": "a", "table": "t"}
    for changed in ({}, {"kind": "scan"}, {"catalog": None}, {"attempts": None}, {"table": "other"}):
        counted.add([msgspec.convert({"event_id": "1", **told, **changed}, ReportFact)])
    assert [(name.table, *found) for name, found in counted.told().items()] == [("t", 1, 2, None)]


def test_refused_commits_are_counted_once_an_engine_states_outcomes() -> None:
    counted = ReportedCommits()
    told = {"kind": "commit", "catalog": "lake", "namespace": "a"}
    for number, changed in enumerate(
        (("ok", "t"), ("conflict", "t"), ("failed", "t"), ("ok", "calm"), (None, "other"))
    ):
        outcome, table = changed
        given = {"event_id": str(number), "outcome": outcome, "table": table, "attempts": None if outcome else 3}
        counted.add([msgspec.convert(told | given, ReportFact)])
    page = Exposition(lambda: (1, []), lambda: None, collectors=[ServedMetrics(counted.told, "http://x/")])()
    samples = [s for f in text_string_to_metric_families(page.decode()) for s in f.samples]
    found = {
        (s.name.removeprefix("lakehouse_table_"), s.labels["table"]): s.value for s in samples if "table" in s.labels
    }
    assert found == {
        ("refused_commits_total", "t"): 1,
        ("refused_commits_total", "calm"): 0,
        ("reported_commits_total", "other"): 1,
        ("reported_commit_attempts_total", "other"): 3,
    }
