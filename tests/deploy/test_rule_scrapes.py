"""Alerts about tables at every scrape interval: each table of one simulated lake is a case, with what must fire for it.

Evaluated every 60 s, so that samples lie exactly on the edges of windows, and every 53 s, so that they lie at every
distance from them. What is right for both is right for Prometheus 2, whose windows include their left edge, and for
Prometheus 3, whose windows do not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from rule_lake import MARKER, Gap, promtool_values
from rule_promtool import promtool, rules_that_fire
from rule_tables import AT, HOUR, Case, long_cases, missed, one_in_five, short_cases
from test_rule_cases import ALERTS

STEPS = 300
"""Instants at which a check looks. promtool loads 10,000 samples at most: so many of each alert, and of their sums."""


def run(cases: dict[str, Case], interval: int, evaluation: str, seconds: int, folder: Path) -> str:
    """What promtool says is wrong; empty: nothing."""
    series, checks, ends = [], [], f"{seconds}s"
    for name, case in cases.items():
        labels = f'catalog="lake",table_namespace="sales",table="{name}"'
        for metric, values in case.table.scraped(interval, seconds, case.gaps).items():
            told = promtool_values(values)
            series.append(
                {"series": f'lakehouse_table_{metric}{{{labels},instance="a",job="limnograph"}}', "values": told}
            )
        zeros = f"0+0x{seconds // interval}"
        silent = [f'nothing{{table="{name}",alertname="{alert}"}}' for alert in TABLE_ALERTS]
        series += [{"series": each, "values": zeros} for each in silent]
        fired = f'sum by (table, alertname) (ALERTS{{alertstate="firing",table="{name}"}})'
        expected = [
            {"labels": f'{{table="{name}",alertname="{alert}"}}', "value": count} for alert, count in case.fires.items()
        ]
        expr = f'ceil(changes(({fired} or 0 * nothing{{table="{name}"}})[{seconds}s:{seconds // STEPS}s]) / 2) > 0'
        checks.append({"expr": expr, "eval_time": ends, "exp_samples": expected})
        still = [{"labels": f'{{table="{name}",alertname="{alert}"}}', "value": 1} for alert in case.ends]
        if case.ends:
            checks.append({"expr": fired, "eval_time": ends, "exp_samples": still})
        if case.new_files is not None:
            expr = f'max_over_time(limnograph:new_data_files:5m{{table="{name}"}}[{seconds}s])'
            value = [{"labels": f"{{{labels}}}", "value": case.new_files}]
            checks.append({"expr": expr, "eval_time": ends, "exp_samples": value})
    test = {"interval": f"{interval}s", "input_series": series, "promql_expr_test": checks}
    return _promtool([test], evaluation, folder, rules_that_fire(folder))


Values = Callable[[int], float | None]
SERVER, PIPELINE = 'instance="a",job="limnograph"', 'instance="b",job="limnograph-pipeline"'
HEALTHY: dict[str, Values] = {
    f"limnograph_hot_tables{{{SERVER}}}": lambda _: 1,
    f"limnograph_meta_up{{{SERVER}}}": lambda _: 1,
    f"limnograph_watermark_timestamp_seconds{{{SERVER}}}": lambda t: t,
    f"limnograph_last_pass_timestamp_seconds{{{SERVER}}}": lambda t: t // 60 * 60,
    f"limnograph_inbox_oldest_timestamp_seconds{{{SERVER}}}": lambda t: t // 60 * 60,
    f'limnograph_catalog_up{{catalog="lake",{SERVER}}}': lambda _: 1,
    f"up{{{SERVER}}}": lambda _: 1,
    f"limnograph_pipeline_last_pass_timestamp_seconds{{{PIPELINE}}}": lambda t: t // 60 * 60,
    f"limnograph_pipeline_extraction_lag_seconds{{{PIPELINE}}}": lambda _: 30,
    f'limnograph_pipeline_catalog_up{{catalog="lake",{PIPELINE}}}': lambda _: 1,
    f"up{{{PIPELINE}}}": lambda _: 1,
}


def server_cases(interval: int) -> dict[str, tuple[dict[str, Values], tuple[Gap, ...], dict[str, int]]]:
    """Series that differ from the healthy ones (by the beginning of their names), failed scrapes, what fires."""
    some, quiet, stalled = one_in_five(interval, 3 * HOUR), dict[str, int](), {"LimnographPipelineStalled": 1}

    def until(value: Values) -> Values:
        return lambda t: value(min(t, AT))

    def gone(t: int) -> float | None:
        return t // 60 * 60 if t < AT else None

    def at(t: int) -> float:
        return t // 60 * 60

    dead: dict[str, Values] = {"limnograph_last_pass": until(at), "limnograph_pipeline_last_pass": gone}
    return {
        "healthy": ({}, (), quiet),
        "healthy, every fifth scrape missing": ({}, some, quiet),
        "healthy, four scrapes missing": ({}, missed(4 * interval), quiet),
        "a restart of three minutes": ({}, missed(180), quiet),
        "ten minutes without a scrape": ({}, missed(600), {"LimnographDown": 1}),
        "a dead pipeline": (dead, (), stalled),
        "a dead pipeline, every fifth scrape missing": (dead, some, stalled),
        "a dead pipeline that no one scraped": ({**dead, "limnograph_pipeline_": lambda _: None}, (), stalled),
        "a dead pipeline, only its own series known": ({**dead, "limnograph_last_pass": lambda _: None}, (), stalled),
        "passes that fail": (
            {"limnograph_last_pass": until(at), "limnograph_pipeline_last_pass": until(at)},
            some,
            stalled,
        ),
        "no pipeline": (
            {"limnograph_last_pass": lambda _: None, "limnograph_pipeline_": lambda _: None},
            some,
            stalled,
        ),
        "a pipeline whose clock is behind": ({"limnograph_last_pass": lambda t: t - 600}, some, quiet),
        "an inbox that is not drained": ({"limnograph_inbox_oldest": until(at)}, some, {"LimnographInboxWaiting": 1}),
        "a catalog that is down": ({"limnograph_catalog_up": lambda t: t < AT}, some, {"LimnographCatalogDown": 1}),
        "a catalog that misses a round": ({"limnograph_catalog_up": lambda t: not AT <= t < AT + 90}, some, quiet),
        "a target that is down": (
            {
                f"up{{{PIPELINE}": lambda t: t < AT,
                "limnograph_pipeline_last_pass": gone,
                "limnograph_pipeline_": lambda t: 1 if t < AT else None,
            },
            (),
            {"LimnographTargetDown": 1},
        ),
        "meta tables that cannot be read": ({"limnograph_meta_up": lambda t: t < AT}, some, {"LimnographDown": 1}),
        "a watermark that stands still": (
            {"limnograph_watermark": until(lambda t: t)},
            some,
            {"LakehouseExtractionLag": 1},
        ),
        "rows that come late": (
            {"limnograph_pipeline_extraction": lambda t: 30 if t < AT else 4_000},
            some,
            {"LakehouseExtractionLag": 1},
        ),
    }


def run_server(interval: int, evaluation: str, seconds: int, folder: Path) -> str:
    """What promtool says is wrong about all cases of the server; empty: nothing. Rules about tables, which no case has,
    are left out: to evaluate them over nothing takes two thirds of the time.
    """
    tests = []
    for name, (changed, gaps, fires) in server_cases(interval).items():
        series = []
        for metric, healthy in HEALTHY.items():
            value = next((found for begin, found in changed.items() if metric.startswith(begin)), healthy)
            values = [
                (
                    MARKER
                    if any(gap.begin <= at < gap.end for gap in gaps) and not metric.startswith("up{")
                    else value(at)
                )
                for at in range(0, seconds + 1, interval)
            ]
            if any(each is not None for each in values):
                series.append({"series": metric, "values": promtool_values(values)})
        checks = [
            {
                "expr": f'ceil(changes((count(ALERTS{{alertstate="firing",alertname="{alert}"}}) or vector(0))'
                f"[{seconds}s:30s]) / 2)",
                "eval_time": f"{seconds}s",
                "exp_samples": [{"labels": "{}", "value": fires.get(alert, 0)}],
            }
            for alert in SERVER_ALERTS
        ]
        tests.append({"name": name, "interval": f"{interval}s", "input_series": series, "promql_expr_test": checks})
    return _promtool(tests, evaluation, folder, rules_that_fire(folder, without="limnograph-tables"))


def _promtool(tests: Sequence[object], evaluation: str, folder: Path, rules: list[str]) -> str:
    told = {"rule_files": rules, "evaluation_interval": evaluation, "tests": tests}
    file = folder / "case.yml"
    file.write_text(json.dumps(told))
    found = promtool("test", "rules", file)
    return "" if found.returncode == 0 else found.stdout + found.stderr


TABLE_ALERTS = [name for name in ALERTS if name.startswith(("Lakehouse", "SmallFile"))]
SERVER_ALERTS = ["LakehouseExtractionLag", *(name for name in ALERTS if name not in TABLE_ALERTS)]


@pytest.mark.parametrize(
    ("interval", "evaluation"),
    [(5, "53s"), (10, "1m"), (15, "53s"), (30, "1m"), (60, "1m"), (60, "53s")],
)
def test_each_table_fires_what_it_should_at_this_scrape_interval(
    interval: int, evaluation: str, tmp_path: Path
) -> None:
    assert run(short_cases(interval), interval, evaluation, 2 * HOUR, tmp_path) == ""


@pytest.mark.parametrize(("interval", "evaluation"), [(60, "53s")])
def test_each_table_fires_what_it_should_over_half_a_day(interval: int, evaluation: str, tmp_path: Path) -> None:
    assert run(long_cases(interval), interval, evaluation, 12 * HOUR, tmp_path) == ""


@pytest.mark.parametrize(("interval", "evaluation"), [(15, "53s"), (60, "1m")])
def test_alerts_about_limnograph_fire_when_they_should(interval: int, evaluation: str, tmp_path: Path) -> None:
    assert run_server(interval, evaluation, 2 * HOUR, tmp_path) == ""
