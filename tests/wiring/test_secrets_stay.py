"""A unique secret in every place of the settings, and passes that fail in each way: none of it is ever told."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lakes import Lake, rows
from limnograph.adapters.iceberg.catalogs.catalog import open_catalog
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.adapters.spark.session import parted
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain import watch
from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.meta_tables import CHANGES, SNAPSHOTS
from limnograph.services.watcher.rounds import Watcher
from limnograph.settings import Settings, load
from limnograph.wiring.observe import SettingsLake
from memory_meta import MemoryMetaStore, local_passes
from rest_catalog import Answer, RestServer, refusal

SECRET = "Zx9-unique-"
CATALOG = """
[catalogs.{name}]
type = "{type}"
uri = "{uri}"
token = "Zx9-unique-token-{name}"
s3.secret-access-key = "Zx9-unique-s3-{name}"
"s3.access-key-id" = "Zx9-unique-id-{name}"
credential_file = "credential"
header.X-Own-Api-Key = "${{OWN_KEY}}"
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RestServer]:
    (tmp_path / "far").mkdir()
    far = Lake(tmp_path / "far")
    far.table().append(rows("eu"))
    with RestServer(far.catalog).running() as made:
        made.token = "Zx9-unique-token-rest"
        yield made


def settings(folder: Path, server: RestServer, postgres: str = "127.0.0.1:1") -> Settings:
    (folder / "near").mkdir()
    near = Lake(folder / "near")
    near.table("web.clicks").append(rows("eu"))
    (folder / "credential").write_text("me:Zx9-unique-credential\n")
    database = f"postgresql+psycopg2://me:Zx9-unique-password@{postgres}/lake?sslpassword=Zx9-unique-query"
    text = "".join(
        (
            CATALOG.format(name="rest", type="rest", uri=server.uri),
            CATALOG.format(name="refused", type="rest", uri=f"{server.uri}/refused"),
            CATALOG.format(name="nobody", type="rest", uri="http://me:Zx9-unique-userinfo@127.0.0.1:9"),
            f'[catalogs.base]\ntype = "sql"\nuri = "{database}"\n',
            f'[catalogs.near]\ntype = "sql"\nuri = "{near.properties["uri"]}"\n',
            '[meta]\ncatalog = "near"\n[observe]\ncatalog_deadline_seconds = 2\n[[observe.paths]]\nformat = "delta"\n',
            'name = "a.b"\nlocation = "s3://nowhere/x"\n[observe.paths.properties]\n',
            '"s3.endpoint" = "http://127.0.0.1:9"\n"s3.secret-access-key" = "Zx9-unique-path"\n',
            '"s3.access-key-id" = "Zx9-unique-pathid"\n[prometheus.main]\nurl = "http://127.0.0.1:9"\n',
            'bearer_token = "Zx9-unique-bearer"\n[inbox]\nurl = "postgresql+psycopg2://u:Zx9-unique-inbox@127.0.0.1:1/i"',
        )
    )
    file = folder / "limnograph.toml"
    file.write_text(text)
    return load(file, {"OWN_KEY": "Zx9-unique-header"})


ECHOES = [
    refusal(401, "NotAuthorizedException", "token Zx9-unique-token-rest has expired"),
    Answer(403, b'{"error": {"message": "me:Zx9-unique-credential may not", "type": "x", "code": 403}}'),
    Answer(500, b"trace: header Zx9-unique-header"),
    Answer(200, b'{"Zx9-unique-token-rest": 1}'),
]


@pytest.mark.parametrize("answer", ECHOES)
def test_no_secret_is_revealed_however_catalogs_and_stores_fail(
    tmp_path: Path, server: RestServer, caplog: pytest.LogCaptureFixture, answer: Answer
) -> None:
    """Servers here even quote what they were sent."""
    from limnograph.jobs import logs

    written: list[str] = []
    caplog.handler.setFormatter(logs._Plain("%(message)s"))
    made = settings(tmp_path, server)
    lake, store = SettingsLake(made), MemoryMetaStore()
    near = Lake(tmp_path / "near")
    passes = local_passes(near, store, observed=lake, progress=written.append)
    with caplog.at_level(logging.DEBUG, "limnograph"):
        first = passes.run()
        server.faults.append(lambda request: answer if "config" not in request.path else None)
        second = passes.run()
        messages = [watch.encode(m).decode() for m in Watcher(lake, MemoryEngine(), SystemClock(), 10**15).round()]
    assert len(first.failed) >= 3
    assert len(second.failed) > len(first.failed)
    said = [*written, *messages, caplog.text, repr(lake.listing()), msgspec.json.encode(first.failed).decode()]
    said += [msgspec.json.encode(second.failed).decode()]
    said += [str(store.rows(table).to_pylist()) for table in (CHANGES, SNAPSHOTS)]
    assert [text for text in said if SECRET in text] == []


def test_errors_of_opening_each_catalog_contain_no_secret(tmp_path: Path, server: RestServer) -> None:
    made = settings(tmp_path, server)
    said: list[str] = []
    for name, properties in made.catalogs.items():
        try:
            open_catalog(name, properties)
        except LimnographError as error:
            said.append(f"{error} {error!r}")
    assert len(said) >= 2
    assert SECRET not in "".join(said)


def test_the_program_prints_no_secret_when_it_fails(tmp_path: Path, server: RestServer) -> None:
    settings(tmp_path, server)
    code = (
        "import sys, limnograph.cli as cli, limnograph.settings as s; "
        "from limnograph.wiring.observe import SettingsLake; "
        "import logging; made = s.load(sys.argv[1], {'OWN_KEY': 'Zx9-unique-header'}); "
        "from limnograph.jobs.logs import configure; configure('json'); "
        "log = logging.getLogger('limnograph.x'); log.warning('%s', made.catalogs); "
        "cli._program = lambda: (_ for _ in ()).throw(RuntimeError(str(made))); sys.argv = ['limnograph']; cli.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "limnograph.toml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "RuntimeError" in done.stderr
    assert "***" in done.stderr
    assert SECRET not in done.stdout + done.stderr


def test_credentials_are_passed_to_spark_at_run_time_and_not_on_its_command_line() -> None:
    conf: dict[str, Any] = {
        "spark.sql.catalog.a": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.a.uri": "jdbc:postgresql://me:Zx9-unique@db/x",
        "spark.sql.catalog.a.jdbc.password": "Zx9-unique",
        "spark.sql.catalog.a.header.X-Own": "Zx9-unique",
        "spark.sql.catalog.a.credential": "Zx9-unique",
        "spark.sql.catalog.a.warehouse": "s3://bucket/wh",
        "spark.driver.memory": "1g",
    }
    shown, hidden = parted(conf)
    assert sorted(shown) == ["spark.driver.memory", "spark.sql.catalog.a", "spark.sql.catalog.a.warehouse"]
    assert {**shown, **hidden} == conf
