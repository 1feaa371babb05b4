"""The readable output of `limnograph inspect`: plain lines that fit 80 columns and say the same without colour."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from limnograph.cli.words import UNKNOWN, counted, instant, number, plain, sized
from limnograph.domain.content import Shape
from limnograph.domain.facts import HISTOGRAM_EDGES
from limnograph.domain.inspection import Inspected, InspectedProblem, InspectedSnapshot, Inspection, Structure, Totals
from limnograph.domain.manifests import histogram_percentile, size_bin
from limnograph.services.inspect_sentences import sentence

LAST_SNAPSHOTS = 10
PROBLEMS = 12
_LABEL, _BAR = 14, 40
_STATUS = {"ok": "green", "partial": "yellow", "unreadable": "red"}


def draw(found: Inspected, console: Console) -> None:
    """Everything about the table, the newest at the end."""
    document, structure = found.document, found.structure
    console.print(_title(document))
    _lines(console, _identity(document))
    if document.snapshots:
        _section(console, "Now", _totals(document))
    if structure is not None:
        _section(console, _sizes_title(structure), _sizes(structure))
        _section(console, "Compaction debt", _debt(structure))
        _section(console, "Structure", _layout(document, structure))
        _partitions(console, structure)
    _problems(console, document.problems)
    _snapshots(console, document.snapshots)


def _section(console: Console, title: str, lines: Iterable[tuple[str, str]]) -> None:
    found = list(lines)
    if found:
        console.print()
        console.print(Text(title, style="bold"))
        _lines(console, found)


def _lines(console: Console, lines: Iterable[tuple[str, str]]) -> None:
    """Label and text; a text that is too long goes on below itself."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(min_width=_LABEL, no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in lines:
        grid.add_row(Text(f"  {label}", style="dim"), Text(plain(text)))
    console.print(grid)


def _title(document: Inspection) -> Text:
    table = document.table
    title = Text(plain(table.location or table.metadata_location), style="bold", overflow="fold")
    return title.append("  ").append(document.status, style=_STATUS.get(document.status, ""))


def _identity(document: Inspection) -> Iterator[tuple[str, str]]:
    table = document.table
    version = "" if table.format_version is None else f" v{table.format_version}"
    yield "format", f"{table.format}{version}"
    yield "uuid", table.table_uuid or UNKNOWN
    yield "metadata", table.metadata_location
    refs = [f"{name} ({ref['type']}) {ref['snapshot_id']}" for name, ref in table.refs.items()]
    if refs:
        yield "refs", "; ".join(refs[:8]) + (f"; {len(refs) - 8} more" if len(refs) > 8 else "")


def _totals(document: Inspection) -> Iterator[tuple[str, str]]:
    current = document.current
    if current is None:
        yield "snapshot", "main points at no snapshot that the metadata holds"
        return
    totals = next(s.totals for s in document.snapshots if s.snapshot_id == current.snapshot_id)
    yield "snapshot", f"{current.snapshot_id}; {counted(len(document.snapshots), 'snapshot')} retained"
    yield "data files", number(totals.data_files)
    yield "partitions", number(current.partitions)
    yield "records", f"{number(totals.records)}, before deletes"
    mean = f", {sized(totals.bytes // totals.data_files)} a file" if totals.bytes and totals.data_files else ""
    yield "size", f"{sized(totals.bytes)}{mean}"
    yield "deletes", _deletes(totals)


def _deletes(totals: Totals) -> str:
    if totals.delete_files == 0:
        return "none"
    parts = [counted(totals.delete_files, "file")]
    if totals.dvs:
        parts[0] += f", {number(totals.dvs)} of them deletion vectors"
    parts += [f"{number(totals.position_deletes)} positions", f"{number(totals.equality_deletes)} equality rows"]
    if totals.records and totals.position_deletes is not None:
        parts.append(f"{totals.position_deletes / totals.records:.2%} of the records by position")
    return "; ".join(parts)


def _sizes_title(structure: Structure) -> str:
    return "File sizes" if structure.target is None else f"File sizes, target {sized(structure.target)}"


def _sizes(structure: Structure) -> Iterator[tuple[str, str]]:
    histogram = structure.histogram
    if not histogram or not sum(histogram):
        return
    target = None if structure.target is None else size_bin(structure.target)
    shown = sorted({index for index, count in enumerate(histogram) if count} | (set() if target is None else {target}))
    for before, index in zip([shown[0], *shown], shown, strict=False):
        if index - before > 1:
            yield "  ...", ""
        bar = "█" * max(round(_BAR * histogram[index] / max(histogram)), histogram[index] > 0)
        yield _bin(index), f"{bar} {histogram[index]:,}{'   <- target' if index == target else ''}".strip()
    percentiles = (histogram_percentile(histogram, share) for share in (0.1, 0.5, 0.9))
    yield "p10 p50 p90", "  ".join(map(sized, percentiles))
    if structure.small_files is not None:
        files = sum(histogram)
        below = f"below {sized(structure.small_below)}"
        yield "small", f"{structure.small_files:,} of {files:,} ({structure.small_files / files:.0%}) {below}"


def _bin(index: int) -> str:
    if index == 0:
        return f"< {sized(HISTOGRAM_EDGES[0])}"
    return f">= {sized(HISTOGRAM_EDGES[index - 1])}"


def _debt(structure: Structure) -> Iterator[tuple[str, str]]:
    shape = structure.shape
    for note in structure.notes:
        yield "not computed", sentence(note)
    if shape is None or shape.debt_files is None:
        yield "to rewrite", UNKNOWN
    elif shape.debt_files:
        yield "to rewrite", f"{counted(shape.debt_files, 'file')}, {sized(shape.debt_bytes)}"
        outputs = f" into about {counted(shape.debt_outputs, 'file')}" if shape.debt_outputs is not None else ""
        yield "groups", f"{number(shape.debt_groups)}{outputs}"
    else:
        yield "to rewrite", "nothing"
    if structure.rule is not None:
        yield "rule", structure.rule


def _layout(document: Inspection, structure: Structure) -> Iterator[tuple[str, str]]:
    yield from _manifests(structure)
    yield "metadata", f"{sized(structure.metadata_bytes)}, {counted(len(document.snapshots), 'snapshot')}"
    if structure.delete_bytes and structure.delete_target:
        yield "delete files", f"{sized(structure.delete_bytes)}; target {sized(structure.delete_target)} a file"
    if structure.shape is not None:
        yield from _shape(structure.shape)


def _manifests(structure: Structure) -> Iterator[tuple[str, str]]:
    count, size, target = structure.manifests, structure.manifest_bytes, structure.manifest_target
    if count is None:
        return
    deletes = f", {structure.delete_manifests:,} of deletes" if structure.delete_manifests else ""
    enough = ""
    if size and target:
        wanted = -(-size // target)
        enough = f"; {counted(wanted, 'manifest')} of {sized(target)} would do"
    yield "manifests", f"{count:,}{deletes}, {sized(size)}{enough if count > 1 else ''}"


def _shape(shape: Shape) -> Iterator[tuple[str, str]]:
    if shape.overlap_depth_max is not None:
        left = (
            f"; {counted(shape.overlap_unbounded, 'file')} without bounds left out" if shape.overlap_unbounded else ""
        )
        yield "overlap", f"{_depth(shape)}{left}"
    if shape.skew_top1_share is not None:
        middle = shape.skew_max_over_median
        parts = [] if middle is None else [f"largest partition {middle:,.1f} times the median"]
        parts.append(f"{shape.skew_top1_share:.1%} of all bytes")
        parts += [] if shape.skew_cv is None else [f"cv {shape.skew_cv:.2f}"]
        parts += [] if shape.skew_gini is None else [f"Gini {shape.skew_gini:.2f}"]
        yield "skew", ", ".join(parts)


def _depth(shape: Shape) -> str:
    if shape.overlap_depth_max == 1:
        return "none by the first sort or partition field"
    mean = f", {shape.overlap_depth_mean:.1f} on average" if shape.overlap_depth_mean is not None else ""
    return f"up to {shape.overlap_depth_max:,} files hold one value of the first sort or partition field{mean}"


def _partitions(console: Console, structure: Structure) -> None:
    if len(structure.worst) < 2 and not any(part.partition for part in structure.worst):
        return
    console.print()
    console.print(Text("Worst partitions, by small files", style="bold"))
    table = _table(("partition", "small", "files", "deletes", "size"))
    for part in structure.worst:
        numbers = (part.small_files, part.data_files, part.delete_files)
        table.add_row(Text(f"  {plain(part.partition) or '(none)'}"), *map(number, numbers), sized(part.bytes))
    console.print(table)


def _problems(console: Console, problems: Sequence[InspectedProblem]) -> None:
    """Each code once, with the snapshots that have it."""
    if not problems:
        return
    console.print()
    console.print(Text("Problems", style="bold"))
    grouped: dict[tuple[str, str], list[str]] = {}
    for problem in problems:
        grouped.setdefault((problem.code, problem.detail), []).append(problem.snapshot_id or "")
    for (code, detail), where in list(grouped.items())[:PROBLEMS]:
        ids = [snapshot_id for snapshot_id in where if snapshot_id]
        place = f" (snapshot {ids[0]})" if len(ids) == 1 else f" ({len(ids):,} snapshots)" if ids else ""
        line = Text(f"{code}{place}: ", style="yellow", overflow="fold").append(plain(detail), style="default")
        console.print(Padding(line, (0, 0, 0, 2)))
    if len(grouped) > PROBLEMS:
        console.print(f"  and {len(grouped) - PROBLEMS} more; --json has them all")


def _snapshots(console: Console, snapshots: Sequence[InspectedSnapshot]) -> None:
    if not snapshots:
        console.print()
        console.print("No snapshots.")
        return
    console.print()
    shown = snapshots[-LAST_SNAPSHOTS:]
    console.print(Text(f"Last {len(shown)} of {counted(len(snapshots), 'snapshot')}", style="bold"))
    table = _table(("committed (UTC)", "operation", "+", "-", "files", "size", "status"))
    for snapshot in shown:
        numbers = (snapshot.added.data_files, snapshot.removed.data_files, snapshot.totals.data_files)
        size = sized(snapshot.totals.bytes)
        operation = Text(plain(snapshot.operation or UNKNOWN)[:20])
        table.add_row(instant(snapshot.committed_at), operation, *map(number, numbers), size, snapshot.status)
    console.print(table)


def _table(columns: Sequence[str]) -> Table:
    """First column and texts to the left, numbers to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="dim")
    for place, column in enumerate(columns):
        is_text = place == 0 or column in {"operation", "status"}
        table.add_column(f"  {column}" if place == 0 else column, justify="left" if is_text else "right")
    table.columns[0].overflow = "fold"
    return table
