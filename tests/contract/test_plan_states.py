"""One contract over every PlanStates: one winner of a race, all or none, fenced leases, budgets that hold."""

import contextlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

import plan_racer
from limnograph.adapters.inbox.database import InboxDatabase
from limnograph.adapters.inbox.plan_states import SqlPlanStates
from limnograph.adapters.inbox.schema import prepare
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.domain.errors import LeaseLost, LimnographError, PlanMoved, SourceUnavailable
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import BudgetSpent, MaintenanceBreaker, TableLease
from limnograph.domain.maintenance.moves import following
from limnograph.ports.inbox import item_key
from limnograph.ports.plan_states import BudgetLimits
from limnograph.services.plans.rebuild import rebuild

TABLES = ("inbox", "plan_state", "plan_outcome", "maintenance_lease", "maintenance_budget", "maintenance_breaker")
SHORT_S, LONG_S = 1.0, 300.0
SECOND = 1_000_000


class World:
    """One database, opened again and again as other processes would; `url` is None in memory."""

    def __init__(self, url: str | None) -> None:
        self.url = url
        self._kept = MemoryPlanStates(MemoryInbox())
        self.states = self.opened()

    def opened(self, lease_s: float = LONG_S) -> Any:
        """The states, as the next process sees them."""
        if self.url is None:
            self._kept._lease_us = int(lease_s * SECOND)
            return self._kept
        return SqlPlanStates(InboxDatabase(self.url), int(lease_s * SECOND))

    def rows(self) -> list[PlanFact]:
        """Transitions that the drain will append to the meta table, oldest first."""
        inbox: Any = self._kept.inbox if self.url is None else SqlInbox(self.url)
        return sorted(
            (msgspec.json.decode(item.payload, type=PlanFact) for item in inbox.items("plan")),
            key=lambda fact: (fact.plan_id, fact.seq),
        )

    def run(self, *arguments: object) -> subprocess.Popen[str]:
        """Another process that works on the same database."""
        command = [sys.executable, plan_racer.__file__, str(self.url), *map(str, arguments)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def database(emptied: Callable[[Sequence[str]], str]) -> str:
    """URL of an empty PostgreSQL database."""
    return emptied(TABLES)


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    if request.param == "memory":
        return World(None)
    url = f"sqlite:///{tmp_path}/state/inbox.db" if request.param == "sqlite" else request.getfixturevalue("database")
    return World(url)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    """A database that several processes can share."""
    url = f"sqlite:///{tmp_path}/state/inbox.db" if request.param == "sqlite" else request.getfixturevalue("database")
    return World(url)


def proposed(plan_id: str = "p1", table_uuid: str = "t1") -> PlanFact:
    return PlanFact(
        plan_id=plan_id,
        seq=1,
        state="proposed",
        attempt=1,
        table_uuid=table_uuid,
        arguments="{}",
        snapshot_ids=[2**62],
        proposed_by="limnograph",
    )


def moved(states: Any, plan_id: str, *path: str) -> PlanFact:
    """The plan after transitions."""
    fact = states.plan(plan_id)
    for state in path:
        (fact,) = states.record([following(fact, state, "ann")])  # type: ignore[arg-type]
    return fact


def together(calls: list[Callable[[], object]]) -> list[object]:
    """Results of calls that begin at the same time, each in a thread; errors of Limnograph are results."""
    begin, results = threading.Barrier(len(calls)), list[object]()

    def call(made: Callable[[], object]) -> None:
        begin.wait()
        try:
            results.append(made())
        except LimnographError as error:
            results.append(error)

    threads = [threading.Thread(target=call, args=(made,)) for made in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_a_transition_is_recorded_at_the_time_of_the_database_and_goes_to_the_inbox(world: World) -> None:
    before = world.states.now()
    (first,) = world.states.record([proposed()])
    second = moved(world.opened(), "p1", "approved")
    assert before <= first.at <= second.at <= world.states.now()
    assert first == msgspec.structs.replace(proposed(), at=first.at, observed_at=first.at)
    assert world.opened().plan("p1") == second
    assert (second.seq, second.approved_by, second.approved_at, second.snapshot_ids) == (2, "ann", second.at, [2**62])
    assert world.rows() == [first, second]


def test_plans_are_listed_by_state_and_table_newest_first(world: World) -> None:
    assert world.states.plans() == []
    assert world.states.plan("p1") is None
    world.states.record([proposed("a"), proposed("b", "t2"), proposed("c", "t3\x00ü" + "x" * 3_000)])
    moved(world.states, "b", "approved")
    assert [fact.plan_id for fact in world.states.plans()] == ["b", "a", "c"]
    assert [fact.plan_id for fact in world.states.plans(["proposed"])] == ["a", "c"]
    assert [fact.plan_id for fact in world.states.plans(["proposed"], ["t2", "t3\x00ü" + "x" * 3_000])] == ["c"]
    assert [fact.plan_id for fact in world.states.plans(table_uuids=[f"t{n}" for n in range(1_000)])] == ["b", "a"]
    assert world.states.plan("odd\x00" * 100) is None


def test_what_became_of_actions_is_kept_of_each_attempt(world: World) -> None:
    """Two conflicts in a row are two, although a plan has one last transition."""
    world.states.record([proposed("a"), proposed("b", "t2")])
    before = world.states.now()
    lost = ("leased", "checking", "running", "conflicted", "queued")
    moved(world.states, "a", "approved", *lost, *lost, *lost[:3], "committed", "verified", "proposed")
    moved(world.states, "b", "approved", *lost[:3], "failed")
    found = world.opened().outcomes(before)
    assert [(each.plan_id, each.state) for each in found] == [
        ("a", "conflicted"),
        ("a", "conflicted"),
        ("a", "committed"),
        ("a", "verified"),
        ("b", "failed"),
    ]
    assert [each.state for each in world.opened().outcomes(before, ["t2", *map(str, range(600))])] == ["failed"]
    assert [each.state for each in world.opened().outcomes(found[2].at, ["t1"])] == ["committed", "verified"]
    assert world.opened().outcomes(world.states.now() + SECOND) == []


@pytest.mark.parametrize(
    ("seq", "state"), [(1, "proposed"), (3, "approved"), (2, "running"), (2, "nonsense"), (2, None)]
)
def test_a_transition_that_does_not_follow_is_refused_with_the_plan_as_it_is(
    world: World, seq: int, state: str | None
) -> None:
    (first,) = world.states.record([proposed()])
    with pytest.raises(PlanMoved) as refused:
        world.states.record([msgspec.structs.replace(first, seq=seq, state=state)])
    assert refused.value.plan == first
    with pytest.raises(PlanMoved) as unknown:
        world.states.record([msgspec.structs.replace(first, plan_id="new", state="approved")])
    assert unknown.value.plan is None
    assert world.rows() == [first]


def test_all_transitions_of_a_call_are_recorded_or_none(world: World) -> None:
    (first,) = world.states.record([proposed("a")])
    both = world.states.record([following(first, "approved", "policy:all"), proposed("b")])
    assert [(fact.plan_id, fact.seq) for fact in both] == [("a", 2), ("b", 1)]
    with pytest.raises(PlanMoved):
        world.states.record(
            [proposed("c"), following(both[1], "approved", "ann"), following(first, "dismissed", "bob")]
        )
    assert world.states.plan("c") is None
    assert world.states.plan("b") == both[1]
    assert len(world.rows()) == 3
    one = proposed("d")
    assert [fact.state for fact in world.states.record([one, following(one, "approved", "policy:all")])] == [
        "proposed",
        "approved",
    ]


def test_of_fifty_racing_transitions_one_wins_and_the_others_are_told_who(world: World) -> None:
    (first,) = world.states.record([proposed()])
    opened = [world.opened() for _ in range(5)]

    def attempt(number: int) -> Callable[[], object]:
        state = "approved" if number % 2 else "dismissed"
        return lambda: opened[number % 5].record([following(first, state, f"user {number}")])

    results = together([attempt(number) for number in range(50)])
    winners = [result for result in results if isinstance(result, list)]
    assert len(winners) == 1
    losers = [result for result in results if not isinstance(result, list)]
    assert {type(result) for result in losers} == {PlanMoved}
    assert all(result.plan == winners[0][0] for result in losers)
    assert world.rows() == [first, winners[0][0]]


def test_threads_and_processes_that_race_lose_no_transition(shared: World) -> None:
    shared.states.record([proposed()])
    moved(shared.states, "p1", "approved")
    others = [shared.run("race", "p1", 15) for _ in range(2)]
    opened = [shared.opened() for _ in range(2)]
    mine = together([lambda states=states: plan_racer.race(states, "p1", 10, "thread") for states in opened])
    theirs = [other.communicate(timeout=60) for other in others]
    assert [other.returncode for other in others] == [0, 0], theirs
    won = [seq for found in mine for seq in found]  # type: ignore[attr-defined]
    won += [int(seq) for out, _ in theirs for seq in out.split()]
    assert sorted(won) == list(range(3, 53))
    assert [fact.seq for fact in shared.rows()] == list(range(1, 53))
    assert shared.states.plan("p1") == shared.rows()[-1]


class AnswerLost(InboxDatabase):
    """Its next transaction fails, before the commit or after it."""

    lost: str | None = None

    def write(self, what: str, act: Callable[[Any], Any]) -> Any:
        lost, self.lost = self.lost, None
        if lost == "before":
            raise SourceUnavailable("inbox", "the connection was closed")
        made = super().write(what, act)
        if lost == "after":
            raise SourceUnavailable("inbox", "the connection was closed")
        return made


def test_a_commit_whose_answer_was_lost_is_not_taken_for_a_failure(shared: World) -> None:
    database = AnswerLost(shared.url or "")
    states = SqlPlanStates(database)
    database.lost = "after"
    (first,) = states.record([proposed()])
    assert shared.states.plan("p1") == first
    database.lost = "before"
    with pytest.raises(SourceUnavailable):
        states.record([following(first, "approved", "ann")])
    assert shared.rows() == [first]


def test_a_lost_database_is_rebuilt_and_what_was_running_is_unknown(world: World) -> None:
    running = msgspec.structs.replace(proposed("a"), seq=5, state="running", at=7, executor_id="gone")
    done = msgspec.structs.replace(proposed("b"), seq=9, state="verified", at=8)
    assert rebuild(world.states, [running, done]) == 2
    assert world.states.plan("b") == done
    unknown = world.states.plan("a")
    assert (unknown.state, unknown.seq, unknown.executor_id) == ("unknown", 6, "gone")
    assert world.rows() == [unknown]
    assert rebuild(world.opened(), [running, done]) == 0
    assert world.states.holders() == []


def test_an_older_backup_moves_forward_and_newer_states_stay(world: World) -> None:
    (first,) = world.states.record([proposed("a"), proposed("b")])[:1]
    newer = msgspec.structs.replace(first, seq=4, state="verified", at=9)
    assert world.states.restore([newer, proposed("b"), proposed("c")]) == 2
    assert world.states.plan("a") == newer
    assert world.states.plan("b").at is not None
    assert world.states.restore([first]) == 0


def test_an_executor_that_was_started_again_gets_its_lease(world: World) -> None:
    before = world.states.acquire("t1", "one", "p1")
    after = world.opened().acquire("t1", "one", "p2")
    assert (after.epoch, after.taken_over) == (before.epoch + 1, True)
    with pytest.raises(LeaseLost):
        world.states.renew(before)
    assert world.opened().acquire("t1", "two", "p2") is None


def test_one_executor_holds_a_table_and_fences_those_before_it(world: World) -> None:
    lease = world.states.acquire("t1", "one", "p1")
    assert (lease.epoch, lease.taken_over, lease.plan_id) == (1, False, "p1")
    assert world.opened().acquire("t1", "two", "p2") is None
    assert world.opened().acquire("t2", "two", "p2").epoch == 1
    assert [held.table_uuid for held in world.states.holders()] == ["t1", "t2"]
    renewed = world.states.renew(lease)
    assert renewed.until >= lease.until
    assert world.opened().holders()[0] == renewed
    world.states.release(renewed)
    world.states.release(renewed)
    with pytest.raises(LeaseLost, match="epoch 1"):
        world.states.renew(renewed)
    after = world.opened().acquire("t1", "two", "p2")
    assert (after.epoch, after.taken_over) == (2, False)
    world.states.release(lease)
    assert world.states.renew(after).epoch == 2
    with pytest.raises(LeaseLost):
        world.states.renew(msgspec.structs.replace(after, executor_id="of a lost database"))


def test_of_racing_executors_one_takes_the_lease(world: World) -> None:
    opened = [world.opened() for _ in range(4)]
    for epoch in (1, 2):
        results = together([lambda n=n: opened[n % 4].acquire("t1", f"e{n}", "p1") for n in range(12)])
        (lease,) = [result for result in results if isinstance(result, TableLease)]
        assert lease.epoch == epoch
        assert results.count(None) == 11
        world.states.release(lease)


def test_a_lease_that_ended_is_taken_over(world: World) -> None:
    lease = world.opened(SHORT_S).acquire("t1", "one", "p1")
    time.sleep(SHORT_S + 0.02)
    assert world.states.holders() == []
    with pytest.raises(LeaseLost):
        world.states.renew(lease)
    assert world.states.plan("p1") is None
    after = world.opened().acquire("t1", "two", "p1")
    assert (after.epoch, after.taken_over, after.executor_id) == (2, True, "two")


def test_a_holder_that_was_stopped_for_longer_than_its_lease_stops_working(shared: World) -> None:
    holder = shared.run("hold", "t1", SHORT_S)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held 1\n"
        time.sleep(1.5 * SHORT_S)
        assert shared.states.acquire("t1", "two", "p1") is None
        holder.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + 20
        while (lease := shared.states.acquire("t1", "two", "p1")) is None:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert (lease.epoch, lease.taken_over) == (2, True)
        holder.send_signal(signal.SIGCONT)
        out, err = holder.communicate(timeout=20)
        assert out.startswith("lost the lease of table t1 (epoch 1)"), err
        time.sleep(SHORT_S / 4)
        assert [held.executor_id for held in shared.states.holders()] == ["two"]
    finally:
        holder.kill()
        holder.wait()


def test_a_process_that_stands_within_a_transaction_does_not_block_the_others(database: str) -> None:
    """As if it had been stopped between a statement and its commit, with the lock of the lease."""
    lease = World(database).opened(SHORT_S).acquire("t1", "one", "p1")
    is_inside, ended = threading.Event(), threading.Event()

    def stand(connection: sa.Connection) -> None:
        connection.execute(sa.text("update maintenance_lease set held = held"))
        is_inside.set()
        ended.wait(60)

    def work() -> None:
        with contextlib.suppress(SourceUnavailable):
            InboxDatabase(database, abandoned_s=1.0).write("stand", stand)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert is_inside.wait(10)
        time.sleep(SHORT_S)
        after = World(database).opened().acquire("t1", "two", "p1")
        assert (after.epoch, after.executor_id) == (lease.epoch + 1, "two")
    finally:
        ended.set()
        thread.join()


def test_racing_spenders_never_exceed_the_budget_of_a_day(world: World) -> None:
    limits = BudgetLimits(bytes=100, cost=1.0)
    opened = [world.opened() for _ in range(4)]
    spend = [lambda n=n: opened[n % 4].spend(BudgetSpent(day=5, bytes=9, cost=0.01), limits) for n in range(24)]
    results = together(list(spend))
    assert results.count(True) == 11
    assert world.states.spent(5).bytes == 99
    assert world.states.spend(BudgetSpent(day=6, bytes=1, cost=1.5), limits) is False
    assert world.states.spend(BudgetSpent(day=6, bytes=2**50, cost=0.25), BudgetLimits()) is True
    assert world.opened().spent(6) == BudgetSpent(day=6, bytes=2**50, cost=0.25)
    assert world.states.spent(7) == BudgetSpent(day=7)


def test_a_breaker_stays_as_it_was_opened_until_it_is_closed(world: World) -> None:
    first = MaintenanceBreaker(
        key="table:t1\x00:conflicts",
        scope="table",
        subject="t1",
        code="conflicts",
        opened_by="p1",
        opened_at=7,
        text="Three conflicts in a row.",
        half_open_at=9,
    )
    fleet = msgspec.structs.replace(first, key="fleet::verification", scope="fleet", subject="", opened_at=5)
    assert world.states.open_breaker(first) is True
    assert world.opened().open_breaker(msgspec.structs.replace(first, opened_by="p2")) is False
    assert world.states.open_breaker(fleet) is True
    assert world.opened().breakers() == [fleet, first]
    assert world.states.close_breaker(first.key) is True
    assert world.states.close_breaker(first.key) is False
    assert world.states.breakers() == [fleet]


def test_states_outlive_the_drain_and_the_purge_of_the_inbox(shared: World) -> None:
    (first,) = shared.states.record([proposed()])
    inbox = SqlInbox(shared.url or "")
    inbox.mark(inbox.waiting(["plan"], 10), at=1)
    assert inbox.purge(before=2) == 1
    assert shared.states.plan("p1") == first
    moved(shared.states, "p1", "dismissed")
    assert [(item.key, item.committed_at) for item in inbox.items("plan")] == [(item_key("p1", 2), None)]


def test_processes_that_open_a_new_database_at_the_same_time_create_it_once(shared: World) -> None:
    import sqlalchemy as sa

    engines = [sa.create_engine(shared.url or "") for _ in range(6)]
    if "sqlite" in (shared.url or ""):
        Path((shared.url or "").removeprefix("sqlite:///")).parent.mkdir()
    assert together([lambda engine=engine: prepare(engine) for engine in engines]) == [None] * 6
    assert sorted(sa.inspect(engines[0]).get_table_names()) == sorted(TABLES)
    for engine in engines:
        engine.dispose()
