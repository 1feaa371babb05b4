"""`limnograph demo --check`: runs the whole chain without a browser, compares its results, and prints a JSON summary.

The stored meta table is compared first, before a pipeline could repair it; then the chain is started and compared.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from limnograph.demo import building
from limnograph.demo.check import comparisons
from limnograph.demo.check.advice import HttpPlans, SparkStatements, next_action_repairs
from limnograph.demo.check.alerts import HttpAlerts
from limnograph.demo.check.comparisons import Comparison, ComparisonResult
from limnograph.demo.check.evidence import CatalogLake, HttpTimelines, RunningChain, SparkEngine, StoredMeta
from limnograph.demo.check.explained import HttpExplanations
from limnograph.demo.check.ledger import HttpLedger
from limnograph.demo.check.maintained import HttpDecisions, SparkBacklog, approved_plan_is_executed
from limnograph.demo.check.risks import HttpRisks, SparkWarnings, one_table_is_at_risk
from limnograph.demo.folder import Folder
from limnograph.demo.lake.session import start
from limnograph.demo.processes import past_alerts, supervisor
from limnograph.demo.processes.tools import server_port
from limnograph.demo.progress import Progress
from limnograph.demo.requests import server_of
from limnograph.demo.run import USUAL_PORT
from limnograph.demo.story.story import Story
from limnograph.demo.story.story import read as read_story
from limnograph.domain.errors import Conflict, EnvironmentFault, InvalidInput, LimnographError
from limnograph.settings import load


def check(root: Path, *, port: int | None, fresh: bool) -> int:
    """Run the check. Returns the exit code: 0 if every comparison holds, otherwise 1 with the failed ones on stderr."""
    progress, folder = Progress(), Folder(root)
    supervisor.stop_on_signals()
    findings: list[ComparisonResult] = []
    try:
        with ExitStack() as stack:
            addresses, told = stack.enter_context(_chain(folder, progress, findings, port=port, fresh=fresh))
            findings += compare(whole_chain(folder, addresses, told, stack), progress)
    except _Unequal as error:
        progress.say(str(error))
    except LimnographError as error:
        if isinstance(error, EnvironmentFault | InvalidInput) and not findings:
            raise
        findings.append(ComparisonResult("the chain responds", ok=False, detail=str(error), figures={}))
    except KeyboardInterrupt:
        progress.say("stopped")
        return 130
    return report(findings, progress)


def stored(folder: Folder) -> Sequence[Comparison]:
    """Comparisons that need no running process."""
    place = folder.place
    return [lambda: comparisons.same_snapshots(StoredMeta(place), CatalogLake(place))]


def whole_chain(folder: Folder, addresses: dict[str, Any], told: Story, stack: ExitStack) -> Sequence[Comparison]:
    """All comparisons, with a running demo."""
    meta, now, session = StoredMeta(folder.place), int(time.time() * 1000), cache(lambda: _session(folder, stack))
    server = server_of(addresses)
    timelines = HttpTimelines(server)
    return [
        *stored(folder),
        lambda: comparisons.files_rise(timelines, told),
        lambda: comparisons.job_slows(timelines, told),
        lambda: comparisons.burst_is_blamed(HttpExplanations(server, load(folder.config)), told),
        lambda: comparisons.repair_is_measured(HttpLedger(server), told),
        lambda: comparisons.past_alerts_are_listed(HttpAlerts(server), past_alerts.read(folder.alerts)),
        lambda: comparisons.burst_raised_an_alert(HttpAlerts(server), told),
        lambda: comparisons.live_commit_arrives(RunningChain(meta, addresses["prometheus"], now)),
        lambda: comparisons.same_totals(meta, SparkEngine(session())),
        lambda: one_table_is_at_risk(HttpRisks(server), SparkWarnings(session())),
        lambda: next_action_repairs(HttpPlans(server), SparkStatements(session())),
        lambda: approved_plan_is_executed(HttpDecisions(server), SparkBacklog(session())),
    ]


def compare(which: Iterable[Comparison], progress: Progress) -> list[ComparisonResult]:
    """Run comparisons in order. One that raises an error counts as failed."""
    findings: list[ComparisonResult] = []
    for comparison in which:
        try:
            found = list(comparison())
        except LimnographError as error:
            found = [ComparisonResult("evidence", ok=False, detail=str(error), figures={})]
        findings += found
        failed = [one for one in found if not one.ok]
        progress.say(f"{len(found) - len(failed)} of {len(found)} hold: {found[0].name if found else ''} …")
    return findings


def report(findings: Sequence[ComparisonResult], progress: Progress) -> int:
    """Print the summary as the last line of stdout, and failed comparisons on stderr. Returns the exit code."""
    failed = [one for one in findings if not one.ok]
    for one in failed:
        sys.stderr.write(f"limnograph: check failed: {one.name}: {one.detail}\n")
    summary = {
        "ok": not failed and bool(findings),
        "comparisons": len(findings),
        "failed": [one.name for one in failed],
        "seconds": round(progress.seconds, 1),
        "figures": {one.name: one.figures for one in findings if one.figures},
    }
    sys.stdout.write(json.dumps(summary) + "\n")
    return 0 if summary["ok"] else 1


@contextmanager
def _chain(
    folder: Folder, progress: Progress, findings: list[ComparisonResult], *, port: int | None, fresh: bool
) -> Iterator[tuple[dict[str, Any], Story]]:
    """Addresses of the demo that is running in the folder, or of one that is started here and stopped at the end."""
    with ExitStack() as stack:
        if not _hold(folder, stack, must=fresh):
            yield _running(folder), read_story(folder.story)
            return
        if fresh:
            folder.clear()
        if folder.built and StoredMeta(folder.place).exists():
            findings += compare(stored(folder), progress)
            if not all(one.ok for one in findings):
                raise _Unequal("the meta table differs from the lake; the chain was not started")
        ports = supervisor.Ports.choose(server_port(port, USUAL_PORT))
        told = building.ensure(folder, int(time.time() * 1000), progress)
        stack.enter_context(supervisor.everything(folder, told, ports, progress))
        yield _running(folder), told


def _hold(folder: Folder, stack: ExitStack, *, must: bool) -> bool:
    """Lock the folder. Returns False if a running demo holds the lock; raises Conflict instead if `must` is set."""
    try:
        stack.enter_context(folder.held())
    except Conflict:
        if must:
            raise
        return False
    return True


class _Unequal(LimnographError):
    """The stored state differs. The chain is not started, because a pipeline would repair the evidence."""


def _running(folder: Folder, seconds: float = 5.0) -> dict[str, Any]:
    deadline = time.monotonic() + seconds
    while (addresses := folder.running) is None:
        if time.monotonic() > deadline:
            raise EnvironmentFault(f"the demo in {folder.root} is still starting; retry when it is up")
        time.sleep(0.5)
    return addresses


def _session(folder: Folder, stack: ExitStack) -> Any:
    conf = {"spark.driver.memory": "768m"}
    spark = start(load(folder.config), app_name="limnograph-check", master="local[2]", conf=conf)
    stop: Callable[[], None] = spark.stop
    stack.callback(stop)
    return spark
