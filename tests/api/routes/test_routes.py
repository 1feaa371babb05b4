"""The wire as a caller meets it: answers, problems, headers."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from api_document import document
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.wiring.server import build_services
from limnograph.wiring.server_options import ServerOptions
from serving_kit import BIG, HOUR, MINUTE, NOW, FixedClock, MemoryInbox, change, client, lake, moved, parts, row, schema

TABLE = "/api/v1/tables/lake/sales/orders"
NOW_MS = NOW // 1000


def filled():
    rows = [
        row(1, NOW - 5 * HOUR, 1_202, total_bytes=1_202 * 10**8, schema_id=0),
        row(BIG, NOW - 2 * HOUR, 51_202, parent_id=1, added_data_files=50_000, added_bytes=45 * 10**9, schema_id=1),
    ]
    log = [moved(1, NOW - 5 * HOUR), moved(BIG, NOW - 2 * HOUR)]
    return lake(rows, [*log, schema(0, NOW - 5 * HOUR, (1, "id", "long"))])


def get(path, engine=None, method="GET", build=None, **given):
    async def ask():
        async with client(parts(engine or filled(), **given), build) as http:
            return await http.request(method, path)

    return asyncio.run(ask())


def post(path, body, made=None, headers=None):
    async def ask():
        async with client(made or parts()) as http:
            return await http.post(path, content=body, headers={"content-type": "application/json", **(headers or {})})

    return asyncio.run(ask())


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("from=abc", "from"),
        ("to=1.5", "to"),
        ("from=5&to=4", "to"),
        ("from=-1&to=5", "from"),
        (f"from=0&to={10**15}", "to"),
        ("step=0&from=0&to=1000", "step"),
        ("step=x", "step"),
        (f"from={NOW_MS - 86_400_000}&to={NOW_MS}&step=1", "step"),
        ("lanes=data_files,nonsense", "lanes"),
        ("lanes=,", "lanes"),
        ("refs=main", "refs"),
        ("cmp=0", "cmp"),
    ],
)
def test_a_malformed_timeline_query_is_a_problem_that_names_the_parameter(query, field) -> None:
    answer = get(f"{TABLE}/timeline?{query}")
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == "bad-request"
    assert answer.json()["field"] == field
    assert answer.json()["request_id"] == answer.headers["x-request-id"]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/api/v1/tables?limit=0", "limit"),
        ("/api/v1/tables?limit=501", "limit"),
        ("/api/v1/tables?sort=colour", "sort"),
        ("/api/v1/tables?dir=up", "dir"),
        ("/api/v1/tables?cursor=%21%21", "cursor"),
        ("/api/v1/commits?cursor=AAAA", "cursor"),
        ("/api/v1/tables?grew=50&within=5m", "within"),
        ("/api/v1/tables?grew=0.2&within=0", "within"),
        ("/api/v1/tables?grew=0.2&within=604801", "within"),
        ("/api/v1/tables?grew=-0.1", "grew"),
        ("/api/v1/tables?grew=nan", "grew"),
        ("/api/v1/status?now=1", "now"),
        (f"{TABLE}?from=1", "from"),
        (f"{TABLE}/commits/{BIG}?ref=main", "ref"),
        ("/api/v1/commits?schema_changed=maybe", "schema_changed"),
        ("/api/v1/commits?min_added_data_files=many", "min_added_data_files"),
        (f"{TABLE}/commits/12x", "snapshot_id"),
        (f"{TABLE}/commits/99999999999999999999", "snapshot_id"),
    ],
)
def test_other_malformed_parameters_are_named_too(path, field) -> None:
    answer = get(path)
    assert (answer.status_code, answer.json().get("field")) == (400, field)


@pytest.mark.parametrize(
    ("path", "method", "status", "kind"),
    [
        ("/api/v1/tables/lake/sales/none", "GET", 404, "not-found"),
        ("/api/v1/tables/lake/sales/none/timeline", "GET", 404, "not-found"),
        (f"{TABLE}/commits/77", "GET", 404, "not-found"),
        ("/api/v1/nothing", "GET", 404, "not-found"),
        ("/api", "POST", 404, "not-found"),
        ("/api/v1/tables", "DELETE", 405, "method-not-allowed"),
        ("/t/lake/sales/orders", "POST", 405, "method-not-allowed"),
        ("/_app/immutable/gone.js", "GET", 404, "not-found"),
    ],
)
def test_errors_are_problems_with_every_header(path, method, status, kind) -> None:
    answer = get(path, method=method)
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["type"] == kind
    assert answer.json()["status"] == status
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/", "/api/v1/tables", "/healthz", "/metrics", TABLE, "/api/v1/status"])
def test_every_response_has_the_security_headers(path) -> None:
    headers = get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "unsafe-inline" not in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["/api/v1/tables", "/readyz", "/", f"{TABLE}/timeline"])
def test_head_responds_like_get_without_a_body(path) -> None:
    answer = get(path, method="HEAD")
    assert answer.status_code == 200
    assert answer.content == b""
    assert get(f"{TABLE}/commits/77", method="HEAD").status_code == 404


class Broken:
    """A service with a bug."""

    async def page(self, query):
        raise RuntimeError("secret-in-a-trace")


def test_a_bug_is_a_problem_without_a_trace() -> None:
    made = parts(filled())
    made = replace(made, backend=made.backend._replace(fleet=Broken()))

    async def ask():
        async with client(made) as http:
            return await http.get("/api/v1/tables")

    answer = asyncio.run(ask())
    assert answer.status_code == 500
    assert answer.json()["type"] == "internal"
    assert "secret" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_ids_keep_all_nineteen_digits() -> None:
    answer = get(f"{TABLE}/commits/{BIG}")
    assert answer.json()["commit"]["snapshot_id"] == str(BIG)
    events = get(f"{TABLE}/timeline?lanes=commits").json()["lanes"][0]["events"]
    assert str(BIG) in [event["snapshot_id"] for event in events]


def test_a_timeline_includes_the_table_on_request_and_equals_the_table_route() -> None:
    assert get(f"{TABLE}/timeline?lanes=commits").json()["detail"] is None
    carried = get(f"{TABLE}/timeline?lanes=commits&detail=true").json()["detail"]
    assert carried == get(TABLE).json()
    assert carried["values"]["data_files"] == 51_202
    assert get("/api/v1/tables/lake/sales/none/timeline?detail=true").status_code == 404


def test_each_status_of_a_run_is_accepted_once() -> None:
    made = parts()
    body = {"run_id": "r1", "job_name": "churn", "status": "running", "started_at": NOW_MS}
    done = {**body, "status": "ok", "ended_at": NOW_MS + 5}
    first, again, second = (post("/api/v1/runs", json.dumps(b), made) for b in (body, body, done))
    assert [first.status_code, again.status_code, second.status_code] == [202, 202, 202]
    assert [a.json() for a in (first, again, second)] == [
        {"accepted": 1, "duplicates": 0},
        {"accepted": 0, "duplicates": 1},
        {"accepted": 1, "duplicates": 0},
    ]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ("{", "body"),
        ("[]", "body"),
        ('{"run_id":"r"}', "job_name"),
        ('{"run_id":"r","job_name":"j","status":"done","started_at":1}', "status"),
        ('{"run_id":"r","job_name":"j","status":"ok","started_at":1,"x":1}', "x"),
        ('{"run_id":"","job_name":"j","status":"ok","started_at":1}', "run_id"),
        ('{"run_id":"r","job_name":"j","status":"ok","started_at":9,"ended_at":1}', "ended_at"),
        ('{"run_id":"r","job_name":"j","status":"ok","started_at":1e30}', "started_at"),
    ],
)
def test_a_malformed_run_names_its_field(body, field) -> None:
    answer = post("/api/v1/runs", body)
    assert answer.status_code == 400
    assert answer.json()["field"] == field


def test_a_body_over_a_megabyte_is_refused() -> None:
    answer = post("/api/v1/runs", b"x" * (1024 * 1024 + 1))
    assert answer.status_code == 413
    assert answer.json()["type"] == "too-large"


def test_a_run_is_not_accepted_when_the_inbox_cannot_store_it() -> None:
    made = parts()
    made.runs._inbox.failure = SourceUnavailable("inbox", "disk is full")
    answer = post("/api/v1/runs", '{"run_id":"r","job_name":"j","status":"ok","started_at":1}', made)
    assert answer.status_code == 503
    assert answer.json()["type"] == "source-unavailable"


def test_readiness_waits_for_the_first_read() -> None:
    made = build_services(ServerOptions(MemoryEngine(), MemoryInbox(), FixedClock()))

    async def ask():
        async with client(made) as http:
            return await http.get("/readyz"), await http.get("/healthz")

    ready, alive = asyncio.run(ask())
    assert (ready.status_code, ready.json()["status"]) == (503, "starting")
    assert alive.status_code == 200


def test_no_pipeline_and_no_prometheus_are_hints_with_text_to_copy() -> None:
    hints = {hint["code"]: hint for hint in get("/api/v1/tables", MemoryEngine()).json()["hints"]}
    assert set(hints) == {"no_pipeline", "no_prometheus", "no_tables"}
    assert "[prometheus.main]" in hints["no_prometheus"]["snippet"]
    detail = {hint["code"]: hint for hint in get(TABLE).json()["hints"]}
    assert set(detail) == {"no_prometheus", "no_jobs"}
    assert '"lake.sales.orders"' in detail["no_jobs"]["snippet"]


def test_a_name_that_was_never_readable_has_a_page_that_says_why() -> None:
    bad = change(
        "unreadable", NOW - HOUR, "metadata_truncated", table_uuid=None, table="broken", detail="cut at byte 9"
    )
    answer = get("/api/v1/tables/lake/sales/broken", lake([], [bad]))
    assert answer.status_code == 200
    assert answer.json()["status"] == "unreadable"
    assert answer.json()["unreadable_code"] == "metadata_truncated"
    rows = get("/api/v1/tables", lake([], [bad])).json()["rows"]
    assert (rows[0]["reason"]["code"], rows[0]["values"]["data_files"]) == ("unreadable", None)


def test_a_table_that_became_unreadable_keeps_its_history_until_it_is_readable_again() -> None:
    engine = filled()
    engine.append([], [change("unreadable", NOW - HOUR, "metadata_truncated", detail="cut at byte 9")])
    detail = get(TABLE, engine).json()
    assert (detail["status"], detail["values"]["data_files"]) == ("unreadable", 51_202)
    engine.append([], [change("unreadable", NOW - MINUTE, None)])
    assert get(TABLE, engine).json()["status"] == "ok"


def test_a_namespace_and_a_name_with_odd_characters_survive_the_url() -> None:
    engine = lake([row(1, NOW - HOUR, 5, namespace="a~db", table="x/y~dz")])
    answer = get("/api/v1/tables/lake/a~db/x~sy~dz", engine)
    assert answer.status_code == 200
    assert (answer.json()["namespace"], answer.json()["table"]) == ("a.b", "x/y.z")


def test_gauges_of_a_table_are_exposed_and_unknown_ones_are_not() -> None:
    text = get("/metrics").text
    assert 'lakehouse_table_data_files{catalog="lake",table_namespace="sales",table="orders"} 51202' in text
    assert "lakehouse_table_delete_files{" not in text
    assert "lakehouse_table_commits_total{" not in text
    assert "process_resident_memory_bytes" in text


def test_unreadable_metadata_is_503_where_no_other_source_responds() -> None:
    engine = MemoryEngine()
    engine.failure = SourceUnavailable("meta", "catalog is down")
    for path in (TABLE, f"{TABLE}/timeline?lanes=data_files", "/api/v1/commits"):
        answer = get(path, engine)
        assert (answer.status_code, answer.json()["type"]) == (503, "source-unavailable"), path
    status = get("/api/v1/status", engine).json()
    assert {s["id"]: s["status"] for s in status["sources"]}["meta"] == "error"


def test_responses_have_exactly_the_documented_fields() -> None:
    schemas = document()["components"]["schemas"]
    for path, name in [
        ("/api/v1/tables", "TablesPage"),
        (TABLE, "TableDetail"),
        (f"{TABLE}/timeline", "Timeline"),
        (f"{TABLE}/commits", "CommitsPage"),
        (f"{TABLE}/commits/{BIG}", "CommitDetail"),
        ("/api/v1/status", "Status"),
    ]:
        assert set(get(path).json()) == set(schemas[name]["required"]), name
    problem = get("/api/v1/tables?limit=0").json()
    assert set(problem) == set(schemas["Problem"]["properties"])


def test_without_a_build_a_page_explains_how_to_make_one() -> None:
    answer = get("/t/lake/sales/orders")
    assert answer.status_code == 200
    assert "make build" in answer.text


@pytest.fixture
def build(tmp_path: Path) -> Path:
    (tmp_path / "_app/immutable").mkdir(parents=True)
    (tmp_path / "200.html").write_text("<html><script>boot()</script></html>")
    (tmp_path / "_app/immutable/a.js").write_text("let a = 1")
    (tmp_path / "_app/immutable/a.js.gz").write_bytes(b"packed")
    return tmp_path


def test_the_dashboard_is_served_with_its_bootstrap_allowed_by_hash(build) -> None:
    answer = get("/t/lake/sales/orders", build=build)
    assert "boot()" in answer.text
    assert "script-src 'self' 'sha256-" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-cache"
    assert "boot()" in get("/../../etc/passwd", build=build).text


def test_immutable_files_are_cached_forever_and_matching_etags_return_304(build) -> None:
    async def ask():
        async with client(parts(), build) as http:
            first = await http.get("/_app/immutable/a.js", headers={"accept-encoding": "identity"})
            tag = {"if-none-match": first.headers["etag"]}
            return first, await http.get("/_app/immutable/a.js", headers=tag)

    first, again = asyncio.run(ask())
    assert first.text == "let a = 1"
    assert "immutable" in first.headers["cache-control"]
    assert again.status_code == 304


def test_a_compressed_file_is_served_to_clients_that_accept_it(build) -> None:
    async def ask():
        async with (
            client(parts(), build) as http,
            http.stream("GET", "/_app/immutable/a.js", headers={"accept-encoding": "gzip"}) as answer,
        ):
            return answer.headers["content-encoding"]

    assert asyncio.run(ask()) == "gzip"


def test_freshness_follows_the_clock() -> None:
    clock = FixedClock(NOW + HOUR)
    assert get(TABLE, clock=clock).json()["freshness"]["age_s"] == 3 * 3600


def test_tables_that_grew_are_listed_with_their_growth_only_on_request() -> None:
    asked = get("/api/v1/tables?grew=0&within=604800&from=0").json()
    assert [row["growth"]["files_after"] > row["growth"]["files_before"] for row in asked["rows"]] == [True]
    assert get("/api/v1/tables?grew=1000000&from=0").json()["total"] == 0
    assert {row["growth"] for row in get("/api/v1/tables").json()["rows"]} == {None}


@pytest.mark.parametrize("path", ["/api/v1/tables", "/api/v1/commits", TABLE, f"{TABLE}/timeline", f"{TABLE}/commits"])
def test_before_the_first_read_a_page_reports_loading_and_never_an_empty_lake(path) -> None:
    made = build_services(ServerOptions(filled(), MemoryInbox(), FixedClock()))

    async def scenario() -> int:
        async with client(made) as http:
            early = await http.get(path)
            assert (early.status_code, early.json()["type"]) == (503, "source-unavailable")
            assert "first time" in early.json()["detail"]
            made.store.refresh()
            return (await http.get(path)).status_code

    assert asyncio.run(scenario()) == 200
