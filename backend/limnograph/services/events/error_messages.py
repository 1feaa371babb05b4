"""Error messages of engines without what they quote: engines repeat statements, plans and literals in them."""

from __future__ import annotations

import re

_STATEMENT = re.compile(r"\n?(== ?SQL|== [A-Za-z ]*Plan ==|\bSTATEMENT:|\[SQL:|\bQuery:).*", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")


def without_statements(message: str) -> str:
    """The message up to the first statement or plan, with quoted text replaced by an ellipsis."""
    return _QUOTED.sub("'…'", _STATEMENT.sub("", message)).strip()
