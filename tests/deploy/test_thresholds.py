"""A threshold and the name of an alert are one fact: rules, pages, runbooks and the dashboard agree on each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from limnograph.api.docs.runbooks import runbooks
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.thresholds import Thresholds, stale_after_s
from limnograph.domain.time import MICROS_PER_SECOND

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "prometheus" / "rules"
THRESHOLDS = RULES / "thresholds.yml"
ALERTS = {
    rule["alert"]: rule
    for group in yaml.safe_load((RULES / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
    if "alert" in rule
}
SHIPPED = {
    rule["record"].split(":")[1]: float(re.sub(r"^.*vector\((.+)\)$", r"\1", rule["expr"]))
    for group in yaml.safe_load(THRESHOLDS.read_text())["groups"]
    for rule in group["rules"]
}
LIMITS, DRAWN = FindingLimits(), Thresholds()
SHARED: dict[str, float] = {
    "added_data_files_5m": LIMITS.burst_files,
    "delete_ratio": LIMITS.delete_share,
    "delete_files_growth": LIMITS.delete_files,
    "partition_skew": LIMITS.skew_ratio,
    "stale_intervals": LIMITS.stale_intervals,
    "stale_seconds": LIMITS.stale_least / MICROS_PER_SECOND,
    "pass_age_seconds": DRAWN.pass_age_s,
}
"""Thresholds of rules that findings or pages have, too."""
OF_RULES_ALONE = {
    *("partition_skew_bytes", "manifests", "metadata_bytes", "commit_retries", "stream_lag_seconds"),
    *("watermark_lag_seconds", "extraction_lag_seconds", "inbox_age_seconds"),
    *("debt_files", "small_files_share", "snapshots", "snapshot_age_seconds", "failed_checkpoints"),
}
WORDS = {1: "one", 3: "three", 10: "ten", 0.1: "a tenth", 0.5: "half", 0.75: "three quarters"}
TIMES = {300: "five minutes", 600: "ten minutes", 900: "fifteen minutes", 1800: "half an hour", 3600: "an hour"}
SECONDS = {"m": 60, "h": 3600}


class Number(float):
    """A threshold as prose writes it: `{x:,.0f}`, `{x:word}`, `{x:Word}`, `{x:time}`, `{x:days}`, `{x:MiB}`,
    `{x:GiB}`.
    """

    def __format__(self, spec: str) -> str:
        if spec.lower() == "word":
            word = WORDS.get(float(self), "a number that this test cannot write")
            return word.capitalize() if spec == "Word" else word
        if spec == "time":
            return TIMES.get(int(self), "a time that this test cannot write")
        if spec == "days":
            return f"{self / 86_400:g}"
        sizes = {"MiB": 2**20, "GiB": 2**30}
        return f"{self / sizes[spec]:g} {spec}" if spec in sizes else format(float(self), spec)


PROSE = {
    "small-file-proliferation": (
        "{added_data_files_5m:,.0f} files. To override it",
        "below {burst_small_share:word} of the target size in the table's own properties",
    ),
    "lakehouse-compaction-backlog": (
        "{debt_files:,.0f} files. To override it",
        "{small_files_share:word} of the table's data files have been smaller than {burst_small_share:word} of",
        "For {hold:time},",
    ),
    "lakehouse-snapshots-too-many": ("{snapshots:,.0f} snapshots. To override it",),
    "lakehouse-snapshots-too-old": (
        "{snapshot_age_seconds:,.0f} seconds (30 days). To override it",
        "points at is more than {snapshot_age_seconds:days} days old",
    ),
    "lakehouse-delete-files-growing": (
        "{delete_ratio:g} delete files per data file, or delete bytes per data byte",
        "more than {delete_ratio:word} of the table's bytes",
        "at least {delete_files_growth:g} more delete files",
    ),
    "lakehouse-table-stale": (
        "{stale_intervals:Word} usual gaps, never less than {stale_seconds:time}",
        "for {stale_intervals:word} times its usual gap, and for at least {stale_seconds:time}",
    ),
    "lakehouse-partition-skew": (
        "{partition_skew:Word} times the median, in a table of {partition_skew_bytes:GiB} or more",
        "more than {partition_skew:word} times the bytes of the median partition, and",
        "the table has {partition_skew_bytes:GiB} of data or more",
    ),
    "lakehouse-metadata-growing": (
        "{manifests:,.0f} manifests, or {metadata_bytes:MiB} of metadata.json",
        "exceeded its threshold for {hold:time}",
    ),
    "lakehouse-commit-contention": ("{commit_retries:Word} retry per commit, over five or more commits",),
    "lakehouse-finding-critical": (),
    "lakehouse-finding-warning": (),
    "lakehouse-finding-info": (),
    "lakehouse-table-at-risk": (),
    "lakehouse-streaming-lag": (
        "{stream_lag_seconds:,.0f} seconds",
        "more than {stream_lag_seconds:time} from the checkpoint",
        "a trigger of more than {stream_lag_seconds:time}",
    ),
    "lakehouse-stream-failed": (),
    "lakehouse-checkpoints-failing": (
        "{failed_checkpoints:Word} failures",
        "At least {failed_checkpoints:word} checkpoints",
    ),
    "lakehouse-extraction-lag": (
        "{watermark_lag_seconds:,.0f} seconds for the watermark, {extraction_lag_seconds:,.0f} for the pipeline",
        "a round of all catalogs for {watermark_lag_seconds:time}",
        "more than {extraction_lag_seconds:time} after their commits",
    ),
    "limnograph-pipeline-stalled": (
        "{pass_age_seconds:,.0f} seconds",
        "No pass of the pipeline has succeeded for {pass_age_seconds:time}",
    ),
    "limnograph-inbox-waiting": (
        "{inbox_age_seconds:,.0f} seconds",
        "accepted more than {inbox_age_seconds:time} ago",
    ),
    "limnograph-catalog-down": ("for {hold:time}.",),
    "limnograph-verification-failed": (),
    "limnograph-breaker-open": (),
    "limnograph-target-down": ("for {hold:time};",),
    "limnograph-down": ("for {hold:time}, or",),
}
"""What runbooks say in numbers or words. `hold`: the rule's `for`."""


def runbook_of(alert: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", alert).lower()


def numbers(runbook: str) -> dict[str, Number]:
    hold = next(rule.get("for", "0m") for name, rule in ALERTS.items() if runbook_of(name) == runbook)
    small = Thresholds().burst_small_share
    more = {"hold": int(hold[:-1]) * SECONDS[hold[-1]], "burst_small_share": small}
    return {name: Number(value) for name, value in (SHIPPED | more).items()}


def test_every_threshold_is_known_to_this_test() -> None:
    assert set(SHIPPED) == set(SHARED) | OF_RULES_ALONE
    assert DRAWN.stale_intervals == LIMITS.stale_intervals
    assert DRAWN.stale_least_s == LIMITS.stale_least / MICROS_PER_SECOND
    assert set(PROSE) == {runbook_of(name) for name in ALERTS} == set(runbooks()) - {"README"}


@pytest.mark.parametrize("name", SHARED)
def test_pages_and_rules_have_the_same_threshold(name: str) -> None:
    assert SHARED[name] == SHIPPED[name]


def test_a_small_file_is_the_same_part_of_the_target_in_rules_and_pages() -> None:
    found = re.findall(r"mean_bytes >= ([\d.]+) \*", ALERTS["SmallFileProliferation"]["expr"])
    assert [float(share) for share in found] == [Thresholds().burst_small_share]


@pytest.mark.parametrize("runbook", PROSE)
def test_a_runbook_states_the_thresholds_of_its_rule(runbook: str) -> None:
    text = " ".join(runbooks()[runbook].split())
    for sentence in PROSE[runbook]:
        assert sentence.format(**numbers(runbook)) in text


@pytest.mark.parametrize("runbook", [name for name in PROSE if "## Another threshold" in runbooks()[name]])
def test_a_runbook_states_no_other_number_for_its_threshold(runbook: str) -> None:
    text = " ".join(runbooks()[runbook].split("## Another threshold")[1].split("```")[0].split())
    for sentence in PROSE[runbook]:
        text = text.replace(sentence.format(**numbers(runbook)), "")
    assert re.findall(r"\d[\d,.]*", text) == []


def test_every_threshold_is_written_in_the_runbook_of_each_rule_that_compares_with_it() -> None:
    for name, rule in ALERTS.items():
        written = " ".join(PROSE[runbook_of(name)])
        compared = set(re.findall(r"limnograph:(\w+):threshold", rule["expr"]))
        # Where what Limnograph says is old, the alert is silent; its runbook speaks of the table.
        compared -= {"watermark_lag_seconds"} if name == "LakehouseTableStale" else set()
        compared -= {"pass_age_seconds"} if name == "LakehouseExtractionLag" else set()
        assert {each for each in compared if f"{{{each}:" not in written} == set(), name


@pytest.mark.parametrize("usual_s", [1.0, 1_199.0, 1_200.0, 1_201.0, 86_400.0])
def test_a_table_is_stale_by_one_formula(usual_s: float) -> None:
    """The rule's, out of its file: so many usual gaps, clamped to so many seconds at least."""
    rule = " ".join(ALERTS["LakehouseTableStale"]["expr"].split())
    formula = re.search(
        r"clamp_min\( scalar\(limnograph:(\w+):threshold\) \* max by \([\w, ]+\) "
        r"\(last_over_time\(lakehouse_table_usual_commit_interval_seconds\[15m\]\)\), "
        r"scalar\(limnograph:(\w+):threshold\) \)",
        rule,
    )
    assert formula is not None
    expected = max(SHIPPED[formula[1]] * usual_s, SHIPPED[formula[2]])
    limits = Thresholds()
    assert stale_after_s(limits, usual_s) == expected


def test_the_dashboard_knows_the_rules_that_are_shipped() -> None:
    text = (ROOT / "frontend/src/lib/incident/runbook.ts").read_text()
    listed = re.search(r"const RULES[^=]*= \[(.*?)\];", text, re.DOTALL)
    assert listed is not None
    assert sorted(re.findall(r"'(\w+)'", listed[1])) == sorted(ALERTS)


CLASSES = {"LimnographError", "LimnographSource"}
"""Names of code that look like those of alerts."""
NAMED = re.compile(r"\b(?:Lakehouse|Limnograph)[A-Z][a-z]+(?:[A-Z][a-z]+)*\b|\bSmallFile[A-Z]\w+\b")
PLACES: tuple[str, ...] = (
    "backend/limnograph/**/*.py",
    "frontend/src/lib/**/*.ts",
    "frontend/src/**/*.svelte",
    "docs/**/*.md",
)
PLACES += ("deploy/alertmanager/*.yml", "deploy/grafana/*.json", "deploy/prometheus/tests/*.yml", "e2e/**/*.ts")


def test_every_alert_that_is_named_anywhere_is_a_rule() -> None:
    paths = {path for place in PLACES for path in ROOT.glob(place) if "node_modules" not in path.parts}
    named = {(match, str(path.relative_to(ROOT))) for path in paths for match in NAMED.findall(path.read_text())}
    assert {name for name, _ in named} >= set(ALERTS)
    assert {(name, path) for name, path in named if name not in ALERTS and name not in CLASSES} == set()
