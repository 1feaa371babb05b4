"""The shipped alert rules: promtool's own tests of them, metrics that running parts expose, links and runbooks."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from rule_promtool import needed_rules, promtool, with_needed_rules

from exposed_metrics import exposed
from limnograph.analysis.advice.statements.subject import StatementTable
from limnograph.analysis.advice.statements.template import blocks_of, fill
from limnograph.api.docs.runbooks import runbooks
from limnograph.domain.finding_codes import CODES, SEVERITIES
from limnograph.domain.time import Millis

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "prometheus" / "rules"
TESTS = sorted((ROOT / "deploy" / "prometheus" / "tests").glob("*[!e].yml"))
GROUPS = [group for file in sorted(RULES.glob("*.yml")) for group in yaml.safe_load(file.read_text())["groups"]]
ALERTS = {rule["alert"]: rule for group in GROUPS for rule in group["rules"] if "alert" in rule}
RECORDED = {rule["record"] for group in GROUPS for rule in group["rules"] if "record" in rule}
NAMES = {
    "SmallFileProliferation",
    "LakehouseCompactionBacklog",
    "LakehouseSnapshotsTooMany",
    "LakehouseSnapshotsTooOld",
    "LakehouseTableStale",
    "LakehouseDeleteFilesGrowing",
    "LakehousePartitionSkew",
    "LakehouseMetadataGrowing",
    "LakehouseStreamingLag",
    "LakehouseStreamFailed",
    "LakehouseCheckpointsFailing",
    "LakehouseExtractionLag",
    "LakehouseCommitContention",
    "LakehouseFindingCritical",
    "LakehouseFindingWarning",
    "LakehouseFindingInfo",
    "LakehouseTableAtRisk",
    "LimnographDown",
    "LimnographPipelineStalled",
    "LimnographInboxWaiting",
    "LimnographCatalogDown",
    "LimnographTargetDown",
    "LimnographVerificationFailed",
    "LimnographBreakerOpen",
}
WITHOUT_THRESHOLD = (
    *("LimnographDown", "LimnographCatalogDown", "LimnographTargetDown", "LakehouseStreamFailed"),
    *("LimnographVerificationFailed", "LimnographBreakerOpen"),
)
FINDINGS = {f"LakehouseFinding{severity.title()}": severity for severity in SEVERITIES}
"""Alerts about findings, whose thresholds are settings of the server."""
LABELS = {
    "LakehouseCheckpointsFailing": (),
    "LakehouseExtractionLag": (),
    "LimnographDown": (),
    "LimnographPipelineStalled": (),
    "LimnographInboxWaiting": (),
    "LimnographCatalogDown": ("catalog",),
    "LimnographTargetDown": (),
    "LimnographVerificationFailed": (),
    "LimnographBreakerOpen": (),
}
"""Labels of the alerts that are not about a table, as far as their links carry them."""


def test_the_rules_are_the_documented_ones_and_promtool_accepts_them() -> None:
    assert set(ALERTS) == NAMES
    found = promtool("check", "rules", "--lint=all", "--lint-fatal", *RULES.glob("*.yml"))
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("file", TESTS, ids=lambda file: file.stem)
def test_every_rule_passes_its_promtool_tests(file: Path, tmp_path: Path) -> None:
    found = promtool("test", "rules", *with_needed_rules(file, tmp_path))
    assert found.returncode == 0, found.stdout + found.stderr


def test_a_promtool_test_runs_beside_the_rules_that_its_checks_depend_on() -> None:
    def needed(*expressions: str) -> frozenset[str]:
        return needed_rules({"promql_expr_test": [{"expr": expr} for expr in expressions]}, GROUPS)

    stalled = needed('count(ALERTS{alertname="LimnographPipelineStalled", alertstate="firing"})')
    assert stalled == {
        "LimnographPipelineStalled",
        "limnograph:last_pass:timestamp_seconds",
        "limnograph:pass_age_seconds:threshold",
    }
    assert needed("limnograph:pass_age_seconds:threshold") == {"limnograph:pass_age_seconds:threshold"}
    assert needed("lakehouse_table_data_files") == frozenset()
    assert needed('count(ALERTS{alertstate="firing"})') == needed("ALERTS") == set(ALERTS) | RECORDED
    assert needed_rules({"alert_rule_test": []}, GROUPS) == set(ALERTS) | RECORDED


def test_every_rule_has_promtool_tests_that_fire_it_and_that_do_not() -> None:
    tests = [test for file in TESTS for test in yaml.safe_load(file.read_text())["tests"]]
    checks = [check for test in tests for check in test["promql_expr_test"]]
    for name in NAMES:
        told = [check["exp_samples"] for check in checks if f'"{name}"' in check["expr"]]
        assert [{"labels": "{}", "value": 1}] in told, name
        assert [{"labels": "{}", "value": 0}] in told or [] in told, name


def test_no_rule_takes_the_increase_of_a_gauge_and_none_depends_on_who_exported() -> None:
    for name, rule in ALERTS.items():
        for metric in re.findall(r"\b(?:increase|rate)\((\w+)", rule["expr"]):
            assert metric.endswith("_total"), name
        assert rule["keep_firing_for"] == "15m"
        by_table = re.sub(r"\w+\((lakehouse|spark)_\w+\[", "", rule["expr"])
        # Whose target is down is what its label `job` says.
        assert ("max without(instance, job)" in by_table) == (name != "LimnographTargetDown"), name


def test_no_alert_compares_with_a_number_of_its_own() -> None:
    # A state is 0 or 1; an instant that is known is positive; of a few commits no rate can be told.
    allowed = {
        "LimnographDown": ["== 0"],
        "LimnographCatalogDown": ["== 0", "== 0"],
        "LimnographTargetDown": ["== 0"],
        "LimnographPipelineStalled": [">= 0"],
        "LakehouseCommitContention": [">= 5"],
    }
    for name, rule in ALERTS.items():
        found = re.findall(r"(?:[<>]=?|==|!=)\s*(?:bool\s*)?-?[\d.]+(?![\w:.]|\s*\*)", rule["expr"])
        assert found == allowed.get(name, []), name


def test_every_metric_that_a_rule_names_is_exposed_by_a_running_part() -> None:
    named = set()
    for rule in (rule for group in GROUPS for rule in group["rules"]):
        text = re.sub(r'"[^"]*"', "", rule["expr"])
        named |= set(re.findall(r"\b(?:lakehouse|limnograph|spark)_\w+", text))
        recorded = set(re.findall(r"\blimnograph:\w+:threshold", text))
        assert recorded <= RECORDED
    assert len(named) > 20
    assert named <= exposed()


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_alert_explains_itself_and_links_to_its_incident_and_its_runbook(name: str) -> None:
    told = ALERTS[name]["annotations"]
    assert told["summary"]
    assert told["description"]
    assert f"/a?alertname={name}" in told["dashboard_url"]
    for label in ("catalog", "table_namespace", "table"):
        carried = f"&{label}={{{{ $labels.{label} | urlquery }}}}" in told["dashboard_url"]
        assert carried == (label in LABELS.get(name, ("catalog", "table_namespace", "table")))
    assert "{" not in told["runbook_url"].rpartition("}")[2]
    text = runbooks()[told["runbook_url"].rpartition("/")[2]]
    assert text.startswith(f"# {name}\n")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[:4] == ["What it means", "Confirm it in the dashboard", "What to run", "When to ignore it"]
    if name not in {*WITHOUT_THRESHOLD, *FINDINGS, "LakehouseTableAtRisk"}:
        assert set(re.findall(r"record: \"?([\w:]+)", text)) <= {
            part
            for group in GROUPS
            for rule in group["rules"]
            for part in re.findall(r"limnograph:\w+:override", rule["expr"])
        }
        assert ":override" in text


def test_each_severity_has_one_rule_whose_alerts_are_labelled_with_the_code_of_their_finding() -> None:
    labelled = {name for name, rule in ALERTS.items() if "limnograph_finding" in rule["labels"]}
    assert labelled == {*FINDINGS, "LakehouseTableAtRisk"}
    for name, severity in FINDINGS.items():
        assert ALERTS[name]["labels"] == {"severity": severity, "limnograph_finding": "{{ $labels.code }}"}
        assert re.findall(r'severity="(\w+)"', ALERTS[name]["expr"]) == [severity]


def test_the_runbooks_of_findings_name_every_code_that_can_have_their_severity() -> None:
    named = {name: set(re.findall(r"`(\w+)`", runbooks()[runbook_of(name)])) for name in FINDINGS}
    changes = {code for code, traits in CODES.items() if traits.group == "schema"} | {"history_gap"}
    assert set(CODES) - changes <= named["LakehouseFindingCritical"] & named["LakehouseFindingWarning"]


def test_a_threshold_is_one_series_for_any_number_of_tables() -> None:
    for group in GROUPS:
        for rule in group["rules"]:
            if rule.get("record", "").endswith(":threshold"):
                assert "lakehouse_" not in rule["expr"]


CLICKS = StatementTable("prod", ("web",), "clicks", "")


def runbook_of(alert: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", alert).lower()


def blocks(language: str) -> list[str]:
    """Blocks of all runbooks, filled for a table."""
    return [
        str(fill(found, code, CLICKS, None, Millis(0)).code)
        for text in runbooks().values()
        for found, code in blocks_of(text)
        if found == language
    ]


def test_python_and_yaml_in_the_runbooks_parse() -> None:
    for block in blocks("python"):
        ast.parse(block)
    for block in blocks("yaml"):
        assert yaml.safe_load(block)["groups"]
    assert len(blocks("python")) >= 10


def test_a_statement_uses_no_column_that_a_table_may_lack() -> None:
    named = [
        block
        for language in ("sql", "trino")
        for block in blocks(language)
        if re.search(r"event_date|customer_id", block)
    ]
    assert named == []


def test_spark_parses_every_statement_of_the_runbooks(spark: SparkSession) -> None:
    parser = spark._jsparkSession.sessionState().sqlParser()
    statements = [part for block in blocks("sql") for part in f"{block}\n".split(";\n") if part.strip()]
    assert len(statements) >= 15
    for statement in statements:
        own = statement.replace("<column>", "id").replace("<meta catalog>", "lake").replace("<snapshot id>", "1")
        parser.parsePlan(own)
