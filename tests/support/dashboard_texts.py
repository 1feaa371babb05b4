"""Texts in the dashboard's sources: string literals of TypeScript, markup of Svelte. A scanner, not a parser."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SCRIPT = re.compile(r"<(script|style)\b[^>]*>(.*?)</\1>", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<single>'(?:\\.|[^'\\\n])*')
    |(?P<double>"(?:\\.|[^"\\\n])*")
    |(?P<regex>(?<=[(,=:!&|?{};\[\n])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/[a-z]*)
    |(?P<template>`)""",
    re.DOTALL | re.VERBOSE,
)


def typescript(source: str) -> Iterator[str]:
    """String literals with more than one word; `${…}` becomes `{}`, and its own literals follow."""
    at = 0
    while token := _TOKEN.search(source, at):
        at = token.end()
        if token["single"] or token["double"]:
            if " " in token[0]:
                yield token[0][1:-1]
        elif token["template"]:
            text, expressions, at = _template(source, at)
            yield text
            for expression in expressions:
                yield from typescript(expression)


def markup(source: str) -> Iterator[str]:
    """Texts, quoted attributes and literals of a component."""
    for block in _SCRIPT.finditer(source):
        if block[1] == "script":
            yield from typescript(block[2])
    rest = _COMMENT.sub("", _SCRIPT.sub("", source))
    text, at = "", 0
    while at < len(rest):
        if rest[at] == "{":
            end = _closing(rest, at + 1)
            yield from typescript(rest[at + 1 : end])
            text, at = text + "{}", end + 1
        elif rest[at] == "<" and re.match(r"</?[A-Za-z]", rest[at:]):
            yield from _words(text)
            attributes, at = _tag(rest, at + 1)
            yield from attributes
            text = ""
        else:
            text, at = text + rest[at], at + 1
    yield from _words(text)


def _words(text: str) -> Iterator[str]:
    if re.search(r"[A-Za-z]", text):
        yield text


def _tag(source: str, at: int) -> tuple[list[str], int]:
    """Quoted attributes and literals of a tag, and the place after it."""
    found: list[str] = []
    while at < len(source) and source[at] != ">":
        if source[at] == "{":
            end = _closing(source, at + 1)
            found += typescript(source[at + 1 : end])
            at = end + 1
        elif source[at] in "\"'":
            end = at + 1
            while end < len(source) and source[end] != source[at]:
                end = _closing(source, end + 1) + 1 if source[end] == "{" else end + 1
            found.append(re.sub(r"\{[^{}]*\}", "{}", source[at + 1 : end]))
            at = end + 1
        else:
            at += 1
    return found, at + 1


def _template(source: str, at: int) -> tuple[str, list[str], int]:
    text, expressions = "", []
    while at < len(source) and source[at] != "`":
        if source[at] == "\\":
            text, at = text + source[at : at + 2], at + 2
        elif source.startswith("${", at):
            end = _closing(source, at + 2)
            expressions.append(source[at + 2 : end])
            text, at = text + "{}", end + 1
        else:
            text, at = text + source[at], at + 1
    return text, expressions, at + 1


def _closing(source: str, at: int) -> int:
    """The brace that closes the one before `at`; those inside literals do not count."""
    depth = 1
    while at < len(source):
        if source[at] == "`":
            at = _template(source, at + 1)[2]
            continue
        if token := _TOKEN.match(source, at):
            at = token.end()
            continue
        depth += {"{": 1, "}": -1}.get(source[at], 0)
        if depth == 0:
            return at
        at += 1
    return at
