"""Formats the layout of a table's files as labelled lines: sizes, compaction debt, manifests, overlap, skew."""

from __future__ import annotations

from collections.abc import Iterator

from limnograph.cli.words import UNKNOWN, counted, number, sized
from limnograph.domain.facts.meta_tables import HISTOGRAM_EDGES
from limnograph.domain.metadata.content import Shape
from limnograph.domain.metadata.inspection import Structure
from limnograph.domain.metadata.manifests import percentile_bin, size_bin
from limnograph.services.extraction.inspect_sentences import sentence

Lines = Iterator[tuple[str, str]]
_BAR = 40


def sizes_title(structure: Structure) -> str:
    """Title of the section on file sizes, with the target size."""
    return "File sizes" if structure.target is None else f"File sizes, target {sized(structure.target)}"


def sizes(structure: Structure) -> Lines:
    """The histogram's bins that have files, and the target's bin."""
    histogram = structure.histogram
    if not histogram or not sum(histogram):
        return
    target = None if structure.target is None else size_bin(structure.target)
    shown = sorted({index for index, count in enumerate(histogram) if count} | (set() if target is None else {target}))
    width = len(f"{max(histogram):,}")
    for before, index in zip([shown[0], *shown], shown, strict=False):
        if index - before > 1:
            yield "  ...", ""
        bar = "█" * max(round(_BAR * histogram[index] / max(histogram)), histogram[index] > 0)
        mark = " <- target" if index == target else ""
        yield size_range(index), f"{histogram[index]:>{width},} {bar}{mark}".rstrip()
    yield "p10 p50 p90", _percentiles(histogram)
    if structure.small_files is not None:
        files = sum(histogram)
        below = f"below {sized(structure.small_below)}"
        yield "small", f"{structure.small_files:,} of {files:,} ({structure.small_files / files:.0%}) {below}"


def _percentiles(histogram: list[int]) -> str:
    """Percentiles as bins of the histogram, which has no finer resolution."""
    bins = [percentile_bin(histogram, share) for share in (0.1, 0.5, 0.9)]
    if len(set(bins)) == 1:
        return f"all {size_range(bins[0])}"
    return ", ".join(map(size_range, bins))


def size_range(index: int) -> str:
    """The range of sizes in a bin of the histogram."""
    if index == 0:
        return f"< {sized(HISTOGRAM_EDGES[0])}"
    if index == len(HISTOGRAM_EDGES):
        return f">= {sized(HISTOGRAM_EDGES[-1])}"
    low, high = sized(HISTOGRAM_EDGES[index - 1]), sized(HISTOGRAM_EDGES[index])
    same = low.rpartition(" ")[2] == high.rpartition(" ")[2]
    return f"{low.rpartition(' ')[0] if same else low} - {high}"


def debt(structure: Structure) -> Lines:
    """Files that a compaction by the table's own rule would rewrite."""
    shape = structure.shape
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


def layout(structure: Structure, snapshots: int) -> Lines:
    """Manifests, metadata, delete files, overlap of files and skew of partitions."""
    yield from _manifests(structure)
    yield "metadata", f"{sized(structure.metadata_bytes)}, {counted(snapshots, 'snapshot')}"
    if structure.delete_bytes and structure.delete_target:
        yield "delete files", f"{sized(structure.delete_bytes)}; target {sized(structure.delete_target)} a file"
    if structure.shape is not None:
        yield from _shape(structure.shape)
    for note in structure.notes:
        yield "note", sentence(note)


def _manifests(structure: Structure) -> Lines:
    count, size, target = structure.manifests, structure.manifest_bytes, structure.manifest_target
    if count is None:
        return
    deletes = f", {structure.delete_manifests:,} of deletes" if structure.delete_manifests else ""
    enough = ""
    if size and target:
        wanted = -(-size // target)
        enough = f"; {counted(wanted, 'manifest')} of {sized(target)} would do"
    yield "manifests", f"{count:,}{deletes}, {sized(size)}{enough if count > 1 else ''}"


def _shape(shape: Shape) -> Lines:
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
