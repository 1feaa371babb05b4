"""Plans by HTTP: what a decision needs, who may decide, and that a decision applies to exactly what was seen."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from limnograph.api.front.gate import Authenticator
from limnograph.domain.access import actor_of
from limnograph.domain.errors import Forbidden, SourceUnavailable
from limnograph.domain.facts.plans import PlanFact
from planned_lake import ARGUMENTS, BREAKER, DECISIONS, DIGEST, PLAN, PlannedLake, body_of, path_of, seen
from serving_kit import UUID, client

QUEUE = "/api/v1/maintenance"
SCOPES = ("read", "webhook", "annotate", "maintain", "maintain:propose", "maintain:approve")
NEEDED = {"propose": "maintain:propose", "withdraw": "maintain:propose"}
BEFORE = {"propose": ["dismissed"], "cancel": ["approved"]}
AFTER = {
    "propose": "proposed",
    "approve": "approved",
    "dismiss": "dismissed",
    "withdraw": "withdrawn",
    "cancel": "cancelled",
}
ENDED = ("approved", "leased", "checking", "running", "committed", "verified")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> PlannedLake:
    return PlannedLake(tmp_path_factory.mktemp("plans"))


@pytest.fixture
def world(tmp_path: Path) -> PlannedLake:
    return PlannedLake(tmp_path)


def prepared(world: PlannedLake, name: str) -> PlanFact:
    """A plan of ann in a state in which the decision is possible, and the breaker."""
    world.states.open_breaker(BREAKER)
    return world.add(*BEFORE.get(name, []), actor="ann", proposed_by="ann")


def last(world: PlannedLake, plan: PlanFact) -> PlanFact:
    found = world.states.plan(plan.plan_id)
    assert found is not None
    return found


@pytest.mark.parametrize("name", DECISIONS)
def test_each_scope_alone_permits_its_own_decisions_and_no_others(name: str, shared: PlannedLake) -> None:
    plan, needed = prepared(shared, name), NEEDED.get(name, "maintain:approve")
    path, body = path_of(name, plan.plan_id), body_of(name, plan)
    assert shared.ask("POST", path, json=body).status_code == 401
    others = [scope for scope in SCOPES if scope not in {"maintain", needed}]
    for scopes in (*((scope,) for scope in others), others):
        headers = shared.token(*scopes, name="-".join(scopes).replace(":", "."))
        answer = shared.ask("POST", path, json=body, headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (403, "forbidden"), scopes
    assert last(shared, plan) == plan
    for scope in (needed, "maintain"):
        plan = prepared(shared, name)
        answer = shared.ask("POST", path_of(name, plan.plan_id), json=body_of(name, plan), headers=shared.token(scope))
        assert answer.status_code == 200, answer.text
        if name in AFTER:
            assert (answer.json()["state"], answer.json()["actor"]) == (AFTER[name], "ann")
        else:
            assert shared.states.breakers() == []


def test_without_authentication_no_one_decides_and_the_response_says_how(shared: PlannedLake) -> None:
    for name in DECISIONS:
        plan = prepared(shared, name)
        path = path_of(name, plan.plan_id)
        answer = shared.ask("POST", path, gate=Authenticator(), json=body_of(name, plan))
        assert answer.status_code == 403
        assert "[auth]" in answer.json()["detail"]
        assert "`limnograph plan approve`" in answer.json()["detail"]
        assert last(shared, plan) == plan
    assert shared.states.breakers() == [BREAKER]
    assert shared.ask("GET", f"{QUEUE}/{plan.plan_id}", gate=Authenticator()).json()["can"] == []


@pytest.mark.parametrize("name", DECISIONS)
def test_a_session_decides_from_this_servers_pages_only(name: str, shared: PlannedLake) -> None:
    token = shared.token("maintain")["authorization"].removeprefix("Bearer ")
    session = shared.ask("POST", "/api/v1/session", json={"token": token})
    cookie = {"cookie": session.headers["set-cookie"].split(";")[0]}
    plan = prepared(shared, name)
    path, body = path_of(name, plan.plan_id), body_of(name, plan)
    for foreign in (
        {},
        {"origin": "https://evil.example"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        assert shared.ask("POST", path, json=body, headers={**cookie, **foreign}).status_code == 403
    assert last(shared, plan) == plan
    assert shared.ask("POST", path, json=body, headers={**cookie, "origin": "http://limnograph"}).status_code == 200


def test_only_declared_json_is_accepted(shared: PlannedLake) -> None:
    path = path_of("approve", shared.add().plan_id)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        headers = {**shared.token("maintain"), **({"content-type": kind} if kind else {})}
        answer = shared.ask("POST", path, content=json.dumps(seen()), headers=headers)
        assert (answer.status_code, answer.json()["field"]) == (400, "content-type")


def test_the_actor_is_the_caller_and_no_field_of_the_body_names_another(shared: PlannedLake) -> None:
    path, headers = path_of("approve", shared.add().plan_id), shared.token("maintain", name="ann@example.org")
    for field in ("actor", "approved_by", "proposed_by", "author"):
        assert shared.ask("POST", path, json=seen(**{field: "bob"}), headers=headers).status_code == 400
    approved = shared.ask("POST", path, json=seen(reason="fine"), headers=headers).json()
    assert (approved["approved_by"], approved["reason"]) == ("ann@example.org", "fine")


def test_a_caller_with_the_name_of_a_program_may_read_but_not_decide(shared: PlannedLake) -> None:
    plan, headers = shared.add(), shared.token("read", "maintain", name="Limnograph")
    answer = shared.ask("POST", path_of("approve", plan.plan_id), json=seen(), headers=headers)
    assert (answer.status_code, "name of programs" in answer.json()["detail"]) == (403, True)
    assert shared.ask("GET", f"{QUEUE}/{plan.plan_id}", headers=headers).json()["can"] == []
    assert actor_of("ann") == "ann"
    for name in ("policy:nightly", " Policy:x", "LIMNOGRAPH "):
        with pytest.raises(Forbidden):
            actor_of(name)


def test_an_approval_cannot_be_replayed_and_applies_to_what_was_seen(shared: PlannedLake) -> None:
    plan, headers = shared.add(), shared.token("maintain")

    def decide(name: str, body: dict[str, Any]) -> Any:
        return shared.ask("POST", path_of(name, plan.plan_id), json=body, headers=headers)

    assert decide("approve", seen()).status_code == 200
    assert decide("cancel", seen(2)).status_code == 200
    assert decide("propose", {"plan_id": plan.plan_id}).status_code == 200
    replayed = decide("approve", seen())
    assert (replayed.status_code, replayed.headers["content-type"]) == (409, "application/problem+json")
    problem = replayed.json()
    assert (problem["type"], problem["plan"]["seq"], problem["plan"]["state"]) == ("conflict", 4, "proposed")
    for name in ("approve", "dismiss"):
        answer = decide(name, {**seen(4), "arguments_sha256": "b" * 64})
        assert (answer.status_code, answer.json()["plan"]["arguments_sha256"]) == (409, DIGEST)
    assert decide("approve", seen(4)).status_code == 200


def test_of_ten_simultaneous_approvals_one_wins_and_is_published_once(shared: PlannedLake) -> None:
    path, watch = path_of("approve", shared.add().plan_id), shared.server.plans
    names = [f"user{number}" for number in range(10)]
    callers = [shared.token("maintain:approve", name=name) for name in names]
    assert watch is not None
    watch.catch_up()
    before = shared.server.live.published

    async def asked() -> list[Any]:
        async with client(shared.server, gate=shared.gate.gate) as http:
            return await asyncio.gather(*(http.post(path, json=seen(), headers=each) for each in callers))

    answers = asyncio.run(asked())
    (winner,) = [answer.json()["actor"] for answer in answers if answer.is_success]
    lost = [answer.json()["plan"] for answer in answers if answer.status_code == 409]
    assert len(lost) == 9
    assert {(plan["seq"], plan["approved_by"]) for plan in lost} == {(2, winner)}
    assert shared.server.live.published == before + 1


def test_only_the_proposer_withdraws(shared: PlannedLake) -> None:
    path = path_of("withdraw", shared.add(proposed_by="bob").plan_id)
    answer = shared.ask("POST", path, json=seen(), headers=shared.token("maintain"))
    assert (answer.status_code, "bob" in answer.json()["detail"]) == (403, True)
    assert shared.ask("POST", path, json=seen(), headers=shared.token("maintain", name="bob")).is_success


def test_a_wrong_request_names_what_is_wrong(world: PlannedLake) -> None:
    plan, headers = world.add(), world.token("read", "maintain")
    for name, body, status, field in [
        ("approve", {}, 400, "arguments_sha256"),
        ("approve", {"arguments_sha256": DIGEST}, 400, "seq"),
        ("approve", seen(0), 400, "seq"),
        ("approve", {**seen(), "seq": "1"}, 400, "seq"),
        ("approve", {**seen(), "arguments_sha256": DIGEST.upper()}, 400, "arguments_sha256"),
        ("approve", seen(reason="x" * 1_001), 400, "reason"),
        ("approve", seen(reason="\x1b[2J"), 400, "reason"),
        ("approve", seen(yes=True), 400, "yes"),
        ("propose", {"plan_id": "x"}, 400, "plan_id"),
        ("propose", {"plan_id": "0" * 32}, 404, None),
        ("propose", {"plan_id": plan.plan_id}, 409, None),
        ("cancel", seen(), 409, None),
        ("close", {"key": ""}, 400, "key"),
        ("close", {"key": "fleet::none"}, 404, None),
    ]:
        answer = world.ask("POST", path_of(name), json=body, headers=headers)
        assert (answer.status_code, answer.json().get("field")) == (status, field), (name, body)
    for path in (f"{QUEUE}/{'0' * 32}", f"{QUEUE}/x", f"{QUEUE}/%C3%A9"):
        assert world.ask("GET", path, headers=headers).status_code == 404
    assert world.ask("POST", path_of("approve", "0" * 32), json=seen(), headers=headers).status_code == 404
    assert last(world, plan) == plan
    world.states.failure = SourceUnavailable("inbox", "cannot read: disk I/O error")
    assert world.ask("GET", f"{QUEUE}/{plan.plan_id}", headers=headers).status_code == 503
    assert world.ask("POST", path_of("approve"), json=seen(), headers=headers).status_code == 503


def test_a_plan_has_promise_result_history_and_what_the_caller_may_decide(shared: PlannedLake) -> None:
    result = {"result_files_in": 40, "result_files_out": 1, "result_seconds": 3.5, "snapshot_ids": [2**62 + 1]}
    made = shared.add(*ENDED, policy="nightly", **result)
    path = f"{QUEUE}/{made.plan_id}"
    plan = shared.ask("GET", path, headers=shared.token("read", "maintain:propose", name="reader")).json()
    assert [each["state"] for each in plan["history"]] == ["proposed", *ENDED]
    assert [each["seq"] for each in plan["history"]] == list(range(1, 8))
    assert (plan["state"], plan["seq"], plan["policy"], plan["arguments"]) == ("verified", 7, "nightly", ARGUMENTS)
    assert plan["predicted"]["seconds"] == {"low": 1.0, "mid": 2.0, "high": 4.0}
    assert (plan["result"]["files_out"], plan["result"]["seconds"]) == (1, 3.5)
    assert plan["result"]["snapshot_ids"] == [str(2**62 + 1)]
    assert (plan["can"], plan["recommendation"], plan["notes"]) == (["propose"], None, [])
    assert [guard["code"] for guard in plan["guards"]] == ["quiet"]


@pytest.mark.parametrize(
    ("path", "scopes", "can"),
    [
        ([], "maintain", ["approve", "dismiss", "withdraw"]),
        ([], "maintain:approve", ["approve", "dismiss"]),
        ([], "maintain:propose", ["withdraw"]),
        ([], "annotate", []),
        (["approved"], "maintain", ["withdraw", "cancel"]),
        (["approved", "leased", "checking"], "maintain", ["cancel"]),
        (["approved", "leased", "checking", "running", "committed"], "maintain", []),
        (["dismissed"], "maintain:approve", []),
        (["dismissed"], "maintain:propose", ["propose"]),
    ],
)
def test_what_a_caller_may_decide_is_what_is_accepted(
    path: list[str], scopes: str, can: list[str], shared: PlannedLake
) -> None:
    headers = shared.token("read", scopes)
    plan = shared.add(*path, proposed_by="ann")
    assert shared.ask("GET", f"{QUEUE}/{plan.plan_id}", headers=headers).json()["can"] == can
    for name in AFTER:
        plan = shared.add(*path, proposed_by="ann")
        answer = shared.ask("POST", path_of(name, plan.plan_id), json=body_of(name, plan), headers=headers)
        assert answer.is_success is (name in can), name


def test_breakers_name_their_table_and_how_they_close(shared: PlannedLake) -> None:
    shared.states.open_breaker(BREAKER)
    page = shared.ask("GET", f"{QUEUE}/breakers", headers=shared.token("read", name="viewer")).json()
    (found,) = page["breakers"]
    assert (found["table"], found["subject"], found["half_open_at"]) == ("lake.sales.orders", UUID, None)
    assert page["can_close"] is False


def test_the_audit_log_has_one_line_with_who_plan_and_hash(world: PlannedLake) -> None:
    path, headers = path_of("approve", world.add().plan_id), world.token("maintain")
    world.ask("POST", path, json=seen(reason="hunter2"), headers=headers)
    world.ask("POST", path, json=seen(), headers=headers)
    world.ask("POST", path, json=seen(), headers=world.token("read", name="eve"))
    done, repeated, refused = world.gate.audit.events
    assert (done.who, done.what, done.outcome) == ("ann", "plan approve", "200")
    assert done.detail == f"plan={PLAN.plan_id} arguments_sha256={DIGEST} seq=1"
    assert (repeated.what, repeated.outcome) == ("plan approve", "409")
    assert (refused.who, refused.outcome, refused.path) == ("eve", "403", path)
    assert "hunter2" not in repr(world.gate.audit.events)


def test_every_transition_is_on_the_live_stream_once(world: PlannedLake) -> None:
    path = path_of("approve", world.add().plan_id)
    watch, live, headers = world.server.plans, world.server.live, world.token("maintain")
    assert watch is not None
    assert watch.catch_up() == []

    async def asked() -> list[Any]:
        reader = live.open("me", None)
        async with client(world.server, gate=world.gate.gate) as http:
            await http.post(path, json=seen(), headers=headers)
        return await reader.next(1) or []

    (event,) = asyncio.run(asked())
    assert watch.catch_up() == []
    assert event.kind == "plan"
    assert json.loads(event.data) == {
        "plan_id": PLAN.plan_id,
        "seq": 2,
        "state": "approved",
        "action": "rewrite_data_files",
        "rule": "compact",
        "problem": None,
        "catalog": "lake",
        "table_namespace": "sales",
        "table": "orders",
    }


def test_the_queue_has_recorded_plans_that_are_not_recommended_by_state(world: PlannedLake) -> None:
    world.add("approved", actor="bob")
    dismissed = world.add("dismissed").plan_id
    watch, headers = world.server.plans, world.token("read")
    assert watch is not None
    watch.catch_up()

    def rows(query: str) -> list[tuple[str, str]]:
        page = world.ask("GET", f"{QUEUE}{query}", headers=headers).json()
        return [(row["recommendation"]["plan_id"], row["state"]) for row in page["rows"]]

    assert rows("") == rows("?state=approved") == rows("?q=orders&rule=compact") == [(PLAN.plan_id, "approved")]
    assert rows("?state=dismissed") == [(dismissed, "dismissed")]
    assert len(rows("?state=approved,dismissed")) == 2
    assert rows("?state=running") == rows("?q=other") == rows("?rule=expire") == []
    (row,) = world.ask("GET", f"{QUEUE}?state=approved", headers=headers).json()["rows"]
    assert (row["seq"], row["arguments_sha256"], row["actor"]) == (2, DIGEST, "bob")
    assert row["recommendation"]["scope"]["partitions"] == ["day=2026-11-20"]
    assert row["recommendation"]["statements"]["spark"] == PLAN.statement
    wrong = world.ask("GET", f"{QUEUE}?state=done", headers=headers)
    assert (wrong.status_code, wrong.json()["field"]) == (400, "state")
    newer = world.add("dismissed").plan_id
    found, cursor = list[str](), ""
    for _ in range(2):
        page = world.ask("GET", f"{QUEUE}?state=failed,dismissed&limit=1{cursor}", headers=headers).json()
        found += [row["recommendation"]["plan_id"] for row in page["rows"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert page["next_cursor"] is None
    assert found == [newer, dismissed]
