"""Renders the configuration files of the demo's children: limnograph.toml and prometheus.yml. Ports change at every
start.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from limnograph.demo.lake.commits import LakeLocation
from limnograph.demo.story.signals import JobSchedule

SERVER = "limnograph"
"""Name of the server among the scrape targets."""
FORECAST = "[forecast]\nevery_hours = 1\n\n"
"""A user who compacts a table sees its risk fall within the hour."""
NO_FORECAST = "[forecast]\nenabled = false\n\n"


def limnograph_toml(
    place: LakeLocation,
    prometheus_port: int,
    server_port: int,
    jobs: Sequence[JobSchedule],
    *,
    pipeline_port: int,
    alertmanager_port: int | None = None,
    files: Mapping[str, tuple[str, Path]] | None = None,
    login: bool = True,
    forecast: bool = True,
) -> str:
    """A settings file such as a team would write (docs/settings.md documents every key). `files`: format and folder of
    tables without a catalog, by name. `login`: whether the server requires its token. `forecast`: whether the pipeline
    forecasts.
    """
    told_by = "" if alertmanager_port is None else f'[alertmanager]\nurl = "http://127.0.0.1:{alertmanager_port}"\n\n'
    linked = "".join(
        f"\n[[jobs]]\nname = {json.dumps(job.job_name)}\n"
        f"reads = {_names(job, 'reads')}\nwrites = {_names(job, 'writes')}\n"
        for job in jobs
    )
    folders = "".join(
        f"\n[[observe.paths]]\nformat = {json.dumps(kind)}\nname = {json.dumps(name)}\n"
        f"location = {json.dumps(str(path))}\n"
        for name, (kind, path) in (files or {}).items()
    )
    return f"""# Written by `limnograph demo` at every start.
[meta]
catalog = "lake"
namespace = "limnograph"

[catalogs.lake]
type = "sql"
uri = {json.dumps(place.uri)}
warehouse = {json.dumps(place.warehouse)}

[observe]
include = ["lake.**", "files.**"]
{folders}
[prometheus.main]
url = "http://127.0.0.1:{prometheus_port}"

{told_by}[pipeline]
metrics = "127.0.0.1:{pipeline_port}"

{FORECAST if forecast else NO_FORECAST}[auth]
mode = "{"tokens" if login else "none"}"
session_hours = 720

[server]
host = "127.0.0.1"
port = {server_port}

[spark]
master = "local[2]"

[spark.conf]
"spark.driver.memory" = "1g"
"spark.sql.shuffle.partitions" = "2"
{linked}"""


def _names(job: JobSchedule, role: str) -> str:
    return json.dumps([f"lake.{use.table}" for use in job.uses if use.role == role])


def maintenance_toml(tables: Sequence[str]) -> str:
    """The file of the demo's maintainer: it runs what a user approved, on `tables` (`catalog.namespace.table`), seconds
    after their last commit, and however little that saves.
    """
    return f"""# Written by `limnograph demo` at every start (docs/maintenance.md).
[maintenance]
mode = "approve"
master = "local[1]"

[maintenance.spark]
"spark.driver.memory" = "512m"
"spark.driver.extraJavaOptions" = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"

[maintenance.catalogs.lake]

[[maintenance.policy]]
name = "bursts"
tables = {json.dumps(list(tables))}
actions = ["compact"]
quiet = "5s"

[maintenance.policy.worth]
saved_files = 20
paying = false
"""


def prometheus_yml(
    targets: Mapping[str, int],
    *,
    rules: Sequence[Path],
    alertmanager_port: int | None,
    token: Path,
    more: Mapping[str, Mapping[str, object]] = MappingProxyType({}),
) -> str:
    """Scrape targets (ports of 127.0.0.1 by name), rules, and the Alertmanager. `token`: file of the token that the
    server accepts; `more`: further keys of a target, by its name.
    """
    files = json.dumps([str(file) for file in rules])
    told = [] if alertmanager_port is None else [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager_port}"]}]}]
    scraped = "".join(
        f'  - job_name: {name}\n    static_configs:\n      - targets: ["127.0.0.1:{port}"]\n'
        + (f"    authorization: {{credentials_file: {json.dumps(str(token))}}}\n" if name == SERVER else "")
        + "".join(f"    {key}: {json.dumps(value)}\n" for key, value in more.get(name, {}).items())
        for name, port in targets.items()
    )
    return f"""# Written by `limnograph demo` at every start.
global:
  scrape_interval: 5s
  scrape_timeout: 5s
  evaluation_interval: 5s
rule_files: {files}
alerting:
  alertmanagers: {json.dumps(told)}
scrape_configs:
{scraped}"""
