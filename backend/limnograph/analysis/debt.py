"""Compaction debt: the files that a rewrite by the table's own rule would read, and how many files it would leave.

The rules are Iceberg's SizeBasedFileRewritePlanner and BinPackRewriteFilePlanner (1.10); other formats use the same
code with the numbers of their rule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from limnograph.domain.metadata.targets import Targets

Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

DELETE_RATIO = 0.3
"""`delete-ratio-threshold`: a file is rewritten if its deletes cover this share of its rows."""


class Debt(NamedTuple):
    """Files and bytes to rewrite, their number of groups, and files expected afterwards. `saved`: how many files fewer
    there are if only those groups are rewritten that leave at most half of their files.
    """

    files: int
    bytes: int
    groups: int
    outputs: int
    saved: int


def debt(group: Longs, size: Longs, rule: Targets, deleted: Flags | None = None) -> Debt:
    """Debt of live data files in the planner's order.

    group    files with the same number are planned together (a partition; for Iceberg all files of older specs)
    size     bytes
    deleted  files that the delete ratio alone selects
    """
    bins = rewrite_bins(group, size, rule, deleted)
    found = np.zeros(5, np.int64)
    for files, total, outputs in zip(bins.files.tolist(), bins.bytes.tolist(), bins.outputs(rule), strict=True):
        found += (files, total, 1, outputs, files - outputs if 2 * outputs <= files else 0)
    return Debt(*map(int, found))


class RewriteBins(NamedTuple):
    """Groups of files that the planner would rewrite.

    rows   indexes of candidates, sorted by group
    first  index into `rows` of each bin's first file, and `last` the one after its last file
    bytes  size of each bin
    """

    rows: Longs
    first: Longs
    last: Longs
    bytes: Longs

    @property
    def files(self) -> Longs:
        """Files of each bin."""
        return self.last - self.first

    def outputs(self, rule: Targets) -> list[int]:
        """Expected files of each bin after the rewrite."""
        return [expected_outputs(total, rule) for total in self.bytes.tolist()]


def rewrite_bins(group: Longs, size: Longs, rule: Targets, deleted: Flags | None = None) -> RewriteBins:
    """The planner's groups; arguments as for `debt`."""
    by_delete = np.zeros(size.size, np.bool_) if deleted is None else deleted
    candidate = (size < rule.small_below) | by_delete
    if rule.large_above is not None:
        candidate |= size > rule.large_above
    rows = np.flatnonzero(candidate)
    rows = rows[np.argsort(group[rows], kind="stable")]
    return _chosen(rows, group[rows], size[rows], by_delete[rows], rule)


def _chosen(rows: Longs, group: Longs, size: Longs, by_delete: Flags, rule: Targets) -> RewriteBins:
    if not size.size:
        return RewriteBins(rows, rows, rows, rows)
    starts = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
    ends = np.append(starts[1:], size.size)
    running = np.concatenate([[0], np.cumsum(size)])
    forced = np.concatenate([[0], np.cumsum(by_delete)])
    large = running[ends] - running[starts] > rule.max_group_bytes
    bins = [(starts[~large], ends[~large])]
    for start, end in zip(starts[large].tolist(), ends[large].tolist(), strict=True):
        bins.append(_bins(running, start, end, rule.max_group_bytes))
    first, last = (np.concatenate(side) for side in zip(*bins, strict=True))
    files, total = last - first, running[last] - running[first]
    chosen = _rewritten(files, total, forced[last] > forced[first], rule)
    return RewriteBins(rows, first[chosen], last[chosen], total[chosen])


def _bins(running: Longs, low: int, high: int, capacity: int) -> tuple[Longs, Longs]:
    """Start and end indexes of the bins of one partition, by next-fit packing (Iceberg's BinPacking with lookback 1):
    the first file that does not fit closes a bin. A file larger than the capacity gets a separate bin.
    """
    edges = [low]
    while edges[-1] < high:
        room = int(np.searchsorted(running[: high + 1], running[edges[-1]] + capacity, side="right")) - 1
        edges.append(max(room, edges[-1] + 1))
    return np.array(edges[:-1], np.int64), np.array(edges[1:], np.int64)


def _rewritten(files: Longs, total: Longs, by_delete: Flags, rule: Targets) -> Flags:
    """Bins with enough input files, enough content, too much content, or a file selected for its deletes."""
    many = (files > 1) & ((files >= rule.min_input_files) | (total > rule.target))
    too_much = False if rule.large_above is None else total > rule.large_above
    return many | by_delete | too_much


def expected_outputs(total: int, rule: Targets) -> int:
    """Files that a group of `total` bytes is rewritten to (`expectedOutputFiles`): a remainder above the minimum size
    becomes a file; a smaller one is spread over the others if they stay below 1.1 times the target.
    """
    if total < rule.target:
        return 1
    whole, rest = divmod(total, rule.target)
    above = whole + (rest > 0)
    if rest > rule.small_below:
        return above
    largest = rule.target * 1.1
    if rule.large_above is not None:
        largest = min(largest, float(int(rule.target + (rule.large_above - rule.target) * 0.5)))
    return whole if total // whole < largest else above
