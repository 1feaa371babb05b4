"""An alert: a job writes far more files than it did before, and the incident page names its commit."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.engines import trino_connection
from lakehouse.parts.alerting import BURST_FILES, BURST_TABLE, TRINO, TRINO_QUERIES, TRINO_TIMES
from lakehouse.parts.lake import TableLayout
from limnograph.spark_metrics import job_run, start_exposition

BURST = TableLayout(".".join(BURST_TABLE), "id bigint, part int", "part", {})
ALERT, JOB = "SmallFileProliferation", "lab.import"
FEW, MANY = 2, BURST_FILES + 20
SAMPLES = 3
ASKED = 5


class BurstAlert:
    """Prometheus scrapes Limnograph and the job; the shipped rule fires; Alertmanager sends it to Limnograph."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world
        self._alert: Mapping[str, Any] = {}
        self._snapshot: int | None = None

    def happen(self, log: ScenarioLog) -> None:
        """A small commit, a large one, and the alert that follows."""
        lake = self._world.lake
        lake.create(BURST)
        start_exposition(lake.places.ports.jobs)
        self._write(FEW)
        counter = f'count_over_time(lakehouse_table_added_data_files_total{{table="{BURST_TABLE[2]}"}}[5m])'
        log.claim("Prometheus has samples of the table", awaited(lambda: self._value(counter) >= SAMPLES))
        self._write(MANY)
        self._snapshot = lake.snapshot(BURST.name)
        self._alert = awaited(self._firing) or {}
        log.claim("Limnograph has received the alert", self._alert)
        log.figures.update(files=MANY, threshold=BURST_FILES, alert=ALERT)

    def observe(self, log: ScenarioLog) -> None:
        """The incident page, from which the commit and its job are one click away."""
        observer, alert = self._world.observer, self._alert
        incident = observer.get(f"/alerts/{alert['fingerprint']}", starts_at=alert["starts_at"])
        found = [each["snapshot_id"] for each in incident["commits"]]
        log.equal("the incident's first commit is the burst", found[:1], [str(self._snapshot)])
        log.claim("the alert has a runbook", incident["annotations"]["runbook_url"])
        duration = f'spark_job_duration_seconds{{job_name="{JOB}"}}'
        log.claim("Prometheus has the duration of the job", awaited(lambda: self._value(duration)))
        self._trino(log)
        job = awaited(lambda: observer.table(BURST.name, f"/commits/{self._snapshot}").get("written_by_job"))
        log.equal("the page of the commit names the job", job, JOB)

    def _trino(self, log: ScenarioLog) -> None:
        """Trino's own metrics are in the same Prometheus: its counter grows with our queries, and it says how long."""
        before = awaited(lambda: self._value(TRINO_QUERIES))
        log.claim("Prometheus scrapes Trino", before is not None and self._value(f'up{{job="{TRINO}"}}') == 1, before)
        with trino_connection(self._world.lake.places) as connection:
            for _ in range(ASKED):
                cursor = connection.cursor()
                cursor.execute(f"select count(*) from {BURST.name}")
                cursor.fetchall()
        grown = awaited(lambda: self._value(TRINO_QUERIES) >= before + ASKED)
        log.claim("its counter of completed queries grows with them", grown, (before, self._value(TRINO_QUERIES)))
        log.figures["trino"] = {
            "completed_queries": self._value(TRINO_QUERIES),
            "p95_ms": round(self._value(f'{TRINO_TIMES}{{quantile="0.95"}}')),
        }

    def _write(self, files: int) -> None:
        lake = self._world.lake
        with job_run(JOB, writes=[BURST.name], server=lake.places.server, spark=lake.spark):
            lake.sql(f"insert into {BURST.name} select id, cast(id as int) from range(0, {files}, 1, 1)")

    def _value(self, query: str) -> float:
        """The first value of an instant query; 0 if there is none."""
        asked = urllib.parse.urlencode({"query": query})
        url = f"{self._world.lake.places.prometheus}/api/v1/query?{asked}"
        with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 - our own loopback address
            found = json.load(answer)["data"]["result"]
        return float(found[0]["value"][1]) if found else 0.0

    def _firing(self) -> Any:
        rows = self._world.observer.get("/alerts", state="firing", q=ALERT)["rows"]
        named = dict(zip(("catalog", "table_namespace", "table"), BURST_TABLE, strict=True))
        return next((row for row in rows if row["table"] == named), None)
