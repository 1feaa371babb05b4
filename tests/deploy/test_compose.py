"""docker-compose.yml is valid, pinned, secret-free, and its settings are what the native tests run too."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from limnograph.domain.errors import SettingsError
from limnograph.settings import load

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker-compose.yml"
SETTINGS = ROOT / "deploy" / "compose" / "limnograph.toml"
PROMTOOL = ROOT / ".tools" / "prometheus" / "promtool"
ENVIRONMENT = {
    "LIMNOGRAPH_CATALOG_HOST": "catalog:5432",
    "LIMNOGRAPH_CATALOG_PASSWORD": "not-a-default",
    "LIMNOGRAPH_PROMETHEUS_URL": "http://prometheus:9090",
    "LIMNOGRAPH_STATE": "/var/lib/limnograph",
    "LIMNOGRAPH_WAREHOUSE": "file:///warehouse",
}


def test_the_file_follows_the_compose_specification() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", "-o", "json"]
    found = subprocess.run([*command, str(COMPOSE)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout
    assert json.loads(found.stdout)["status"] == "ok"


def test_a_breach_of_the_specification_is_caught(tmp_path: Path) -> None:
    broken = tmp_path / "docker-compose.yml"
    broken.write_text(COMPOSE.read_text().replace("service_healthy", "service_happy"))
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(broken)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1


def test_every_image_is_pinned_by_tag_and_every_service_has_a_health_check() -> None:
    text = COMPOSE.read_text()
    images = re.findall(r"^\s+image: (\S+)$", text, re.MULTILINE)
    assert len(images) == 4
    assert all(re.fullmatch(r"[a-z/]+:v?\d+\.\d+(\.\d+)?", image) for image in images), images
    assert text.count("healthcheck:") == len(images)


def test_there_is_no_default_secret_and_no_port_beyond_loopback() -> None:
    text = COMPOSE.read_text()
    assert (
        re.findall(r"PASSWORD: (.*)", text)
        == ["${LIMNOGRAPH_CATALOG_PASSWORD:?set it in the environment or in .env}"] * 2
    )
    assert re.findall(r"ports: (.*)", text) == ['["127.0.0.1:8787:8787"]']


def test_the_settings_file_needs_the_variables_that_compose_gives() -> None:
    text = COMPOSE.read_text()
    assert all(re.search(rf"^  {name}: ", text, re.MULTILINE) for name in ENVIRONMENT)
    settings = load(SETTINGS, ENVIRONMENT)
    assert settings.catalogs["lake"]["uri"] == "postgresql+psycopg2://limnograph:not-a-default@catalog:5432/lake"
    assert settings.prometheus["main"].url == "http://prometheus:9090"


def test_prometheus_scrapes_the_pipeline_where_its_settings_say() -> None:
    address = load(SETTINGS, ENVIRONMENT).pipeline.metrics_address
    assert address is not None
    assert f'targets: ["pipeline:{address[1]}"]' in (ROOT / "deploy" / "prometheus" / "prometheus.yml").read_text()


@pytest.mark.parametrize("name", ENVIRONMENT)
def test_a_missing_variable_is_named(name: str) -> None:
    with pytest.raises(SettingsError, match=name):
        load(SETTINGS, {key: value for key, value in ENVIRONMENT.items() if key != name})


@pytest.mark.prometheus
def test_prometheus_accepts_its_configuration() -> None:
    config = ROOT / "deploy" / "prometheus" / "prometheus.yml"
    found = subprocess.run([PROMTOOL, "check", "config", config], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "SUCCESS" in found.stdout
