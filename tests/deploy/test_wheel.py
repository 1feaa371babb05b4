"""The wheel holds the built dashboard and works in an empty environment, without Node, Java or the checkout; with the
extra `spark` and a JDK it runs the pipeline.
"""

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

from limnograph.adapters.spark.jars import USUAL, find_jars, missing
from maven_mirror import maven_mirror
from served_lake import small_lake

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
    return installed(str(wheel), tmp_path_factory.mktemp("empty"))


def installed(what: str, venv: Path) -> Path:
    """The program in a new environment that has nothing else."""
    subprocess.run([UV, "venv", "-q", "--python", sys.executable, venv], check=True)
    install = [UV, "pip", "install", "-q", "--python", venv / "bin" / "python", "-c", ROOT / "requirements.lock", what]
    # The cache first, as in the Makefile: building Spark's package again takes half a minute and 1 GB.
    if subprocess.run([*install, "--offline"], check=False, capture_output=True).returncode:
        subprocess.run(install, check=True)
    return venv / "bin" / "limnograph"


def run(program: Path, *arguments: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    # No PATH to Java or Node and no variable of the developer's: what a user's empty machine has.
    env = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/"), **more}
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


def test_serve_has_a_help_text(program: Path, tmp_path: Path) -> None:
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


def test_the_pipeline_names_the_extra_it_needs(program: Path, tmp_path: Path) -> None:
    settings = tmp_path / "limnograph.toml"
    settings.write_text(f'[catalogs.lake]\ntype = "sql"\nuri = "sqlite:///{tmp_path}/c.db"\nwarehouse = "{tmp_path}"\n')
    found = run(program, "pipeline", "--once", "--config", str(settings), cwd=tmp_path)
    assert found.returncode == 2
    assert "limnograph[spark]" in found.stderr
    assert "Traceback" not in found.stderr


def test_the_wheel_with_the_extra_spark_runs_a_pass_in_an_empty_environment(
    wheel: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The first start fetches the jars, here from a mirror; the second one needs no mirror."""
    program = installed(f"limnograph[spark] @ {wheel.as_uri()}", tmp_path_factory.mktemp("spark"))
    catalog, home = small_lake(tmp_path, commits=2), tmp_path / "home"
    home.mkdir()
    once = ["pipeline", "--once", "--json", "--config", str(tmp_path / "limnograph.toml")]
    with maven_mirror(tmp_path, find_jars()[0].parent) as ivysettings:
        given = {"HOME": str(home), "LIMNOGRAPH_IVY_SETTINGS": str(ivysettings)}
        first = run(program, *once, cwd=home, **given)
    assert first.returncode == 0, first.stderr
    document = json.loads(first.stdout.splitlines()[-1])
    assert (document["tables_seen"], document["snapshots_appended"]) == (1, 2)
    assert "3 jars, about 63 MB, into" in first.stderr
    assert missing(home / ".cache" / "limnograph" / "jars", USUAL) == []
    names = {tuple(name) for name in catalog.list_tables("limnograph")}
    assert ("limnograph", "snapshots") in names
    again = run(program, "setup", cwd=home, **given)
    assert again.returncode == 0, again.stderr
    assert "checksums match" in again.stderr
    (home / ".cache" / "limnograph" / "jars" / "postgresql-42.7.8.jar").write_bytes(b"cut off")
    broken = run(program, *once, cwd=home, **given)
    assert broken.returncode == 2
    assert "Ivy could not download the jars" in broken.stderr
    assert "limnograph setup --from" in broken.stderr
    assert "make setup" not in first.stderr + broken.stderr
