"""`make bench-explain`: runs all methods on the generators and the lab, writes results and the report.

Results go to bench/explain/results.json, the only input of docs/explain-benchmark.md (`python -m explain.report`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from explain import heldout, synthetic, tcpd, third
from explain.baselines import baselines
from explain.cases import Labelled, read
from explain.goals import ORACLE, OURS
from explain.known_reads import with_reads
from explain.lab import CLOCKS, experiments
from explain.methods import Method, Run, oracle, ours, run
from explain.misses import reasons
from explain.performance import measured
from explain.report import PAGE, RESULTS, ROOT, document, line
from explain.score import per_scenario

PUBLIC_SEED, HELDOUT_SEED = 4099, 101
"""Seeds of the report, in addition to `third.SEED`; development uses only those of `synthetic.SPLITS`."""
MORE_KNOWN_READS = (7001, 7002, 7003, 7004, 7005, 7006)
"""Further seeds of the public generator with known reads: the goal is nearer than the error of one seed."""


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=40, help="cases a scenario of the public generator")
    parser.add_argument("--heldout-cases", type=int, default=20, help="cases a scenario of the second generator")
    parser.add_argument("--third-cases", type=int, default=third.EACH, help="cases a scenario of the third generator")
    parser.add_argument("--lab-seconds", type=float, default=1200, help="how long the lab may take; 0 leaves it out")
    parser.add_argument("--lab-each", type=int, default=4, help="experiments of a kind, time permitting")
    parser.add_argument("--lab-cases", type=Path, help="score what `python -m explain.lab --out` wrote, run nothing")
    parser.add_argument("--tcpd", type=Path, help="folder of published change-point annotations")
    parser.add_argument("--only", action="append", choices=PARTS, help="these parts; the others stay as they are")
    asked = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results.setdefault("engine", {})
    for part in asked.only or PARTS:
        found = PARTS[part](asked)
        if found is not None:
            results[part] = found
            results["engine"][part] = _engine()
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")
            PAGE.write_text(document(results))
    print(f"written: {RESULTS}, {PAGE}")


def _engine() -> str:
    """Last commit that changed the engine, so that a report older than the engine shows that."""
    asked = ["git", "log", "-1", "--format=%h", "--", "backend/limnograph/analysis/explain"]
    return subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def _public(asked: argparse.Namespace) -> dict[str, Any]:
    return _compared("public", synthetic.cases(PUBLIC_SEED, asked.cases), asked.cases, PUBLIC_SEED)


def _heldout(asked: argparse.Namespace) -> dict[str, Any]:
    cases = heldout.cases(HELDOUT_SEED, asked.heldout_cases)
    return _compared("second", cases, asked.heldout_cases, HELDOUT_SEED)


def _third(asked: argparse.Namespace) -> dict[str, Any]:
    return _compared("third", third.cases(third.SEED, asked.third_cases), asked.third_cases, third.SEED)


def _known_reads(asked: argparse.Namespace) -> dict[str, Any]:
    """Explain's and the oracle's scores on the cases of both judged generators, if it is known what each run read."""
    drawn = {
        "public": ((PUBLIC_SEED, *MORE_KNOWN_READS), asked.cases, synthetic.cases),
        "third": ((third.SEED,), asked.third_cases, third.cases),
    }
    found: dict[str, Any] = {}
    for part, (seeds, each, generator) in drawn.items():
        by_seed = {seed: with_reads(generator(seed, each), innocent=True) for seed in seeds}
        cases = [case for drawn_once in by_seed.values() for case in drawn_once]
        print(f"{part} generator with known reads, seeds {seeds}, {each} cases a scenario")
        runs = {name: _printed(name, method, cases) for name, method in ((OURS, ours), (ORACLE, oracle))}
        judged = iter(runs[OURS].judged)
        found[part] = {
            "top1_by_seed": {
                seed: _rounded(per_scenario([next(judged) for _ in own])["pooled"].top1)
                for seed, own in by_seed.items()
            },
            "cases_each": each,
            "cases": len(cases),
            "methods": {name: _scores(done) for name, done in runs.items()},
            "misses": reasons(cases, runs[OURS].judged, runs[ORACLE].judged),
        }
    return found


def _stress(asked: argparse.Namespace) -> dict[str, Any]:
    """Explain's and the oracle's pooled scores on harder variants of the public laws, a quarter of the cases each."""
    each = max(1, asked.cases // 4)
    found: dict[str, Any] = {"cases_each": each, "scores": {}}
    for name, stress in synthetic.STRESSES.items():
        cases = synthetic.cases(PUBLIC_SEED + 1, each, stress=stress)
        found["scores"][name] = {
            method: _scores(_printed(f"{method}: {name}", answer, cases))["pooled"]
            for method, answer in ((OURS, ours), (ORACLE, oracle))
        }
    return found


def _compared(title: str, cases: list[Labelled], each: int, seed: int) -> dict[str, Any]:
    """All methods on the cases of a generator."""
    plain = {
        name: _on_case(answer) for name, answer in baselines(synthetic.cases(*synthetic.SPLITS["calibrate"])).items()
    }
    methods: dict[str, Method] = {OURS: ours, ORACLE: oracle, **plain}
    print(f"{title} generator, seed {seed}, {each} cases a scenario")
    runs = {name: _printed(name, method, cases) for name, method in methods.items()}
    return {
        "seed": seed,
        "cases_each": each,
        "cases": len(cases),
        "methods": {name: _scores(done) for name, done in runs.items()},
        "misses": reasons(cases, runs[OURS].judged, runs[ORACLE].judged),
    }


def _on_case(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> Method:
    return lambda labelled: answer(labelled.case)


def _printed(name: str, method: Method, cases: Sequence[Labelled]) -> Run:
    done = run(method, cases)
    print(line(name, _scores(done)["pooled"]), flush=True)
    return done


def _scores(done: Run) -> dict[str, Any]:
    """Scores per scenario, with the CPU milliseconds per answer in `pooled`."""
    table = {name: msgspec.to_builtins(row) for name, row in per_scenario(done.judged).items()}
    table["pooled"]["p95_ms"] = float(np.quantile(done.milliseconds, 0.95))
    rounded: dict[str, Any] = {
        name: {key: _rounded(value) for key, value in row.items()} for name, row in table.items()
    }
    return rounded


def _rounded(value: float | None) -> float | str | None:
    """Four digits; infinity, which JSON lacks, as text."""
    if isinstance(value, float):
        return round(value, 4) if np.isfinite(value) else "inf"
    return value


def _lab(asked: argparse.Namespace) -> dict[str, Any] | None:
    if asked.lab_cases:
        by_clock = {clock: read(asked.lab_cases / clock) for clock in CLOCKS}
    elif asked.lab_seconds > 0:
        done = list(experiments(1, asked.lab_seconds, each=asked.lab_each))
        by_clock = {clock: [one[clock] for one in done] for clock in CLOCKS}
    else:
        return None
    return {clock: _lab_scores(clock, cases) for clock, cases in by_clock.items()}


def _lab_scores(clock: str, cases: list[Labelled]) -> dict[str, Any]:
    """Scores of each kind, the event's real effect on the scan, and every wrong answer."""
    done = _printed(f"lab, {clock} time", ours, cases)
    wrong = []
    for each, judged in zip(cases, done.judged, strict=True):
        if (each.truth.guilty and not judged.top1) or (not each.truth.guilty and judged.blamed):
            wrong.append({"case": each.truth.id, "blamed": judged.blamed, "top3": judged.top3})
    sizes: dict[str, list[float]] = {}
    for each in cases:
        sizes.setdefault(each.truth.scenario, []).extend(effect.effect_ratio for effect in each.truth.effects)
    ratios = {kind: round(float(np.median(found)), 2) if found else None for kind, found in sizes.items()}
    return {"scores": _scores(done), "ratios": ratios, "wrong": wrong}


def _tcpd(asked: argparse.Namespace) -> dict[str, Any] | None:
    return {name: list(pair) for name, pair in tcpd.scores(asked.tcpd).items()} if asked.tcpd else None


def _performance(_: argparse.Namespace) -> dict[str, Any]:
    found = measured(cases=5, repeats=8)
    print(found, flush=True)
    return found


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any] | None]] = {
    "public": _public,
    "stress": _stress,
    "heldout": _heldout,
    "third": _third,
    "known_reads": _known_reads,
    "lab": _lab,
    "tcpd": _tcpd,
    "performance": _performance,
}

if __name__ == "__main__":
    main()
