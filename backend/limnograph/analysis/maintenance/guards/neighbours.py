"""Guards that protect files of other tables: nested, registered twice, spelled in another way, restored, or our own."""

from __future__ import annotations

from collections.abc import Sequence

from limnograph.analysis.advice.unlisted import own_folders
from limnograph.analysis.locations import is_surely_below, may_be_below, may_be_same, parsed
from limnograph.analysis.maintenance.guards.facts import GuardFacts, OtherTable, answer, not_known
from limnograph.domain.advice.document import PlanGuard
from limnograph.domain.ids import LOCATION_UUID

NESTED, TWIN, SPELLING = "H7_nested_location", "H8_twin", "H9_spelling"
IDENTITY, COLLECTION = "table_identity", "gc_enabled"
OWN_TABLE, COPY, MOVED = "H17_own_table", "H18_restored_copy", "location_moved"
_OTHERS = "All other tables of the catalogs are"
VERSION_PROPERTY = "limnograph.schema-version"
"""Property of Limnograph's own tables, of any installation."""


def nested_location(facts: GuardFacts) -> PlanGuard | None:
    """Files of a table that is nested in this one's location are unreferenced for this one."""
    if not facts.removes_unreferenced:
        return None
    if facts.others is None:
        return not_known(NESTED, _OTHERS)
    if unplaced := [each for each in facts.others if not each.places]:
        return not_known(NESTED, f"The location of {unplaced[0].name} is")
    roots = [facts.metadata.location, *own_folders(facts.metadata)]
    for other in facts.others:
        if any(_is_inside(facts, place, root) for place in other.places for root in roots):
            return answer(NESTED, f"{other.name} has files below this table's location.", ok=False)
    return answer(NESTED, "No other table has files below this table's location.", ok=True)


def _is_inside(facts: GuardFacts, place: str, root: str) -> bool:
    return may_be_below(place, root, facts.real_path)


def twin(facts: GuardFacts) -> PlanGuard | None:
    """What one of two tables at one location no longer references, the other one may still need."""
    if not facts.deletes:
        return None
    if facts.others is None:
        return not_known(TWIN, _OTHERS)
    own = [facts.metadata.location, facts.metadata.metadata_location]
    for other in facts.others:
        theirs = [*other.places, *([other.metadata_location] if other.metadata_location else [])]
        if any(may_be_same(one, two, facts.real_path) for one in own for two in theirs):
            return answer(
                TWIN, f"{other.name} is registered at the same location: drop one of the two first.", ok=False
            )
    return answer(TWIN, "No other table is registered at this location.", ok=True)


def restored_copy(facts: GuardFacts) -> PlanGuard | None:
    """A copy that a restore registered shares files with its original until one of them is dropped."""
    if not facts.deletes:
        return None
    if facts.others is None:
        return not_known(COPY, _OTHERS)
    uuid = facts.metadata.uuid
    copies = [each for each in facts.others if uuid is not None and each.table_uuid == uuid]
    if copies:
        text = f"{copies[0].name} has the same table uuid, as a restored copy: drop one of the two first."
        return answer(COPY, text, ok=False)
    if unknown := _unidentified(facts.others):
        return not_known(COPY, f"Neither the uuid nor the location of {unknown[0].name} is")
    return answer(COPY, "No other table has the same table uuid.", ok=True)


def _unidentified(others: Sequence[OtherTable]) -> list[OtherTable]:
    """A table without a known uuid still differs if its location does, which `twin` checks."""
    return [each for each in others if each.table_uuid is None and not each.places]


def spelling(facts: GuardFacts) -> PlanGuard | None:
    """Every file of a removal is surely in the table's own folders, and spelled as the table's location is."""
    if not facts.removes_unreferenced:
        return None
    folders = own_folders(facts.metadata)
    if parsed(facts.metadata.location).scheme == "file" and facts.real_path is None:
        return not_known(SPELLING, "Symbolic links of the local file system are")
    stray = [
        each for each in facts.plan.files if not any(is_surely_below(each, one, facts.real_path) for one in folders)
    ]
    if stray:
        return answer(SPELLING, f"A listed file is not surely in the table's own folders: {stray[0]}.", ok=False)
    return answer(SPELLING, "All listed files are in the table's own folders, and spelled alike.", ok=True)


def location_moved(facts: GuardFacts) -> PlanGuard | None:
    """Nothing is removed where the table's own metadata was not: its location may have been changed."""
    if not facts.removes_unreferenced:
        return None
    own = [*own_folders(facts.metadata), facts.metadata.properties.get("write.metadata.path", "")]
    logged = [facts.metadata.metadata_location, *(str(each.value) for each in facts.metadata.metadata_log)]
    strange = [each for each in logged if not any(one and may_be_below(each, one, facts.real_path) for one in own)]
    if strange:
        text = f"The table's location was changed: its metadata was elsewhere, as {strange[0]}."
        return answer(MOVED, text, ok=False)
    return answer(MOVED, "The table's metadata has always been at this location.", ok=True)


def own_table(facts: GuardFacts) -> PlanGuard | None:
    """Limnograph's own tables have housekeeping of their own."""
    if VERSION_PROPERTY in facts.metadata.properties:
        return answer(OWN_TABLE, "It is one of Limnograph's own tables, which have their own housekeeping.", ok=False)
    if facts.meta_namespaces is None:
        return not_known(OWN_TABLE, "The namespace of Limnograph's own tables is")
    if f"{facts.name.catalog}.{facts.name.namespace}" in facts.meta_namespaces:
        return answer(OWN_TABLE, f"{facts.name.namespace} is the namespace of Limnograph's own tables.", ok=False)
    return answer(OWN_TABLE, "It is none of Limnograph's own tables.", ok=True)


def identity(facts: GuardFacts) -> PlanGuard:
    """The table under this name is the one for which the plan was approved."""
    if facts.table_uuid is None:
        return not_known(IDENTITY, "The uuid of the table for which the plan was approved is")
    if facts.table_uuid != facts.metadata.table_uuid:
        return answer(IDENTITY, "Another table has this name now: its uuid differs from the approved one.", ok=False)
    if facts.deletes and facts.metadata.table_uuid.startswith(LOCATION_UUID):
        return answer(IDENTITY, "The table has no uuid of its own, so that a copy cannot be recognised.", ok=False)
    return answer(IDENTITY, "The table is the one for which the plan was approved.", ok=True)


def collection(facts: GuardFacts) -> PlanGuard | None:
    """A table whose files another one may own lets nothing be deleted (`gc.enabled`)."""
    if not facts.deletes:
        return None
    refused = facts.metadata.properties.get("gc.enabled", "true").strip().lower() != "true"
    text = (
        "The table's property gc.enabled does not permit deletion."
        if refused
        else "The table's property gc.enabled permits deletion."
    )
    return answer(COLLECTION, text, ok=not refused)
