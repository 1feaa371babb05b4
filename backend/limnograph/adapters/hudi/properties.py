"""`hoodie.properties`: a Java properties file. Broken lines are skipped, never a reason to refuse a table."""

from __future__ import annotations

import re

MAX_PROPERTIES_BYTES = 8 * 2**20
MAX_ENTRIES = 10_000
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SEPARATOR = re.compile(r"(?<!\\)(?:\\\\)*(?P<separator>\s*[=:]\s*|\s+)")
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\$")


def parse_properties(content: bytes) -> dict[str, str]:
    """Keys and values with escapes resolved (java.util.Properties.load); the last of two equal keys wins."""
    found: dict[str, str] = {}
    for line in _logical_lines(content.decode("utf-8", "replace")):
        match = _SEPARATOR.search(line)
        key, value = (line[: match.start("separator")], line[match.end("separator") :]) if match else (line, "")
        found[_unescaped(key)] = _unescaped(value)
        if len(found) >= MAX_ENTRIES:
            break
    return found


def _logical_lines(text: str) -> list[str]:
    """Lines without comments; one that ends in a backslash continues on the next."""
    found: list[str] = []
    open_line: list[str] = []
    for line in re.split(r"\r\n|\r|\n", text):
        part = line.lstrip(" \t\f")
        if not open_line and (not part or part[0] in "#!"):
            continue
        if _CONTINUED.search(part):
            open_line.append(part[:-1])
            continue
        found.append("".join([*open_line, part]))
        open_line = []
    return [*found, "".join(open_line)] if open_line else found


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def plain(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES.get(code, code)

    # A lone surrogate cannot be stored as text.
    return _ESCAPED.sub(plain, text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
