"""Fills the statements of a runbook (docs/runbooks) for one table. Pure.

A template is one fenced block. Its placeholders are in angle brackets, and each is replaced by what its language and
its place need: a quoted name, a string literal, a condition. Placeholders that only the user can replace (`<column>`)
remain and are named in the note. Where a name cannot be written safely, there is no statement but a reason.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from limnograph.analysis.advice.statements import python, spark, trino
from limnograph.analysis.advice.statements.instants import date_text
from limnograph.analysis.advice.statements.subject import NoStatement, StatementTable
from limnograph.analysis.advice.statements.touched_rows import Predicate
from limnograph.analysis.advice.statements.words import checked_name
from limnograph.domain.time import Millis

_MS_PER_DAY = 86_400_000
_ROWS = "<partition predicate>"
_ROWS_CLAUSE = re.compile(r"\n *where => '<partition predicate>',|\s+WHERE <partition predicate>")
_OPEN = re.compile(r"<[a-z][a-z -]*>")
_FULL = "<catalog>.<namespace>.<table>"
_METADATA = re.compile(r'<catalog>\.<namespace>\."<table>\$([a-z_]+)"')


class FilledStatement(NamedTuple):
    """`code`: None if it cannot be written. `note`: the reason, what was left out, or what is still to be replaced."""

    code: str | None
    note: str | None


def fill(language: str, code: str, table: StatementTable, touched: Predicate | None, now: Millis) -> FilledStatement:
    """A block in the language `sql` (Spark), `trino`, `python`, `sh` or `yaml`. `touched`: the rows that a commit
    wrote; None: there is no commit.
    """
    words = _WORDS.get(language)
    try:
        if words is None:
            return FilledStatement(code, _still_open(code))
        code, note = _with_rows(language, code, touched)
        week_ago = f"{date_text((now - 7 * _MS_PER_DAY) // _MS_PER_DAY)} 00:00:00"
        filled = words(code.replace("<a week ago>", week_ago), table)
    except NoStatement as reason:
        return FilledStatement(None, str(reason))
    return FilledStatement(filled, note or _still_open(code))


_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(markdown: str) -> Sequence[tuple[str, str]]:
    """Language and code of each fenced block, in order."""
    return [(language, code.rstrip()) for language, code in _FENCE.findall(markdown)]


def _still_open(code: str) -> str | None:
    left = [each for each in dict.fromkeys(_OPEN.findall(code)) if each not in _FILLED]
    return f"Example: replace {', '.join(left)} with your own." if left else None


_FILLED = {"<catalog>", "<namespace>", "<table>", "<a week ago>", _ROWS}


def _with_rows(language: str, code: str, touched: Predicate | None) -> tuple[str, str | None]:
    """The code with the condition for the rows of the commit, or without a condition and why."""
    if _ROWS not in code:
        return code, None
    condition = touched and (touched.sql if language == "sql" else touched.trino)
    if condition:
        literal = spark.string(condition) if language == "sql" else condition
        place = f"'{_ROWS}'" if language == "sql" else _ROWS
        return code.replace(place, _protected(literal)), touched and touched.note
    why = (touched and touched.note) or (
        "Trino cannot select these partitions."
        if touched and touched.sql
        else "The partitions of a commit are unknown."
    )
    return _ROWS_CLAUSE.sub("", code), f"{why} The statement affects the whole table."


def _protected(text: str) -> str:
    """Text that came from outside must not be read as a placeholder: `<` is put back at the end."""
    return text.replace("<", _LESS)


_LESS = "\ue000"


def _replaced(code: str, replacements: Mapping[str, str]) -> str:
    """All placeholders at once: a name may look like one."""
    pattern = re.compile("|".join(map(re.escape, sorted(replacements, key=len, reverse=True))))
    return pattern.sub(lambda found: replacements[found[0]], code).replace(_LESS, "<")


def _spark(code: str, table: StatementTable) -> str:
    name = spark.name(table.path)
    return _replaced(
        code,
        {
            f"'{_FULL}'": spark.string(name),
            _FULL: name,
            "<catalog>": spark.name(table.path[:1]),
            "'<table>'": spark.string(table.path[-1]),
        },
    )


def _trino(code: str, table: StatementTable) -> str:
    return _replaced(
        code,
        {
            **{found[0]: trino.metadata_table(table, found[1]) for found in _METADATA.finditer(code)},
            _FULL: trino.table_name(table),
            "<catalog>": trino.catalog_name(table),
            "'<table>'": trino.string(table.path[-1]),
        },
    )


def _python(code: str, table: StatementTable) -> str:
    catalog, *names = table.path
    return _replaced(code, {'"<catalog>"': python.string(catalog), '"<namespace>.<table>"': python.strings(names)})


def _shell(code: str, table: StatementTable) -> str:
    return _replaced(code, {_FULL: shlex.quote(".".join(map(checked_name, table.path)))})


def _yaml(code: str, table: StatementTable) -> str:
    catalog, *levels, name = table.path
    named = {"<catalog>": catalog, "<namespace>": ".".join(levels), "<table>": name}
    return _replaced(code, {key: json.dumps(value) for key, value in named.items()})


_WORDS: dict[str, Callable[[str, StatementTable], str]] = {
    "sql": _spark,
    "trino": _trino,
    "python": _python,
    "sh": _shell,
    "yaml": _yaml,
}
