"""The plan to remove unreferenced files, from a listing of the table's folder. Rule `orphans`.

Thresholds: 1 GiB, or a twentieth of the live bytes. A plan names each file: another listing that has them all yields the
same plan, and files that appeared meanwhile are not in it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from limnograph.analysis.advice.expire import LEAST_FREED, LEAST_SHARE
from limnograph.analysis.advice.money import expiry_saving
from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.advice.words import counted, size
from limnograph.domain.advice.document import NotWorth, PlanValue, Predicted
from limnograph.domain.advice.prices import Prices
from limnograph.domain.metadata.table import TableMetadata
from limnograph.ports.table_maintainer import UnreferencedFile

RULE, ACTION = "orphans", "remove_orphan_files"
MOST_FILES = 2_000
"""Files of one plan, the largest first: its arguments name each. The next plan takes up the others."""


def orphan_plan(
    metadata: TableMetadata,
    found: Sequence[UnreferencedFile],
    prices: Prices,
    live_bytes: int | None,
    least_bytes: int | None,
) -> PlannedAction | NotWorth | None:
    """A plan, or why it is not worth it; None: there is no such file. `least_bytes`: of the policy."""
    if not found:
        return None
    total = sum(each.size for each in found)
    least = max(LEAST_FREED, LEAST_SHARE * (live_bytes or 0)) if least_bytes is None else least_bytes
    if total < least:
        text = f"{counted(len(found), 'unreferenced file')} would free only {size(total)}"
        return NotWorth(rule=RULE, text=text)
    chosen = sorted(found, key=lambda each: (-each.size, each.location))[:MOST_FILES]
    return removal_of(metadata, chosen, prices)


def removal_of(metadata: TableMetadata, files: Collection[UnreferencedFile], prices: Prices) -> PlannedAction:
    """The plan to remove exactly these files."""
    paths, freed = sorted(each.location for each in files), sum(each.size for each in files)
    return PlannedAction(
        action=ACTION,
        rule=RULE,
        because=[],
        arguments={"action": ACTION, "location": metadata.location, "paths": paths},
        predicted=Predicted(files_in=len(paths), files_out=0, bytes_in=freed, bytes_out=0, bytes_freed=freed),
        value=PlanValue(money_per_month=expiry_saving(freed, prices)),
        guards=[],
    )
