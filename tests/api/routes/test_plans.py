"""Plans by HTTP: what a decision needs, who may decide, and that a decision applies to exactly what was seen."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from limnograph.api.front.gate import Authenticator
from planned_lake import ARGUMENTS, BREAKER, DETAIL, DIGEST, PATHS, PLAN, PlannedLake, body_of, seen
from serving_kit import UUID, client

QUEUE = "/api/v1/maintenance"
NEEDED = {"propose": "propose", "withdraw": "propose"}
BEFORE = {"propose": ["dismissed"], "cancel": ["approved"]}
AFTER = {
    "propose": "proposed",
    "approve": "approved",
    "dismiss": "dismissed",
    "withdraw": "withdrawn",
    "cancel": "cancelled",
}


@pytest.fixture
def world(tmp_path: Path) -> PlannedLake:
    return PlannedLake(tmp_path)


def prepared(world: PlannedLake, name: str) -> int:
    """The plan in a state in which the decision is possible, and the breaker; its number."""
    world.states.open_breaker(BREAKER)
    plan = replace(PLAN, proposed_by="ann", actor="ann")
    return world.add(*BEFORE.get(name, []), plan=plan, actor="ann").seq


@pytest.mark.parametrize("name", PATHS)
def test_each_scope_alone_permits_its_own_decisions_and_no_others(name: str, world: PlannedLake) -> None:
    body = body_of(name, prepared(world, name))
    allowed = {"maintain", f"maintain:{NEEDED.get(name, 'approve')}"}
    every = ("read", "webhook", "annotate", "maintain", "maintain:propose", "maintain:approve")
    assert world.ask("POST", PATHS[name], json=body).status_code == 401
    for scope in every:
        if scope not in allowed:
            answer = world.ask("POST", PATHS[name], json=body, headers=world.token(scope, name=scope.replace(":", "-")))
            assert (answer.status_code, answer.json()["type"]) == (403, "forbidden"), scope
    both = world.token("read", "webhook", "annotate", *(set(every[4:]) - allowed), name="bob")
    assert world.ask("POST", PATHS[name], json=body, headers=both).status_code == 403
    narrow = max(allowed, key=len)
    answer = world.ask("POST", PATHS[name], json=body, headers=world.token(narrow))
    assert answer.status_code == 200, answer.text
    if name in AFTER:
        assert (answer.json()["state"], answer.json()["actor"]) == (AFTER[name], "ann")
    else:
        assert world.states.breakers() == []


@pytest.mark.parametrize("name", PATHS)
def test_the_scope_maintain_means_both(name: str, world: PlannedLake) -> None:
    body = body_of(name, prepared(world, name))
    assert world.ask("POST", PATHS[name], json=body, headers=world.token("maintain")).status_code == 200


@pytest.mark.parametrize("name", PATHS)
def test_without_authentication_no_one_decides_and_the_response_says_how(name: str, world: PlannedLake) -> None:
    before = prepared(world, name)
    answer = world.ask("POST", PATHS[name], gate=Authenticator(), json=body_of(name, before))
    assert answer.status_code == 403
    assert "[auth]" in answer.json()["detail"]
    assert "`limnograph plan approve`" in answer.json()["detail"]
    plan = world.states.plan(PLAN.plan_id)
    assert plan is not None
    assert plan.seq == before
    assert world.states.breakers() == [BREAKER]
    assert world.ask("GET", DETAIL, gate=Authenticator()).json()["can"] == []


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "http://limnograph"}, 200),
        ({"sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_a_session_decides_from_this_servers_pages_only(
    name: str, headers: dict[str, str], status: int, world: PlannedLake
) -> None:
    body, token = body_of(name, prepared(world, name)), world.token("maintain")["authorization"].removeprefix("Bearer ")
    session = world.ask("POST", "/api/v1/session", json={"token": token})
    cookie = session.headers["set-cookie"].split(";")[0]
    answer = world.ask("POST", PATHS[name], json=body, headers={"cookie": cookie, **headers})
    assert answer.status_code == status


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_only_declared_json_is_accepted(kind: str, world: PlannedLake) -> None:
    world.add()
    headers = {**world.token("maintain"), **({"content-type": kind} if kind else {})}
    answer = world.ask("POST", PATHS["approve"], content=json.dumps(seen()), headers=headers)
    assert (answer.status_code, answer.json()["field"]) == (400, "content-type")


def test_the_actor_is_the_caller_and_no_field_of_the_body_names_another(world: PlannedLake) -> None:
    world.add()
    headers = world.token("maintain", name="ann@example.org")
    for field in ("actor", "approved_by", "proposed_by", "author"):
        answer = world.ask("POST", PATHS["approve"], json=seen(**{field: "bob"}), headers=headers)
        assert answer.status_code == 400
    assert world.ask("POST", PATHS["approve"], json=seen(reason="fine"), headers=headers).json()["approved_by"] == (
        "ann@example.org"
    )


@pytest.mark.parametrize("name", ["limnograph", "Limnograph"])
def test_a_caller_with_the_name_of_a_program_may_read_but_not_decide(name: str, world: PlannedLake) -> None:
    world.add()
    headers = world.token("read", "maintain", name=name)
    answer = world.ask("POST", PATHS["approve"], json=seen(), headers=headers)
    assert (answer.status_code, "name of programs" in answer.json()["detail"]) == (403, True)
    assert world.ask("GET", DETAIL, headers=headers).json()["can"] == []


def test_a_name_of_a_policy_is_reserved() -> None:
    from limnograph.domain.access import actor_of
    from limnograph.domain.errors import Forbidden

    assert actor_of("ann") == "ann"
    for name in ("policy:nightly", " Policy:x", "LIMNOGRAPH "):
        with pytest.raises(Forbidden):
            actor_of(name)


def test_an_approval_cannot_be_replayed_and_applies_to_what_was_seen(world: PlannedLake) -> None:
    world.add()
    headers = world.token("maintain")
    assert world.ask("POST", PATHS["approve"], json=seen(), headers=headers).status_code == 200
    world.ask("POST", PATHS["cancel"], json=seen(2), headers=headers)
    world.ask("POST", PATHS["propose"], json={"plan_id": PLAN.plan_id}, headers=headers)
    replayed = world.ask("POST", PATHS["approve"], json=seen(), headers=headers)
    assert replayed.status_code == 409
    assert replayed.headers["content-type"] == "application/problem+json"
    problem = replayed.json()
    assert (problem["type"], problem["plan"]["seq"], problem["plan"]["state"]) == ("conflict", 4, "proposed")
    for name in ("approve", "dismiss"):
        other = {**seen(4), "arguments_sha256": "b" * 64}
        answer = world.ask("POST", PATHS[name], json=other, headers=headers)
        assert (answer.status_code, answer.json()["plan"]["arguments_sha256"]) == (409, DIGEST)
    assert world.ask("POST", PATHS["approve"], json=seen(4), headers=headers).status_code == 200


def test_only_the_proposer_withdraws(world: PlannedLake) -> None:
    world.add(plan=replace(PLAN, proposed_by="bob"))
    answer = world.ask("POST", PATHS["withdraw"], json=seen(), headers=world.token("maintain"))
    assert (answer.status_code, "bob" in answer.json()["detail"]) == (403, True)
    assert world.ask("POST", PATHS["withdraw"], json=seen(), headers=world.token("maintain", name="bob")).is_success


@pytest.mark.parametrize(
    ("name", "body", "status", "field"),
    [
        ("approve", {}, 400, "arguments_sha256"),
        ("approve", {"arguments_sha256": DIGEST}, 400, "seq"),
        ("approve", seen(0), 400, "seq"),
        ("approve", {**seen(), "seq": "1"}, 400, "seq"),
        ("approve", {**seen(), "arguments_sha256": DIGEST.upper()}, 400, "arguments_sha256"),
        ("approve", seen(reason="x" * 1_001), 400, "reason"),
        ("approve", seen(reason="\x1b[2J"), 400, "reason"),
        ("approve", seen(yes=True), 400, None),
        ("propose", {"plan_id": "x"}, 400, "plan_id"),
        ("propose", {"plan_id": "0" * 32}, 404, None),
        ("propose", {"plan_id": PLAN.plan_id}, 409, None),
        ("cancel", seen(), 409, None),
        ("close", {"key": ""}, 400, "key"),
        ("close", {"key": "fleet::none"}, 404, None),
    ],
)
def test_a_wrong_request_names_what_is_wrong(
    name: str, body: dict[str, Any], status: int, field: str | None, world: PlannedLake
) -> None:
    world.add()
    answer = world.ask("POST", PATHS[name], json=body, headers=world.token("maintain"))
    assert (answer.status_code, answer.json()["field"]) == (status, field) if field else answer.status_code == status
    plan = world.states.plan(PLAN.plan_id)
    assert plan is not None
    assert plan.seq == 1


def test_an_unknown_plan_is_404_and_a_failed_database_is_503(world: PlannedLake) -> None:
    from limnograph.domain.errors import SourceUnavailable

    headers = world.token("read", "maintain")
    for path in (f"{QUEUE}/{'0' * 32}", f"{QUEUE}/x", f"{QUEUE}/%C3%A9"):
        assert world.ask("GET", path, headers=headers).status_code == 404
    assert world.ask("POST", PATHS["approve"], json=seen(), headers=headers).status_code == 404
    world.states.failure = SourceUnavailable("inbox", "cannot read: disk I/O error")
    assert world.ask("GET", DETAIL, headers=headers).status_code == 503
    assert world.ask("POST", PATHS["approve"], json=seen(), headers=headers).status_code == 503


def test_a_plan_has_promise_result_history_and_what_the_caller_may_decide(world: PlannedLake) -> None:
    result = {"result_files_in": 40, "result_files_out": 1, "result_seconds": 3.5, "snapshot_ids": [2**62 + 1]}
    world.add("approved", "leased", "checking", "running", "committed", "verified", policy="nightly", **result)
    plan = world.ask("GET", DETAIL, headers=world.token("read", "maintain:propose")).json()
    assert [each["state"] for each in plan["history"]] == [
        *("proposed", "approved", "leased", "checking", "running", "committed", "verified")
    ]
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
        ([], ("maintain",), ["approve", "dismiss", "withdraw"]),
        ([], ("maintain:approve",), ["approve", "dismiss"]),
        ([], ("maintain:propose",), ["withdraw"]),
        ([], ("read",), []),
        (["approved"], ("maintain",), ["withdraw", "cancel"]),
        (["approved", "leased", "checking"], ("maintain",), ["cancel"]),
        (["approved", "leased", "checking", "running", "committed"], ("maintain",), []),
        (["dismissed"], ("maintain:approve",), []),
        (["dismissed"], ("maintain:propose",), ["propose"]),
    ],
)
def test_what_a_caller_may_decide_is_what_is_accepted(
    path: list[str], scopes: tuple[str, ...], can: list[str], world: PlannedLake
) -> None:
    seq = world.add(*path, plan=replace(PLAN, proposed_by="ann")).seq
    headers = world.token("read", *scopes)
    assert world.ask("GET", DETAIL, headers=headers).json()["can"] == can
    for name in AFTER:
        answer = world.ask("POST", PATHS[name], json=body_of(name, seq), headers=headers)
        assert answer.is_success is (name in can), name
        if answer.is_success:
            break


def test_breakers_name_their_table_and_how_they_close(world: PlannedLake) -> None:
    world.states.open_breaker(BREAKER)
    page = world.ask("GET", f"{QUEUE}/breakers", headers=world.token("read")).json()
    (found,) = page["breakers"]
    assert (found["table"], found["subject"], found["half_open_at"]) == ("lake.sales.orders", UUID, None)
    assert page["can_close"] is False


def test_the_audit_log_has_one_line_with_who_plan_and_hash(world: PlannedLake) -> None:
    world.add()
    headers = world.token("maintain")
    world.ask("POST", PATHS["approve"], json=seen(reason="hunter2"), headers=headers)
    world.ask("POST", PATHS["approve"], json=seen(), headers=headers)
    world.ask("POST", PATHS["approve"], json=seen(), headers=world.token("read", name="eve"))
    done, repeated, refused = [each for each in world.gate.audit.events if each.method == "POST"]
    assert (done.who, done.what, done.outcome) == ("ann", "plan approve", "200")
    assert done.detail == f"plan={PLAN.plan_id} arguments_sha256={DIGEST} seq=1"
    assert (repeated.what, repeated.outcome) == ("plan approve", "409")
    assert (refused.who, refused.outcome, PLAN.plan_id in refused.path) == ("eve", "403", True)
    assert "hunter2" not in repr(world.gate.audit.events)


def test_every_transition_is_on_the_live_stream_once(world: PlannedLake) -> None:
    world.add()
    watch, live, headers = world.server.plans, world.server.live, world.token("maintain")
    assert watch is not None
    assert watch.catch_up() == []

    async def asked() -> list[Any]:
        reader = live.open("me", None)
        async with client(world.server, gate=world.gate.gate) as http:
            await http.post(PATHS["approve"], json=seen(), headers=headers)
        for fact in watch.catch_up():
            raise AssertionError(fact)
        return await reader.next(1) or []

    (event,) = asyncio.run(asked())
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
    world.add("dismissed", plan=replace(PLAN, plan_id="f" * 32))
    watch = world.server.plans
    assert watch is not None
    watch.catch_up()
    headers = world.token("read")

    def rows(query: str) -> list[tuple[str, str]]:
        page = world.ask("GET", f"{QUEUE}{query}", headers=headers).json()
        return [(row["recommendation"]["plan_id"], row["state"]) for row in page["rows"]]

    assert rows("") == rows("?state=approved") == rows("?q=orders&rule=compact") == [(PLAN.plan_id, "approved")]
    assert rows("?state=dismissed") == [("f" * 32, "dismissed")]
    assert len(rows("?state=approved,dismissed")) == 2
    assert rows("?state=running") == rows("?q=other") == rows("?rule=expire") == []
    (row,) = world.ask("GET", f"{QUEUE}?state=approved", headers=headers).json()["rows"]
    assert (row["seq"], row["arguments_sha256"], row["actor"]) == (2, DIGEST, "bob")
    assert row["recommendation"]["scope"]["partitions"] == ["day=2026-11-20"]
    assert row["recommendation"]["statements"]["spark"] == PLAN.statement
    wrong = world.ask("GET", f"{QUEUE}?state=done", headers=headers)
    assert (wrong.status_code, wrong.json()["field"]) == (400, "state")


def test_pages_of_the_queue_continue_with_their_states(world: PlannedLake) -> None:
    for number in range(5):
        world.add("dismissed", plan=replace(PLAN, plan_id=f"{number:032x}"))
    headers, found, cursor = world.token("read"), list[str](), ""
    for _ in range(3):
        page = world.ask("GET", f"{QUEUE}?state=failed,dismissed&limit=2{cursor}", headers=headers).json()
        found += [row["recommendation"]["plan_id"] for row in page["rows"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert page["next_cursor"] is None
    assert found == [f"{number:032x}" for number in reversed(range(5))]
