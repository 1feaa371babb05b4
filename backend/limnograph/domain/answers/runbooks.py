"""Wire structs of runbooks for one table."""

from __future__ import annotations

from limnograph.domain.answers.view import View


class RunbookStatement(View, frozen=True, kw_only=True):
    """A code block of the runbook, for the table. `code`: null if it cannot be written for this table. `note`: the
    reason, the omitted condition, or placeholders to replace; null: the code can be run as it is.
    """

    code: str | None
    note: str | None


class TableRunbook(View, frozen=True, kw_only=True):
    """The statements of a runbook for one table, one per code block of its text (`/docs/runbooks/NAME`), in order."""

    name: str
    statements: list[RunbookStatement]
