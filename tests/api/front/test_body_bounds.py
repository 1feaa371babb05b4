"""Every route that takes a body: what a body may hold is bounded before anything is made of it, beside the event loop,
and nothing that is sent is an error of ours. Routes come from the application, so a new one is tried as well.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
import zstandard

from access_kit import guarded
from advised_lake import LocalSource
from api_document import document
from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.api.front.body_structure import DEEPEST, MOST_ITEMS, MOST_VALUES, check
from limnograph.api.wire.problems import TooLarge
from limnograph.domain.advice.prices import Prices
from limnograph.domain.errors import InvalidInput
from limnograph.wiring.on_request.advice import with_advice
from limnograph.wiring.server import ServerServices
from planned_lake import DECISIONS, PLAN, body_of, path_of
from pushed_bodies import CLOUD, COMMIT, COMPLETE, ROW, knowing, s3
from serving_kit import NOW, client

CHANGING = {"POST", "DELETE", "PUT", "PATCH"}
PLACES = {"catalog": "lake", "namespace": "sales", "table": "orders", "prefix": "p", "plan_id": PLAN.plan_id}


def taking(*methods: str) -> list[tuple[str, str]]:
    """Method and a path of each route of the document with one of these methods."""
    return sorted(
        (method.upper(), path.format(**PLACES))
        for path, operations in document()["paths"].items()
        for method in operations
        if method.upper() in methods
    )


CHANGES = taking(*CHANGING)
POSTS = [path for method, path in CHANGES if method == "POST"]
RUN = {"run_id": "r", "job_name": "j", "status": "ok", "started_at": NOW // 1000}
TOUCHED = {"catalog": "lake", "table_namespace": "sales", "table": "orders", "role": "reads"}
LABEL = {"kind": "expected", "snapshot_id": "1", "from": 0, "to": 1}
FITTING: dict[str, Any] = {
    **{path_of(name): body_of(name, PLAN) for name in DECISIONS},
    "/api/v1/notes": {"key": "k", "scope": "table", "table": "lake.sales.orders", "text": "x"},
    "/api/v1/alertmanager": {"alerts": [{"labels": {"alertname": "x"}}]},
    "/api/v1/lineage": COMPLETE,
    "/api/v1/notify/cloudevents": CLOUD,
    "/api/v1/notify/debezium": ROW,
    "/api/v1/notify/iceberg-report": COMMIT,
    "/api/v1/notify/spark": {"run_id": "r", "job_name": "j", "reports": []},
    "/api/v1/notify/trino": {"metadata": {"queryId": "q"}},
    "/api/v1/notify/s3": {"Records": [s3("t/metadata/v1.metadata.json")]},
    "/api/v1/runs": {**RUN, "tables": [TOUCHED]},
    "/api/v1/session": {"token": "x"},
    "/api/v1/tables/lake/sales/orders/labels": LABEL,
    "/v1/namespaces/sales/tables/orders/metrics": COMMIT,
    "/v1/p/namespaces/sales/tables/orders/metrics": COMMIT,
}
"""A body that each route takes, or refuses for what it says and not for its form."""


@pytest.fixture
def session(tmp_path) -> dict[str, Any]:
    """A server that asks callers who they are, so that the login is there, and a token for the rest."""
    made = guarded(tmp_path, most=10_000)
    return {"gate": made.gate, "headers": made.bearer("read", "webhook", "annotate", "maintain")}


def server() -> ServerServices:
    """A server that knows a table, and keeps plans."""
    return with_advice(knowing(), LocalSource(), Prices(), MemoryPlanStates())


async def send(http: httpx.AsyncClient, method: str, path: str, body: bytes, **headers: str | bytes) -> httpx.Response:
    return await http.request(method, path, content=body, headers={"content-type": "application/json", **headers})


def answers(session: dict[str, Any], requests: list[tuple[str, str, bytes, dict[str, Any]]]) -> list[httpx.Response]:
    async def ask() -> list[httpx.Response]:
        async with client(server(), gate=session["gate"]) as http:
            http.headers.update(session["headers"])
            return [await send(http, method, path, body, **more) for method, path, body, more in requests]

    return asyncio.run(ask())


def test_every_route_that_takes_a_body_is_covered() -> None:
    assert sorted(FITTING) == POSTS
    assert {method for method, _ in CHANGES} <= {"POST", "DELETE"}


def filled(body: Any, many: int) -> list[Any]:
    """The body with each of its arrays and objects, at any depth, filled with so many empty items in turn."""
    found: list[Any] = [[{}] * many, {str(n): 0 for n in range(many)}]
    if isinstance(body, dict):
        found += [{**body, key: inner} for key, value in body.items() for inner in filled(value, many)]
    elif isinstance(body, list) and body:
        found += [[inner, *body[1:]] for inner in filled(body[0], many)]
    else:
        found = []
    return found


@pytest.mark.parametrize("path", POSTS)
def test_too_many_items_anywhere_in_a_body_are_413_and_the_problem_names_the_bound(path, session) -> None:
    bodies = [json.dumps(body).encode() for body in filled(FITTING[path], MOST_ITEMS + 1)]
    bombs = [b"[" + b"{}," * 349_000 + b"{}]", b'{"alerts":[' + b"{}," * 349_000 + b"{}]}"]
    requests = [("POST", path, body, {}) for body in [*bodies, *bombs]]
    requests += [("POST", path, gzip.compress(body), {"content-encoding": "gzip"}) for body in bombs]
    for answer in answers(session, requests):
        found = answer.json()
        assert (answer.status_code, found["type"]) == (413, "too-large"), answer.text
        bounds = (str(MOST_ITEMS), str(MOST_VALUES))
        assert any(bound in found["detail"] for bound in bounds), found
        assert "split it into several requests" in found["detail"]


def test_a_body_just_within_the_bounds_is_accepted(session) -> None:
    alerts = [{"labels": {"alertname": "x", "n": str(n)}} for n in range(2_000)]
    records = [s3(f"wh/sales/orders/metadata/v{n}.metadata.json") for n in range(2_000)]
    requests = [
        ("POST", "/api/v1/alertmanager", json.dumps({"alerts": alerts}).encode(), {}),
        ("POST", "/api/v1/notify/s3", json.dumps({"Records": records}).encode(), {}),
        ("POST", "/api/v1/runs", json.dumps({**RUN, "tables": [TOUCHED] * 5_000}).encode(), {}),
    ]
    assert [answer.status_code for answer in answers(session, requests)] == [202, 202, 202]


class Gated(ThreadPoolExecutor):
    """Threads that begin only when somebody opens the gate."""

    def __init__(self) -> None:
        super().__init__(4)
        self.opened, self.begun = threading.Event(), 0

    def submit(self, act: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
        self.begun += 1
        return super().submit(lambda: (self.opened.wait(60), act(*given, **named))[1])


@pytest.mark.parametrize("path", POSTS)
def test_a_large_body_is_checked_and_parsed_off_the_event_loop(path, session) -> None:
    """While the threads stand still the body is not answered, and others are."""
    body = json.dumps(["no struct", *["x" * 100] * 900]).encode()

    async def ask() -> tuple[int, httpx.Response, int]:
        threads = Gated()
        async with client(server(), gate=session["gate"]) as http:
            http.headers.update(session["headers"])
            threads.opened.set()
            asyncio.get_running_loop().set_default_executor(threads)
            await send(http, "POST", path, b"{}")  # the token is hashed in a thread, once
            threads.opened.clear()
            before = threads.begun
            large = asyncio.create_task(send(http, "POST", path, body))
            while threads.begun == before:  # noqa: ASYNC110 - until the body is with a thread
                await asyncio.sleep(0)
            other = await http.get("/healthz")
            waited = not large.done()
            threads.opened.set()
            answer = await large
            assert waited
            return other.status_code, answer, threads.begun - before

    other, answer, begun = asyncio.run(ask())
    assert (other, answer.status_code) == (200, 400), answer.text
    assert begun == 2  # the check, then the parser


LABELS = "/api/v1/tables/lake/sales/orders/labels"
DEEP = 100_000
ODD: dict[str, bytes] = {
    "nothing": b"",
    "a space": b" ",
    "half a document": b'{"token": ',
    "no UTF-8": b'{"token": "\xff\xfe", "run_id": "\xc0\xaf"}',
    "no UTF-8 for a key": b'{"\xed\xa0\x80": 1}',
    "UTF-16": '{"token": "x"}'.encode("utf-16"),
    "NUL": b'{"token": "\\u0000", "run_id": "\\u0000"}',
    "a bare NUL": b"\x00",
    "a lone surrogate": b'{"token": "\\ud800", "run_id": "\\udfff", "\\ud800": 1}',
    "deep arrays": b"[" * DEEP,
    "deep arrays that end": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"token":' * DEEP,
    "as deep as may be": b"[" * DEEPEST + b"]" * DEEPEST,
    "infinity": b'{"started_at": 1e999, "token": 1e999, "from": 1e999}',
    "a huge number": b'{"started_at": 1' + b"0" * 400 + b', "token": -1' + b"0" * 5_000 + b"}",
    "no number": b'{"started_at": NaN}',
    "a key twice": b'{"token": "a", "token": {"b": 1}, "token": []}',
    "an array": b"[]",
    "an array of arrays": b"[[[]], null, 1, {}]",
    "text": b'"token"',
    "null": b"null",
    "a mark before": b"\xef\xbb\xbf{}",
    "no JSON": b"token=x&next=%2F",
}
HEADERS: dict[str, dict[str, str | bytes]] = {
    "form": {"content-type": "application/x-www-form-urlencoded"},
    "multipart": {"content-type": "multipart/form-data"},
    "msgpack": {"content-type": "application/x-msgpack"},
    "no type": {"content-type": b"\xff/;;=;"},
    "an unknown charset": {"content-type": "application/json; charset=x-nonsense"},
    "an unknown coding": {"content-encoding": "br"},
    "codings": {"content-encoding": "gzip, gzip"},
    "an odd coding": {"content-encoding": b"\xff"},
    "gzip that is none": {"content-encoding": "gzip"},
    "zstd": {"content-encoding": "zstd"},
    "an odd cookie": {"cookie": b"limnograph=\xff\xfe; =; ;;; a=\x80", "x-request-id": b"\xff"},
}
"""Sent with a body that fits the route."""


def of_values(path: str) -> list[bytes]:
    """The fitting body with each of its values, at any depth, replaced by odd ones."""
    odd = ["\x00", "x" * 5_000, -(10**400), 1.5e300, True, None, [], {}, [[]], "\u202e", "NaN", "-0", ""]
    found: list[bytes] = []

    def replaced(value: Any, put: Callable[[Any], Any]) -> None:
        found.extend(json.dumps(put(other)).encode() for other in odd)
        found.append(json.dumps(put("MARK")).encode().replace(b'"MARK"', b'"\\ud800"'))
        found.append(json.dumps(put("MARK")).encode().replace(b'"MARK"', b"1e999"))
        if isinstance(value, dict):
            found.append(json.dumps(put({**value, "MARK": 1})).encode().replace(b'"MARK"', b'"\\udc00\\u0000"'))
            for key, inner in value.items():
                replaced(inner, lambda new, key=key, value=value: put({**value, key: new}))
        elif isinstance(value, list) and value:
            replaced(value[0], lambda new: put([new]))

    replaced(FITTING[path], lambda new: new)
    return found


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_no_body_causes_a_server_error(method, path, session) -> None:
    fitting = json.dumps(FITTING.get(path, {})).encode()
    packed, zstd = gzip.compress(fitting), zstandard.compress(fitting)
    requests = [(method, path, body, {}) for body in ODD.values()]
    requests += [(method, path, fitting, headers) for headers in HEADERS.values()]
    requests += [
        (method, path, packed[:-6], {"content-encoding": "gzip"}),
        (method, path, packed[:12], {"content-encoding": "gzip"}),
        (method, path, packed[:-8] + b"\0" * 8, {"content-encoding": "gzip"}),
        (method, path, zstd[:-3], {"content-encoding": "zstd"}),
        (method, path, gzip.compress(b"[" * DEEP), {"content-encoding": "gzip"}),
        (method, path, gzip.compress(b"\xff"), {"content-encoding": "gzip"}),
    ]
    requests += [(method, path, body, {}) for body in (of_values(path) if path in FITTING else ())]
    for request, answer in zip(requests, answers(session, requests), strict=True):
        assert answer.status_code < 500, (request, answer.text)
        if answer.status_code >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["detail"]


@pytest.mark.parametrize("path", POSTS)
def test_a_body_that_is_not_a_document_of_the_route_is_400(path, session) -> None:
    batches = path.endswith(("debezium", "cloudevents"))  # an empty array is a batch of none
    broken = ["no UTF-8", "deep arrays", "deep objects", "half a document", *([] if batches else ["an array"])]
    for name, answer in zip(broken, answers(session, [("POST", path, ODD[name], {}) for name in broken]), strict=True):
        assert (answer.status_code, answer.json()["type"]) == (400, "bad-request"), (name, answer.text)


ODD_TARGETS = [
    *(f"/api/v1/tables/{odd}/sales/orders" for odd in ("%ff", "%00", "%ed%a0%80", "%c0%af", "%u1234")),
    *(f"/v1/namespaces/{odd}/tables/t/metrics" for odd in ("%ff", "%1F", "a%1f%1fb", "%")),
    *(
        f"/api/v1/tables?{odd}"
        for odd in ("q=%ff", "%ff=%ff", "q=%", "q=%00", "q=%ed%a0%80", "&&=&;", "%", "cursor=%00")
    ),
    *(f"/a?{odd}" for odd in ("table=%ff&%ff=%fe", "fp=%ed%a0%80", "startsAt=1e999&startsAt=%ff")),
    *(f"/login?{odd}" for odd in ("next=/%ff", "next=/%E2%82%AC", "next=/%00", "next=%ed%a0%80")),
    "/login/callback?code=%ff&state=%ff",
    "/api/v1/alerts/resolve?%ff=%ff&table=%ff",
    "/api/v1/alerts/%ff",
]


def test_odd_escapes_in_a_path_or_query_have_a_valid_response(session) -> None:
    requests = [(method, target, b"", {}) for target in ODD_TARGETS for method in ("GET", "POST", "DELETE")]
    for request, answer in zip(requests, answers(session, requests), strict=True):
        assert answer.status_code < 500, (request, answer.text)


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (b"[" + b"1," * (MOST_ITEMS - 1) + b"1]", None),
        (b"[" + b"1," * MOST_ITEMS + b"1]", TooLarge),
        (b'["' + b'[{,\\"' * 90_000 + b'"]', None),
        (b'["a\\\\",' + b"1," * MOST_ITEMS + b"1]", TooLarge),
        (b"[" + b"[1,1,1,1,1,1,1,1,1]," * 9_990 + b"1]", None),
        (b"[" + b"[1,1,1,1,1,1,1,1,1,1]," * 9_990 + b"1]", TooLarge),
        (b"[" * DEEPEST, None),
        (b"[" * (DEEPEST + 1), InvalidInput),
        (b'"' + b'\\"' * 500_000, None),
        (b'"' * 1_000_000, None),
        (b"]" * 1_000_000 + b"1," * 9_000, None),
    ],
)
def test_only_values_outside_strings_are_counted(body, refused) -> None:
    if refused is None:
        check(body)
        return
    with pytest.raises(refused):
        check(body)
