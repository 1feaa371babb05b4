"""The kinds of cases: per code, histories in which it must open, and look-alikes in which it must not.

A kind draws its facts (sizes, targets, partitions, cadence, writers, skewed clocks) from a seeded generator, so that
each case is another table. The source of a look-alike is an issue, a post-mortem or an operator's guide that describes
it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple

from limnograph.domain.finding_codes import FindingCode

Judge = Callable[[random.Random], bool]


class CaseKind(NamedTuple):
    """`judge`: makes one case and returns whether the finding is open in it."""

    code: FindingCode
    name: str
    is_fault: bool
    source: str
    judge: Judge


KINDS: list[CaseKind] = []


def fault(code: FindingCode, source: str) -> Callable[[Judge], Judge]:
    """A kind in which the finding must be open."""
    return _kind(code, source, is_fault=True)


def look_alike(code: FindingCode, source: str) -> Callable[[Judge], Judge]:
    """A kind in which the finding must not be open."""
    return _kind(code, source, is_fault=False)


def _kind(code: FindingCode, source: str, *, is_fault: bool) -> Callable[[Judge], Judge]:
    def keep(judge: Judge) -> Judge:
        KINDS.append(CaseKind(code, judge.__name__, is_fault, source, judge))
        return judge

    return keep
