"""The next action of a table of the demo, pasted into Spark as a person would: it must do what the plan says."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from limnograph.demo.check.comparisons import ComparisonResult
from limnograph.demo.lab.tables import ARCHIVE, SMALL_FILES
from limnograph.demo.requests import DemoServer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULE = "compact"
LONGEST_S = 240.0
"""How long the plan is awaited: the server reads one table after the other with a fifth of one core."""
_EVERY_S = 2.0


class StatedPlan(NamedTuple):
    """What a plan predicts, and its statement for Spark."""

    files_in: int
    files_out: int
    statement: str


class PlanReader(Protocol):
    """Plans of the running server."""

    def plan(self, table: str, rule: str) -> StatedPlan | None:
        """The plan of a rule for a table, once there is one; None: there was none in time."""
        ...


class StatementRunner(Protocol):
    """An engine that runs a pasted statement."""

    def data_files(self, table: str) -> int:
        """Live data files."""
        ...

    def run(self, statement: str) -> None:
        """Run it to its end."""
        ...


def next_action_repairs(reader: PlanReader, engine: StatementRunner) -> Iterable[ComparisonResult]:
    """The statement leaves the number of files that the plan predicts. A table that an earlier check has repaired has
    no plan any more.
    """
    name, before = "the next action repairs its table", engine.data_files(ARCHIVE)
    if before < SMALL_FILES:
        yield ComparisonResult(name, ok=True, detail="repaired before", figures={"files": before})
        return
    plan = reader.plan(ARCHIVE, RULE)
    if plan is None:
        yield ComparisonResult(name, ok=False, detail=f"no plan within {LONGEST_S:.0f} s", figures={})
        return
    engine.run(plan.statement)
    after, expected = engine.data_files(ARCHIVE), before - plan.files_in + plan.files_out
    figures = {"files_before": before, "files_after": after, "predicted": expected}
    detail = f"{before} files became {after}, predicted {expected}"
    yield ComparisonResult(name, ok=after == expected < before, detail=detail, figures=figures)


class HttpPlans:
    """Port PlanReader."""

    def __init__(self, server: DemoServer) -> None:
        self._server = server

    def plan(self, table: str, rule: str) -> StatedPlan | None:
        """As the port specifies. Raises SourceError if the server does not respond."""
        path, deadline = "/".join(table.split(".")), time.monotonic() + LONGEST_S
        while True:
            advice = self._server.get(f"/api/v1/tables/{path}/maintenance")["advice"] or {}
            for each in advice.get("recommendations", ()):
                if each["rule"] == rule and each["statements"]["spark"]:
                    predicted = each["predicted"]
                    return StatedPlan(predicted["files_in"], predicted["files_out"], each["statements"]["spark"])
            if time.monotonic() > deadline:
                return None
            time.sleep(_EVERY_S)


class SparkStatements:
    """Port StatementRunner."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def data_files(self, table: str) -> int:
        found: Any = self._spark.sql(f"select count(*) from {table}.data_files").first()  # noqa: S608 - our own name
        return int(found[0])

    def run(self, statement: str) -> None:
        self._spark.sql(statement.rstrip().removesuffix(";")).collect()
