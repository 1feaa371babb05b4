"""Documents hold together: links lead somewhere, the index lists every page, and decisions are numbered once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adr_index import ADRS, decisions, render

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "deploy").rglob("*.md")])


def links(page: Path) -> list[tuple[str, str]]:
    """Path and anchor of every link and picture that stays inside the repository. Code is left out."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    inside = [target for target in targets if not re.match(r"[a-z]+:|/", target)]
    return [(target.partition("#")[0], target.partition("#")[2]) for target in inside]


def anchors(page: Path) -> set[str]:
    """Anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_document_has_a_target(page: Path) -> None:
    for path, anchor in links(page):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {path}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {path}#{anchor}"


def test_the_index_lists_every_document() -> None:
    listed = {(DOCS / path).resolve() for path, _ in links(DOCS / "README.md")}
    pages = {*DOCS.glob("*.md"), *ROOT.glob("*.md"), *(ROOT / "deploy").rglob("*.md")}
    assert pages - listed == {DOCS / "README.md"}


def test_readme_index_and_contributing_link_the_glossary() -> None:
    for page in (ROOT / "README.md", DOCS / "README.md", ROOT / "CONTRIBUTING.md"):
        assert "glossary.md" in page.read_text(encoding="utf-8")


def test_the_index_of_decisions_is_generated_from_them() -> None:
    assert (ADRS / "README.md").read_text(encoding="utf-8") == render(decisions()) + "\n"


def test_each_number_has_one_decision() -> None:
    numbers = [decision.number for decision in decisions()]
    assert len(numbers) == len(set(numbers))


def test_a_decision_without_a_status_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "0001-a.md").write_text("# 1. A\n\nDate: 2026-11-21.\n")
    with pytest.raises(ValueError, match=r"0001-a\.md"):
        decisions(tmp_path)


def test_missing_numbers_are_named(tmp_path: Path) -> None:
    for number in (1, 3):
        (tmp_path / f"000{number}-a.md").write_text(f"# {number}. A\n\nDate: 2026-11-21. Status: accepted.\n")
    assert "not used: 0002." in render(decisions(tmp_path))
