"""For `job_run` and for events of Trino: why Iceberg refused a commit, from the exception that ended a query. The text
of the exception holds literals and paths and is not kept.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_REFUSED = re.compile(r"org\.apache\.iceberg\.exceptions\.(CommitFailedException|ValidationException): ([^\n]*)")
_KINDS = (
    ("files_added", r"conflicting files that can contain"),
    ("files_removed", r"[Mm]issing (required|data) files|conflicting deleted files"),
    (
        "deletes_added",
        r"new (position |equality )?deletes? for replaced|conflicting delete files|concurrently added DV",
    ),
    ("schema_changed", r"(current schema|last assigned (field|partition) id|default (partition )?spec|sort order)\S* "),
    ("ref_moved", r"created concurrently|Cannot determine history"),
    ("lost_race", r"stale table metadata|has changed|was updated concurrently"),
)
"""Kinds of conflicts and signs of them in Iceberg's messages, of which the first one that is found counts."""


class Ending(NamedTuple):
    """How a query ended, in values of the columns `outcome` and `conflict_kind`."""

    outcome: str
    conflict_kind: str | None = None


def ending(error: str) -> Ending:
    """`error`: the stack trace as Spark keeps it; empty if the query succeeded."""
    if not error:
        return Ending("ok")
    refused = _REFUSED.search(error)
    if refused is None:
        return Ending("failed")
    kind = kind_of(refused[2])
    # A validation that names no other commit is an invalid request.
    return Ending("failed") if kind == "other" and refused[1] == "ValidationException" else Ending("conflict", kind)


def kind_of(message: str) -> str:
    """The kind of a conflict of which Iceberg says this; `other` if the message is not known."""
    return next((kind for kind, sign in _KINDS if re.search(sign, message)), "other")
