"""Doors that are not there, and what every answer says to browsers. SECURITY.md names a test for every threat."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from api_document import document
from limnograph.api.docs.reference.examples import NAMES
from limnograph.api.spa import load
from serving_kit import HOUR, NOW, application, client, lake, parts, row

ROOT = Path(__file__).parents[3]
TABLE = "/api/v1/tables/lake/sales/orders"
MADE = parts(lake([row(1, NOW - HOUR, 5)]))


def test_every_threat_has_a_test_that_exists() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    rows = re.findall(r"^\| (T\d+) \|(.*)\|$", text, re.MULTILINE)
    assert [name for name, _ in rows] == [f"T{number}" for number in range(1, 35)]
    for name, cells in rows:
        tests = re.findall(r"`((?:tests|e2e|frontend)/[\w./-]+?)(?:::(\w+))?`", cells)
        assert tests, f"{name} names no test"
        for file, function in tests:
            assert (ROOT / file).is_file(), f"{name}: {file}"
            assert not function or f"def {function}(" in (ROOT / file).read_text(), f"{name}: {function}"


def test_no_route_takes_a_query_in_any_language() -> None:
    found = document()
    names = {p["name"] for path in found["paths"].values() for o in path.values() for p in o.get("parameters", [])}
    assert not names & {"sql", "query", "promql", "expr", "match", "match[]", "url", "target", "datasource"}
    assert not [path for path in found["paths"] if re.search(r"proxy|federate|series|/labels?/|query|export", path)]


def test_no_response_can_be_run_by_a_spreadsheet() -> None:
    operations = [operation for path in document()["paths"].values() for operation in path.values()]
    media = {m for o in operations for answer in o["responses"].values() for m in answer.get("content", {})}
    # text/plain: the exposition, whose names and numbers are our own.
    assert media == {"application/json", "application/problem+json", "text/event-stream", "text/plain"}


def test_there_is_no_maintenance_by_http_without_scope_and_mode() -> None:
    declared = {
        (method, route.path): handler.opt["scope"]
        for route in application(MADE)._app.routes
        for handler in getattr(route, "route_handlers", ())
        if "scope" in handler.opt
        for method in handler.http_methods
    }
    decisions = {"maintain:propose", "maintain:approve"}
    assert set(declared.values()) == {"open", "read", "webhook", "annotate", "metrics", *decisions}
    changing = {path: scope for (method, path), scope in declared.items() if method != "GET" and "/maintenance" in path}
    assert len(changing) == 6
    assert set(changing.values()) == decisions
    assert not {path for path in changing if not path.startswith("/api/v1/maintenance/")}

    async def ask(path: str, body: dict[str, object]) -> int:
        async with client(MADE) as http:
            return (await http.post(path.format(**NAMES), json=body)).status_code

    for path in changing:
        for body in ({}, {"arguments_sha256": "0" * 64, "seq": 1}, {"plan_id": "0" * 32}, {"key": "x"}):
            assert asyncio.run(ask(re.sub(r"\{(\w+):str\}", r"{\1}", path), body)) == 403, path


def test_the_server_contains_no_executor() -> None:
    """Nothing that the server consists of imports what runs actions; only the wiring of `limnograph maintain` does."""
    backend = ROOT / "backend/limnograph"
    executor = re.compile(r"limnograph\.(services\.maintenance|adapters\.spark\.maintenance|wiring\.maintain)\b")
    allowed = (
        "services/maintenance/",
        "adapters/spark/maintenance/",
        "wiring/maintain/",
        "jobs/maintain",
        "cli/maintain",
    )
    found = {
        str(file.relative_to(backend))
        for file in backend.rglob("*.py")
        if executor.search(file.read_text()) and not str(file.relative_to(backend)).startswith(allowed)
    }
    assert found == set()


@pytest.mark.parametrize(
    "path", ["/", TABLE, "/api/v1/tables", "/healthz", "/metrics", "/login", "/api/v1/none", "//x"]
)
def test_every_response_has_the_same_security_headers(path) -> None:
    async def ask():
        async with client(MADE) as http:
            request = http.build_request("GET", "/")
            request.url = request.url.copy_with(raw_path=path.encode())
            return await http.send(request)

    headers = asyncio.run(ask()).headers
    assert {
        name: headers[name] for name, _ in load(Path("/nonexistent")).headers if name != "content-security-policy"
    } == {
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "x-frame-options": "DENY",
    }
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["base-uri"] == "'none'"
    assert "unsafe-inline" not in headers["content-security-policy"]
    assert "unsafe-eval" not in headers["content-security-policy"]


def test_no_header_of_a_caller_changes_responses_to_others() -> None:
    hostile = {
        "host": "evil.example",
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "javascript",
        "x-forwarded-prefix": "/evil",
        "x-original-url": "/api/v1/status",
        "x-http-method-override": "DELETE",
        "forwarded": "host=evil.example",
        "accept": "text/html",
        "accept-language": "evil",
    }

    async def ask():
        async with client(MADE) as http:
            first = await http.get(TABLE, headers=hostile)
            return first, await http.get(TABLE)

    first, second = asyncio.run(ask())
    assert first.content == second.content
    assert b"evil" not in first.content
    assert "evil" not in str(first.headers)


def test_every_dependency_is_pinned_by_its_hash() -> None:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pinned = [index for index, line in enumerate(lines) if re.match(r"[a-z0-9]", line)]
    assert pinned
    for index in pinned:
        assert "==" in lines[index], lines[index]
        assert lines[index + 1].strip().startswith("--hash=sha256:"), lines[index]
    for folder in ("frontend", "e2e"):
        packages = json.loads((ROOT / folder / "package-lock.json").read_text())["packages"]
        for name, found in packages.items():
            assert not name or found.get("link") or found["integrity"].startswith("sha512-"), name
        assert "ignore-scripts=true" in (ROOT / folder / ".npmrc").read_text().splitlines()
    makefile = (ROOT / "Makefile").read_text()
    assert "--require-hashes" in makefile
    assert "npm ci" in makefile
