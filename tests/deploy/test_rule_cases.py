"""Every shipped alert in every case: which of them fire, and how often, in promtool."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from rule_promtool import RULES, promtool, rules_that_fire

ALERTS = [
    rule["alert"]
    for file in RULES
    for group in yaml.safe_load(file.read_text())["groups"]
    for rule in group["rules"]
    if "alert" in rule and "limnograph_finding" not in rule["labels"]
]
"""Alerts on metrics of tables and of Limnograph. Those on the gauge of findings look at nothing else: their cases are
`deploy/prometheus/tests/findings.yml`.
"""
TABLE = 'catalog="lake",table_namespace="sales",table="customer_events"'
PIPELINE = 'instance="c:9464",job="limnograph-pipeline"'
SERVER, JOB = 'instance="a:8787",job="limnograph"', 'instance="b:9108",job="spark-jobs"'
FLINK = 'host="d",job_id="a1",job_name="enrich",instance="d:9249",job="flink"'
MINUTES, AT = 150, 60
"""One sample a minute; what happens, happens after the first hour."""
Values = list[float | None]


class Sample(NamedTuple):
    """One metric of the healthy table: its value in minute t, and who exposes it."""

    value: Callable[[int], float | None]
    labels: str = f"{TABLE},{SERVER}"


def constant(value: float, labels: str = f"{TABLE},{SERVER}") -> Sample:
    return Sample(lambda _: value, labels)


HEALTHY = {
    "lakehouse_table_data_files": constant(2_000),
    "lakehouse_table_small_files": constant(100),
    "lakehouse_table_debt_files": constant(80),
    "lakehouse_table_bytes": constant(2e11),
    "lakehouse_table_target_file_bytes": constant(5e8),
    "lakehouse_table_delete_files": constant(10),
    "lakehouse_table_delete_bytes": constant(1e6),
    "lakehouse_table_snapshots": constant(50),
    "lakehouse_table_oldest_snapshot_timestamp_seconds": Sample(lambda t: 60 * t - 300_000),
    "lakehouse_table_partition_skew_ratio": constant(2),
    "lakehouse_table_metadata_bytes": constant(50_000),
    "lakehouse_table_manifests": constant(20),
    "lakehouse_table_usual_commit_interval_seconds": constant(600),
    "lakehouse_table_last_commit_timestamp_seconds": Sample(lambda t: t // 10 * 600),
    "lakehouse_table_added_data_files_total": Sample(lambda t: 4 * (t // 10)),
    "lakehouse_table_added_bytes_total": Sample(lambda t: 4e8 * (t // 10)),
    "lakehouse_table_reported_commits_total": Sample(lambda t: t),
    "lakehouse_table_reported_commit_attempts_total": Sample(lambda t: t),
    "spark_stream_commit_lag_seconds": constant(20, f'{TABLE},query_name="q",{JOB}'),
    "spark_stream_last_progress_timestamp_seconds": Sample(lambda t: 60 * t, f'{TABLE},query_name="q",{JOB}'),
    "spark_stream_last_failure_timestamp_seconds": constant(-60, f'{TABLE},query_name="q",{JOB}'),
    "flink_jobmanager_job_numberOfFailedCheckpoints": constant(2, FLINK),
    "limnograph_watermark_timestamp_seconds": Sample(lambda t: 60 * t, SERVER),
    "limnograph_pipeline_extraction_lag_seconds": constant(60, PIPELINE),
    "limnograph_pipeline_last_pass_timestamp_seconds": Sample(lambda t: 60 * t, PIPELINE),
    "limnograph_last_pass_timestamp_seconds": Sample(lambda t: 60 * t, SERVER),
    "limnograph_inbox_oldest_timestamp_seconds": Sample(lambda t: 60 * t - 20, SERVER),
    "limnograph_catalog_up": constant(1, f'catalog="lake",{SERVER}'),
    "limnograph_catalog_known_timestamp_seconds": Sample(lambda t: 60 * t, f'catalog="lake",{SERVER}'),
    "limnograph_pipeline_catalog_up": constant(1, f'catalog="lake",{PIPELINE}'),
    "up": constant(1, PIPELINE),
    "limnograph_hot_tables": constant(1, SERVER),
    "limnograph_meta_up": constant(1, SERVER),
    "limnograph_maintenance_verification_failures_total": constant(0, SERVER),
    "limnograph_maintenance_breaker_open": Sample(lambda _: None, f'scope="table",code="conflicts",{SERVER}'),
}
SICK = {
    "lakehouse_table_small_files": 1_500,
    "lakehouse_table_debt_files": 1_400,
    "lakehouse_table_snapshots": 5_000,
    "lakehouse_table_oldest_snapshot_timestamp_seconds": -3_000_000,
    "lakehouse_table_partition_skew_ratio": 40,
    "lakehouse_table_metadata_bytes": 1e8,
    "lakehouse_table_last_commit_timestamp_seconds": 0,
    "spark_stream_commit_lag_seconds": 1_800,
    "limnograph_pipeline_extraction_lag_seconds": 4_000,
}
"""Values that stand for hours where nobody looks after the table."""
SICK_ALERTS = {
    "LakehouseCompactionBacklog": 1,
    "LakehouseSnapshotsTooMany": 1,
    "LakehouseSnapshotsTooOld": 1,
    "LakehousePartitionSkew": 1,
    "LakehouseMetadataGrowing": 1,
    "LakehouseTableStale": 1,
    "LakehouseStreamingLag": 1,
    "LakehouseExtractionLag": 1,
}


class Hours:
    """All metrics over the time, changed by what a case says."""

    def __init__(self) -> None:
        self.values: dict[str, Values] = {name: [one.value(t) for t in range(MINUTES)] for name, one in HEALTHY.items()}

    def put(self, name: str, value: Callable[[int, float], float | None], since: int = 0) -> None:
        """New values of a metric, out of the minute and the old value."""
        old = self.values[name]
        self.values[name] = old[:since] + [value(t, old[t] or 0.0) for t in range(since, MINUTES)]

    def away(self, since: int, until: int, *starts: str) -> None:
        """What exposes metrics whose names start so is not there; without any, whatever the server exposes."""
        for name, values in self.values.items():
            if name.startswith(starts or ("lakehouse_", "limnograph_")):
                values[since:until] = [None] * (until - since)

    def series(self) -> list[dict[str, str]]:
        return [
            {"series": f"{name}{{{HEALTHY[name].labels}}}", "values": _text(values)}
            for name, values in self.values.items()
        ]


def _text(values: Values) -> str:
    """In promtool's words: what is away ends with a marker, as scrapes do."""
    told = []
    for before, value in zip([None, *values], values, strict=False):
        told.append(f"{value:.17g}" if value is not None else "_" if before is None else "stale")
    return " ".join(told)


def plus(amount: float) -> Callable[[int, float], float]:
    return lambda _, old: old + amount


def burst(hours: Hours) -> None:
    """One commit of 50,000 files of 1 MB in the minute AT."""
    for name in ("data_files", "small_files", "debt_files", "added_data_files_total"):
        hours.put(f"lakehouse_table_{name}", plus(50_000), AT)
    for name in ("bytes", "added_bytes_total"):
        hours.put(f"lakehouse_table_{name}", plus(5e10), AT)


def compaction(hours: Hours) -> None:
    """Many files of a table become few: all that counts files falls, and no counter moves."""
    for name, before in (("data_files", 51_000), ("manifests", 900), ("delete_files", 19)):
        after = HEALTHY[f"lakehouse_table_{name}"].value(0)
        hours.put(f"lakehouse_table_{name}", lambda t, _, a=before, b=after: a if t < AT else b)
    hours.put("lakehouse_table_debt_files", lambda t, _: 480 if t < AT else 0)


def compaction_in_parts(hours: Hours) -> None:
    """The same in ten commits, two minutes apart."""
    hours.put("lakehouse_table_data_files", lambda t, _: 51_000 - 4_900 * min(10, max(0, (t - AT) // 2 + 1)))


def slow_growth(hours: Hours) -> None:
    """Everything grows by a twentieth."""
    for name, one in HEALTHY.items():
        if name.startswith("lakehouse_table_") and one.value(0) and "interval" not in name:
            hours.put(name, lambda t, old: round(old * (1 + 0.05 * t / MINUTES), 3))


def neglect(hours: Hours) -> None:
    """What nobody cleans up grows for hours: too slow for a burst, and each of its own alerts comes once."""
    hours.put("lakehouse_table_snapshots", lambda t, _: 50 + 20 * t)
    hours.put("lakehouse_table_delete_files", lambda t, _: 10 + 4 * t)
    hours.put("lakehouse_table_manifests", lambda t, _: 20 + 12 * t)
    hours.put("lakehouse_table_partition_skew_ratio", lambda t, _: 2 + t / 10)
    for name in ("data_files", "small_files", "debt_files", "added_data_files_total"):
        hours.put(f"lakehouse_table_{name}", lambda t, old: old + 20 * t)


def created_again(hours: Hours) -> None:
    """Dropped, and three minutes later there is a smaller table of the same name; its counters begin anew."""
    hours.away(AT, AT + 3, "lakehouse_")
    for name in ("data_files", "bytes", "snapshots", "manifests", "metadata_bytes", "delete_files", "delete_bytes"):
        hours.put(f"lakehouse_table_{name}", lambda _, old: old // 2, AT + 3)
    for name in ("added_data_files_total", "added_bytes_total"):
        hours.put(f"lakehouse_table_{name}", lambda t, _: 4 * ((t - AT) // 10), AT + 3)


def restart(hours: Hours) -> None:
    """The server is away for three minutes. Counters of files go on; those of reports begin anew."""
    hours.away(AT, AT + 3)
    for name in ("reported_commits_total", "reported_commit_attempts_total"):
        hours.put(f"lakehouse_table_{name}", lambda t, _: t - AT, AT + 3)


def sick(hours: Hours) -> None:
    """Nobody looks after the table, and each commit needs three tries."""
    for name, value in SICK.items():
        hours.put(name, lambda _, __, value=value: value)
    hours.put("lakehouse_table_reported_commit_attempts_total", lambda t, _: 3 * t)


def sick_with_restart(hours: Hours) -> None:
    sick(hours)
    hours.away(AT + 10, AT + 13)


def burst_while_away(hours: Hours) -> None:
    burst(hours)
    hours.away(AT - 2, AT + 10)


def no_table(hours: Hours) -> None:
    hours.away(0, MINUTES, "lakehouse_", "spark_")


def pipeline_killed(hours: Hours) -> None:
    """It is gone, its series with it; commits go on, and what is pushed waits."""
    hours.away(AT, MINUTES, "limnograph_pipeline_")
    hours.put("up", lambda _, __: 0, AT)
    server_sees_no_pass(hours)


def passes_fail(hours: Hours) -> None:
    """The process lives, and each of its passes fails."""
    hours.put("limnograph_pipeline_last_pass_timestamp_seconds", lambda _, __: 60 * AT, AT)
    server_sees_no_pass(hours)


def server_sees_no_pass(hours: Hours) -> None:
    for name in ("limnograph_last_pass_timestamp_seconds", "limnograph_inbox_oldest_timestamp_seconds"):
        hours.put(name, lambda _, __: 60 * AT, AT)


def never_started(hours: Hours) -> None:
    names = ("limnograph_pipeline_", "limnograph_last_pass", "limnograph_inbox", "up")
    hours.away(0, MINUTES, *names)


def catalog_away(hours: Hours) -> None:
    """For half an hour; the tables are written meanwhile, which is not seen."""
    for name in ("limnograph_catalog_up", "limnograph_pipeline_catalog_up"):
        hours.put(name, lambda t, old: old if t > AT + 30 else 0, AT)


def late_rows_then_dead(hours: Hours) -> None:
    """Rows come late, then no more: one alert after the other, and never none."""
    hours.put("limnograph_pipeline_extraction_lag_seconds", lambda _, __: 4_000, 20)
    pipeline_killed(hours)


def checkpoints_fail(hours: Hours) -> None:
    """One in five minutes for half an hour, on top of earlier failures."""
    hours.put("flink_jobmanager_job_numberOfFailedCheckpoints", lambda t, old: old + min(6, (t - AT) // 5), AT)


def one_checkpoint_fails_and_flink_restarts(hours: Hours) -> None:
    hours.put("flink_jobmanager_job_numberOfFailedCheckpoints", lambda t, old: old + 1, AT)
    hours.put("flink_jobmanager_job_numberOfFailedCheckpoints", lambda t, _: 0, AT + 20)


def stream_fails(hours: Hours) -> None:
    """For an hour; then it runs again."""
    names = ("spark_stream_commit_lag_seconds", "spark_stream_last_progress_timestamp_seconds")
    hours.away(AT, AT + 60, *names)
    hours.put("spark_stream_last_failure_timestamp_seconds", lambda _, __: 60 * AT, AT)
    hours.away(AT + 60, MINUTES, "spark_stream_last_failure_timestamp_seconds")


def verification_fails(hours: Hours) -> None:
    """Once; an hour later the server restarts, and counts from 0."""
    hours.put("limnograph_maintenance_verification_failures_total", lambda t, _: t < AT + 60, AT)


def breaker_opens(hours: Hours) -> None:
    """For an hour."""
    hours.put("limnograph_maintenance_breaker_open", lambda t, _: 1 if t < AT + 60 else None, AT)


def nothing(hours: Hours) -> None:
    hours.away(0, MINUTES, "lakehouse_", "spark_", "limnograph_", "up")


GROWN = ("CompactionBacklog", "SnapshotsTooMany", "DeleteFilesGrowing", "PartitionSkew", "MetadataGrowing")
CASES: dict[str, tuple[Callable[[Hours], None], dict[str, int]]] = {
    "a healthy table": (lambda _: None, {}),
    "a burst in one commit": (burst, {"SmallFileProliferation": 1, "LakehouseCompactionBacklog": 1}),
    "slow growth": (slow_growth, {}),
    "growth that nobody cleans up": (neglect, {f"Lakehouse{name}": 1 for name in GROWN}),
    "a compaction": (compaction, {}),
    "a compaction in parts": (compaction_in_parts, {}),
    "a table made again": (created_again, {}),
    "a restart of the exporter": (restart, {}),
    "a neglected table": (sick, {**SICK_ALERTS, "LakehouseCommitContention": 1}),
    "a neglected table, over a restart": (sick_with_restart, {**SICK_ALERTS, "LakehouseCommitContention": 1}),
    "an exporter that is down during the burst": (
        burst_while_away,
        {"SmallFileProliferation": 1, "LakehouseCompactionBacklog": 1, "LimnographDown": 1},
    ),
    "a stream that fails": (stream_fails, {"LakehouseStreamFailed": 1}),
    "checkpoints that fail": (checkpoints_fail, {"LakehouseCheckpointsFailing": 1}),
    "one checkpoint that fails, then a restart": (one_checkpoint_fails_and_flink_restarts, {}),
    "a verification that fails": (verification_fails, {"LimnographVerificationFailed": 1}),
    "a breaker that opens": (breaker_opens, {"LimnographBreakerOpen": 1}),
    "a table without data": (no_table, {}),
    "no data at all": (nothing, {"LimnographDown": 1}),
    "a pipeline that is killed": (
        pipeline_killed,
        {"LimnographPipelineStalled": 1, "LimnographInboxWaiting": 1, "LimnographTargetDown": 1},
    ),
    "a pipeline whose passes all fail": (passes_fail, {"LimnographPipelineStalled": 1, "LimnographInboxWaiting": 1}),
    "a pipeline that was never started": (never_started, {"LimnographPipelineStalled": 1}),
    "a catalog that does not answer": (catalog_away, {"LimnographCatalogDown": 1}),
    "late rows, then a dead pipeline": (
        late_rows_then_dead,
        {
            "LakehouseExtractionLag": 1,
            "LimnographPipelineStalled": 1,
            "LimnographInboxWaiting": 1,
            "LimnographTargetDown": 1,
        },
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_alert_fires_as_often_as_the_case_expects(case: str, tmp_path: Path) -> None:
    change, fires = CASES[case]
    assert fires.keys() <= set(ALERTS)
    hours = Hours()
    change(hours)
    # How often an alert began: half of the changes between none and one, rounded up because it may still fire.
    checks = [
        {
            "expr": f'ceil(changes((count(ALERTS{{alertname="{name}",alertstate="firing"}}) or vector(0))[3h:1m]) / 2)',
            "eval_time": f"{MINUTES - 1}m",
            "exp_samples": [{"labels": "{}", "value": fires.get(name, 0)}],
        }
        for name in ALERTS
    ]
    test = {"name": case, "interval": "1m", "input_series": hours.series(), "promql_expr_test": checks}
    told = {"rule_files": rules_that_fire(tmp_path), "evaluation_interval": "1m", "tests": [test]}
    (tmp_path / "case.yml").write_text(json.dumps(told))
    found = promtool("test", "rules", tmp_path / "case.yml")
    assert found.returncode == 0, found.stdout + found.stderr


def test_every_alert_fires_in_a_case_and_is_silent_in_others() -> None:
    assert {name for _, fires in CASES.values() for name in fires} == set(ALERTS)
    assert len(ALERTS) == 20
