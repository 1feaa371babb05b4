"""Texts that users read, by area: CLI help, API, settings, metrics, alerts, messages, documents, dashboard.

`python tests/support/visible_texts.py [AREA …]` prints the phrases of tests/words.txt that occur in them.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import yaml
from click.testing import CliRunner

from dashboard_texts import markup, typescript
from limnograph.api.wire.problems import STATUS
from limnograph.cli import _program
from limnograph.domain.facts import reference as meta_tables
from limnograph.domain.metrics import reference as metrics
from limnograph.settings import reference as settings
from limnograph.settings.maintenance import reference as maintenance
from product_syntax import syntax_of

ROOT = Path(__file__).parents[2]
GENERATED = frozenset(
    {"api", "explain-benchmark", "maintenance-settings", "meta-tables", "metrics", "rollup-strategies", "settings"}
)
_PROSE_KEYS = ("description", "summary", "title")


class VisibleText(NamedTuple):
    """A text and where it is from."""

    place: str
    text: str


class Rule(NamedTuple):
    """A phrase to avoid and what to write instead."""

    pattern: re.Pattern[str]
    suggestion: str


def rules(source: str | None = None) -> list[Rule]:
    """The rules of tests/words.txt, or of the text that is given."""
    lines = (source if source is not None else (ROOT / "tests" / "words.txt").read_text()).splitlines()
    pairs = (line.split(" -> ", 1) for line in lines if line.strip() and not line.startswith("#"))
    return [Rule(re.compile(pattern, re.IGNORECASE), suggestion) for pattern, suggestion in pairs]


def findings(texts: Iterator[VisibleText], words: list[Rule]) -> Iterator[str]:
    """One sentence for each phrase that occurs."""
    # Most texts have none, and one search is cheaper than one for each rule.
    any_rule = re.compile("|".join(f"(?:{rule.pattern.pattern})" for rule in words), re.IGNORECASE)
    for place, text in texts:
        joined = re.sub(r"\s+", " ", text)
        if not any_rule.search(joined):
            continue
        for rule in words:
            for match in rule.pattern.finditer(joined):
                around = joined[max(0, match.start() - 40) : match.end() + 40].strip()
                yield f"{place}: {match[0]!r} in {around!r}: write {rule.suggestion}"


def command_help() -> Iterator[VisibleText]:
    """`--help` of every command, as printed."""

    def walk(command: click.Command, path: list[str]) -> Iterator[VisibleText]:
        yield VisibleText(f"limnograph {' '.join(path)}", CliRunner().invoke(_program, [*path, "--help"]).output)
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                found = command.get_command(context, name)
                assert found is not None
                yield from walk(found, [*path, name])

    yield from walk(_program, [])


def api() -> Iterator[VisibleText]:
    """Titles of problems, and the prose of the OpenAPI document."""

    def walk(value: Any, place: str) -> Iterator[VisibleText]:
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            if key in _PROSE_KEYS and isinstance(each, str):
                yield VisibleText(place, prose(each))
            elif isinstance(each, dict | list):
                yield from walk(each, f"{place}/{key}")

    for kind, (_, title) in STATUS.items():
        yield VisibleText(f"problem {kind}", title)
    yield from walk(json.loads((ROOT / "frontend/src/lib/api/openapi.json").read_text()), "")
    yield VisibleText("docs/api.md", prose((ROOT / "docs/api.md").read_text().partition("\n## ")[0]))


def references() -> Iterator[VisibleText]:
    """Settings, metrics and columns, as their pages say them."""
    pages = {"settings": settings, "maintenance-settings": maintenance, "metrics": metrics, "meta-tables": meta_tables}
    for name, page in pages.items():
        yield VisibleText(f"docs/{name}.md", prose(page.document()))


def alerts() -> Iterator[VisibleText]:
    """Summaries and descriptions of the alert rules."""
    for path in sorted((ROOT / "deploy/prometheus/rules").glob("*.yml")):
        for group in yaml.safe_load(path.read_text())["groups"]:
            for rule in group["rules"]:
                for key in ("summary", "description"):
                    yield VisibleText(f"{rule.get('alert')} {key}", rule.get("annotations", {}).get(key, ""))


def messages() -> Iterator[VisibleText]:
    """Sentences in the code of the backend: errors, log lines, notes. Docstrings are not among them."""
    for path in sorted((ROOT / "backend/limnograph").rglob("*.py")):
        place = str(path.relative_to(ROOT))
        tree = syntax_of(path)
        skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if id(node) in skipped:
                continue
            if isinstance(node, ast.JoinedStr):
                skipped.update(id(part) for part in node.values)
                parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
                yield VisibleText(f"{place}:{node.lineno}", "".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield VisibleText(f"{place}:{node.lineno}", node.value)


def documents() -> Iterator[VisibleText]:
    """Pages that are written by hand; decisions (docs/adr) keep the words of their time."""
    pages = [ROOT / f"{name}.md" for name in ("README", "ARCHITECTURE", "CONTRIBUTING", "SECURITY")]
    pages += [path for path in sorted((ROOT / "docs").glob("*.md")) if path.stem not in GENERATED]
    pages += sorted((ROOT / "docs/runbooks").glob("*.md"))
    for path in pages:
        yield VisibleText(str(path.relative_to(ROOT)), prose(path.read_text()))


def dashboard() -> Iterator[VisibleText]:
    """Texts of components and strings of modules, without tests and generated files."""
    sources = ROOT / "frontend/src"
    for path in sorted(path for path in sources.rglob("*") if path.suffix in {".svelte", ".ts"}):
        place = str(path.relative_to(ROOT))
        if ".test." in path.name or path.name.endswith((".d.ts", "fixtures.ts")) or "/src/test/" in place:
            continue
        for text in (markup if path.suffix == ".svelte" else typescript)(path.read_text()):
            yield VisibleText(place, text)


AREAS: dict[str, Callable[[], Iterator[VisibleText]]] = {
    "cli": command_help,
    "api": api,
    "references": references,
    "alerts": alerts,
    "messages": messages,
    "documents": documents,
    "dashboard": dashboard,
}


def prose(page: str) -> str:
    """Markdown without code."""
    return re.sub(r"`[^`\n]*`", "`…`", re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL))


def main(areas: list[str]) -> None:
    """Print the findings of some areas, or of all."""
    counts: Counter[str] = Counter()
    for area in areas or AREAS:
        for sentence in findings(AREAS[area](), rules()):
            counts[area] += 1
            print(sentence)
    print(", ".join(f"{area} {counts[area]}" for area in areas or AREAS), file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
