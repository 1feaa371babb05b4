"""Which characters a statement may contain, and which names need no quotes. Shared by the dialects. Pure.

A name or value is chosen by others. Characters that are invisible or change the order in which text is displayed (line
breaks, other control characters, bidirectional marks) would show a statement that differs from the one that runs.
Literals escape them. Quoted identifiers have no escapes, so such names yield no statement, and neither do names that a
client which splits a script without regard to quoted identifiers (`spark-sql` does) takes for the end of a statement or
the begin of a comment.
"""

from __future__ import annotations

import re

from limnograph.analysis.advice.statements.subject import NoStatement

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPLITS = re.compile(r";|--|/\*|\*/|\$\{")
_LONGEST = 60
RESERVED = frozenset(
    (  # noqa: SIM905
        "all alter and anti any array as asc at authorization between both by call case cast check collate "
        "collation column constraint create cross cube current_catalog current_date current_path current_role "
        "current_schema current_time current_timestamp current_user deallocate default delete desc describe "
        "distinct drop else end escape except execute exists extract false fetch filter for foreign from full "
        "function grant group grouping having in inner insert intersect interval into is join json_array "
        "json_exists json_object json_query json_table json_value lateral leading left like listagg local localtime "
        "localtimestamp map minus natural normalize not null offset on only or order outer overlaps position "
        "prepare primary recursive references right rollup select semi session_user set skip some sql start system "
        "table tablesample then time to trailing true truncate trim uescape union unique unknown unnest update user "
        "using values when where with within"
    ).split()
)
"""Reserved words of Spark (ANSI) and Trino, and words that begin an expression."""


def is_plain(name: str) -> bool:
    """Whether both dialects read the bare word as this name."""
    return _PLAIN.fullmatch(name) is not None and name.lower() not in RESERVED


def checked_name(name: str) -> str:
    """The name, if it can be written between quotes. Raises NoStatement."""
    if not name:
        raise NoStatement("A name is empty.")
    if not name.isprintable():
        raise NoStatement(f"The name {shown(name)} contains an invisible character, which no identifier can escape.")
    if found := _SPLITS.search(name):
        raise NoStatement(f"The name {shown(name)} contains `{found[0]}`, at which clients may cut the statement.")
    return name


def checked_value(value: str) -> str:
    """The value, if it is valid text. Raises NoStatement."""
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise NoStatement(f"The value {shown(value)} is not valid text.")
    return value


def shown(text: str) -> str:
    """A name or value in a sentence: escaped, in quotes, cut to a readable length."""
    cut = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    return '"' + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in cut) + '"'
