"""Guards against other writers: jobs in flight, rewrites by others, fast commits, and clocks that differ."""

from __future__ import annotations

from limnograph.analysis.advice.words import counted, lasting
from limnograph.analysis.maintenance.guards.facts import HOUR_MS, GuardFacts, answer, not_known
from limnograph.analysis.maintenance.limits import RUNS_LENGTHS
from limnograph.domain.advice.document import PlanGuard
from limnograph.domain.maintenance.actions import STAMP
from limnograph.domain.maintenance.policy import LEAST_ORPHAN_AGE_US
from limnograph.domain.metadata.table import Snapshot
from limnograph.domain.time import MICROS_PER_MS, MICROS_PER_SECOND

OTHER_REWRITE, UNCOMMITTED, QUIET = "H5_other_maintenance", "H6_uncommitted_files", "H13_quiet"
FAST_WRITER, INSTALLATION, CLOCK = "H14_fast_writer", "H19_other_installation", "clock"
MOST_COMMITS_A_MINUTE = 240
"""Beside four commits a second, all commits of a rewrite succeeded; beside 25, none did (ADR 51)."""
MOST_SKEW_US = 300 * MICROS_PER_SECOND
"""Two clocks may differ by 5 minutes; all floors are much longer."""


def other_maintenance(facts: GuardFacts) -> PlanGuard | None:
    """Two rewrites undo each other's work; an expiry beside a rewrite makes it fail without an error."""
    if facts.removes_unreferenced:
        return None
    found = [each for each in _recent_rewrites(facts) if _stamp(each) is None]
    if found:
        return answer(OTHER_REWRITE, f"Another program rewrote files {_ago(facts, found)} ago: wait an hour.", ok=False)
    return answer(OTHER_REWRITE, "No other program rewrote files within the last hour.", ok=True)


def other_installation(facts: GuardFacts) -> PlanGuard | None:
    """A rewrite that carries a plan of another installation of Limnograph."""
    if facts.removes_unreferenced:
        return None
    stamped = [each for each in _recent_rewrites(facts) if _stamp(each) is not None]
    if stamped and facts.own_plans is None:
        return not_known(INSTALLATION, "The plans of this installation are")
    foreign = [each for each in stamped if _stamp(each) not in (facts.own_plans or ())]
    if foreign:
        text = f"Another installation of Limnograph rewrote files {_ago(facts, foreign)} ago: wait an hour."
        return answer(INSTALLATION, text, ok=False)
    return answer(INSTALLATION, "No other installation of Limnograph rewrote files within the last hour.", ok=True)


def uncommitted_files(facts: GuardFacts) -> PlanGuard | None:
    """A file that a writer has written and not committed yet looks like one that nothing needs."""
    if not facts.removes_unreferenced:
        return None
    if facts.unreferenced is None:
        return not_known(UNCOMMITTED, "The age of the files is")
    if facts.longest_run_us is None:
        return not_known(UNCOMMITTED, "The longest run of the table's writers (set orphans.longest_run) is")
    modified = {each.location: each.modified_at_ms for each in facts.unreferenced}
    if lost := [each for each in facts.plan.files if each not in modified]:
        return answer(UNCOMMITTED, f"A file of the plan is not in the listing: {lost[0]}.", ok=False)
    least_us = max(LEAST_ORPHAN_AGE_US, RUNS_LENGTHS * facts.longest_run_us)
    youngest = max((modified[each] for each in facts.plan.files), default=0)
    if facts.now_ms - youngest < least_us // MICROS_PER_MS:
        text = f"A file of the plan is younger than {_lasting(least_us)}: a writer may not have committed it yet."
        return answer(UNCOMMITTED, text, ok=False)
    return answer(UNCOMMITTED, f"All files are older than {_lasting(least_us)}.", ok=True)


def quiet(facts: GuardFacts) -> PlanGuard | None:
    """A row-level delete in flight fails if the rewrite commits first."""
    if not facts.rewrites:
        return None
    found = next((each for each in facts.plan.guards if each.code == "quiet"), None)
    if found is None:
        return not_known(QUIET, "When the files of the plan were last written is")
    return answer(QUIET, found.text, ok=found.ok)


def fast_writer(facts: GuardFacts) -> PlanGuard | None:
    """A writer that commits faster than a rewrite can retry makes every attempt a conflict."""
    if not facts.commits:
        return None
    since = facts.now_ms - 60_000
    recent = [each.timestamp_ms for each in facts.metadata.snapshots.values() if each.timestamp_ms is not None]
    count = sum(1 for at in recent if at > since)
    if count > MOST_COMMITS_A_MINUTE:
        text = f"{counted(count, 'commit')} within the last minute: a rewrite could not commit beside them."
        return answer(FAST_WRITER, text, ok=False)
    return answer(FAST_WRITER, f"{counted(count, 'commit')} within the last minute.", ok=True)


def clock(facts: GuardFacts) -> PlanGuard:
    """Ages are right only if the clocks of the database, this machine, the table and the storage agree."""
    if facts.machine_now is None:
        return not_known(CLOCK, "The clock of this machine is")
    skew_us = abs(facts.machine_now - facts.now)
    if skew_us > MOST_SKEW_US:
        text = f"The clocks of this machine and of the database differ by {_lasting(skew_us)}: synchronise them."
        return answer(CLOCK, text, ok=False)
    latest: list[int] = [each.timestamp_ms or 0 for each in facts.metadata.snapshots.values()]
    latest += [each.modified_at_ms for each in facts.unreferenced or ()]
    ahead_us = (max(latest, default=0) - facts.now_ms) * MICROS_PER_MS
    if ahead_us > MOST_SKEW_US:
        text = f"The newest commit or file of the table is {_lasting(ahead_us)} in the future: synchronise the clocks."
        return answer(CLOCK, text, ok=False)
    return answer(CLOCK, "The clocks of the database, this machine and the table agree.", ok=True)


def _recent_rewrites(facts: GuardFacts) -> list[Snapshot]:
    """Commits `replace` of the last hour. One in the future counts: its clock is ahead."""
    found = (each for each in facts.metadata.snapshots.values() if each.operation == "replace")
    return [each for each in found if each.timestamp_ms is None or facts.now_ms - each.timestamp_ms < HOUR_MS]


def _stamp(snapshot: Snapshot) -> str | None:
    return (snapshot.summary or {}).get(STAMP)


def _ago(facts: GuardFacts, rewrites: list[Snapshot]) -> str:
    newest = max(each.timestamp_ms or 0 for each in rewrites)
    return lasting(max(0, facts.now_ms - newest) / 1_000) if newest else "a short time"


def _lasting(duration_us: int) -> str:
    return lasting(duration_us / MICROS_PER_SECOND)
