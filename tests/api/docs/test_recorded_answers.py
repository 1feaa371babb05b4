"""The answers that the browser tests replay are what the API says an answer is: recordings cannot rot."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import jsonschema
import pytest

from api_document import document

_UI = Path(__file__).parents[3] / "e2e/ui"
ALL = [*sorted((_UI / "recorded").glob("*.json")), *sorted((_UI / "without").glob("*.json"))]
REDIRECTS = [file for file in ALL if json.loads(file.read_text())["status"] == 303]
RECORDED = [file for file in ALL if file not in REDIRECTS]
FREE = "/api/v1/alerts/resolve"
"""Every parameter of it is a label, whatever its name."""
DOCUMENT = document()
ROUTES = [
    (re.compile(re.sub(r"\{[^/]+\}", "[^/]+", path)), operations["get"])
    for path, operations in sorted(DOCUMENT["paths"].items(), key=lambda item: item[0].count("{"))
    if "get" in operations
]


def asked(recorded):
    path = urlsplit(recorded["asked"]).path
    return next(operation for pattern, operation in ROUTES if pattern.fullmatch(path))


def test_there_are_recordings() -> None:
    assert len(RECORDED) >= 10


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_a_recorded_answer_conforms_to_the_document(file) -> None:
    recorded = json.loads(file.read_text())
    contents = asked(recorded)["responses"][str(recorded["status"])]["content"]
    (media,) = contents.values()
    schema = {**media["schema"], "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(schema).validate(recorded["body"])


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_a_recorded_request_has_only_existing_parameters(file) -> None:
    recorded = json.loads(file.read_text())
    known = {parameter["name"] for parameter in asked(recorded).get("parameters", ())}
    if urlsplit(recorded["asked"]).path == FREE:
        assert not known
        return
    assert {name for name, _ in parse_qsl(urlsplit(recorded["asked"]).query)} <= known


@pytest.mark.parametrize("file", REDIRECTS, ids=lambda file: file.stem)
def test_the_link_of_an_alert_leads_to_a_page_of_the_dashboard(file) -> None:
    recorded = json.loads(file.read_text())
    assert urlsplit(recorded["asked"]).path == "/a"
    assert re.match(r"/alerts/(resolve\?|[0-9a-f]{16}\?starts_at=\d+$)", recorded["body"]["location"])


@pytest.mark.parametrize("file", ALL, ids=lambda file: file.stem)
def test_a_recording_contains_no_path_of_the_machine_that_made_it(file) -> None:
    text = file.read_text()
    assert ".demo" not in text
    assert "127.0.0.1" not in text
    assert "/home/" not in text
