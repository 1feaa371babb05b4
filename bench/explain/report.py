"""docs/explain-benchmark.md from bench/explain/results.json: `python -m explain.report` prints the page.

`python -m explain.report | diff - docs/explain-benchmark.md` is a cheap check that the page matches the results.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from explain.goals import ORACLE, OURS, Row, goals
from explain.misses import REASONS
from explain.report_text import ENDING, KNOWN_READS, LAB, LIMITS, OPENING, SECOND, THIRD

ROOT = Path(__file__).parents[2]
RESULTS = Path(__file__).with_name("results.json")
PAGE = ROOT / "docs" / "explain-benchmark.md"
GENERATORS = (
    ("public", "The public generator", ""),
    ("third", "The third generator, held out", THIRD),
    ("heldout", "The second generator", SECOND),
)
POOLED = ("top1", "top3", "tolerant_top1", "precision", "recall", "f1", "false_blame")
HEADS = ("top-1", "top-3", "tolerant top-1", "precision", "recall", "F1", "false blame")


def line(name: str, row: Row) -> str:
    """One line for a terminal: a method's pooled scores."""
    shown = " ".join(f"{head} {_share(row.get(key))}" for key, head in zip(POOLED, HEADS, strict=True))
    return f"{name:24} {shown} p95 {row.get('p95_ms', 0):.1f} ms"


def _share(value: float | str | None, digits: int = 2) -> str:
    if value is None:
        return "-"
    return "none" if isinstance(value, str) else f"{value:.{digits}f}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    rule = "|---" + "|---:" * (len(head) - 1) + "|"
    return "\n".join(["| " + " | ".join(head) + " |", rule, *("| " + " | ".join(row) + " |" for row in rows)])


def _methods(part: Row) -> str:
    """Pooled scores of all methods."""
    rows = [
        [name, *(_share(scores["pooled"][key]) for key in POOLED), f"{scores['pooled']['p95_ms']:.0f}"]
        for name, scores in part["methods"].items()
    ]
    return _table(["method", *HEADS, "CPU ms, p95"], rows)


def _scenarios(part: Row) -> str:
    """Guilty scenarios: explain's scores, as a share of the oracle's, and the best baseline of each."""
    rows = []
    methods = part["methods"]
    for name, row in methods[OURS].items():
        if name == "pooled" or row["top1"] is None:
            continue
        told = methods[ORACLE][name]["top1"]
        plain = max(
            (scores[name]["top1"], method) for method, scores in methods.items() if method not in {OURS, ORACLE}
        )
        rows.append(
            [
                name,
                _share(row["top1"]),
                _share(told),
                _share(row["top1"] / told if told else None),
                f"{_share(plain[0])} ({plain[1]})",
                *(_share(row[key]) for key in ("top3", "precision", "recall")),
                _samples(row["onset_median"]),
                _samples(row["onset_p90"]),
                _share(row["effect_error"]),
                _share(row["ece"], 3),
            ]
        )
    head = ["scenario", "top-1", "oracle", "ratio", "best baseline", "top-3", "precision", "recall"]
    return _table([*head, "onset error, median", "p90", "effect error", "ECE"], rows)


def _samples(value: float | str | None) -> str:
    return _share(value, 0)


def _known_reads(parts: Row) -> list[str]:
    """Explain's and the oracle's scores where it is known what each run read."""
    if not parts:
        return []
    told = ["## Known reads\n", KNOWN_READS]
    for part, found in parts.items():
        mine, oracle = (found["methods"][name] for name in (OURS, ORACLE))
        rows = [
            [
                name,
                _share(row["top1"]),
                _share(oracle[name]["top1"]),
                *(_share(row[key]) for key in ("top3", "precision", "recall")),
                _samples(row["onset_median"]),
                _share(row["false_blame"]),
                _share(row["ece"], 3),
            ]
            for name, row in mine.items()
        ]
        head = ["scenario", "top-1", "oracle", "top-3", "precision", "recall", "onset error", "false blame", "ECE"]
        told += [
            f"The {part} generator, {found['cases_each']} cases a scenario and seed:\n",
            _table(head, rows),
            f"\nTop-1 by seed: {', '.join(f'{top1:.3f} ({seed})' for seed, top1 in found['top1_by_seed'].items())}.",
            f"\nCPU p95: {mine['pooled']['p95_ms']:.0f} ms. {_why(part, found)}\n",
        ]
    return told


def _innocent(part: Row) -> str:
    """Share of innocent cases with a blamed commit, for every method; and how often explain named the actual cause."""
    methods = part["methods"]
    names = [name for name, row in methods[OURS].items() if name != "pooled" and row["false_blame"] is not None]
    rows = [
        [
            name,
            *(_share(scores[name]["false_blame"]) for scores in methods.values()),
            _share(methods[OURS][name]["cause_named"]),
        ]
        for name in [*names, "pooled"]
    ]
    return _table(["innocent scenario", *methods, "ours names the cause"], rows)


def _misses(part: Row) -> str:
    """Why guilty cases missed top-1."""
    if not part["misses"]:
        return "No guilty case missed top-1."
    kinds = list(next(iter(part["misses"].values())))
    rows = [[name, *(str(row[kind]) for kind in kinds)] for name, row in part["misses"].items()]
    total = ["all", *(str(sum(row[kind] for row in part["misses"].values())) for kind in kinds)]
    return _table(["missed top-1", *kinds], [*rows, total])


def _drop(results: Row) -> str:
    """The same scores on all measured generators, and the difference between the last and the first."""
    parts = [part for part in ("public", "heldout", "third") if part in results]
    rows = []
    for name in (OURS, ORACLE):
        pooled = [results[part]["methods"][name]["pooled"] for part in parts]
        for key, head in zip(POOLED, HEADS, strict=True):
            scores = [each[key] for each in pooled]
            rows.append([name, head, *map(_share, scores), f"{scores[-1] - scores[0]:+.2f}"])
    names = {"heldout": "second"}
    return _table(["method", "metric", *(names.get(part, part) for part in parts), "difference"], rows)


def _stress(found: Row) -> str:
    """Pooled scores under each stress."""
    rows = [
        [name, method, *(_share(row[key]) for key in POOLED)]
        for name, methods in found["scores"].items()
        for method, row in methods.items()
    ]
    return _table(["stress", "method", *HEADS], rows)


def _lab(lab: Row) -> str:
    """By clock: each kind's cases, the event's effect on the scan, and all wrong answers."""
    parts = []
    for clock, found in lab.items():
        rows = [
            [
                kind,
                str(row["cases"]),
                _share(found["ratios"][kind]),
                _share(row["top1"]),
                _share(row["top3"]),
                _share(row["false_blame"]),
            ]
            for kind, row in found["scores"].items()
            if kind != "pooled"
        ]
        head = ["executed", "cases", "level after / before, median", "top-1", "top-3", "false blame"]
        wrong = [
            f"* `{each['case']}`: {each['blamed']} blamed" + (", guilty among the first three" if each["top3"] else "")
            for each in found["wrong"]
        ]
        parts += [
            f"By {clock} time:\n",
            _table(head, rows),
            "",
            "Wrong answers:" if wrong else "No wrong answer.",
            *wrong,
            "",
        ]
    return "\n".join(parts)


def _performance(found: Row) -> str:
    head = ["10,000 runs, 3 controls, 50 tables, 10,000 commits", "median ms", "p95 ms"]
    rows = [
        [f"{clock} time", f"{found[f'{clock}_median_ms']:.0f}", f"{found[f'{clock}_p95_ms']:.0f}"]
        for clock in ("wall", "cpu")
    ]
    return _table(head, rows) + f"\n\nOver {found['explanations']} explanations of five cases, one after the other."


def _why(part: str, found: Row) -> str:
    """Reasons for top-1 misses, over all scenarios, and the standard error: sqrt(p (1 - p) / n)."""
    unseen, common, own = (sum(row[reason] for row in found["misses"].values()) for reason in REASONS)
    rows = found["methods"][OURS]
    guilty = sum(row["cases"] for name, row in rows.items() if name != "pooled" and row["top1"] is not None)
    share = rows["pooled"]["top1"]
    error, digits = math.sqrt(share * (1 - share) / guilty), 2 if guilty < 1000 else 3
    return (
        f"Of the {unseen + common + own} cases whose first suspect is wrong ({part}), the oracle is wrong as well in"
        f" {common}; in {unseen} no change was found near the true one, in {own} its onset was too vague. The standard"
        f" error of a top-1 over {guilty} cases is {error:.{digits}f}."
    )


def _engines(measured: dict[str, list[str]]) -> str:
    """The commits of the engine that the parts were measured with."""
    if len(measured) == 1:
        return f"Measured with the engine as of commit {next(iter(measured))}.\n"
    told = "; ".join(f"{', '.join(parts)} as of commit {engine}" for engine, parts in measured.items())
    return f"Measured with the engine: {told}.\n"


def document(results: Row) -> str:
    """The page, without parts that were not measured."""
    measured: dict[str, list[str]] = {}
    for part, engine in results.get("engine", {}).items():
        measured.setdefault(engine, []).append(part.replace("_", " "))
    parts = [
        OPENING,
        *([_engines(measured)] if measured else []),
        "## Goals\n",
        _table(["where", "what", "goal", "measured", "verdict"], [each.row() for each in goals(results)]),
        "",
        *(_why(part, results[part]) for part in ("public", "third") if part in results),
        LIMITS,
    ]
    for part, title, text in GENERATORS:
        if part not in results:
            continue
        found = results[part]
        size = f"Seed {found['seed']}, {found['cases_each']} cases a scenario, {found['cases']} in all."
        parts += [
            f"## {title}\n",
            *([text] if text else []),
            size + "\n",
            _methods(found),
            "",
            _scenarios(found),
            "",
            _innocent(found),
        ]
        parts += ["", "### Misses\n", _misses(found)]
    parts += _known_reads(results.get("known_reads", {}))
    if "stress" in results:
        size = f"The public laws made harder, {results['stress']['cases_each']} cases a scenario."
        parts += ["## Stress\n", size + "\n", _stress(results["stress"])]
    if "public" in results and ("heldout" in results or "third" in results):
        parts += ["## From one generator to the other\n", _drop(results)]
    if "lab" in results:
        parts += ["## Lab\n", LAB, _lab(results["lab"])]
    if "tcpd" in results:
        f1, cover = results["tcpd"]["mean"]
        count = len(results["tcpd"]) - 1
        parts += [
            "## Published change points\n",
            f"{count} univariate series: F1 {f1:.3f}, cover {cover:.3f}, one fixed setting.",
        ]
    if "performance" in results:
        parts += ["## Time\n", _performance(results["performance"])]
    return "\n".join([*_spaced(parts), ENDING])


def _spaced(parts: list[str]) -> list[str]:
    """An empty line before each heading."""
    return [f"\n{part}" if part.startswith("#") and index else part for index, part in enumerate(parts)]


def main() -> None:
    """Print the page from the stored results."""
    print(document(json.loads(RESULTS.read_text())), end="")


if __name__ == "__main__":
    main()
