"""The Grafana dashboard: every query parses and names what running parts expose; links and layout hold together."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from exposed_metrics import exposed
from limnograph.demo.processes.tools import tool
from limnograph.domain.finding_codes import DERIVED_LABEL

FILE = Path(__file__).parents[2] / "deploy" / "grafana" / "limnograph.json"
BOARD: dict[str, Any] = json.loads(FILE.read_text())
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
VARIABLES = {one["name"]: one for one in BOARD["templating"]["list"]}
QUERIES = [target["expr"] for panel in PANELS for target in panel["targets"]]
QUERIES += [one["expr"] for one in BOARD["annotations"]["list"]]
BUILT_IN = {"__from", "__to", "__field", "__data", "__all", "DS_PROMETHEUS"}
KNOWN_TYPES = {"stat", "timeseries", "table"}
PAGES = re.compile(
    r"\$\{limnograph\}(/|/alerts|/status|/t/\$\{[^}]+\}/\$\{[^}]+\}/\$\{[^}]+\}\?from=\$\{__from\}&to=\$\{__to\})"
)


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


def links(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "url" in value and "title" in value:
            yield value["url"]
        for part in value.values():
            yield from links(part)
    elif isinstance(value, list):
        for part in value:
            yield from links(part)


def test_every_metric_of_the_dashboard_is_exposed_by_a_running_part() -> None:
    asked = [*QUERIES, *(one["query"]["query"] for one in VARIABLES.values() if one["type"] == "query")]
    # What stands in quotes is a value; "label_values(metric, label)" is Grafana's.
    named = {name for text in asked for name in re.findall(r"\b(?:lakehouse|limnograph|spark)_\w+", text)}
    named -= {name for text in asked for name in re.findall(r'"[^"]*"', text)}
    named -= {DERIVED_LABEL}
    assert len(named) > 20
    assert sorted(named - exposed()) == []


@pytest.mark.prometheus
def test_promtool_parses_every_query(tmp_path: Path) -> None:
    rules = [{"record": f"query:{number}", "expr": re.sub(r"\$\w+", "x", text)} for number, text in enumerate(QUERIES)]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    command = [tool("promtool"), "check", "rules", tmp_path / "rules.yml"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_no_query_takes_the_increase_of_a_gauge_and_none_depends_on_who_exported() -> None:
    for text in QUERIES:
        assert all(name.endswith("_total") for name in re.findall(r"(?:increase|rate)\((\w+)", text)), text
        if "lakehouse_" in text or "spark_" in text:
            assert "max without(instance, job)" in text


def test_every_used_variable_exists_and_filters_by_label() -> None:
    used = {name for text in texts(BOARD) for name in re.findall(r"\$\{?(\w+)", text)}
    assert used - BUILT_IN == set(VARIABLES)
    assert [one["name"] for one in BOARD["templating"]["list"]][-3:] == ["catalog", "table_namespace", "table"]
    assert "$catalog" in VARIABLES["table_namespace"]["query"]["query"]
    assert "$table_namespace" in VARIABLES["table"]["query"]["query"]


def test_every_link_leads_to_a_page_of_the_dashboard_and_table_links_keep_the_time_range() -> None:
    found = list(links(BOARD))
    assert len(found) > len([panel for panel in PANELS if panel["type"] == "timeseries"])
    assert [url for url in found if not PAGES.fullmatch(url)] == []
    for panel in PANELS:
        assert list(links(panel["fieldConfig"])), panel["title"]


def test_the_dashboard_conforms_to_the_schema_version_that_it_names() -> None:
    assert BOARD["schemaVersion"] == 39
    assert BOARD["__requires"][0] == {"type": "grafana", "id": "grafana", "name": "Grafana", "version": "10.4.0"}
    assert BOARD["__inputs"][0]["name"] == "DS_PROMETHEUS"
    assert {one["id"] for one in BOARD["__requires"] if one["type"] == "panel"} == KNOWN_TYPES
    assert "id" not in BOARD
    ids = [panel["id"] for panel in BOARD["panels"]]
    assert len(ids) == len(set(ids))
    for panel in PANELS:
        assert panel["type"] in KNOWN_TYPES
        assert {"title", "gridPos", "fieldConfig", "options", "targets", "datasource"} <= set(panel)
        references = [target["refId"] for target in panel["targets"]]
        assert len(references) == len(set(references))
        for target in panel["targets"]:
            assert target["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
            assert target["range"] != target["instant"]


def test_no_panel_covers_another_and_none_leaves_the_grid() -> None:
    places = [panel["gridPos"] for panel in BOARD["panels"]]
    for place in places:
        assert place["x"] >= 0
        assert place["x"] + place["w"] <= 24
    for one, other in combinations(places, 2):
        beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        above = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert beside or above, (one, other)


def test_commits_are_annotations_at_the_time_of_the_commit() -> None:
    commits = BOARD["annotations"]["list"][0]
    assert commits["name"] == "Commits"
    assert commits["useValueForTime"] is True
    # Grafana wants milliseconds, the metric has seconds.
    assert commits["expr"].startswith(
        "1000 * max without(instance, job) (lakehouse_table_last_commit_timestamp_seconds"
    )


def test_findings_are_annotations_from_when_they_open_until_they_close() -> None:
    findings = next(one for one in BOARD["annotations"]["list"] if one["name"] == "Findings")
    assert findings["useValueForTime"] is False
    assert findings["expr"].startswith("max without(instance, job) (lakehouse_table_finding_open{")
    alerts = [text for text in QUERIES if "ALERTS{" in text]
    assert alerts
    assert all('limnograph_finding=""' in text for text in alerts), "an alert about a finding counts as the finding"
