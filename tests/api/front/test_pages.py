"""The layer that keeps finished pages: nobody sees another answer because of it, and work is done once."""

import asyncio
import gzip
import json
import random
import tempfile
from pathlib import Path
from typing import Any

import httpx
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from litestar import Litestar, Request, Response, get
from litestar.exceptions import HTTPException

from access_kit import guarded
from limnograph.adapters.memory.metrics_source import MemoryMetrics
from limnograph.api.app import Limits
from limnograph.api.front.encodings import chosen
from limnograph.api.front.exchange import SecurityHeaders
from limnograph.api.front.gate import Authenticator
from limnograph.api.front.layer import EdgeApp
from limnograph.api.front.page_counts import PageCounts
from limnograph.api.front.page_keys import PageKeys, parameters
from limnograph.api.front.pages import FRESH_S, REVALIDATE_S, STALE_S, Pages
from limnograph.api.wire import access, problems
from limnograph.domain.errors import SourceRejected, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.series import Series
from limnograph.services.jobs.discovery import ConfiguredJob
from limnograph.services.lake.lake import Facts
from serving_kit import HOUR, MINUTE, NOW, application, client, lake, moved, parts, row

TABLE = "/api/v1/tables/lake/sales/orders"
MADE = parts(lake([row(n, NOW - n * MINUTE, n) for n in range(1, 60)]))


# The same answers with and without it

FOLDER = Path(tempfile.mkdtemp(prefix="limnograph-pages-"))
GUARD = guarded(FOLDER, most=1_000_000)
READER = GUARD.bearer("read")
OTHER = GUARD.bearer("webhook")
BOTH = GUARD.bearer("read", "webhook", name="both")
GONE = GUARD.bearer("read", name="gone")
GUARD.tokens.verify(GONE["authorization"].removeprefix("Bearer "))
WITH = application(MADE, gate=GUARD.gate)
WITHOUT = application(MADE, gate=GUARD.gate, limits=Limits(page_cache=0))
GUARD.tokens.revoke("gone")


async def AT_ONCE(scope: Any, receive: Any, send: Any) -> None:  # noqa: N802 - an application beside WITH and WITHOUT
    """As the server asks it: first what is finished."""
    found = WITH.finished_answer(scope) if scope["type"] == "http" else None
    if found is None:
        await WITH(scope, receive, send)
        return
    status, headers, body = found
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


PATHS = [
    "/api/v1/tables",
    TABLE,
    f"{TABLE}/timeline",
    f"{TABLE}/commits",
    f"{TABLE}/commits/7",
    "/api/v1/commits",
    "/api/v1/tables/lake/sales/none",
    "/api/v1/status",
    "/api/v1/nothing",
    "/healthz",
]
MUTATIONS = [
    lambda path: path,
    lambda path: path,
    lambda path: path + "/",
    lambda path: path.replace("/api", "//api"),
    lambda path: path.replace("tables", "%74ables"),
    lambda path: path + "/.",
    lambda path: path.replace("/v1", "/v1/../v1"),
    lambda path: path + ";x=1",
    lambda path: path.upper(),
    lambda path: path + "%2f",
]
QUERIES = [
    "",
    f"from={NOW // 1000 - 3_600_000}&to={NOW // 1000}",
    f"to={NOW // 1000}&from={NOW // 1000 - 3_600_000}",
    "limit=2",
    "limit=2&limit=3",
    "limit=%32",
    "nonsense=1",
    "from=abc",
    "&&",
    "q=%ff",
    "q=%fe",
    "lanes=data_files",
]
CODINGS = [
    None,
    "gzip",
    "zstd",
    "gzip, zstd",
    "br",
    "identity",
    "gzip;q=0, zstd;q=0",
    "*",
    "zstd;q=0.1, gzip;q=0.9",
    "\x7f",
]
TAGS = ["none", "own", "weak", "star", "other", "list"]


def answer(app: Any, method: str, url: str, headers: dict[str, str]) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://limnograph") as http:
            request = http.build_request(method, "/", headers=headers)
            request.url = httpx.URL("http://limnograph", raw_path=url.encode())
            sent = await http.send(request, stream=True)
            sent.raw = b"".join([part async for part in sent.aiter_raw()])
            return sent

    return asyncio.run(ask())


def seen(found: httpx.Response) -> tuple[int, dict[str, str], bytes]:
    """All that a caller sees but what belongs to one exchange."""
    own = {"x-request-id", "age", "date"}
    body = found.raw
    if found.headers.get("content-type") == problems.MEDIA_TYPE and body:
        body = json.dumps({**json.loads(body), "request_id": None}).encode()
    headers = {name: value for name, value in found.headers.items() if name not in own}
    return found.status_code, headers, body


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    path=st.sampled_from(PATHS),
    mutation=st.sampled_from(MUTATIONS),
    query=st.sampled_from(QUERIES),
    method=st.sampled_from(["GET", "GET", "GET", "HEAD", "POST", "OPTIONS", "DELETE"]),
    who=st.sampled_from(
        [READER, READER, BOTH, OTHER, GONE, {}, {"authorization": "Bearer x"}, {"cookie": "limnograph=x"}]
    ),
    coding=st.sampled_from(CODINGS),
    tag=st.sampled_from(TAGS),
    span=st.sampled_from([None, "bytes=0-9", "bytes=5-", "bytes=9-1"]),
)
def test_responses_are_the_same_with_and_without_the_page_cache(
    path, mutation, query, method, who, coding, tag, span
) -> None:
    url = mutation(path) + (f"?{query}" if query else "")
    headers = {**who, "host": "limnograph", **({"range": span} if span else {})}
    if coding is not None:
        headers["accept-encoding"] = coding
    own = seen(answer(WITHOUT, "GET", url, headers))[1].get("etag", '"x"')
    tags = {"own": own, "weak": f"W/{own}", "star": "*", "other": '"zzz"', "list": f'"a", {own} , "b"'}
    if tag in tags:
        headers["if-none-match"] = tags[tag]
    plain = seen(answer(WITHOUT, method, url, headers))
    for app in (WITH, WITH, AT_ONCE):
        assert seen(answer(app, method, url, headers)) == plain


def test_alice_never_sees_pages_that_only_bob_may_read() -> None:
    for headers, status in ((READER, 200), (OTHER, 403), ({}, 401), (GONE, 401), (READER, 200)):
        assert answer(WITH, "GET", TABLE, headers).status_code == status


# Bytes


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_each_coding_of_a_page_has_an_etag_of_its_own(coding) -> None:
    url = f"{TABLE}/commits"
    plain = answer(WITH, "GET", url, {**READER, "accept-encoding": "identity"})
    packed = answer(WITH, "GET", url, {**READER, "accept-encoding": coding})
    unpack = {"gzip": gzip.decompress, "zstd": lambda body: zstandard.ZstdDecompressor().decompress(body)}[coding]
    assert packed.headers["content-encoding"] == coding
    assert unpack(packed.raw) == plain.raw
    assert len(packed.raw) < len(plain.raw)
    assert packed.headers["etag"] != plain.headers["etag"]
    assert "accept-encoding" in packed.headers["vary"]
    again = answer(WITH, "GET", url, {**READER, "accept-encoding": coding, "if-none-match": packed.headers["etag"]})
    assert (again.status_code, again.raw) == (304, b"")
    other = answer(WITH, "GET", url, {**READER, "accept-encoding": coding, "if-none-match": plain.headers["etag"]})
    assert other.status_code == 200


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        (b"", ""),
        (b"gzip", "gzip"),
        (b"gzip, deflate, br, zstd", "zstd"),
        (b"gzip;q=1.0, zstd;q=0.5", "gzip"),
        (b"gzip;q=0", ""),
        (b"*", "zstd"),
        (b"*, zstd;q=0", "gzip"),
        (b"identity, gzip;q=0.5", ""),
        (b"GZIP", "gzip"),
        (b"gzip;q=x", ""),
        (b"gzip;q=2", ""),
        (b"gzip;q=nan", ""),
    ],
)
def test_the_coding_is_the_one_the_caller_prefers(header, coding) -> None:
    assert chosen(header) == coding


def test_equivalent_parameters_have_one_key_and_different_queries_never_share_one() -> None:
    assert parameters(b"a=1&b=2") == parameters(b"b=2&a=1") == parameters(b"b=%32&%61=1")
    assert parameters(b"q=a+b") == parameters(b"q=a%20b")
    different = [
        b"",
        b"a",
        b"a=",
        b"a=1&a=2",
        b"a=2&a=1",
        b"a=%ff",
        b"a=%fe",
        b"a=1%262",
        b"a=1&2",
        b"a==",
        b"&",
        b"a=%00",
    ]
    assert len({parameters(query) for query in different}) == len(different)


# Work


class Stage:
    """A page whose making can be held, counted and broken, behind the real layer."""

    def __init__(self, budget: int = 1 << 20) -> None:
        self.made, self.version, self.now = 0, 1, 1_000.0
        self.fails: str | None = None
        self.lacks = False
        self.cancelled = 0
        self.body = b'{"lanes":[{"id":"x","status":"ok","age_s":2.0}]}'
        self.hold = asyncio.Event()
        self.hold.set()

        @get("/page", opt=access.LAKE_PAGE)
        async def page(request: Request[Any, Any, Any]) -> Response[bytes]:
            self.made += 1
            number = self.made
            try:
                await self.hold.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            if self.fails:
                raise HTTPException(self.fails, status_code=503)
            request.scope["state"][access.FAILED] = self.lacks
            headers = {"x-number": str(number)}
            return Response(self.body or str(number).encode(), headers=headers, media_type="application/json")

        app = Litestar([page], guards=[access.authorised], openapi_config=None)
        headers = SecurityHeaders([])
        self.pages = Pages(app, PageKeys(app), self, budget, complete=headers.complete, now=lambda: self.now)
        self.front = EdgeApp(app, headers, Authenticator(), self.pages)

    def of(self, table: Any) -> int:
        return self.version

    async def get(self, path: str = "/page", **headers: str) -> httpx.Response:
        transport = httpx.ASGITransport(app=self.front, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://limnograph") as http:
            return await http.get(path, headers=headers)


async def settled() -> None:
    """All that can happen has happened. No thread takes part, so turns of the loop count, on however slow a machine."""
    for _ in range(500):
        await asyncio.sleep(0)


def staged(scenario: Any, **given: Any) -> Any:
    async def run() -> Any:
        return await scenario(Stage(**given))

    return asyncio.run(run())


def test_fifty_users_who_open_one_link_cause_one_computation() -> None:
    async def scenario(stage: Stage) -> None:
        stage.hold.clear()
        asking = [asyncio.create_task(stage.get(f"/page?{'a=1&b=2' if n % 2 else 'b=2&a=1'}")) for n in range(50)]
        await settled()
        stage.hold.set()
        found = await asyncio.gather(*asking)
        assert stage.made == 1
        assert {answer.status_code for answer in found} == {200}
        assert len({answer.content for answer in found}) == 1
        assert len({answer.headers["x-request-id"] for answer in found}) == 50

    staged(scenario)


def test_a_failure_is_returned_to_all_waiting_callers_and_not_kept() -> None:
    async def scenario(stage: Stage) -> None:
        stage.hold.clear()
        stage.fails = "the source is gone"
        asking = [asyncio.create_task(stage.get()) for _ in range(5)]
        await settled()
        stage.hold.set()
        assert [answer.status_code for answer in await asyncio.gather(*asking)] == [503] * 5
        assert stage.made == 1
        stage.fails = None
        assert (await stage.get()).status_code == 200

    staged(scenario)


async def leaving(stage: Stage) -> tuple[asyncio.Task[None], asyncio.Event, list[Any]]:
    """A caller who asks and can go away."""
    gone, sent = asyncio.Event(), []

    async def receive() -> Any:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/page", "raw_path": b"/page", "query_string": b"", "headers": []}
    task = asyncio.create_task(stage.front({**scope, "client": ("127.0.0.1", 1), "state": {}}, receive, send))
    await settled()
    return task, gone, sent


def test_the_first_caller_may_leave_and_the_others_are_answered() -> None:
    async def scenario(stage: Stage) -> None:
        stage.hold.clear()
        first, gone, sent = await leaving(stage)
        second = asyncio.create_task(stage.get())
        await settled()
        gone.set()
        await first
        assert sent == []
        stage.hold.set()
        assert (await second).status_code == 200
        assert (stage.made, stage.cancelled) == (1, 0)

    staged(scenario)


def test_when_all_have_left_the_work_is_cancelled() -> None:
    async def scenario(stage: Stage) -> None:
        stage.hold.clear()
        one, two = await leaving(stage), await leaving(stage)
        one[1].set()
        await one[0]
        assert stage.cancelled == 0
        two[1].set()
        await two[0]
        await settled()
        assert (stage.made, stage.cancelled) == (1, 1)
        stage.hold.set()
        assert (await stage.get()).status_code == 200

    staged(scenario)


def test_a_commit_invalidates_a_page_even_while_it_is_computed() -> None:
    async def scenario(stage: Stage) -> None:
        stage.body = b""
        assert (await stage.get()).content == b"1"
        assert (await stage.get()).content == b"1"
        stage.version = 2
        assert (await stage.get()).content == b"2"
        stage.hold.clear()
        stage.version = 3
        early = asyncio.create_task(stage.get())
        await settled()
        stage.version = 4
        late = asyncio.create_task(stage.get())
        await settled()
        stage.hold.set()
        assert [(await early).content, (await late).content] == [b"3", b"4"]
        assert (await stage.get()).content == b"4"

    staged(scenario)


def test_an_old_page_is_served_immediately_while_a_new_one_is_computed() -> None:
    async def scenario(stage: Stage) -> None:
        stage.body = b""
        await stage.get()
        stage.now += FRESH_S * 1.2
        old = await stage.get()
        assert (old.content, old.headers["age"]) == (b"1", "2")
        # It is made beside the answers; how many turns of the loop that takes nobody promises.
        for _ in range(1_000):
            if (await stage.get()).content == b"2":
                break
            await asyncio.sleep(0.01)
        assert (await stage.get()).content == b"2"
        stage.now += FRESH_S * 1.2 + REVALIDATE_S
        assert (await stage.get()).content == b"3"

    staged(scenario)


def test_an_old_page_is_served_with_its_age_when_computing_fails() -> None:
    async def scenario(stage: Stage) -> None:
        fresh = await stage.get()
        stage.fails, stage.version = "down", 2
        stage.now += 120
        old = await stage.get()
        assert (old.status_code, old.headers["age"]) == (200, "120")
        assert old.json() == {"lanes": [{"id": "x", "status": "stale", "age_s": 122.0}]}
        assert old.headers["etag"] != fresh.headers["etag"]
        stage.now += STALE_S
        assert (await stage.get()).status_code == 503
        stage.fails = None
        assert "age" not in (await stage.get()).headers

    staged(scenario)


def test_a_page_without_a_failed_source_is_shared_by_waiting_callers_only() -> None:
    async def scenario(stage: Stage) -> None:
        stage.body, stage.lacks = b"", True
        stage.hold.clear()
        asking = [asyncio.create_task(stage.get()) for _ in range(9)]
        await settled()
        stage.hold.set()
        assert {answer.content for answer in await asyncio.gather(*asking)} == {b"1"}
        assert (await stage.get()).content == b"2"
        stage.lacks = False
        assert [(await stage.get()).content, (await stage.get()).content] == [b"3", b"3"]

    staged(scenario)


def test_a_complete_page_is_no_longer_served_once_a_newer_one_lacks_something() -> None:
    async def scenario(stage: Stage) -> None:
        whole = await stage.get()
        stage.lacks, stage.body = True, b'{"lanes":[{"id":"x","status":"error"}]}'
        stage.now += FRESH_S * 1.2
        assert (await stage.get()).headers["age"] == "2"
        await settled()  # the new one is made behind the old one
        answers = [await stage.get(), await stage.get()]
        assert [answer.json()["lanes"][0]["status"] for answer in answers] == ["error", "error"]
        assert "age" not in answers[0].headers
        stage.fails = "now nothing answers"
        assert (await stage.get()).json()["lanes"][0] == {**whole.json()["lanes"][0], "status": "stale", "age_s": 4.4}

    staged(scenario)


def test_pages_stay_within_their_budget_and_the_oldest_are_evicted_first() -> None:
    async def scenario(stage: Stage) -> None:
        stage.body = random.Random(1).randbytes(10_000)
        for number in range(20):
            await stage.get(f"/page?n={number}", **{"accept-encoding": "gzip"})
            assert stage.pages.counts.bytes <= 100_000
        assert stage.made == 20
        await stage.get("/page?n=19")
        assert stage.made == 20
        await stage.get("/page?n=0")
        assert stage.made == 21
        stage.body = b"x" * 200_000
        await stage.get("/page?large")
        assert stage.pages.counts.bytes <= 100_000

    staged(scenario, budget=100_000)


def test_responses_are_counted_by_their_origin() -> None:
    async def scenario(stage: Stage) -> None:
        stage.hold.clear()
        asking = [asyncio.create_task(stage.get()) for _ in range(5)]
        await settled()
        stage.hold.set()
        await asyncio.gather(*asking)
        await stage.get(**{"accept-encoding": "identity"})
        await stage.get()
        stage.now += FRESH_S * 1.2
        await stage.get()
        await settled()
        stage.fails, stage.version = "down", 2
        assert (await stage.get()).status_code == 200
        told = stage.pages.counts.told()
        size = told.pop("limnograph_pages_bytes")
        assert size > len(stage.body)
        assert told == {
            "limnograph_pages_kept": 1,
            "limnograph_page_hits_total": 2,
            "limnograph_page_stale_total": 2,
            "limnograph_page_shared_total": 4,
            "limnograph_page_computed_total": 3,
        }

    staged(scenario)


# The lake behind it


def test_a_hit_whose_coding_is_computed_first_is_one_hit() -> None:
    async def scenario(stage: Stage) -> None:
        stage.body = b"x" * 5_000
        await stage.get()
        answers = [await stage.get(**{"accept-encoding": coding}) for coding in ("gzip", "zstd", "gzip")]
        assert [answer.headers["content-encoding"] for answer in answers] == ["gzip", "zstd", "gzip"]
        assert stage.pages.counts.hits == 3

    staged(scenario)


def test_a_source_that_fails_or_recovers_is_shown_by_the_next_response() -> None:
    series = Series({}, [NOW // 1000 - 60_000], [52.0])
    source = MemoryMetrics("main", {"seconds": [series]})
    job = ConfiguredJob(name="churn", reads=("lake.sales.*",), promql="seconds")
    made = parts(lake([row(1, NOW - HOUR, 5)], [moved(1, NOW - HOUR)]), source, configured=(job,))
    page = f"{TABLE}/timeline?lanes=job_duration,data_files&from={NOW // 1000 - 600_000}&to={NOW // 1000}"

    async def scenario() -> list[Any]:
        async with client(made) as http:

            async def seen(url: str) -> Any:
                lanes = (await http.get(url)).json()["lanes"]
                return [lane["status"] for lane in lanes], lanes[0]["problem"] and lanes[0]["problem"]["detail"]

            found = [await seen(page), await seen(page)]
            source.failure = SourceUnavailable("main", "connection refused")
            await seen(page + "&step=30")  # whoever meets the failure first ends the pages of all
            found.append(await seen(page))
            source.failure = None
            found += [await seen(page), await seen(page)]
            source.failure = SourceRejected("main", "unknown function")
            await seen(page + "&step=30")
            found.append(await seen(page))  # a question that is refused says nothing of others
            return found

    whole, failed = (["ok", "ok"], None), (["error", "ok"], "main: connection refused")
    assert asyncio.run(scenario()) == [whole, whole, failed, whole, whole, whole]


def test_a_page_that_is_only_stale_is_cached_until_its_source_recovers() -> None:
    engine = lake([row(1, NOW - HOUR, 5)], [moved(1, NOW - HOUR)])
    made, counts = parts(engine), PageCounts()
    page = f"{TABLE}/timeline?lanes=data_files&from={NOW // 1000 - 7_200_000}&to={NOW // 1000}"

    async def scenario() -> list[tuple[str, bool, int]]:
        async with client(made, counts=counts) as http:

            async def seen() -> tuple[str, bool, int]:
                lane = (await http.get(page)).json()["lanes"][0]
                return lane["status"], lane["problem"] is not None, counts.computed

            found = [await seen()]
            for failure in ("refused", "refused", "reset", None):
                engine.failure = failure and SourceUnavailable("meta", failure)
                made.store.refresh()
                found += [await seen(), await seen()]
            return found

    stale = "stale", True
    assert asyncio.run(scenario()) == [
        ("ok", False, 1),
        *[(*stale, 2)] * 4,
        *[(*stale, 3)] * 2,
        *[("ok", False, 4)] * 2,
    ]


def test_a_commit_a_run_and_a_failing_source_invalidate_the_pages_that_show_them() -> None:
    made = parts(lake([row(1, NOW - HOUR, 5)], [moved(1, NOW - HOUR)]))
    other = {"catalog": "lake", "table_namespace": "sales", "table": "other", "role": "reads"}
    mine = {**other, "table": "orders"}

    async def scenario() -> list[Any]:
        async with client(made) as http:

            async def rows() -> int:
                return len((await http.get(f"{TABLE}/commits")).json()["rows"])

            found = [await rows(), await rows()]
            made.store.apply(Facts([row(2, NOW - MINUTE, 6, parent_id=1)], [moved(2, NOW - MINUTE)]))
            found.append(await rows())
            name = TableName("lake", "sales", "orders")
            numbers = [made.backend.versions.of(name)]
            run = {"run_id": "r", "job_name": "j", "status": "ok", "started_at": 1, "ended_at": 2}
            await http.post("/api/v1/runs", json={**run, "tables": [other]})
            numbers.append(made.backend.versions.of(name))
            await http.post("/api/v1/runs", json={**run, "run_id": "s", "tables": [mine]})
            numbers.append(made.backend.versions.of(name))
            return [found, numbers]

    found, numbers = asyncio.run(scenario())
    assert found == [1, 1, 2]
    assert numbers[0] == numbers[1] != numbers[2]
