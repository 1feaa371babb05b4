"""The forecast of the pipeline: one table is at risk, its look-alike is not, and another engine counts the same."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from limnograph.demo.check.comparisons import ComparisonResult
from limnograph.demo.requests import DemoServer
from limnograph.demo.story.plan import AT_RISK_TABLE, LOOK_ALIKE_TABLE
from limnograph.domain.facts.forecasts import TOTAL_BYTES
from limnograph.domain.forecasts.limits import WARNED_HOURS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

METRIC = "small_files"
LONGEST_S = 240.0
"""How long the forecast is awaited: the pipeline makes it between two passes, on a machine that may be busy."""
_EVERY_S = 2.0


class MetricRisk(NamedTuple):
    """A metric of a table (`catalog.namespace.table`) that was forecast: its state, and its probability of crossing."""

    table: str
    metric: str
    state: str
    p_cross: float | None


class RiskReader(Protocol):
    """Forecasts of the running server."""

    def rows(self) -> Sequence[MetricRisk]:
        """All rows, once there is a forecast; none: there was none in time."""
        ...


class WarningCounter(Protocol):
    """An engine that reads the meta table `forecasts` itself."""

    def warnings(self) -> int:
        """Metrics whose newest forecast warns."""
        ...


def one_table_is_at_risk(reader: RiskReader, engine: WarningCounter) -> Iterable[ComparisonResult]:
    """The table whose compaction stopped is at risk, and alone; the look-alike is forecast and is not."""
    name, rows = "one table is at risk", reader.rows()
    risks = [row for row in rows if row.state == "at_risk"]
    detail = "; ".join(f"{row.table} {row.metric} {row.p_cross}" for row in risks) or f"none of {len(rows)} metrics"
    ok = [(row.table, row.metric) for row in risks] == [(f"lake.{AT_RISK_TABLE}", METRIC)]
    figures = {"at_risk": len(risks), "p_cross": risks[0].p_cross if risks else None}
    yield ComparisonResult(name, ok=ok, detail=detail, figures=figures)
    alike = next((row for row in rows if (row.table, row.metric) == (f"lake.{LOOK_ALIKE_TABLE}", METRIC)), None)
    name, ok = "its look-alike is not at risk", alike is not None and alike.state == "not_at_risk"
    detail = "no forecast" if alike is None else f"{alike.state}, probability {alike.p_cross}"
    yield ComparisonResult(name, ok=ok, detail=detail, figures={"p_cross": alike.p_cross if alike else None})
    counted = engine.warnings()
    detail = f"{len(risks)} listed, {counted} counted"
    name = "another engine counts the tables at risk"
    yield ComparisonResult(name, ok=bool(rows) and counted == len(risks), detail=detail, figures={"counted": counted})


class HttpRisks:
    """Port RiskReader. Rows are complete when both tables have one: other tables may be forecast before them."""

    def __init__(self, server: DemoServer) -> None:
        self._server = server

    def rows(self) -> Sequence[MetricRisk]:
        """As the port specifies. Raises SourceError if the server does not respond."""
        deadline = time.monotonic() + LONGEST_S
        wanted = {f"lake.{AT_RISK_TABLE}", f"lake.{LOOK_ALIKE_TABLE}"}
        while True:
            found = [*self._listed(""), *self._listed("&state=not_at_risk")]
            if wanted <= {row.table for row in found} or time.monotonic() > deadline:
                return found
            time.sleep(_EVERY_S)

    def _listed(self, state: str) -> list[MetricRisk]:
        page = self._server.get(f"/api/v1/forecasts?limit=200{state}")
        return [
            MetricRisk(
                f"{row['catalog']}.{row['namespace']}.{row['table']}", row["metric"], row["state"], row["p_cross"]
            )
            for row in page["rows"]
        ]


class SparkWarnings:
    """Port WarningCounter, by a session of its own."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def warnings(self) -> int:
        newest = f"""
            select level, threshold, alert, abstained,
              rank() over (partition by table_uuid, metric order by as_of desc) as place
            from lake.limnograph.forecasts where hours = {WARNED_HOURS} and metric <> '{TOTAL_BYTES}'
        """  # noqa: S608 - our own names
        count = f"select count(*) from ({newest}) where place = 1 and alert and abstained is null and level < threshold"  # noqa: S608
        row = self._spark.sql(count).first()
        return 0 if row is None else int(row[0])
