"""Goals of explain and the measured values; a goal that is not met shows the difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

OURS, ORACLE = "Limnograph", "oracle (true onsets)"
Row = dict[str, Any]


@dataclass(frozen=True)
class Goal:
    """A limit and the measured value; `most`: the limit is a maximum. A value that is text is infinite."""

    where: str
    what: str
    found: float | str | None
    target: float
    most: bool = False

    @property
    def digits(self) -> int:
        """Digits of both numbers."""
        return 3 if self.target < 0.1 else 2 if self.target <= 1 else 0

    @property
    def shown(self) -> str:
        """The measured value as text."""
        if self.found is None:
            return "-"
        return "none" if isinstance(self.found, str) else f"{self.found:.{self.digits}f}"

    @property
    def verdict(self) -> str:
        """Met, or the difference."""
        if self.found is None:
            return "not measured"
        if isinstance(self.found, str):
            return "not met"
        gap = self.found - self.target if self.most else self.target - self.found
        return "met" if gap <= 1e-9 else f"missed by {gap:.{self.digits}f}"

    def row(self) -> list[str]:
        """A row of the table of goals."""
        return [self.where, self.what, f"{'<=' if self.most else '>='} {self.target}", self.shown, self.verdict]


def goals(results: Row) -> list[Goal]:
    """Goals of all measured parts."""
    return [
        *(_public(results["public"]) if "public" in results else ()),
        *(_held_out(results.get("third")) if "third" in results or "heldout" in results else ()),
        *_known_reads(results.get("known_reads", {})),
        *_lab(results.get("lab", {})),
        *_size(results.get("performance")),
    ]


def _public(part: Row) -> Iterator[Goal]:
    ours = part["methods"][OURS]["pooled"]
    yield Goal("public", "top-1", ours["top1"], 0.85)
    yield Goal("public", "top-3", ours["top3"], 0.95)
    yield Goal("public", "precision", ours["precision"], 0.90)
    yield Goal("public", "recall", ours["recall"], 0.70)
    yield Goal("public", "false blame", ours["false_blame"], 0.05, most=True)
    name, ratio = worst_ratio(part)
    yield Goal("public", f"worst scenario ({name}): top-1 to the oracle's", ratio, 0.95)
    yield Goal("public", "calibration error", ours["ece"], 0.05, most=True)
    yield Goal("public", "onset error, median, in runs", ours["onset_median"], 2, most=True)


def _held_out(part: Row | None) -> Iterator[Goal]:
    """Goals on the third generator, whose cases no developer of explain has seen."""
    ours, told = (part["methods"][name]["pooled"] if part else {} for name in (OURS, ORACLE))
    ratio = ours["top1"] / told["top1"] if part and told["top1"] else None
    name, blame = worst_blame(part) if part else (None, None)
    yield Goal("third", "top-1 to the oracle's", ratio, 0.95)
    yield Goal("third", "top-3", ours.get("top3"), 0.90)
    yield Goal("third", "precision", ours.get("precision"), 0.85)
    yield Goal("third", "recall", ours.get("recall"), 0.60)
    yield Goal("third", "false blame", ours.get("false_blame"), 0.05, most=True)
    scenario = f" ({name})" if name else ""
    yield Goal("third", f"worst innocent scenario{scenario}: false blame", blame, 0.10, most=True)


def _known_reads(found: Row) -> Iterator[Goal]:
    """Goals where it is known what each run read."""
    for part, row in found.items():
        ours, told = (row["methods"][name]["pooled"] for name in (OURS, ORACLE))
        where = f"{part}, known reads"
        if part == "public":
            yield Goal(where, "top-1", ours["top1"], 0.95)
        else:
            yield Goal(where, "top-1 to the oracle's", ours["top1"] / told["top1"] if told["top1"] else None, 0.95)
        yield Goal(where, "precision", ours["precision"], 0.90)
        yield Goal(where, "false blame", ours["false_blame"], 0.05, most=True)


def _lab(lab: Row) -> Iterator[Goal]:
    for clock, found in lab.items():
        pooled = found["scores"]["pooled"]
        yield Goal(f"lab, {clock} time", "top-1", pooled["top1"], 0.95)
        yield Goal(f"lab, {clock} time", "false blame", pooled["false_blame"], 0.02, most=True)


def _size(found: Row | None) -> Iterator[Goal]:
    for clock in ("wall", "cpu") if found else ():
        yield Goal(
            "promised size", f"p95, ms of {clock} time", found[f"{clock}_p95_ms"] if found else None, 100, most=True
        )


def worst_ratio(part: Row) -> tuple[str, float]:
    """The guilty scenario with the lowest top-1 as a share of the oracle's, and that share."""
    ours, told = part["methods"][OURS], part["methods"][ORACLE]
    known = [name for name, row in ours.items() if name != "pooled" and row["top1"] is not None and told[name]["top1"]]
    ratio, name = min((ours[name]["top1"] / told[name]["top1"], name) for name in known)
    return name, ratio


def worst_blame(part: Row) -> tuple[str, float]:
    """The innocent scenario in which most cases have a blamed commit, and their share."""
    ours = part["methods"][OURS]
    blame, name = max(
        (row["false_blame"], name) for name, row in ours.items() if name != "pooled" and row["false_blame"] is not None
    )
    return name, blame
