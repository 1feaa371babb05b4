"""The alert rules over a history, evaluated by promtool."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from limnograph.demo.metrics.openmetrics import Family, MetricSeries
from limnograph.demo.metrics.rule_history import RuleHistory, evaluate
from limnograph.demo.processes import alerting
from limnograph.demo.processes.tools import tool
from limnograph.demo.story.calendar import HOUR, MINUTE, Calendar
from limnograph.domain.errors import EnvironmentFault
from limnograph.domain.time import Millis

MIDNIGHT = 1_795_219_200_000
CALENDAR = Calendar(MIDNIGHT, MIDNIGHT - 18 * HOUR + 90 * MINUTE)
"""A history of ninety minutes."""
TABLE = {"catalog": "lake", "table_namespace": "sales", "table": 'e"\\vents'}
START = CALENDAR.start


def family(name: str, *steps: tuple[int, float]) -> Family:
    """A gauge or counter of the table that has these values from these minutes on."""
    at_minute = {minute: [value for since, value in steps if since <= minute][-1] for minute in range(90)}
    samples = [(START // 1000 + minute * 60, value) for minute, value in at_minute.items()]
    return Family(name, "gauge", "", [MetricSeries(TABLE, samples)])


def evaluated(folder: Path, families: Sequence[Family], *more: Path) -> RuleHistory:
    rules = [*sorted(alerting.rules().glob("*.yml")), *more]
    return evaluate(tool("promtool"), folder, rules, CALENDAR, families)


@pytest.mark.prometheus
def test_a_burst_fires_at_its_minute_and_is_resolved_when_the_rate_has_ended(tmp_path: Path) -> None:
    past = evaluated(
        tmp_path,
        [
            family("lakehouse_table_data_files", (0, 100), (20, 50_100)),
            family("lakehouse_table_added_data_files_total", (0, 0), (20, 50_000)),
        ],
    )
    (alert,) = past.alerts
    assert alert.labels == {**TABLE, "alertname": "SmallFileProliferation", "severity": "warning"}
    assert alert.starts_at == START + 20 * MINUTE
    # Five minutes of the rule's window and fifteen for which it is kept.
    assert alert.ends_at == START + 40 * MINUTE
    assert alert.annotations["summary"] == 'e"\\vents got 50000 data files within five minutes'
    assert alert.annotations["dashboard_url"].startswith("/a?alertname=SmallFileProliferation&catalog=lake")
    assert not list(tmp_path.iterdir())


@pytest.mark.prometheus
def test_an_alert_that_waits_is_pending_first_and_open_at_the_end(tmp_path: Path) -> None:
    past = evaluated(
        tmp_path,
        [
            family("lakehouse_table_data_files", (0, 100), (10, 5_100)),
            family("lakehouse_table_small_files", (0, 10), (10, 5_010)),
            family("lakehouse_table_debt_files", (0, 10), (10, 5_010)),
            # It has always been there: growth without a counter is measured by the gauge.
            family("lakehouse_table_added_data_files_total", (0, 9), (10, 10)),
        ],
    )
    backlog = [alert for alert in past.alerts if alert.labels["alertname"] == "LakehouseCompactionBacklog"]
    assert [(alert.starts_at, alert.ends_at) for alert in backlog] == [(START + 40 * MINUTE, None)]
    recorded = {
        (family.name, one.labels.get("alertstate")): one.samples
        for family in past.families
        for one in family.series
        if one.labels["alertname"] == "LakehouseCompactionBacklog"
    }
    first = START // 1000
    assert [at for at, _ in recorded["ALERTS", "pending"]] == [first + minute * 60 for minute in range(10, 40)]
    assert [at for at, _ in recorded["ALERTS", "firing"]] == [first + minute * 60 for minute in range(40, 90)]
    assert {value for _, value in recorded["ALERTS_FOR_STATE", None]} == {first + 600}


@pytest.mark.prometheus
def test_instants_are_compared_with_the_clock_of_the_history(tmp_path: Path) -> None:
    gap = family("lakehouse_table_usual_commit_interval_seconds", (0, 300))
    stale = family("lakehouse_table_last_commit_timestamp_seconds", (0, START / 1000))
    (alert,) = evaluated(tmp_path, [gap, stale]).alerts
    # An hour without a commit, and five minutes for which the rule waits.
    assert (alert.labels["alertname"], alert.starts_at) == ("LakehouseTableStale", Millis(START + 66 * MINUTE))
    fresh = Family(
        stale.name, "gauge", "", [MetricSeries(TABLE, [(at, at - 60.0) for at, _ in stale.series[0].samples])]
    )
    assert evaluated(tmp_path, [gap, fresh]) == RuleHistory([], [])


@pytest.mark.prometheus
def test_rules_that_promtool_rejects_are_an_error_with_its_words(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text("groups:\n  - name: x\n    rules:\n      - alert: A\n        expr: sum(\n")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with pytest.raises(EnvironmentFault, match="promtool could not evaluate the rules"):
        evaluated(scratch, [family("lakehouse_table_data_files", (0, 1))], wrong)
