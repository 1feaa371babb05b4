"""The demo's maintainer: a plan that is approved over HTTP is executed, verified, and loses no row."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from limnograph.demo.check.comparisons import ComparisonResult
from limnograph.demo.lab.tables import BACKLOG, fill_backlog
from limnograph.demo.requests import DemoServer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULE = "compact"
LONGEST_S = 240.0
"""How long a plan, and then its end, is awaited: the maintainer plans once a minute, on a machine that may be busy."""
_EVERY_S = 2.0
_ENDED = frozenset({"verified", "measured", "failed", "partly", "refused", "cancelled", "dismissed", "expired"})


class ApprovedPlan(NamedTuple):
    """A plan as it was approved: files that it promised to replace and to leave."""

    plan_id: str
    files_in: int
    files_out: int


class PlanEnd(NamedTuple):
    """What became of a plan. `reason`: what the executor says."""

    state: str
    reason: str | None
    files_in: int | None
    files_out: int | None


class PlanDecisions(Protocol):
    """Plans of the running server."""

    def approve(self, table: str, rule: str) -> ApprovedPlan | None:
        """Approve the proposed plan of a rule for a table, once there is one; None: there was none in time."""
        ...

    def end(self, plan_id: str) -> PlanEnd:
        """Wait until a plan has ended, or too much time has passed."""
        ...


class MaintainedTable(Protocol):
    """The maintained table, as another engine than the maintainer's reads it."""

    def fill(self) -> None:
        """Add small files."""
        ...

    def data_files(self) -> int:
        """Live data files."""
        ...

    def digest(self) -> str:
        """Digest of all rows, whatever their order and files."""
        ...


def approved_plan_is_executed(decisions: PlanDecisions, table: MaintainedTable) -> Iterable[ComparisonResult]:
    """The plan is verified, another engine counts the files that it promised, and the rows are the same."""
    table.fill()
    before, rows = table.data_files(), table.digest()
    plan = decisions.approve(BACKLOG, RULE)
    name = "an approved plan is verified"
    if plan is None:
        yield ComparisonResult(name, ok=False, detail=f"no plan within {LONGEST_S:.0f} s", figures={})
        return
    end = decisions.end(plan.plan_id)
    detail = f"{end.state}: {end.reason}" if end.reason else end.state
    yield ComparisonResult(name, ok=end.state in {"verified", "measured"}, detail=detail, figures={"state": end.state})
    after, expected = table.data_files(), before - plan.files_in + plan.files_out
    figures = {"files_before": before, "files_after": after, "promised": expected, "reported": end.files_out}
    detail = f"{before} files became {after}, promised {expected}"
    ok = after == expected < before and (end.files_in, end.files_out) == (plan.files_in, plan.files_out)
    yield ComparisonResult("another engine counts the promised files", ok=ok, detail=detail, figures=figures)
    left = table.digest()
    detail = f"{rows} before, {left} after"
    yield ComparisonResult("no row was lost or changed", ok=left == rows, detail=detail, figures={"rows": rows})


class HttpDecisions:
    """Port PlanDecisions."""

    def __init__(self, server: DemoServer) -> None:
        self._server = server

    def approve(self, table: str, rule: str) -> ApprovedPlan | None:
        """As the port specifies. Raises SourceError if the server does not respond."""
        deadline = time.monotonic() + LONGEST_S
        while (row := self._proposed(table, rule)) is None:
            if time.monotonic() > deadline:
                return None
            time.sleep(_EVERY_S)
        plan_id, predicted = row["recommendation"]["plan_id"], row["recommendation"]["predicted"]
        decision = {"arguments_sha256": row["arguments_sha256"], "seq": row["seq"], "reason": "demo --check"}
        self._server.post(f"/api/v1/maintenance/{plan_id}/approve", decision)
        return ApprovedPlan(plan_id, predicted["files_in"], predicted["files_out"])

    def _proposed(self, table: str, rule: str) -> Any:
        page = self._server.get(f"/api/v1/maintenance?state=proposed&rule={rule}&q={table.rpartition('.')[2]}")
        found = (row for row in page["rows"] if f"{row['catalog']}.{row['namespace']}.{row['table']}" == table)
        return next((row for row in found if row["seq"] and row["arguments_sha256"]), None)

    def end(self, plan_id: str) -> PlanEnd:
        """As the port specifies. Raises SourceError if the server does not respond."""
        deadline = time.monotonic() + LONGEST_S
        while True:
            plan = self._server.get(f"/api/v1/maintenance/{plan_id}")
            if plan["state"] in _ENDED or time.monotonic() > deadline:
                result = plan["result"] or {}
                return PlanEnd(plan["state"], plan["reason"], result.get("files_in"), result.get("files_out"))
            time.sleep(_EVERY_S)


class SparkBacklog:
    """Port MaintainedTable, by a session of its own."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def fill(self) -> None:
        fill_backlog(self._spark)

    def data_files(self) -> int:
        return int(self._one(f"select count(*) from {BACKLOG}.data_files"))  # noqa: S608 - our own name

    def digest(self) -> str:
        rows = f"select count(*), sum(cast(xxhash64(*) as decimal(38, 0))) from {BACKLOG}"  # noqa: S608 - our own name
        self._spark.sql(f"refresh table {BACKLOG}")
        count, total = self._first(rows)
        return f"{count} rows, {total}"

    def _one(self, query: str) -> Any:
        self._spark.sql(f"refresh table {BACKLOG}")
        return self._first(query)[0]

    def _first(self, query: str) -> Any:
        return self._spark.sql(query).first()
