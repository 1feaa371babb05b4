"""Blocks of a reference page, as Markdown and as HTML. Inline text contains only `code` and [links](#place)."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

_INLINE = re.compile(r"`(?P<code>[^`]+)`|\[(?P<text>[^\]]+)\]\((?P<to>[^)]+)\)|\*\*(?P<strong>[^*]+)\*\*")


class Heading(NamedTuple):
    """A heading; `level` starts at 1."""

    level: int
    text: str

    @property
    def place(self) -> str:
        """The anchor that Markdown renderers derive from the text: lower case, joined by hyphens, no punctuation."""
        return re.sub(r"[^a-z0-9 _-]", "", self.text.lower()).replace(" ", "-")


class Text(NamedTuple):
    """A paragraph."""

    text: str


class Table(NamedTuple):
    """Cells are inline text."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


class Code(NamedTuple):
    """Preformatted lines."""

    language: str
    text: str


Block = Heading | Text | Table | Code


def markdown(blocks: Iterable[Block]) -> str:
    """The whole page."""
    return "\n".join(map(_markdown, blocks))


def _markdown(block: Block) -> str:
    match block:
        case Heading(level=level, text=text):
            return f"{'#' * level} {text}\n"
        case Text(text=text):
            return f"{text}\n"
        case Code(language=language, text=text):
            return f"```{language}\n{text}\n```\n"
        case Table(head=head, rows=rows):
            lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
            return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page(title: str, style: str, blocks: Sequence[Block]) -> str:
    """A complete HTML document with a table of contents; `style` is the address of its style sheet."""
    routes = (block for block in blocks if isinstance(block, Heading) and block.level == 2)
    contents = "".join(f'<li><a href="#{h.place}">{_inline(h.text)}</a></li>' for h in routes)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{html.escape(title)}</title>\n<link rel="stylesheet" href="{html.escape(style)}">\n</head>\n'
        f'<body>\n<nav aria-label="Contents"><ul>{contents}</ul></nav>\n<main>\n'
        f"{''.join(map(_html, blocks))}</main>\n</body>\n</html>\n"
    )


def _html(block: Block) -> str:
    match block:
        case Heading(level=level, text=text):
            return f'<h{level} id="{block.place}">{_inline(text)}</h{level}>\n'
        case Text(text=text):
            return f"<p>{_inline(text)}</p>\n"
        case Code(text=text):
            return f'<pre tabindex="0"><code>{html.escape(text)}</code></pre>\n'
        case Table(head=head, rows=rows):
            first = "".join(f'<th scope="col">{_inline(cell)}</th>' for cell in head)
            body = "".join(f"<tr>{''.join(f'<td>{_inline(cell)}</td>' for cell in row)}</tr>\n" for row in rows)
            table = f"<table><thead><tr>{first}</tr></thead>\n<tbody>\n{body}</tbody></table>"
            return f'<div class="wide" tabindex="0" role="region" aria-label="{html.escape(head[0])}">{table}</div>\n'


def _inline(text: str) -> str:
    done, told = 0, []
    for found in _INLINE.finditer(text):
        told.append(html.escape(text[done : found.start()]))
        told.append(_marked(found))
        done = found.end()
    return "".join((*told, html.escape(text[done:])))


def _marked(found: re.Match[str]) -> str:
    if found["code"]:
        return f"<code>{html.escape(found['code'])}</code>"
    if found["strong"]:
        return f"<strong>{html.escape(found['strong'])}</strong>"
    return f'<a href="{html.escape(found["to"])}">{_inline(found["text"])}</a>'
