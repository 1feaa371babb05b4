"""Decisions of users: each binds to what they saw, and follows the states of a plan."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.domain.errors import Forbidden, InvalidInput, NotFound, PlanMoved, SourceUnavailable
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.maintenance.moves import following
from limnograph.services.plans.desk import PlanDesk

PROPOSED = PlanFact(
    plan_id="p1",
    seq=1,
    at=5,
    state="proposed",
    attempt=1,
    table_uuid="t1",
    action="rewrite_data_files",
    rule="compact",
    arguments="{}",
    arguments_sha256="a" * 64,
    actor="limnograph",
    proposed_by="limnograph",
)
HASH = "a" * 64


def desk(*recorded: PlanFact, states: MemoryPlanStates | None = None) -> tuple[PlanDesk, MemoryPlanStates]:
    states = states or MemoryPlanStates()
    return PlanDesk(states, lambda: recorded), states


def in_state(states: MemoryPlanStates, *path: str) -> PlanFact:
    """The plan after transitions of an executor."""
    fact = states.plan("p1")
    for state in path:
        assert fact is not None
        (fact,) = states.record([following(fact, state, "limnograph")])  # type: ignore[arg-type]
    assert fact is not None
    return fact


def test_an_approval_records_who_approved_exactly_which_arguments() -> None:
    desk_, states = desk(PROPOSED)
    approved = desk_.approve("p1", HASH, 1, "ann", " fine \n")
    assert (approved.seq, approved.state, approved.actor, approved.approved_by, approved.reason) == (
        *(2, "approved", "ann", "ann"),
        "fine",
    )
    assert states.plan("p1") == approved
    assert desk_.plans(["approved"]) == [approved]


def test_a_decision_about_another_transition_or_other_arguments_is_a_conflict_with_the_present_plan() -> None:
    desk_, _ = desk(PROPOSED)
    with pytest.raises(PlanMoved, match="other arguments") as other:
        desk_.approve("p1", "b" * 64, 1, "ann")
    assert other.value.plan is not None
    assert other.value.plan.seq == 1
    desk_.dismiss("p1", 1, "bob", "not now")
    with pytest.raises(PlanMoved, match=r"dismissed.*no longer as seen") as late:
        desk_.approve("p1", HASH, 1, "ann")
    assert late.value.plan is not None
    assert (late.value.plan.state, late.value.plan.actor, late.value.plan.reason) == ("dismissed", "bob", "not now")


def test_users_approve_only_proposed_plans_although_an_executor_may_give_a_lease_back() -> None:
    desk_, states = desk(PROPOSED)
    desk_.approve("p1", HASH, 1, "ann")
    leased = in_state(states, "leased")
    with pytest.raises(PlanMoved, match="leased; only a proposed plan can be approved"):
        desk_.approve("p1", HASH, leased.seq, "bob")
    assert in_state(states, "approved").approved_by == "ann"


def test_a_cancelled_plan_ends_at_once_or_when_its_executor_stops() -> None:
    desk_, states = desk(PROPOSED)
    with pytest.raises(PlanMoved, match="dismiss it instead"):
        desk_.cancel("p1", 1, "ann")
    assert desk_.cancel("p1", desk_.approve("p1", HASH, 1, "ann").seq, "bob").state == "cancelled"
    again = desk_.propose("p1", "ann")
    assert (again.state, again.attempt, again.proposed_by, again.approved_by) == ("proposed", 2, "ann", None)
    desk_.approve("p1", HASH, again.seq, "bob")
    running = in_state(states, "leased", "checking", "running")
    assert desk_.cancel("p1", running.seq, "ann").state == "cancelling"
    with pytest.raises(PlanMoved, match="nothing to cancel"):
        desk_.cancel("p1", running.seq + 1, "ann")


def test_only_the_proposer_withdraws_a_plan_even_after_its_approval() -> None:
    desk_, _ = desk(PROPOSED)
    with pytest.raises(Forbidden, match="proposed by limnograph"):
        desk_.withdraw("p1", 1, "ann")
    desk_.dismiss("p1", 1, "ann")
    proposed = desk_.propose("p1", "ann", "after the release")
    approved = desk_.approve("p1", HASH, proposed.seq, "bob")
    with pytest.raises(Forbidden, match="ann, who alone"):
        desk_.withdraw("p1", approved.seq, "bob")
    assert desk_.withdraw("p1", approved.seq, "ann").state == "withdrawn"


def test_a_reason_is_short_plain_text() -> None:
    desk_, _ = desk(PROPOSED)
    with pytest.raises(InvalidInput, match=r"reason: has 1,001 characters"):
        desk_.dismiss("p1", 1, "ann", "x" * 1_001)
    with pytest.raises(InvalidInput, match="control character"):
        desk_.dismiss("p1", 1, "ann", "a\x1b[31m")
    assert desk_.dismiss("p1", 1, "ann", "  ").reason is None


def test_unknown_plans_and_breakers_are_not_found() -> None:
    desk_, states = desk()
    with pytest.raises(NotFound, match="'nope' is unknown"):
        desk_.plan("nope")
    states.open_breaker(
        MaintenanceBreaker(
            key="fleet::verification",
            scope="fleet",
            subject="",
            code="verification",
            opened_by="p1",
            opened_at=7,
            text="A file was missing.",
        )
    )
    assert [breaker.code for breaker in desk_.breakers()] == ["verification"]
    desk_.close_breaker("fleet::verification", "ann")
    with pytest.raises(NotFound, match="no breaker"):
        desk_.close_breaker("fleet::verification", "ann")


def test_a_lost_database_is_rebuilt_and_what_was_running_is_unknown() -> None:
    running = following(following(PROPOSED, "approved", "ann"), "running", "limnograph")
    other = PlanFact(plan_id="p2", seq=9, state="verified", table_uuid="t2", at=4)
    desk_, states = desk(running, other)
    assert {plan.plan_id: (plan.state, plan.seq) for plan in desk_.plans()} == {
        "p1": ("unknown", running.seq + 1),
        "p2": ("verified", 9),
    }
    assert len(states.inbox.items("plan")) == 1


def test_an_older_backup_moves_forward_to_what_the_meta_table_has() -> None:
    desk_, states = desk()
    states.restore([PROPOSED])
    verified = PlanFact(plan_id="p1", seq=7, state="verified", table_uuid="t1", at=9)
    assert PlanDesk(states, lambda: [verified]).plan("p1") == verified
    assert PlanDesk(states, lambda: [PROPOSED]).plan("p1") == verified
    assert desk_.plan("p1") == verified


def test_plans_of_the_database_are_decided_on_while_the_meta_table_cannot_be_read() -> None:
    def unreadable() -> list[PlanFact]:
        raise SourceUnavailable("meta", "refused")

    states = MemoryPlanStates()
    states.restore([PROPOSED])
    assert PlanDesk(states, unreadable).approve("p1", HASH, 1, "ann").state == "approved"


def test_while_recorded_plans_are_read_others_are_answered_from_the_database() -> None:
    """The meta table may take long to answer."""
    reading, answered = threading.Event(), threading.Event()
    states = MemoryPlanStates()
    states.restore([PROPOSED])

    def recorded() -> list[PlanFact]:
        reading.set()
        assert answered.wait(30)
        return []

    slow = PlanDesk(states, recorded)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(slow.plans)
        assert reading.wait(30)
        assert slow.plan("p1") == PROPOSED
        with pytest.raises(SourceUnavailable, match="nothing is proposed until then"):
            slow.record([following(PROPOSED, "withdrawn", "limnograph")])
        answered.set()
        assert first.result(30) == [PROPOSED]


def test_a_failed_verification_stops_its_action_again_after_the_database_was_lost() -> None:
    _, states = desk()
    told = {"table_uuid": "t1", "catalog": "lake", "namespace": "sales", "table": "orders"}
    now, reason = states.now(), "verification failed: Files of the table do not exist: a."
    failed = PlanFact(plan_id="p7", seq=8, state="failed", at=now, action="expire_snapshots", reason=reason, **told)
    engine = PlanFact(
        plan_id="p8", seq=8, state="failed", at=now, action="rewrite_manifests", reason="no memory", **told
    )
    assert len(PlanDesk(states, lambda: [failed, engine]).plans()) == 2
    (breaker,) = states.breakers()
    assert (breaker.key, breaker.opened_by) == ("action:expire_snapshots:verification", "p7")
    assert "Files of the table do not exist: a." in breaker.text
