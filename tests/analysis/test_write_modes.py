"""Which write mode fits: each verdict at its limit, and what makes it unknown."""

from __future__ import annotations

import pytest

from limnograph.analysis.write_modes import RowChanges, fitting_mode

GIB = 1 << 30
REWRITES = RowChanges(rewriting=12, small=10, rewritten=GIB, live=GIB, merging=0, changed_share=None)
MERGES = RowChanges(rewriting=0, small=0, rewritten=0, live=GIB, merging=5, changed_share=0.009)


@pytest.mark.parametrize(
    ("changes", "scans", "merged", "verdict"),
    [
        (REWRITES._replace(rewriting=0), 9, 0.0, (None, "no_row_changes")),
        (REWRITES, 0, None, (None, "no_scans")),
        (REWRITES, 9, 0.0, ("merge-on-read", "writes_rewrite_much")),
        (REWRITES._replace(small=9), 9, 0.0, ("copy-on-write", "rewriting_is_cheap")),
        (REWRITES._replace(rewritten=GIB - 1), 9, 0.0, ("copy-on-write", "rewriting_is_cheap")),
        (REWRITES._replace(small=None), 9, 0.0, (None, "rewriting_unknown")),
        (REWRITES._replace(live=None), 9, 0.0, (None, "rewriting_unknown")),
        (MERGES, 9, 0.31, ("copy-on-write", "reads_merge_much")),
        (MERGES, 9, 0.3, ("merge-on-read", "merging_is_cheap")),
        (MERGES._replace(changed_share=0.01), 9, 0.31, ("merge-on-read", "merging_is_cheap")),
        (MERGES, 9, None, (None, "deletes_unknown")),
        (MERGES._replace(changed_share=None), 9, 0.31, (None, "deletes_unknown")),
        (MERGES, 0, None, (None, "no_scans")),
    ],
)
def test_a_mode_fits_by_what_rewriting_and_merging_cost(
    changes: RowChanges, scans: int, merged: float | None, verdict: tuple[str | None, str]
) -> None:
    assert fitting_mode(changes, scans, merged) == verdict
