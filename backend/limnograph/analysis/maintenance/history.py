"""What recorded transitions of plans say about the actions of the last days.

Transitions may be all of them, as the meta table has them, or only the last one of each plan: then less is known, and
counts are lower bounds. Rows of others can only make them higher, so that less runs.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.time import Micros

DONE = frozenset({"committed", "partly", "verified", "measured"})
"""States in which commits of an action are in the table."""


def in_order(facts: Iterable[PlanFact]) -> list[PlanFact]:
    """Each transition once, oldest first."""
    found = {(each.plan_id, each.seq): each for each in facts}
    return sorted(found.values(), key=lambda each: (each.at or 0, each.plan_id, each.seq))


def of_table(facts: Iterable[PlanFact], table_uuid: str) -> list[PlanFact]:
    """The transitions of one table's plans, oldest first."""
    return in_order(each for each in facts if each.table_uuid == table_uuid)


def since(facts: Iterable[PlanFact], start: Micros) -> list[PlanFact]:
    """Transitions at or after an instant."""
    return [each for each in facts if each.at is not None and each.at >= start]


def results(facts: Sequence[PlanFact]) -> list[PlanFact]:
    """The last transition of each attempt that is in the table, oldest first."""
    last: dict[tuple[str, int | None], PlanFact] = {}
    for each in facts:
        if each.state in DONE:
            last[each.plan_id, each.attempt] = each
    return in_order(last.values())


_UNDER_WAY = frozenset({"running", "unknown"})


def bytes_read(facts: Sequence[PlanFact]) -> list[PlanFact]:
    """The last transition of each attempt that read files: it is in the table, failed its verification, or runs."""
    last: dict[tuple[str, int | None], PlanFact] = {}
    for each in in_order(facts):
        key = (each.plan_id, each.attempt)
        if each.state in DONE | _UNDER_WAY or (each.state == "failed" and each.snapshot_ids):
            last[key] = each
        elif key in last and last[key].state in _UNDER_WAY:
            del last[key]  # it ended without a commit
    return in_order(last.values())


def conflicts_in_a_row(facts: Sequence[PlanFact]) -> int:
    """Conflicts since an action on the table last succeeded. `facts`: of one table, oldest first."""
    count = 0
    done, seen = set[tuple[str, int | None]](), set[tuple[str, int | None]]()
    for each in facts:
        if each.state in DONE:
            # What is recorded of it later is no further success.
            count = count if (each.plan_id, each.attempt) in done else 0
            done.add((each.plan_id, each.attempt))
        elif each.state == "conflicted":
            count += 1
            seen.add((each.plan_id, each.attempt))
        elif each.state == "queued" and each.problem == "conflict" and (each.plan_id, each.attempt) not in seen:
            count += 1  # only the last transition is known
            seen.add((each.plan_id, each.attempt))
    return count


def file_sets(fact: PlanFact) -> frozenset[str]:
    """What an action took up: digests of its groups, or that of its arguments."""
    try:
        decoded: Any = msgspec.json.decode(fact.arguments or "{}")
    except msgspec.DecodeError:
        decoded = {}
    groups = decoded.get("groups") if isinstance(decoded, dict) else None
    found = [each.get("files_sha256") for each in groups or () if isinstance(each, dict)]
    digests = frozenset(each for each in found if isinstance(each, str))
    own = fact.arguments_sha256 or hashlib.sha256(fact.plan_id.encode()).hexdigest()
    return digests or frozenset({own})


def times_taken_up(facts: Sequence[PlanFact], fact: PlanFact) -> int:
    """How often the files of an action were taken up by actions that are in the table, this one included."""
    counts: dict[str, set[tuple[str, int | None]]] = defaultdict(set)
    for each in facts:
        if each.state in DONE and each.action == fact.action:
            for digest in file_sets(each):
                counts[digest].add((each.plan_id, each.attempt))
    known = max((len(counts[digest]) for digest in file_sets(fact)), default=0)
    attempts = {each.attempt or 1 for each in facts if each.plan_id == fact.plan_id}
    # If only the last transition of a plan is known, its earlier attempts count as if they had run.
    return max(known, fact.attempt or 1) if attempts == {fact.attempt or 1} else known
