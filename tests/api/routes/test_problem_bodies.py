"""Problems on the wire name no path and no address of this installation, whichever error they come from."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import httpx
import pytest

from limnograph.adapters.inbox.store import SqlInbox
from limnograph.api.wire import problems
from limnograph.domain import errors
from limnograph.domain.answers.notes import TeamNote
from limnograph.domain.errors import LimnographError, SourceUnavailable
from limnograph.domain.secrecy import placeless
from limnograph.domain.time import Millis
from serving_kit import NOW, client, parts

PLACES = [
    "/var/lib/limnograph/inbox.db",
    "file:///srv/lake/tables/v1.json",
    "sqlite:////home/ops/.limnograph/inbox.db",
    "postgresql+psycopg://limno@10.0.0.5:5432/accepted",
    "http://prometheus.internal:9090/api",
    "~/state/tokens.json",
    "../state/x",
]


def every(kind: type[LimnographError] = LimnographError) -> Iterator[type[LimnographError]]:
    """The whole tree of errors, as it is now."""
    yield kind
    for below in kind.__subclasses__():
        yield from every(below)


_AT = Millis(1)
NOTE = TeamNote(
    note_id="n",
    event_id="e",
    kind="note",
    scope="table",
    target_id="",
    catalog="lake",
    namespace="sales",
    table="orders",
    table_uuid=None,
    start=None,
    end=None,
    text="theirs",
    author="ada",
    at=_AT,
    until=None,
    created_by="ada",
    created_at=_AT,
    edits=0,
    deleted=False,
)
MADE = {
    errors.NoteSuperseded: lambda text: errors.NoteSuperseded(text, NOTE),
    errors.PlanMoved: lambda text: errors.PlanMoved(text, None),
    errors.TooManyRequests: lambda text: errors.TooManyRequests("too many requests", 1),
    errors.MetadataError: lambda text: errors.MetadataError("unreadable", text),
}
OF_CALLERS = (errors.InvalidInput, errors.NotFound, errors.Unauthenticated, errors.Forbidden)
"""What they quote the caller sent."""


@pytest.mark.parametrize("kind", [kind for kind in every() if not issubclass(kind, OF_CALLERS)])
@pytest.mark.parametrize("place", PLACES)
def test_no_error_reveals_paths_of_the_installation_to_callers(kind, place) -> None:
    text = f"cannot open '{place}' (see {place}): disk is full at {place}"
    if kind in MADE:
        error = MADE[kind](text)
    elif issubclass(kind, errors.SourceError):
        error = kind("inbox", text)
    else:
        error = kind(text)
    found, _ = problems.of_domain(error, "1")
    body = problems.encode(found).decode()
    assert not [part for part in place.split("/") if len(part) > 3 and part in body], body
    assert "disk is full" in body or kind is errors.TooManyRequests


@pytest.mark.parametrize(
    "text",
    [
        "metadata_missing: s3://bucket/wh/t/metadata/v1.metadata.json is not there",
        "lake.sales.orders is not known",
        "send it again; 5/7 of 10 GB/s and 1/2, a/b, and/or",
        "POST /api/v1/runs takes it",
        "cannot store: database or disk is full",
    ],
)
def test_text_that_is_not_a_path_of_the_installation_is_kept(text) -> None:
    assert placeless(text) == text


def test_an_inbox_that_cannot_store_names_its_file_in_the_log_alone(tmp_path, caplog) -> None:
    (tmp_path / "state").write_text("no folder")
    made = parts()
    made.runs._inbox = SqlInbox(f"sqlite:///{tmp_path}/state/inbox.db")
    run = {"run_id": "r", "job_name": "j", "status": "ok", "started_at": NOW // 1000}

    async def ask() -> list[httpx.Response]:
        async with client(made) as http:
            return [await http.post("/api/v1/runs", json=run) for _ in range(5)]

    with caplog.at_level(logging.WARNING, "limnograph.api"):
        answers = asyncio.run(ask())
    assert {answer.status_code for answer in answers} == {503}
    assert not [answer.text for answer in answers if str(tmp_path) in answer.text or "inbox.db" in answer.text]
    told = [record.getMessage() for record in caplog.records if record.name == "limnograph.api"]
    assert len(told) == 1
    assert str(tmp_path) in told[0]
    assert SourceUnavailable.problem_type in answers[0].text
