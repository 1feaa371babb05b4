"""Every documented route of a real server, asked with generated requests: each answer is one that the document has.

LIMNOGRAPH_STEPS makes more requests (`make nightly`); each route gets 8 requests of either kind otherwise.
"""

import os
from collections.abc import Iterator
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from api_document import document
from limnograph.api.docs.reference.examples import NAMES
from served_lake import Served, served

REQUESTS = max(8, int(os.environ.get("LIMNOGRAPH_STEPS", "0")) // 100)
SEED = int(os.environ.get("LIMNOGRAPH_SEED", "20261121"))
WITHIN_S = 60
"""An answer may come late on a busy machine; what is asked here is what it says."""
DOCUMENT = document()
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS = {found.ok().definition.raw["operationId"]: found.ok() for found in SCHEMA.get_all_operations()}
ENDLESS = {"getStream"}
OPEN = {name for name, found in OPERATIONS.items() if found.definition.raw["security"] == []}
CONFORMS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
pytestmark = pytest.mark.xdist_group("schemathesis")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.fixture(scope="module")
def caller() -> Iterator[requests.Session]:
    """Keeps its connection; says nothing about who it is, and keeps no cookie."""
    with requests.Session() as session:
        session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        yield session


def ask(operation: Any, mode: GenerationMode, check: Any) -> None:
    """Call `check` with cases of an operation; half of them ask for the table that there is, where they name one."""

    @seed(SEED)
    @settings(max_examples=REQUESTS, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode), known=st.booleans())
    def run(case: Any, known: bool) -> None:
        check(case, known)

    run()


def asked_in_modes() -> Iterator[tuple[str, GenerationMode]]:
    """Every operation that ends; what takes nothing cannot be asked wrongly."""
    for name in sorted(OPERATIONS.keys() - ENDLESS):
        yield name, GenerationMode.POSITIVE
        if {"parameters", "requestBody"} & OPERATIONS[name].definition.raw.keys():
            yield name, GenerationMode.NEGATIVE


@pytest.mark.parametrize(("name", "mode"), list(asked_in_modes()))
def test_every_response_to_an_authorized_caller_is_documented(server, caller, name: str, mode: GenerationMode) -> None:
    authorised = {"authorization": f"Bearer {server.token}"}
    table = {"catalog": "lake", "namespace": "sales", "table": "orders", "snapshot_id": server.snapshots[-1]}

    def check(case: Any, known: bool) -> None:
        if known and case.path_parameters:
            case.path_parameters = {key: table.get(key, value) for key, value in case.path_parameters.items()}
        answer = case.call(server.url, caller, authorised, timeout=WITHIN_S)
        assert answer.status_code not in {401, 403} or name == "createSession"
        wrong = mode is GenerationMode.NEGATIVE and not known and case.method == "GET"
        case.validate_response(answer, checks=[*CONFORMS, checks.negative_data_rejection] if wrong else CONFORMS)

    ask(OPERATIONS[name], mode, check)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_an_unauthenticated_caller_is_refused_as_documented_except_on_open_routes(server, caller, name) -> None:
    body = {"body": {}} if "requestBody" in OPERATIONS[name].definition.raw else {}
    case = OPERATIONS[name].Case(path_parameters=dict(NAMES), headers={}, **body)
    answer = case.call(server.url, caller, timeout=WITHIN_S)
    case.validate_response(answer, checks=CONFORMS)
    assert (answer.status_code == 401) is (name not in OPEN)


def test_the_stream_begins_as_documented(server) -> None:
    address, headers = f"{server.url}/api/v1/stream", {"authorization": f"Bearer {server.token}"}
    with requests.get(address, headers=headers, stream=True, timeout=WITHIN_S) as answer:
        assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, "text/event-stream")
        assert next(answer.iter_lines()) == b"retry: 2000"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST", "GET"])
def test_an_undocumented_method_is_a_problem_that_names_it(server, caller, method: str) -> None:
    for path, operations in DOCUMENT["paths"].items():
        if method.lower() in operations:
            continue
        address = server.url + path.format(**NAMES)
        headers = {"authorization": f"Bearer {server.token}"}
        answer = caller.request(method, address, headers=headers, timeout=WITHIN_S)
        assert (answer.status_code, answer.json()["type"]) == (405, "method-not-allowed"), (method, path)
        assert answer.headers["content-type"] == "application/problem+json"
        assert {verb.upper() for verb in operations} <= set(answer.headers["allow"].split(", ")), path
