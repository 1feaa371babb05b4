"""One spelling of every path: what a proxy, a cache or a router could read differently is refused before routing."""

import json
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_pages import answer

from access_kit import guarded
from api_document import document
from limnograph.api.docs.reference.examples import NAMES
from limnograph.api.front.paths import refusal
from serving_kit import NOW, application, lake, parts, row

TABLE = "/api/v1/tables/lake/sales/orders"
MADE = parts(lake([row(1, NOW, 5)]))


@pytest.mark.parametrize(
    "path",
    [
        b"/",
        b"/api/v1/tables",
        b"/api/v1/tables/",
        b"/t/lake/sales/a~db",
        b"/t/lake/sales/a%3Bb%20c%25d",
        b"/t/lake/%C3%A9t%C3%A9/x",
        b"/t/lake/a,b@c:d=e!$&'()*+/x",
        b"/v1/namespaces/a%1Fb/tables/c/metrics",
        b"/_app/immutable/entry/start.Abc-1_2.js",
        b"/t/lake/a%7Eb/c",
        b"/t/lake/.hidden/c..d",
    ],
)
def test_paths_as_programs_and_browsers_write_them_are_accepted(path) -> None:
    assert refusal(path) is None


@pytest.mark.parametrize(
    "path",
    [
        b"",
        b"*",
        b"api/v1",
        b"//api",
        b"/api//v1",
        b"/api/v1//",
        b"/api/./v1",
        b"/api/../v1",
        b"/api/v1/..",
        b"/api/%2e%2e/v1",
        b"/api/v1/%2E",
        b"/api%2fv1",
        b"/api%2Fv1",
        b"/api\\v1",
        b"/api/%5cv1",
        b"/api/v1;x=1/tables",
        b"/a%00",
        b"/a%0d%0ab",
        b"/a%1Fb",
        b"/a%7f",
        b"/a\x00",
        b"/a b",
        b"/\xc3\xa9",
        b"/%c0%af",
        b"/%ff",
        b"/%",
        b"/%2",
        b"/%zz",
        b"/" + b"a" * 5_000,
    ],
)
def test_any_other_spelling_is_refused(path) -> None:
    assert refusal(path)


@given(st.binary(max_size=60))
def test_every_accepted_path_decodes_to_one_canonical_path(raw) -> None:
    path = b"/" + raw
    if refusal(path) is None:
        text = unquote_to_bytes(path).decode()
        assert not {"", ".", ".."} & set(text.split("/")[1:-1])
        assert "\\" not in text
        assert text.count("/") == path.count(b"/")


MUTATED = [
    lambda path: "/" + path,
    lambda path: path + "/",
    lambda path: path + "//",
    lambda path: path + "/.",
    lambda path: path + "/x/..",
    lambda path: path + ";a=b",
    lambda path: path + ".",
    lambda path: path + "%00",
    lambda path: path + "%20",
    lambda path: path[:1] + path[1:].replace("/", "%2f"),
    lambda path: path[:1] + path[1:].replace("/", "\\"),
    lambda path: path.upper(),
    lambda path: path[:-1] + f"%{ord(path[-1]):02x}",
]

GUARDED = [
    (method.upper(), path.format(**NAMES))
    for path, operations in document()["paths"].items()
    for method, operation in operations.items()
    if operation["security"]
]
"""Every route that not everybody may ask."""


@pytest.mark.parametrize("mutate", MUTATED)
def test_no_spelling_of_a_route_is_less_protected(mutate, tmp_path) -> None:
    app = application(MADE, gate=guarded(tmp_path).gate)
    for method, path in GUARDED:
        found = answer(app, method, mutate(path), {})
        assert found.status_code in {303, 400, 401, 404, 405}, (method, mutate(path))
        assert b"data_files" not in found.raw


def test_a_slash_at_the_end_is_another_path_on_every_route(tmp_path) -> None:
    made = guarded(tmp_path)
    app, caller = application(MADE, gate=made.gate), made.bearer("read", "webhook", "annotate", "maintain")
    for path, operations in document()["paths"].items():
        for method in operations:
            for spelled in (path.format(**NAMES) + "/", path.format(**NAMES) + "/?x=1"):
                found = answer(app, method.upper(), spelled, caller)
                assert (found.status_code, json.loads(found.raw)["type"]) == (404, "not-found"), (method, spelled)
    for page in ("/", "/t/lake/sales/orders/"):  # the shell, which holds no data
        assert answer(app, "GET", page, caller).status_code == 200


def test_every_route_is_covered_by_the_tests_of_spelling() -> None:
    assert len(GUARDED) > 25
    assert {("GET", TABLE), ("GET", "/metrics"), ("GET", "/api/v1/stream"), ("POST", "/api/v1/runs")} <= set(GUARDED)
