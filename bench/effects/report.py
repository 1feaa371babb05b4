"""Tables of docs/effects.md from results.json: `python -m effects.report` prints the page with current tables.

`python -m effects.report | diff - docs/effects.md` is a cheap check that the page matches the results.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from effects.score import pooled

PAGE = Path(__file__).parents[2] / "docs" / "effects.md"
RESULTS = Path(__file__).with_name("results.json")
_MARKED = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
_HEAD = ("scene", "source", "covers", "false claims", "finds -20 %", "no claim possible", "median width", "CPU ms")


def page() -> str:
    """The page with every marked table replaced."""
    results = json.loads(RESULTS.read_text())
    return _MARKED.sub(lambda found: f"{found[1]}{_table(found[2], results)}\n{found[3]}", PAGE.read_text())


def write_page() -> None:
    """Replace the tables of the page."""
    PAGE.write_text(page())


def _table(name: str, results: dict[str, Any]) -> str:
    if name == "power":
        return _power(results["power"])
    if name == "summary":
        rows = [row for group in ("design", "own", "heldout") for row in results[group].values()]
        covered, claims = [row["covers"] for row in rows], [row["false_claims"] for row in rows]
        return (
            f"{_span([row['histories'] for row in rows])} histories per scene, seed {results['seed']}. Bounds cover "
            f"{pooled(rows):.3f} of all truths with controls (nominal 0.95); at worst {min(covered):.2f}. "
            f"False claims: {sum(claims) / len(claims):.3f}, at worst {max(claims):.2f}."
        )
    rows = [
        (
            scene,
            row["source"],
            _share(row["covers"]),
            _share(row["false_claims"]),
            _share(row["found"]),
            _share(row["abstains"]),
            _share(row["width"]),
            f"{row['cpu_ms']:.0f}",
        )
        for scene, row in results[name].items()
    ]
    return _markdown(_HEAD, rows)


def _power(results: dict[str, Any]) -> str:
    after = list(next(iter(results.values())))
    rows = [
        (f"{100 * (float(ratio) - 1):+.0f} %", *(_share(row[each]["found"]) for each in after))
        for ratio, row in results.items()
    ]
    nothing = next(iter(results.values()))
    rows.append(("none, where nothing was done", *(_share(nothing[each]["none"]) for each in after)))
    return _markdown(("effect", *(f"{each} runs after" for each in after)), rows)


def _markdown(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    rule = "|---" + "|---:" * (len(head) - 1) + "|"
    return "\n".join(["| " + " | ".join(head) + " |", rule, *("| " + " | ".join(row) + " |" for row in rows)])


def _span(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


if __name__ == "__main__":
    print(page(), end="")
