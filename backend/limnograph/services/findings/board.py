"""All current findings as one immutable value, sorted for pages and indexed by table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import OF_MEASURES, UNSHOWN, group_of, severity_rank
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros


class FindingsBoard:
    """Open findings, and those that closed within the retention of the board. Immutable after construction.

    `facts`: the last transition of each, open ones first, then the most severe, then the newest
    `by_table`: the same by `key_of`
    `evaluated`: keys of the tables that were evaluated; None: nothing was yet
    `behind`: the number of tables that were not
    """

    def __init__(
        self, facts: Iterable[FindingFact] = (), evaluated: frozenset[str] | None = None, behind: int = 0
    ) -> None:
        self.facts: Sequence[FindingFact] = sorted(facts, key=place)
        self.evaluated, self.behind = evaluated, behind
        by_table: dict[str, list[FindingFact]] = defaultdict(list)
        for fact in self.facts:
            by_table[key_of(fact)].append(fact)
        self.by_table: Mapping[str, Sequence[FindingFact]] = by_table
        by_name: dict[str, list[FindingFact]] = defaultdict(list)
        for facts_of_table in by_table.values():
            by_name[_name_of(facts_of_table[0])].extend(facts_of_table)
        self.by_name: Mapping[str, Sequence[FindingFact]] = by_name
        """The same by plain name, `catalog.namespace.table`."""
        self.by_id: Mapping[str, FindingFact] = {fact.finding_id: fact for fact in self.facts}
        self.open: Sequence[FindingFact] = [fact for fact in self.facts if fact.state == "open"]
        self.standing = (*_version(self.facts), behind)
        """Equal for boards that rank tables in the same way."""

    @cached_property
    def by_job(self) -> Mapping[str, Sequence[FindingFact]]:
        """The same by job: findings about a job, and those that slowed it."""
        by_job: dict[str, list[FindingFact]] = defaultdict(list)
        for fact in self.facts:
            slowed = {each.job_name for each in fact.effects or () if each.verdict == "slower"}
            own = {fact.subject} if group_of(fact.code) == "jobs" and fact.subject not in OF_MEASURES else set()
            for job in slowed | own:
                if job:
                    by_job[job].append(fact)
        return by_job

    def version(self, key: str | None) -> tuple[int, ...]:
        """Differs when a finding of a table, or of any table, opened, closed or changed."""
        return self.standing if key is None else _version(self.by_table.get(key, ()))

    def is_evaluated(self, key: str) -> bool:
        """Whether a table's history was read, so that no finding means that nothing is wrong."""
        return self.evaluated is not None and key in self.evaluated


def is_shown(fact: FindingFact) -> bool:
    """Whether pages may show a finding: not one of a newer version's code, and none that was merged or withdrawn."""
    return group_of(fact.code) is not None and fact.closed_by not in UNSHOWN


def place(fact: FindingFact) -> tuple[int, int, Micros, str]:
    """Sort key: open ones first, then severity, then the newest."""
    newest = fact.opened_at if fact.closed_at is None else fact.closed_at
    return int(fact.state != "open"), severity_rank(fact.severity), Micros(-(newest or EPOCH)), fact.finding_id


def _name_of(fact: FindingFact) -> str:
    return key_of_name(TableName(fact.catalog or "", fact.namespace or "", fact.table or ""))


def key_of(fact: FindingFact) -> str:
    """The table that a finding is about: its uuid, or the name of one that was never readable."""
    return fact.table_uuid or _name_of(fact)


def key_of_name(name: TableName) -> str:
    """The key of a table that has no uuid."""
    return ".".join(name.plain)


def _version(facts: Sequence[FindingFact]) -> tuple[int, int]:
    """Transitions are only added, so their number and that of findings identify a state."""
    return len(facts), sum(fact.seq for fact in facts)
