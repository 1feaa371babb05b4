"""Builds the checks of `limnograph doctor` from settings: the machine, the catalogs, the meta tables, every source."""

from __future__ import annotations

import importlib.util
import json
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pyiceberg.catalog.sql import SqlCatalog
from sqlalchemy import text

from limnograph.adapters import http_probe, private_files
from limnograph.adapters.embedded.engine import EmbeddedEngine
from limnograph.adapters.iceberg.catalogs.catalog import open_catalog
from limnograph.adapters.inbox.plan_states import SqlPlanStates
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.meta.schema import VERSION_PROPERTY
from limnograph.adapters.spark.java import java_home
from limnograph.adapters.spark.session import find_jars
from limnograph.domain.errors import EnvironmentFault, SourceUnavailable
from limnograph.domain.facts.meta_tables import SCHEMA_VERSION
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.services.server.doctor import Check, CheckResult, age, skewed
from limnograph.settings import DEFAULT_PORT, PrometheusSettings, Settings
from limnograph.wiring.cold import trino_engine
from limnograph.wiring.doctor import jobs, observed
from limnograph.wiring.shared_database import require_shared_database

PROBE_S = 5.0
LEAST_FREE_MB = 500
BEHIND_S = 3_600.0


def checks(settings: Settings) -> list[Check]:
    """All checks; each runs independently."""
    listed = observed.ListedNames(settings)
    return [
        Check("java", _java, "required only by `limnograph pipeline`: install JDK 17", required=False),
        Check(
            "spark",
            lambda: _spark(settings),
            "required only by `limnograph pipeline`: run `limnograph setup`",
            required=False,
        ),
        *_catalogs(settings, listed),
        *observed.checks(settings, listed),
        Check(
            "meta tables", lambda: _meta(settings), "see the catalog above; `limnograph pipeline --once` creates them"
        ),
        *_sources(settings),
        *jobs.checks(settings),
        Check("inbox", lambda: _inbox(settings), "correct [inbox] url, or make its folder writable"),
        Check("cache", lambda: _cache(settings.cache_dir), "correct [cache] dir: it must be writable by this user"),
        Check("port", lambda: _port(settings), "set server.port to a free port, or pass --port"),
    ]


def first_checks(settings: Settings) -> list[Check]:
    """Those of a first settings file: its catalogs, and what is observed."""
    listed = observed.ListedNames(settings)
    return [*_catalogs(settings, listed), *observed.checks(settings, listed)]


def _catalogs(settings: Settings, listed: observed.ListedNames) -> Iterator[Check]:
    for name in settings.catalogs:
        remedy = f"correct [catalogs.{name}], or start the catalog"
        yield Check(f"catalog {name}", partial(observed.catalog, settings, listed, name), remedy)
        yield Check(f"clock of catalog {name}", partial(_catalog_clock, settings, name), remedy, required=False)


def _sources(settings: Settings) -> Iterator[Check]:
    for name, server in settings.prometheus.items():
        remedy = f"start it, or correct [prometheus.{name}] url"
        yield Check(f"prometheus {name}", partial(_prometheus, name, server), remedy, required=False)
    if not settings.prometheus:
        yield Check("prometheus", lambda: CheckResult("not configured: pages have no job lanes"), "", required=False)
    if settings.alertmanager is not None:
        url = settings.alertmanager.url.rstrip("/")
        yield Check(
            "alertmanager",
            lambda: _clocked("alertmanager", http_probe.get("alertmanager", f"{url}/-/ready", PROBE_S), "ready"),
            "start it, or correct [alertmanager] url",
            required=False,
        )
    if settings.trino is not None and settings.trino.url:
        remedy = "start it, or correct [trino] (docs/trino.md); until then polars reads old rows"
        yield Check("trino", lambda: _trino(settings), remedy, required=False)


def _java() -> CheckResult:
    return CheckResult(java_home())


def _spark(settings: Settings) -> CheckResult:
    if importlib.util.find_spec("pyspark") is None:
        raise EnvironmentFault("pyspark is not installed: pip install 'limnograph[spark]'")
    from importlib.metadata import version

    return CheckResult(f"pyspark {version('pyspark')}, {len(find_jars(settings.spark.jars))} jars")


def _catalog_clock(settings: Settings, name: str) -> CheckResult:
    properties = settings.catalogs[name]
    if properties.get("type") == "rest":
        url = properties.get("uri", "").rstrip("/")
        probed = http_probe.get(f"catalog {name}", f"{url}/v1/config", PROBE_S)
        return (
            skewed(f"catalog {name}", probed.at, time.time()) if probed.at else CheckResult("does not report its time")
        )
    catalog = open_catalog(name, properties)
    if not isinstance(catalog, SqlCatalog) or catalog.engine.dialect.name == "sqlite":
        return CheckResult("on this machine, or does not report its time")
    with catalog.engine.connect() as connection:
        row = connection.execute(text("select extract(epoch from now())")).one()
    return skewed(f"catalog {name}", float(row[0]), time.time())


def _embedded(settings: Settings) -> EmbeddedEngine:
    name = settings.meta_catalog
    return EmbeddedEngine(
        lambda: open_catalog(name, settings.catalogs[name]), tuple(settings.meta.namespace.split("."))
    )


def _meta(settings: Settings) -> CheckResult:
    engine = _embedded(settings)
    head = engine.head()
    if head.snapshots is None or head.written_at is None:
        return CheckResult(
            "no pass has run yet", "run `limnograph pipeline --once`; until then the watcher shows the last 48 h"
        )
    version = engine.properties("snapshots").get(VERSION_PROPERTY, "unknown")
    behind = time.time() - head.written_at / MICROS_PER_SECOND
    detail = f"schema version {version} (this program's is {SCHEMA_VERSION}), latest commit {age(behind)} ago"
    if version.isdecimal() and int(version) > SCHEMA_VERSION:
        return CheckResult(detail, "written by a newer version: upgrade this installation")
    return CheckResult(detail, "is the pipeline running?" if behind > BEHIND_S else None)


def _prometheus(name: str, server: PrometheusSettings) -> CheckResult:
    headers = {"authorization": f"Bearer {server.bearer_token}"} if server.bearer_token else {}
    url = f"{server.url.rstrip('/')}/api/v1/status/buildinfo"
    probed = http_probe.get(name, url, PROBE_S, headers)
    try:
        version = str(json.loads(probed.body)["data"]["version"])
    except (ValueError, KeyError, TypeError) as error:
        raise SourceUnavailable(name, "the response is not from Prometheus; check the url") from error
    return _clocked(name, probed, f"version {version[:20]}")


def _clocked(source: str, probed: http_probe.HttpProbe, detail: str) -> CheckResult:
    if probed.at is None:
        return CheckResult(detail)
    clock = skewed(source, probed.at, time.time())
    return CheckResult(f"{detail}, clock {clock.detail.partition(': ')[2]}", clock.remedy)


def _trino(settings: Settings) -> CheckResult:
    if settings.trino is None:
        return CheckResult("not configured")
    engine = trino_engine(settings.trino, settings.meta.namespace, _embedded(settings))
    return CheckResult(f"version {engine.check()}, catalog {settings.trino.catalog}")


def _inbox(settings: Settings) -> CheckResult:
    require_shared_database(settings.inbox_url)
    inbox = SqlInbox(settings.inbox_url)
    inbox.newest("run")
    SqlPlanStates(inbox.database).now()
    return CheckResult(settings.inbox_url.partition(":")[0])


def _cache(folder: Path) -> CheckResult:
    private_files.make_folder(folder)
    with tempfile.TemporaryFile(dir=folder) as probe:
        probe.write(b"x")
    free = shutil.disk_usage(folder).free // 2**20
    return CheckResult(f"{folder}, {free:,} MB free", "free space on that disk" if free < LEAST_FREE_MB else None)


def _port(settings: Settings) -> CheckResult:
    host, port = settings.server.host, settings.server.port
    wanted = DEFAULT_PORT if port is None else port
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, wanted))
        except OSError as error:
            if _limnograph_at(host, wanted):
                return CheckResult(f"Limnograph is running on {host}:{wanted}")
            if port is None:
                return CheckResult(f"{wanted} is in use; a free port will be used", None)
            raise EnvironmentFault(f"{host}:{wanted}: {error.strerror}") from error
    return CheckResult(f"{host}:{wanted} is free")


def _limnograph_at(host: str, port: int) -> bool:
    name = f"[{host}]" if ":" in host else host
    try:
        return b'"version"' in http_probe.get("server", f"http://{name}:{port}/healthz", 2.0).body
    except SourceUnavailable:
        return False
