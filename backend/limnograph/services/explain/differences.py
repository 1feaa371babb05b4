"""How the commits of a range differ from those of its baseline (after Honeycomb's BubbleUp). Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from limnograph.domain.answers.explanations import Difference, DifferencePart
from limnograph.domain.facts.meta_tables import SnapshotFact
from limnograph.domain.time import Millis, to_micros
from limnograph.services.explain.baseline import HOUR_MS, Windows
from limnograph.services.lake.history import History

SHOWN = 8
LEAST_WEIGHT = 0.2
"""Numbers that differ by less than a fifth count as equal."""
Rows = Sequence[tuple[str, SnapshotFact]]


def differences(asked: Windows, histories: Iterable[History]) -> list[Difference]:
    """Differences, largest first; none if the range has no commit."""
    known = list(histories)
    selected, usual = (
        _between(known, first, last)
        for first, last in ((asked.start, asked.end), (asked.baseline_start, asked.baseline_end))
    )
    if not selected:
        return []
    found = [
        _number("file_size", "bytes", selected, usual, _file_size),
        _number("files", "files", selected, usual, _mean("added_data_files")),
        _number("delete_files", "files", selected, usual, _mean("added_delete_files")),
        _number("records", "rows", selected, usual, _mean("added_records")),
        _number("partitions", "partitions", selected, usual, _mean("changed_partitions")),
        *_shares("writer", selected, usual, _writer),
        *(_shares("table", selected, usual, lambda row: row[0]) if len(known) > 1 else ()),
    ]
    hours = (asked.end - asked.start) / HOUR_MS, (asked.baseline_end - asked.baseline_start) / HOUR_MS
    rates = len(selected) / hours[0], len(usual) / hours[1]
    found.append(_difference("commits", "per_hour", *rates))
    telling = [each for each in found if each.weight >= LEAST_WEIGHT]
    return sorted(telling, key=lambda each: (-each.weight, each.part, each.value or ""))[:SHOWN]


def _between(histories: Iterable[History], start: Millis, end: Millis) -> Rows:
    """Commits of a range with their table's name."""
    return [
        (str(history.name), row) for history in histories for row in history.between(to_micros(start), to_micros(end))
    ]


def _difference(part: DifferencePart, unit: str, selected: float | None, usual: float | None) -> Difference:
    """The weight of two numbers with the same sign is the share by which the smaller one is smaller."""
    weight = 0.0
    if selected is not None and usual is not None and max(selected, usual) > 0:
        weight = 1 - min(selected, usual) / max(selected, usual)
    return Difference(
        part=part,
        value=None,
        unit=unit,  # type: ignore[arg-type]  # literals of this file
        selected=selected,
        baseline=usual,
        weight=round(weight, 4),
    )


def _number(
    part: DifferencePart, unit: str, selected: Rows, usual: Rows, of: Callable[[Rows], float | None]
) -> Difference:
    return _difference(part, unit, of(selected), of(usual))


def _mean(column: str) -> Callable[[Rows], float | None]:
    """The mean of known values, so that one huge commit among ordinary ones is visible."""

    def of(rows: Rows) -> float | None:
        values = [value for _, row in rows if (value := getattr(row, column)) is not None]
        return sum(values) / len(values) if values else None

    return of


def _file_size(rows: Rows) -> float | None:
    """Bytes per added data file."""
    told = [
        (row.added_bytes, row.added_data_files)
        for _, row in rows
        if row.added_bytes is not None and row.added_data_files
    ]
    return sum(size for size, _ in told) / sum(files for _, files in told) if told else None


def _writer(row: tuple[str, SnapshotFact]) -> str:
    """Operation and writer of a commit, as far as known."""
    who = row[1].app_name or row[1].app_id or row[1].engine
    what = row[1].operation or "unknown operation"
    return f"{what} by {who}" if who else what


def _shares(
    part: DifferencePart, selected: Rows, usual: Rows, of: Callable[[tuple[str, SnapshotFact]], str]
) -> list[Difference]:
    """Each value's share of the added data files, in both windows; its share of the commits if no files were added."""
    here, there = _weighed(selected, of), _weighed(usual, of)
    return [
        Difference(
            part=part,
            value=value,
            unit="share",
            selected=here.get(value, 0.0),
            baseline=there.get(value, 0.0) if there else None,
            weight=round(abs(here.get(value, 0.0) - there.get(value, 0.0)), 4) if there else 0.0,
        )
        for value in sorted(here.keys() | there.keys())
    ]


def _weighed(rows: Rows, of: Callable[[tuple[str, SnapshotFact]], str]) -> dict[str, float]:
    files: Counter[str] = Counter()
    for row in rows:
        files[of(row)] += row[1].added_data_files or 0
    if not files.total():
        files = Counter(of(row) for row in rows)
    whole = files.total()
    return {value: count / whole for value, count in files.items()} if whole else {}
