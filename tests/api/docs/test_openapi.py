"""The committed OpenAPI document is what the handlers say now."""

import json
from pathlib import Path

from api_document import document
from limnograph.api.docs.openapi import render

COMMITTED = Path(__file__).parents[3] / "frontend/src/lib/api/openapi.json"


def test_the_committed_document_is_generated_from_the_handlers() -> None:
    assert COMMITTED.read_text() == render(), (
        "run: python -m limnograph.api.docs.openapi > frontend/src/lib/api/openapi.json"
    )


def test_every_operation_has_an_id_and_documents_its_problems() -> None:
    ids = set()
    for path, operations in document()["paths"].items():
        for verb, operation in operations.items():
            assert operation["operationId"] not in ids, (path, verb)
            ids.add(operation["operationId"])
            assert "application/problem+json" in operation["responses"]["400"]["content"], (path, verb)
    assert "getTimeline" in ids


def test_lanes_are_distinguished_by_their_kind() -> None:
    schemas = document()["components"]["schemas"]
    lanes = schemas["Timeline"]["properties"]["lanes"]["items"]
    assert set(lanes["discriminator"]["mapping"]) == {"step", "line", "band", "events", "bars"}
    assert "kind" in schemas["StepLane"]["required"]
    assert schemas["Range"]["required"] == ["from", "to", "step"]


def test_document_is_json_without_hosts() -> None:
    assert "127.0.0.1" not in json.dumps(document())
