"""docker-compose.yml is valid, pinned, secret-free, and its settings are what the native tests run too."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from lakehouse.parts.places import Ports
from limnograph.domain.errors import SettingsError
from limnograph.settings import load
from limnograph.settings.maintenance import load_maintenance

ROOT = Path(__file__).parents[2]
COMPOSE = ROOT / "docker-compose.yml"
SETTINGS = ROOT / "deploy" / "compose" / "limnograph.toml"
WITH_STACK = ROOT / "deploy" / "compose" / "limnograph-stack.toml"
SERVICES = yaml.safe_load(COMPOSE.read_text())["services"]
PROMTOOL = ROOT / ".tools" / "prometheus" / "promtool"
ENVIRONMENT = {
    "LIMNOGRAPH_CATALOG_HOST": "catalog:5432",
    "LIMNOGRAPH_CATALOG_PASSWORD": "not-a-default",
    "LIMNOGRAPH_PROMETHEUS_URL": "http://prometheus:9090",
    "LIMNOGRAPH_STATE": "/var/lib/limnograph",
    "LIMNOGRAPH_WAREHOUSE": "file:///warehouse",
}
STACK_ENVIRONMENT = {
    **ENVIRONMENT,
    "LIMNOGRAPH_TRINO_URL": "http://trino:8080",
    "LIMNOGRAPH_REST_URL": "http://rest-catalog:8181",
    "LIMNOGRAPH_STORE_URL": "http://object-store:9000",
    "LIMNOGRAPH_STORE_KEY": "reader",
    "LIMNOGRAPH_STORE_SECRET": "not-a-default",
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
    assert len(images) == len(SERVICES) == 10
    assert all(re.fullmatch(r"[a-z/]+:v?\d+(\.\d+){0,2}", image) for image in images), images
    assert text.count("healthcheck:") == len(images)


def test_there_is_no_default_secret_and_no_port_beyond_loopback() -> None:
    text = COMPOSE.read_text()
    assert (
        re.findall(r"PASSWORD: (.*)", text)
        == ["${LIMNOGRAPH_CATALOG_PASSWORD:?set it in the environment or in .env}"] * 3
    )
    assert re.findall(r"(?:SECRET|KEY)\w*: (.*)", text) == [
        f"${{LIMNOGRAPH_STORE_{kind}:-}}" for kind in ("KEY", "SECRET") * 4
    ]
    assert sorted(re.findall(r"ports: (.*)", text)) == [f'["127.0.0.1:{port}:{port}"]' for port in (8787, 9090, 9093)]


def test_the_settings_file_needs_the_variables_that_compose_sets() -> None:
    text = COMPOSE.read_text()
    assert all(re.search(rf"^  {name}: ", text, re.MULTILINE) for name in ENVIRONMENT)
    settings = load(SETTINGS, ENVIRONMENT)
    assert settings.catalogs["lake"]["uri"] == "postgresql+psycopg2://limnograph:not-a-default@catalog:5432/lake"
    assert settings.prometheus["main"].url == "http://prometheus:9090"


@pytest.mark.parametrize(("file", "given"), [(SETTINGS, ENVIRONMENT), (WITH_STACK, STACK_ENVIRONMENT)])
def test_links_back_lead_to_addresses_that_compose_publishes(file: Path, given: dict[str, str]) -> None:
    told = load(file, given).alertmanager
    assert told is not None
    assert told.url == "http://alertmanager:9093"
    for name, address in (("alertmanager", told.public_url), ("prometheus", "http://127.0.0.1:9090")):
        assert f"--web.external-url={address}" in SERVICES[name]["command"]
        assert [address.removeprefix("http://")] == [port.rpartition(":")[0] for port in SERVICES[name]["ports"]]


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


def test_without_its_profile_compose_starts_the_small_form() -> None:
    small = {name for name, service in SERVICES.items() if "profiles" not in service}
    assert small == {"catalog", "prometheus", "alertmanager", "pipeline", "server"}
    profiles = {name: tuple(SERVICES[name]["profiles"]) for name in SERVICES.keys() - small}
    assert profiles.pop("maintainer") == ("maintenance",)
    assert profiles.pop("lakehouse") == ("lakehouse",)
    assert set(profiles.values()) == {("stack",)}
    for name in small:
        assert SERVICES[name].get("depends_on", {}).keys() <= small


def test_only_the_maintainer_has_its_file_and_the_credential_that_may_write(tmp_path: Path) -> None:
    def reads(service: dict, place: str) -> bool:
        return any(place in str(each) for each in (*service.get("volumes", ()), *service.get("secrets", ())))

    for place in ("maintenance.toml", "lake-writer"):
        assert [name for name, service in SERVICES.items() if reads(service, place)] == ["maintainer"]
    assert yaml.safe_load(COMPOSE.read_text())["secrets"] == {"lake-writer": {"file": "./deploy/compose/lake-writer"}}
    assert "/deploy/compose/lake-writer" in (ROOT / ".gitignore").read_text().splitlines()
    secret = tmp_path / "lake-writer"
    secret.write_text("postgresql+psycopg2://writer:secret@catalog:5432/lake\n")
    file = tmp_path / "maintenance.toml"
    file.write_text((SETTINGS.parent / "maintenance.toml").read_text().replace("/run/secrets/lake-writer", str(secret)))
    for settings in (SETTINGS, WITH_STACK):
        made = load_maintenance(file, settings, STACK_ENVIRONMENT)
        assert made.policy.mode == "approve"
        assert made.settings.catalogs["lake"]["uri"] == "postgresql+psycopg2://writer:secret@catalog:5432/lake"
        # Server and maintainer see one state of the plans.
        assert made.settings.inbox_url == load(settings, STACK_ENVIRONMENT).inbox_url
        assert made.settings.inbox_url.startswith("postgresql")


def test_every_file_and_folder_that_is_mounted_is_there() -> None:
    mounts = [mount for service in SERVICES.values() for mount in service.get("volumes", ())]
    for name in (SETTINGS.name, WITH_STACK.name):
        places = [mount.replace("${LIMNOGRAPH_SETTINGS:-limnograph.toml}", name).split(":")[0] for mount in mounts]
        assert [place for place in places if place.startswith(".") and not (ROOT / place).exists()] == []


def test_the_images_are_built_with_every_folder_that_the_wheel_packs_from_outside_the_package() -> None:
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    lakehouse = (ROOT / "deploy" / "images" / "lakehouse.Dockerfile").read_text()
    assert all(f"COPY {folder} ./{folder}\n" in lakehouse for folder in ("docs/runbooks", "deploy"))
    for image in ("server", "pipeline"):
        text = (ROOT / "deploy" / "images" / f"{image}.Dockerfile").read_text()
        assert [place for place in packed["force-include"] if f"COPY {place} ./{place}\n" not in text] == []


def test_the_settings_of_the_profile_extend_the_small_ones_with_its_services() -> None:
    settings, small = load(WITH_STACK, STACK_ENVIRONMENT), load(SETTINGS, ENVIRONMENT)
    assert settings.trino is not None
    assert (settings.trino.url, settings.trino.catalog) == ("http://trino:8080", "lake")
    assert settings.meta_catalog == small.meta_catalog == "lake"
    assert settings.catalogs["lake"] == small.catalogs["lake"]
    assert (settings.server, settings.inbox, settings.prometheus) == (small.server, small.inbox, small.prometheus)
    given = SERVICES["server"]["environment"]
    assert {name: given[name] for name in STACK_ENVIRONMENT if name.endswith("_URL")} == {
        name: value for name, value in STACK_ENVIRONMENT.items() if name.endswith("_URL")
    }


def test_the_lakehouse_is_one_container_on_loopback_with_all_that_its_programs_need() -> None:
    service = SERVICES["lakehouse"]
    text = (ROOT / "deploy" / "images" / "lakehouse.Dockerfile").read_text()
    assert (service["network_mode"], "ports" in service, "depends_on" in service) == ("host", False, False)
    assert f"127.0.0.1:{Ports().server}/readyz" in service["healthcheck"]["test"][-1]
    assert f"CMD {json.dumps(service['command'])}" in text
    for program in ("openjdk-17-jdk-headless", "postgresql", "prometheus", "prometheus-alertmanager"):
        assert f" {program} " in text
    for script in ("deploy/setup/stack.py", "limnograph setup --into .tools/jars --s3", "deploy/setup/trino.sh"):
        assert script in text
    made = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    extras = re.findall(r"'\.\[(.*)\]'", text)[0].split(",")
    assert set(extras) <= made.keys()
    assert "lakehouse" in extras


def test_trino_receives_every_variable_that_its_catalogs_name() -> None:
    catalogs = (ROOT / "deploy" / "trino" / "catalog").glob("*.properties")
    named = {name for file in catalogs for name in re.findall(r"\$\{ENV:(\w+)\}", file.read_text())}
    assert named == SERVICES["trino"]["environment"].keys()
    assert "${LIMNOGRAPH_CATALOG_PASSWORD:?" in SERVICES["trino"]["environment"]["LIMNOGRAPH_CATALOG_PASSWORD"]


@pytest.mark.parametrize(("program", "given"), [("store", {"STORE_KEY": "reader"}), ("store", {}), ("rest", {})])
def test_a_service_without_its_secret_names_the_variable_and_does_not_start(program: str, given: dict) -> None:
    script = ROOT / "deploy" / "images" / "neighbours.sh"
    found = subprocess.run(["sh", script, program], env=given, capture_output=True, text=True, check=False)
    missing = "LIMNOGRAPH_STORE_KEY" if program == "store" and not given else "LIMNOGRAPH_STORE_SECRET"
    assert found.returncode != 0
    assert f"set {missing} in the environment or in .env" in found.stderr
