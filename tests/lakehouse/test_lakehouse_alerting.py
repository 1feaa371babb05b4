"""The lakehouse's threshold is one that Prometheus accepts, and it lowers that of one table only."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from lakehouse.access.tiers import SCRAPER, rules
from lakehouse.check.alerts import BURST, MANY
from lakehouse.parts.alerting import BURST_FILES, TRINO_QUERIES, thresholds_yml, write_files
from lakehouse.parts.places import Places, Ports
from lakehouse.parts.settings import limnograph_toml
from limnograph.demo.processes.tools import tool
from limnograph.settings import load


def test_the_threshold_is_for_the_burst_alone() -> None:
    (rule,) = yaml.safe_load(thresholds_yml())["groups"][0]["rules"]
    assert ".".join(rule["labels"].values()) == BURST.name
    assert rule["expr"] == f"vector({BURST_FILES})"
    assert MANY > BURST_FILES


@pytest.mark.prometheus
def test_prometheus_accepts_the_threshold(tmp_path: Path) -> None:
    file = tmp_path / "thresholds.yml"
    file.write_text(thresholds_yml())
    found = subprocess.run([tool("promtool"), "check", "rules", str(file)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_prometheus_scrapes_trino_by_a_name_that_reads_no_table(tmp_path: Path) -> None:
    places = Places(tmp_path, Ports())
    write_files(places)
    jobs = {
        each["job_name"]: each
        for each in yaml.safe_load((places.alerts / "prometheus.yml").read_text())["scrape_configs"]
    }
    assert jobs["trino"]["basic_auth"] == {"username": SCRAPER}
    assert TRINO_QUERIES in jobs["trino"]["params"]["name[]"]
    assert [name for name, job in jobs.items() if "basic_auth" in job] == ["trino"]
    assert {"user": SCRAPER, "allow": ["read"]} in rules()["system_information"]
    assert not [each for part in ("catalogs", "tables") for each in rules()[part] if each["user"] == SCRAPER]


def test_only_a_lakehouse_with_alerts_has_sources_of_metrics(tmp_path: Path) -> None:
    places, file = Places(tmp_path, Ports()), tmp_path / "limnograph.toml"
    file.write_text(limnograph_toml(places))
    assert load(file, {}).alertmanager is None
    file.write_text(limnograph_toml(places, alerts=True))
    settings = load(file, {})
    assert settings.prometheus["main"].url == places.prometheus
    assert settings.alertmanager is not None
    assert settings.alertmanager.url == places.alertmanager
