"""Names and values that someone who may create tables could choose, for property tests of generated statements."""

from __future__ import annotations

from hypothesis import strategies as st

PIECES = (
    *"ab_ .`'\"\\;$@{}()-/*%:\u00fc\u0142",
    "--",
    "/*",
    "*/",
    "${x}",
    "''",
    "\\'",
    "\\u0041",
    "\n",
    "\t",
    "\0",
    "\u202e",
    "\u2066",
    "\u200b",
    "\u00a0",
    "\u2028",
    "\U0001f600",
    "select",
    "DROP TABLE x",
    " WHERE true",
)
_ANY = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join)
NAMES = st.integers(0, 9).flatmap(lambda n: _ANY if n == 0 else _ANY.filter(lambda name: not is_refused(name)))
"""One in ten may be refused."""
VALUES = st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=8)


def is_refused(name: str) -> bool:
    """Whether no identifier can carry the name safely: invisible characters, ends of statements, comments."""
    return not name.isprintable() or any(each in name for each in (";", "--", "/*", "*/", "${"))
