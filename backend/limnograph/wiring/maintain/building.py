"""The executor of a maintenance file, on a Spark session."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limnograph.adapters.inbox.database import InboxDatabase
from limnograph.adapters.inbox.plan_states import SqlPlanStates
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.sandbox.idle import IdlePool
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.errors import SettingsError
from limnograph.domain.failpoints import Failpoints
from limnograph.ports.lake import LakeListing
from limnograph.services.maintenance.lease_keeper import LeaseTiming
from limnograph.services.maintenance.neighbours import NeighbourFolders
from limnograph.services.maintenance.parts import ExecutorParts
from limnograph.services.maintenance.planning import MaintenancePlanner
from limnograph.services.plans.plan_records import PlanRecords
from limnograph.services.plans.rebuild import StatesRebuild
from limnograph.services.watcher.catalog_actions import WatchMode
from limnograph.settings import FILES
from limnograph.settings.maintenance import MaintainSettings
from limnograph.settings.prices import prices_of
from limnograph.wiring.maintain.aftermath import aftermath_since
from limnograph.wiring.maintain.delta_places import delta_maintainer
from limnograph.wiring.maintain.knowledge import RecordedKnowledge
from limnograph.wiring.maintain.maintainers import CatalogMaintainers
from limnograph.wiring.observe import SettingsLake, access_of
from limnograph.wiring.on_request.advice import AdvisedTables
from limnograph.wiring.on_request.evidence import EvidencedTables
from limnograph.wiring.pipeline import process_failpoints
from limnograph.wiring.shared_database import require_shared_database
from limnograph.wiring.watching import embedded_engine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Progress = Callable[[str], None]


def spark_log(maintain: MaintainSettings) -> Path:
    """File for Spark's own log."""
    return maintain.settings.state_dir.absolute() / "maintain.log"


def check(maintain: MaintainSettings, *, changes: bool) -> None:
    """Check what only this program uses. `changes`: whether it may change tables. Raises SettingsError."""
    policy = maintain.policy
    require_shared_database(maintain.settings.inbox_url, maintain.master)
    process_failpoints()
    if policy.mode == "off":
        raise SettingsError("maintenance.mode", 'is "off": nothing is planned; write "advise", "approve" or "auto"')
    if changes and not any((rule.mode or policy.mode) in {"approve", "auto"} for rule in policy.rules):
        what = "no [[maintenance.policy]] names tables" if not policy.rules else f'is "{policy.mode}" for every policy'
        raise SettingsError(
            "maintenance.mode", f'{what}: nothing may be executed; write "approve" or "auto", or pass --dry-run'
        )


def spark_session(maintain: MaintainSettings, *, verbose: bool = False) -> SparkSession:
    """Session with the catalogs that may be written; with all of them, if there is none. Raises EnvironmentFault,
    SettingsError.
    """
    from limnograph.adapters.spark.session import start_session

    settings = maintain.settings
    catalogs = {name: settings.catalogs[name] for name in written(maintain) if name in settings.catalogs}
    return start_session(
        catalogs,
        master=maintain.master,
        jars=settings.spark.jars,
        conf=maintain.spark,
        app_name="limnograph-maintain",
        log=None if verbose else spark_log(maintain),
    )


def written(maintain: MaintainSettings) -> list[str]:
    """Catalogs of the tables that are planned: those that may be written; in mode `advise`, there may be none."""
    return sorted(maintain.catalogs or maintain.settings.catalogs)


def parts_of(
    maintain: MaintainSettings,
    session: SparkSession,
    *,
    executor_id: str,
    stop: threading.Event,
    progress: Progress,
    failpoints: Failpoints | None = None,
    timing: LeaseTiming = LeaseTiming(),  # noqa: B008  # immutable
    end: Callable[[], object] = lambda: None,
) -> ExecutorParts:
    """What the executor works with. `stop`: ends it after the action that runs, which is cancelled."""
    from limnograph.adapters.spark.maintenance.maintainer import SparkMaintainer

    settings, clock = maintain.settings, SystemClock()
    prices, knowledge = prices_of(settings.prices), RecordedKnowledge(settings, clock)
    names, pool = written(maintain), IdlePool()
    evidence = EvidencedTables(settings, pool)
    spark = SparkMaintainer(session, settings.state_dir.absolute() / "maintain")
    maintainer = CatalogMaintainers(names, spark, delta_maintainer(settings) if FILES in names else None)
    lake = SettingsLake(settings, WatchMode.NOW, progress=progress)
    states = SqlPlanStates(InboxDatabase(settings.inbox_url))
    records = PlanRecords(SqlInbox(settings.inbox_url), embedded_engine(settings))
    return ExecutorParts(
        policy=maintain.policy,
        states=states,
        maintainer=maintainer,
        planner=MaintenancePlanner(
            maintainer,
            AdvisedTables(settings, pool),
            maintain.policy,
            knowledge,
            prices=prices,
        ),
        evidence=evidence,
        knowledge=knowledge,
        neighbours=NeighbourFolders(SandboxTables(access_of(settings)), evidence),
        listing=lambda: _only(knowledge.saw(lake.listing()), frozenset(names)),
        clock=clock,
        prices=prices,
        failpoints=failpoints or process_failpoints(),
        executor_id=executor_id,
        pause=stop.wait,
        aftermath=lambda since: aftermath_since(settings, since, clock.now()),
        meta_namespaces=[f"{settings.meta_catalog}.{settings.meta.namespace}"],
        application_id=session.sparkContext.applicationId,
        rebuilt=StatesRebuild(states, lambda: records.newest().values()).is_done,
        timing=timing,
        stopping=stop.is_set,
        end=end,
        progress=progress,
    )


def _only(listing: LakeListing, catalogs: frozenset[str]) -> LakeListing:
    """Tables of these catalogs; of those without one, Delta tables, whose folders may be others tomorrow."""
    pointers = tuple(
        each
        for each in listing.pointers
        if each.name.catalog in catalogs and (each.name.catalog != FILES or each.format == "delta")
    )
    return listing._replace(pointers=pointers, complete=listing.complete & (catalogs - {FILES}))


def jvm_of(session: SparkSession) -> int | None:
    """Process of the session's JVM; None: it was started by another program, such as spark-submit."""
    gateway: Any = session.sparkContext._gateway  # noqa: SLF001 - PySpark has no other way to its process
    process = getattr(gateway, "proc", None)
    return None if process is None else int(process.pid)
