"""The wheel holds the built dashboard and works in an empty environment, without Node, Java or the checkout."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField

ROOT = Path(__file__).parents[2]
UV = str(Path(sys.executable).with_name("uv"))
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run([UV, "build", "--wheel", "--out-dir", out, "-q", ROOT], check=True)
    return next(out.glob("limnograph-*.whl"))


@pytest.fixture(scope="module")
def program(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    venv = tmp_path_factory.mktemp("empty")
    subprocess.run([UV, "venv", "-q", "--python", sys.executable, venv], check=True)
    install = [UV, "pip", "install", "-q", "--python", venv / "bin" / "python", "-c", ROOT / "requirements.lock", wheel]
    subprocess.run(install, check=True)
    return venv / "bin" / "limnograph"


def run(program: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    # No PATH to Java or Node and no variable of the developer's: what a user's empty machine has.
    env = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}
    return subprocess.run([program, *arguments], capture_output=True, text=True, check=False, cwd=cwd, env=env)


def test_the_wheel_holds_the_built_dashboard(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "limnograph/_dashboard/200.html" in names
    assert any(name.startswith("limnograph/_dashboard/_app/immutable/") and name.endswith(".js") for name in names)
    assert not any("node_modules" in name for name in names)


def test_the_wheel_holds_the_alert_rules_and_their_runbooks(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {"limnograph/_rules/alerts.yml", "limnograph/_rules/thresholds.yml"} <= set(names)
    assert "limnograph/_runbooks/small-file-proliferation.md" in names


def test_serve_explains_itself(program: Path, tmp_path: Path) -> None:
    found = run(program, "serve", "--help", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert "--config" in found.stdout


def test_inspect_reads_a_table_without_a_catalog(program: Path, tmp_path: Path) -> None:
    catalog = SqlCatalog("lake", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"file://{tmp_path}/warehouse")
    catalog.create_namespace("sales")
    table = catalog.create_table("sales.orders", Schema(NestedField(1, "id", LongType())))
    found = run(program, "inspect", table.location(), "--json", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    document = json.loads(found.stdout)
    assert document["status"] == "ok"
    assert document["table"]["table_uuid"] == str(table.metadata.table_uuid)


def test_the_pipeline_says_which_extra_it_needs(program: Path, tmp_path: Path) -> None:
    settings = tmp_path / "limnograph.toml"
    settings.write_text(f'[catalogs.lake]\ntype = "sql"\nuri = "sqlite:///{tmp_path}/c.db"\nwarehouse = "{tmp_path}"\n')
    found = run(program, "pipeline", "--once", "--config", str(settings), cwd=tmp_path)
    assert found.returncode == 2
    assert "limnograph[spark]" in found.stderr
    assert "Traceback" not in found.stderr
