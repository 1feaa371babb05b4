"""Whatever is asked is answered or a problem: never a 500, never a page under /api, never without headers."""

import asyncio
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from serving_kit import HOUR, NOW, application, lake, parts, row

MADE = parts(lake([row(1, NOW - HOUR, 5)]))
TABLE = "/api/v1/tables/lake/sales/orders"
NAMES = [
    "q",
    "ns",
    "sort",
    "dir",
    "from",
    "to",
    "step",
    "lanes",
    "job",
    "cursor",
    "limit",
    "operation",
    "schema_changed",
]
PATHS = ["/api/v1/tables", f"{TABLE}/timeline", f"{TABLE}/commits", "/api/v1/commits", TABLE]


APP = application(MADE)


def get(url):
    async def ask():
        transport = httpx.ASGITransport(app=APP, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://limnograph") as http:
            return await http.get(url)

    return asyncio.run(ask())


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(path=st.sampled_from(PATHS), name=st.sampled_from(NAMES), value=st.text(max_size=30) | st.integers().map(str))
def test_any_value_of_any_parameter_has_a_valid_response(path, name, value) -> None:
    answer = get(f"{path}?{name}={quote(value, safe='')}")
    assert answer.status_code in {200, 400}, answer.text
    if answer.status_code == 400:
        assert answer.json()["field"], answer.text


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(parts_=st.lists(st.text(min_size=1, max_size=12), min_size=1, max_size=6))
def test_any_path_under_the_api_returns_a_response_or_a_problem(parts_) -> None:
    answer = get("/api/v1/" + "/".join(quote(part, safe="") for part in parts_))
    assert answer.status_code in {200, 400, 404, 405}, answer.text
    assert "html" not in answer.headers["content-type"]
    assert "content-security-policy" in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1//tables",
        "/api/v1/tables/",
        "/api/v1/tables/lake",
        "/api/v1/tables/lake/sales",
        "/api/v1/tables/lake/sales/orders/commits/",
        "/api/v1/tables/..%2f..%2fetc/passwd/x",
        "/api/v1/tables/lake/sales/orders%00",
        "/api/v1/%c0%af",
        "/api/v1/tables?from=1&from=2",
        "/api/v1/tables?%ff=%ff&q=%ff",
        "/API/v1/tables",
    ],
)
def test_malformed_paths_have_a_valid_response(path) -> None:
    assert get(path).status_code in {200, 400, 404}
