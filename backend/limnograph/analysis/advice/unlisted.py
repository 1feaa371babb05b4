"""Rules `orphans` and `cluster`: what they need is not in a table's metadata."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from limnograph.analysis.advice.expire import least_freed
from limnograph.analysis.advice.facts import DAY_MS, AdviceFacts, UnlistedFile
from limnograph.analysis.advice.guards import collection_guard
from limnograph.analysis.advice.money import expiry_saving
from limnograph.analysis.advice.planned import PlannedAction, RuleAnswer
from limnograph.analysis.advice.words import counted, lasting, money, size
from limnograph.analysis.locations import may_be_below
from limnograph.domain.advice.document import NotKnown, NotWorth, PlanGuard, PlanValue, Predicted
from limnograph.domain.metadata.table import TableMetadata

AnyUnlisted = TypeVar("AnyUnlisted", bound=UnlistedFile)
ORPHANS = "orphans"
DEFAULT_AGE_MS, LEAST_AGE_MS = 7 * DAY_MS, 3 * DAY_MS
"""A writer that runs for long has files that no snapshot references yet: younger ones are never in a plan."""


def orphans(facts: AdviceFacts) -> list[RuleAnswer]:
    """At most one plan, of the files of a listing, which only `limnograph maintain` makes. Its arguments contain the
    number, the bytes and a digest of the files; the executor keeps the list.
    """
    if facts.unreferenced is None:
        return [NotKnown(rule=ORPHANS, missing="no listing: unreferenced files are not in the metadata")]
    age_ms = max(LEAST_AGE_MS, facts.limits.orphan_age_ms or DEFAULT_AGE_MS)
    removable = removable_files(facts.unreferenced, facts.metadata)
    due = sorted((each for each in removable if facts.now - each.modified_at_ms >= age_ms), key=lambda f: f.location)
    if not due:
        return []
    freed = sum(each.size for each in due)
    saving = expiry_saving(freed, facts.prices)
    if freed < least_freed(facts):
        a_month = money(saving, facts.prices.currency)
        who = f"{counted(len(due), 'file')} that no snapshot references {'holds' if len(due) == 1 else 'hold'}"
        return [NotWorth(rule=ORPHANS, text=f"{who} only {size(freed)}: {a_month} a month")]
    return [
        PlannedAction(
            action="remove_orphan_files",
            rule=ORPHANS,
            because=[],
            arguments={
                "action": "remove_orphan_files",
                "files": len(due),
                "bytes": freed,
                "files_sha256": listing_sha256(due),
            },
            predicted=Predicted(files_in=len(due), files_out=0, bytes_freed=freed),
            value=PlanValue(money_per_month=saving),
            guards=[collection_guard(facts), _age_guard(facts, due, age_ms)],
            files=[each.location for each in due],
        )
    ]


def removable_files(files: Iterable[AnyUnlisted], metadata: TableMetadata) -> list[AnyUnlisted]:
    """Of a listing, the files in the table's own folders."""
    folders = own_folders(metadata)
    return [each for each in files if any(may_be_below(each.location, folder) for folder in folders)]


def own_folders(metadata: TableMetadata) -> list[str]:
    """Folders in which Iceberg's writers put the files of a table. Other files below its location may be those of
    anyone: no plan takes them up.
    """
    root = metadata.location.rstrip("/")
    return [f"{root}/data", f"{root}/metadata"]


def listing_sha256(files: Iterable[UnlistedFile]) -> str:
    """Digest of a list of files in any order: the same only for the same locations and sizes."""
    listed = sorted((each.location, each.size) for each in files)
    return hashlib.sha256(msgspec.json.encode(listed)).hexdigest()


def _age_guard(facts: AdviceFacts, due: list[UnlistedFile], age_ms: int) -> PlanGuard:
    """Whether each file is old enough. A time of modification in the future is that of a wrong clock."""
    youngest = facts.now - max(each.modified_at_ms for each in due)
    text = f"The youngest file is {lasting(youngest / 1_000)} old; files below {lasting(age_ms / 1_000)} are left out."
    return PlanGuard(code="age", ok=True, text=text)


def cluster(facts: AdviceFacts) -> list[RuleAnswer]:
    """Sorting pays if scans filter by a field in which files overlap: that follows from reported scans."""
    if facts.reads is not None and facts.reads.basis == "scans":
        return []
    return [NotKnown(rule="cluster", missing="no scan of the table is reported, so its filters are unknown")]
