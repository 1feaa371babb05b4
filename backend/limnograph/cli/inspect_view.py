"""The report of `limnograph inspect`: plain lines that fit 80 columns and are readable without colour. Problems come
first, the latest commits last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from limnograph.cli.inspect_structure import debt, layout, sizes, sizes_title
from limnograph.cli.words import UNKNOWN, counted, instant, number, plain, sized
from limnograph.domain.metadata.inspection import (
    DocumentTotals,
    InspectedProblem,
    InspectedSnapshot,
    Inspection,
    InspectionReport,
    Structure,
)

LAST_SNAPSHOTS = 10
PROBLEMS = 12
REFS = 8
_LABEL = 17
_STATUS = {"ok": "green", "partial": "yellow", "unreadable": "red"}


def draw(found: InspectionReport, console: Console) -> None:
    """Print the whole report."""
    document, structure = found.document, found.structure
    console.print(_title(document))
    _problems(console, document.problems)
    _section(console, "Table", _identity(document))
    if document.snapshots or document.current is not None:
        _section(console, "Now", _totals(document))
    if structure is not None:
        _section(console, sizes_title(structure), sizes(structure))
        _section(console, "Compaction debt", debt(structure))
        _section(console, "Structure", layout(structure, len(document.snapshots)))
        _partitions(console, structure)
    if document.status != "unreadable":
        _snapshots(console, document.snapshots)


def _section(console: Console, title: str, lines: Iterable[tuple[str, str]]) -> None:
    """Print labels and texts; long texts wrap with an indent."""
    found = list(lines)
    if not found:
        return
    _headline(console, title)
    grid = Table.grid(padding=(0, 1))
    grid.add_column(min_width=_LABEL, no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in found:
        grid.add_row(Text(f"  {label}", style="dim"), Text(plain(text)))
    console.print(grid)


def _headline(console: Console, title: str) -> None:
    console.print()
    console.print(Text(title, style="bold"))


def _title(document: Inspection) -> Text:
    table = document.table
    title = Text(overflow="fold").append(document.status, style=f"bold {_STATUS.get(document.status, '')}".strip())
    return title.append("  ").append(plain(table.location or table.metadata_location), style="bold")


def _problems(console: Console, problems: Sequence[InspectedProblem]) -> None:
    """Print each code once, with its first sentence and the number of snapshots that have it."""
    if not problems:
        return
    _headline(console, "Problems")
    grouped: dict[str, list[InspectedProblem]] = {}
    for problem in problems:
        # Problems of snapshots are grouped by code; those of the table also by detail, because each is different.
        own = problem.code if problem.snapshot_id else f"{problem.code} {problem.detail}"
        grouped.setdefault(own, []).append(problem)
    for same in list(grouped.values())[:PROBLEMS]:
        first = same[0]
        where = f" (snapshot {first.snapshot_id})" if first.snapshot_id else ""
        where = f" ({len(same):,} snapshots)" if len(same) > 1 and first.snapshot_id else where
        line = Text(f"{first.code}{where}: ", style="yellow", overflow="fold")
        console.print(Padding(line.append(plain(first.detail), style="default"), (0, 0, 0, 2)))
    if len(grouped) > PROBLEMS:
        console.print(f"  and {len(grouped) - PROBLEMS} more; use --json to list them all")


def _identity(document: Inspection) -> Iterator[tuple[str, str]]:
    table = document.table
    version = "" if table.format_version is None else f" v{table.format_version}"
    yield "format", f"{table.format or UNKNOWN}{version}"
    yield "uuid", table.table_uuid or UNKNOWN
    yield "metadata", table.metadata_location
    refs = [f"{name} ({ref['type']}) {ref['snapshot_id']}" for name, ref in table.refs.items()]
    if refs:
        yield "refs", "; ".join(refs[:REFS]) + (f"; {len(refs) - REFS} more" if len(refs) > REFS else "")


def _totals(document: Inspection) -> Iterator[tuple[str, str]]:
    current = document.current
    if current is None:
        yield "snapshot", "main points to a snapshot that is not in the metadata"
        return
    if current.snapshot_id is None:
        yield "snapshot", "none: the table has no commit yet"
        yield "data files", number(current.data_files)
        return
    head = next(snapshot for snapshot in document.snapshots if snapshot.snapshot_id == current.snapshot_id)
    totals = head.totals
    yield "snapshot", f"{current.snapshot_id}; {counted(len(document.snapshots), 'snapshot')} retained"
    yield "data files", number(totals.data_files)
    yield "partitions", number(current.partitions)
    yield "records", f"{number(totals.records)}, before deletes"
    mean = f", {sized(totals.bytes // totals.data_files)} a file" if totals.bytes and totals.data_files else ""
    yield "size", f"{sized(totals.bytes)}{mean}"
    yield "deletes", _deletes(totals)
    if head.summary_mismatch:
        yield "summary", f"the summary of its writer differs: {', '.join(head.summary_mismatch)}"


def _deletes(totals: DocumentTotals) -> str:
    if totals.delete_files == 0:
        return "none"
    parts = [counted(totals.delete_files, "file")]
    if totals.dvs:
        parts[0] += f", {number(totals.dvs)} of them deletion vectors"
    parts += [f"{number(totals.position_deletes)} positions", f"{number(totals.equality_deletes)} equality rows"]
    if totals.records and totals.position_deletes is not None:
        parts.append(f"{totals.position_deletes / totals.records:.2%} of the records by position")
    return "; ".join(parts)


def _partitions(console: Console, structure: Structure) -> None:
    if len(structure.worst) < 2 and not any(part.partition for part in structure.worst):
        return
    _headline(console, "Worst partitions, by small files")
    table = _table(("partition", "small", "files", "deletes", "size"))
    for part in structure.worst:
        numbers = (part.small_files, part.data_files, part.delete_files)
        table.add_row(Text(plain(part.partition) or "(none)"), *map(number, numbers), sized(part.bytes))
    console.print(Padding(table, (0, 0, 0, 2)))


def _snapshots(console: Console, snapshots: Sequence[InspectedSnapshot]) -> None:
    if not snapshots:
        _headline(console, "No snapshots.")
        return
    shown = snapshots[-LAST_SNAPSHOTS:]
    retained = counted(len(snapshots), "snapshot")
    _headline(console, retained if len(shown) == len(snapshots) else f"Last {len(shown)} of {retained}")
    table = _table(("committed (UTC)", "operation", "added", "removed", "files", "size", "status"))
    for snapshot in shown:
        numbers = (snapshot.added.data_files, snapshot.removed.data_files, snapshot.totals.data_files)
        size = sized(snapshot.totals.bytes)
        operation = Text(plain(snapshot.operation or UNKNOWN)[:20])
        table.add_row(instant(snapshot.committed_at), operation, *map(number, numbers), size, snapshot.status)
    console.print(Padding(table, (0, 0, 0, 2)))


def _table(columns: Sequence[str]) -> Table:
    """A table whose first column and texts are left-aligned, its numbers right-aligned."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for place, column in enumerate(columns):
        is_text = place == 0 or column in {"operation", "status"}
        table.add_column(column, justify="left" if is_text else "right")
    table.columns[0].overflow = "fold"
    return table
