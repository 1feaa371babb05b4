"""The body of a pushed run: which bytes it may report, and what becomes of them."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from limnograph.api.routes.system import _fact
from limnograph.api.wire.views import RunIn
from limnograph.domain.errors import InvalidInput
from limnograph.domain.facts.events import RunFact
from limnograph.services.events.bodies import parse
from serving_kit import NOW, FixedClock

BODY = {"run_id": "r", "job_name": "load", "status": "ok", "started_at": NOW // 1_000 - 5, "ended_at": NOW // 1_000}


def stored(**fields: Any) -> RunFact:
    """The fact of a body, without a server: names of tables stay as they are."""
    backend: Any = SimpleNamespace(clock=FixedClock(), resolved=lambda name: name)
    return _fact(parse(json.dumps({**BODY, **fields}).encode(), RunIn), backend)


@pytest.mark.parametrize("read_bytes", [0, 1, 2**53 + 1, 2**63 - 1, None])
def test_read_bytes_are_stored_as_sent(read_bytes: int | None) -> None:
    assert stored(read_bytes=read_bytes).read_bytes == read_bytes
    assert stored(read_bytes=read_bytes, status="running", ended_at=None).read_bytes == read_bytes


def test_a_body_without_read_bytes_does_not_know_them() -> None:
    assert stored().read_bytes is None


@pytest.mark.parametrize("wrong", [-1, 1.5, 5.0, 1e30, "7", "", True, [], {}, 2**63, 2**64, 10**40])
def test_other_values_are_rejected_and_the_field_is_named(wrong: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        stored(read_bytes=wrong)
    assert refused.value.field == "read_bytes"
    assert "int" in refused.value.detail
