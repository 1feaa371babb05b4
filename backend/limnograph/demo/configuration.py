"""The files that the demo's children read: limnograph.toml and prometheus.yml. Text only; ports change every start."""

from __future__ import annotations

import json
from collections.abc import Sequence

from limnograph.demo.commits import Place
from limnograph.demo.signals import Schedule


def limnograph_toml(
    place: Place, prometheus_port: int, server_port: int, jobs: Sequence[Schedule], *, pipeline_port: int
) -> str:
    """Settings as a team would write them (docs/settings.md documents every key)."""
    linked = "".join(
        f"\n[[jobs]]\nname = {json.dumps(job.job_name)}\n"
        f"reads = {_names(job, 'reads')}\nwrites = {_names(job, 'writes')}\n"
        for job in jobs
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
include = ["lake.**"]

[prometheus.main]
url = "http://127.0.0.1:{prometheus_port}"

[pipeline]
metrics = "127.0.0.1:{pipeline_port}"

[server]
host = "127.0.0.1"
port = {server_port}

[spark]
master = "local[2]"

[spark.conf]
"spark.driver.memory" = "1g"
"spark.sql.shuffle.partitions" = "2"
{linked}"""


def _names(job: Schedule, role: str) -> str:
    return json.dumps([f"lake.{use.table}" for use in job.uses if use.role == role])


def prometheus_yml(server_port: int, live_port: int, pipeline_port: int) -> str:
    """What is scraped from now on: the server, the pipeline and the live job."""
    return f"""# Written by `limnograph demo` at every start.
global:
  scrape_interval: 15s
scrape_configs:
  - job_name: limnograph
    static_configs:
      - targets: ["127.0.0.1:{server_port}"]
  - job_name: limnograph-pipeline
    static_configs:
      - targets: ["127.0.0.1:{pipeline_port}"]
  - job_name: live
    scrape_interval: 5s
    static_configs:
      - targets: ["127.0.0.1:{live_port}"]
"""
