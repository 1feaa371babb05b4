"""What the executor works with."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import NamedTuple

from limnograph.domain.advice.prices import Prices
from limnograph.domain.failpoints import Failpoints
from limnograph.domain.maintenance.policy import MaintenancePolicy
from limnograph.domain.time import Micros
from limnograph.ports.action_evidence import ActionEvidence
from limnograph.ports.clock import Clock
from limnograph.ports.lake import LakeListing
from limnograph.ports.plan_states import PlanStates
from limnograph.ports.table_maintainer import TableMaintainer
from limnograph.services.maintenance.aftermath import AftermathFacts
from limnograph.services.maintenance.known import TableKnowledge
from limnograph.services.maintenance.lease_keeper import LeaseTiming
from limnograph.services.maintenance.neighbours import NeighbourFolders
from limnograph.services.maintenance.planning import MaintenancePlanner


class ExecutorParts(NamedTuple):
    """Shared by the threads of a round; each part is thread-safe or immutable.

    neighbours      what other tables own, read before files are deleted
    listing         the tables of the catalogs that the maintenance file names
    clock           of this machine, compared with that of the database
    executor_id     names this process, and the one that it continues
    application_id  Spark application of its actions
    meta_namespaces `catalog.namespace` of Limnograph's own tables
    aftermath       runs, reported commits and effects since an instant
    stopping        whether the program ends
    end             ends the process at once; called if a lease was lost and its action does not end
    pause           waits some seconds, less if the program ends
    rebuilt         whether the states have all plans that were ever recorded: if not, decisions of users are missing
    """

    policy: MaintenancePolicy
    states: PlanStates
    maintainer: TableMaintainer
    planner: MaintenancePlanner
    evidence: ActionEvidence
    knowledge: TableKnowledge
    neighbours: NeighbourFolders
    listing: Callable[[], LakeListing]
    clock: Clock
    prices: Prices
    failpoints: Failpoints
    executor_id: str
    pause: Callable[[float], object]
    application_id: str | None = None
    meta_namespaces: Collection[str] = ()
    aftermath: Callable[[Micros], AftermathFacts] = lambda _since: AftermathFacts()
    rebuilt: Callable[[], bool] = lambda: True
    timing: LeaseTiming = LeaseTiming()
    stopping: Callable[[], bool] = lambda: False
    end: Callable[[], object] = lambda: None
    progress: Callable[[str], None] = lambda _line: None
