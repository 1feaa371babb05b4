"""Prometheus and Alertmanager of the lakehouse: Limnograph's own rules, with a lower threshold for one table."""

from __future__ import annotations

import json

from lakehouse.access.tiers import SCRAPER
from lakehouse.parts.places import Places
from limnograph.demo.processes import alerting
from limnograph.demo.processes.children import ChildProcesses, Program, answers
from limnograph.demo.processes.configuration import SERVER, prometheus_yml
from limnograph.demo.processes.tools import tool
from limnograph.demo.progress import Progress
from limnograph.domain.errors import EnvironmentFault

READY_S = 180.0
TRINO = "trino"
"""Name of Trino among the scrape targets."""
TRINO_QUERIES = "trino_execution_name_QueryManager_CompletedQueries"
TRINO_TIMES = "trino_execution_name_QueryManager_ExecutionTime_FifteenMinutes"
"""Quantiles, in milliseconds in spite of OpenMetrics' rule."""
SCRAPED_OF_TRINO = {
    "basic_auth": {"username": SCRAPER},
    # All of Trino's 10,000 series are a megabyte each five seconds.
    "params": {"name[]": [TRINO_QUERIES, TRINO_TIMES]},
}
BURST_TABLE = ("lake", "lab", "burst")
BURST_FILES = 100
"""More new data files of the table within five minutes raise the alert; the shipped threshold is 1,000."""


def start(children: ChildProcesses, places: Places, progress: Progress) -> None:
    """Start both and wait until they are ready. Raises EnvironmentFault: one is missing or does not start."""
    program = alerting.alertmanager()
    if program is None:
        raise EnvironmentFault(alerting.MISSING)
    write_files(places)
    folder = places.alerts
    prometheus = children.start(
        Program(
            "prometheus",
            [
                str(tool("prometheus")),
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'prometheus'}",
                f"--web.listen-address=127.0.0.1:{places.ports.prometheus}",
                f"--web.external-url={places.prometheus}",
            ],
        )
    )
    alertmanager = children.start(
        Program(
            "alertmanager",
            [
                str(program),
                f"--config.file={folder / 'alertmanager.yml'}",
                f"--storage.path={folder / 'alertmanager'}",
                f"--web.listen-address=127.0.0.1:{places.ports.alertmanager}",
                f"--web.external-url={places.alertmanager}",
                "--cluster.listen-address=",
            ],
        )
    )
    for child, url in ((prometheus, places.prometheus), (alertmanager, places.alertmanager)):
        children.wait_until(child, lambda at=url: answers(f"{at}/-/ready"), READY_S)  # type: ignore[misc]
    progress.say(f"Prometheus and Alertmanager are up: {places.prometheus}, {places.alertmanager}")


def write_files(places: Places) -> None:
    """Write their files. The server has no login, so that the token which the shipped files send is any."""
    folder, ports = places.alerts, places.ports
    folder.mkdir(parents=True, exist_ok=True)
    token = folder / "token"
    token.write_text("none\n")
    thresholds = folder / "thresholds.yml"
    thresholds.write_text(thresholds_yml())
    targets = {SERVER: ports.server, "limnograph-pipeline": ports.pipeline, "spark": ports.jobs, TRINO: ports.trino}
    rules = [alerting.rules() / "*.yml", thresholds]
    (folder / "prometheus.yml").write_text(
        prometheus_yml(
            targets, rules=rules, alertmanager_port=ports.alertmanager, token=token, more={TRINO: SCRAPED_OF_TRINO}
        )
    )
    (folder / "alertmanager.yml").write_text(alerting.alertmanager_yml(ports.server, token))


def thresholds_yml() -> str:
    """A threshold of one table, as a team writes it beside the shipped ones."""
    labels = dict(zip(("catalog", "table_namespace", "table"), BURST_TABLE, strict=True))
    return f"""# Written by the reference lakehouse at every start.
groups:
  - name: lakehouse-thresholds
    rules:
      - record: limnograph:added_data_files_5m:override
        expr: vector({BURST_FILES})
        labels: {json.dumps(labels)}
"""
