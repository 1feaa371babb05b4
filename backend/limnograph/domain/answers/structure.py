"""Shared by the pages of a table's structure (partitions, schemas, refs): wire structs as `domain/answers/tables.py`.

Ids are text, instants epoch ms, sizes bytes; null = unknown, never 0. A note is a sentence about what is missing.
"""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.tables import Health
from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis

NoteCode = Literal[
    "unreadable",
    "no_state",
    "no_state_before",
    "top_only",
    "rest_unknown",
    "shown_only",
    "heat_left_out",
    "names_are_identity",
    "no_sort_orders",
    "one_branch",
    "savepoints",
    "deletes_are_vectors",
    "deletes_are_logs",
    "versions_left_out",
    "moves_left_out",
    "meta_unread",
    "chain_broken",
    "retention_unknown",
    "reads_by_hour",
    "older_runs_unread",
    "schema_unknown",
]


class Note(View, frozen=True, kw_only=True):
    """What is missing and why: a code from a closed set and a sentence."""

    code: NoteCode
    sentence: str


class PageHead(View, frozen=True, kw_only=True):
    """The table that a page is about, and the `watermark` up to which it is known."""

    catalog: str
    namespace: str
    table: str
    format: str | None
    status: Health
    watermark: Millis | None
    notes: list[Note]
