"""One table's findings: where its evaluation stands, and what follows from the facts since then. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from limnograph.analysis.findings import events
from limnograph.analysis.findings.episodes import Episode, episodes_of
from limnograph.analysis.findings.facts import TableChange, TableFacts, no_facts
from limnograph.analysis.findings.identify import IdentifiedFinding, identify
from limnograph.analysis.findings.level import NEVER
from limnograph.analysis.findings.slower_jobs import HARM
from limnograph.analysis.findings.table_state import TableState, advance, due
from limnograph.domain.facts.findings import FindingEffectFact, FindingFact
from limnograph.domain.facts.meta_tables import ChangeFact
from limnograph.domain.finding_codes import (
    CODES,
    OBSERVED,
    ClosedBy,
    FindingCode,
    ObservedSource,
    severity_rank,
    source_of,
)
from limnograph.domain.finding_limits import HOUR, FindingLimits
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros
from limnograph.services.findings.board import key_of_name

BASE_AGE = 30 * HOUR
"""A base older than this is moved to BASE_NEWER, microseconds. Memory holds the facts of 48 hours."""
BASE_NEWER = 20 * HOUR
_NONE_OBSERVED: Mapping[ObservedSource, Sequence[Episode]] = MappingProxyType(dict.fromkeys(OBSERVED, ()))
LOOK_BACK = 12 * HOUR
"""A commit that appears this long before the base is noticed: the table is then evaluated from the beginning."""


class Evaluation(NamedTuple):
    """A table as evaluated.

    base     state a day or more ago, from which the facts in memory continue: a late commit changes nothing before it
    moves    snapshots that main moved to within LOOK_BACK before the base
    given    properties of the table before the base that take the place of thresholds
    state    state now
    episodes episodes now, with those that do not come from commits
    version  of the table's value in memory
    due      when an episode opens or closes without a commit
    """

    base: TableState
    moves: tuple[int, ...]
    given: tuple[TableChange, ...]
    state: TableState
    episodes: Sequence[Episode]
    version: int
    due: Micros


def begun(facts: TableFacts, version: int, until: Micros, limits: FindingLimits) -> Evaluation:
    """A first evaluation, from the facts of all days that are kept."""
    base = advance(TableState(), facts, until=Micros(until - BASE_NEWER), limits=limits)
    return _since(base, facts, version, until, limits)


def continued(
    known: Evaluation, facts: TableFacts, version: int, until: Micros, limits: FindingLimits
) -> Evaluation | None:
    """The evaluation at `until`; None if a move appeared before the base. `facts`: at least those of LOOK_BACK before
    the base, and after it. O(these facts).
    """
    base = known.base
    if base.at is None or (_moves_before(facts, base.at), _given(facts, base.at)) != (known.moves, known.given):
        return None
    if until - base.at > BASE_AGE:
        base = advance(base, facts, until=Micros(until - BASE_NEWER), limits=limits)
    return _since(base, facts, version, until, limits)


def _since(base: TableState, facts: TableFacts, version: int, until: Micros, limits: FindingLimits) -> Evaluation:
    at = base.at or EPOCH
    until = max(until, at)
    state = advance(base, facts, until=until, limits=limits)
    others = events.happenings(facts.changes, until=until, limits=limits)
    return Evaluation(
        base=base,
        moves=_moves_before(facts, at),
        given=_given(facts, at),
        state=state,
        episodes=episodes_of(state, others, limits),
        version=version,
        due=min(due(state, limits), events.due(others)),
    )


def _moves_before(facts: TableFacts, at: Micros) -> tuple[int, ...]:
    first, last = (int(facts.times.searchsorted(edge, "right")) for edge in (at - LOOK_BACK, at))
    return tuple(facts.ids[first:last].tolist())


def _given(facts: TableFacts, at: Micros) -> tuple[TableChange, ...]:
    return tuple(change for change in facts.changes if change.kind == "property" and change.at <= at)


def transitions(
    uuid: str,
    name: TableName,
    evaluation: Evaluation,
    recorded: Sequence[FindingFact],
    now: Micros,
    *,
    disabled: frozenset[FindingCode] = frozenset(),
    observed: Mapping[ObservedSource, Sequence[Episode]] = _NONE_OBSERVED,
    effects: Mapping[str, Sequence[FindingEffectFact]] = MappingProxyType({}),
    alert: str | None = None,
    keeps_alert: bool = False,
) -> tuple[list[FindingFact], list[FindingFact]]:
    """The table's findings now, and the rows to record: one for each that opened, closed, or changed its severity or
    the verdict of an effect.

    `recorded`: the last row of each finding of the table. `disabled`: codes that are not evaluated. `observed`:
    episodes by source; a source that is absent did not respond yet, so that what is recorded of it stays as it is.
    `effects`: measured effects by finding id. `alert`: a critical alert that fires for the table.
    `keeps_alert`: it is not known yet, so that a recorded one counts.
    """
    by_id = {fact.finding_id: fact for fact in recorded}
    frozen = [
        fact
        for fact in recorded
        if (source := source_of(fact.code, fact.subject)) and source not in observed and fact.code not in disabled
    ]
    others = [fact for fact in recorded if fact not in frozen]
    episodes = [each for each in chain(evaluation.episodes, *observed.values()) if each.code not in disabled]
    found = identify(uuid or key_of_name(name), episodes, others)
    current, rows, times = list(frozen), list[FindingFact](), (evaluation.state.at or now, now)
    for finding in found.findings:
        fires = _recorded_alert(finding.recorded) if keeps_alert else alert
        current.append(_fact((uuid, name), finding, effects.get(finding.finding_id), times, fires))
        rows.extend(closed(merged, "merged", now) for merged in finding.merged)
    told = {fact.finding_id for fact in current if _is_told_by_another(fact, current)}
    rows.extend(closed(by_id[i], "merged", now) for i in told & by_id.keys() if by_id[i].state == "open")
    current = [fact for fact in current if fact.finding_id not in told]
    rows.extend(fact for fact in current if _is_new(fact, by_id.get(fact.finding_id)))
    rows.extend(closed(lost, "retracted", now) for lost in found.retracted)
    return current, rows


def transitions_of_name(
    name: TableName,
    change: ChangeFact,
    recorded: Sequence[FindingFact],
    now: Micros,
    *,
    disabled: frozenset[FindingCode] = frozenset(),
) -> tuple[list[FindingFact], list[FindingFact]]:
    """The same for a name whose metadata was never readable. `change`: its problem."""
    facts = no_facts([TableChange("unreadable", None, None, change.to_value, change.at, change.detail)])
    evaluation = begun(facts, 0, max(now, change.at), FindingLimits())
    current, rows = transitions("", name, evaluation, recorded, now, disabled=disabled)
    return current, rows


def _is_told_by_another(fact: FindingFact, current: Sequence[FindingFact]) -> bool:
    """Whether a slow job is the effect of another open finding: one event, one story."""
    return (
        fact.code == "job_slower"
        and fact.state == "open"
        and any(
            each.state == "open" and effect.job_name == fact.subject and _tells(each, effect)
            for each in current
            for effect in each.effects or ()
        )
    )


def _tells(finding: FindingFact, effect: FindingEffectFact) -> bool:
    """Whether a finding reports a slowdown as its effect: a burst, which is its likely cause, also before the effect is
    measured; a schema change, which rarely slows a job, only afterwards.
    """
    return effect.verdict == "slower" or (effect.verdict == "no_data_yet" and finding.code == "file_burst")


def _is_new(fact: FindingFact, known: FindingFact | None) -> bool:
    return known is None or _said(fact) != _said(known)


def _said(fact: FindingFact) -> tuple[object, ...]:
    """What a transition changes."""
    verdicts = {effect.job_name: effect.verdict for effect in fact.effects or ()}
    return fact.state, fact.severity, fact.closed_by, verdicts


def _fact(
    table: tuple[str, TableName],
    finding: IdentifiedFinding,
    effects: Sequence[FindingEffectFact] | None,
    times: tuple[Micros, Micros],
    alert: str | None,
) -> FindingFact:
    """A finding now. `times`: evaluated until, and now."""
    (uuid, name), (at, now), episode, known = table, times, finding.episode, finding.recorded
    stretch, cause, is_open = episode.stretch, episode.cause, episode.stretch.closed is None
    measured = list(effects) if effects is not None else known.effects if known else None
    raised = alert is not None and CODES[episode.code].severity != "info"
    if not is_open and known is not None:
        severity = known.severity
    elif raised or any(map(_is_harm, measured or ())) or _stays_critical(known, measured):
        severity = "critical"
    else:
        severity = episode.severity
    rests = _rests(known, now) and severity_rank(severity) > severity_rank(known.severity if known else None)
    if rests and known is not None:
        severity, alert, raised = known.severity, _recorded_alert(known), True
    turned = stretch.opened if stretch.closed is None else stretch.closed
    made = FindingFact(
        finding_id=finding.finding_id,
        seq=1 if known is None else known.seq,
        at=turned,
        table_uuid=uuid or None,
        catalog=name.catalog,
        namespace=name.namespace,
        table=name.table,
        code=episode.code,
        subject=episode.subject,
        state="open" if is_open else "closed",
        severity=severity,
        opened_at=finding.opened_at,
        closed_at=stretch.closed,
        closed_by=stretch.closed_by,
        cause_snapshot_ids=list(cause.snapshot_ids) if cause else None,
        cause_writer=cause.writer if cause else None,
        cause_share=cause.share if cause else None,
        evidence=_evidence(episode, alert if is_open and raised else None),
        effects=measured,
        evaluated_at=at,
        observed_at=now,
    )
    if known is None or not _is_new(made, known):
        return made
    changed_at = at if made.state == known.state else turned
    return msgspec.structs.replace(made, seq=known.seq + 1, at=changed_at)


def _rests(known: FindingFact | None, now: Micros) -> bool:
    """Whether an open finding had a transition less than an hour ago: until then its severity can only rise."""
    return known is not None and known.state == "open" and known.at is not None and now < known.at + HOUR


def rests_until(facts: Iterable[FindingFact], now: Micros) -> Micros:
    """When the first of the open findings may fall in severity that may not yet; NEVER if all may."""
    return min((Micros(fact.at + HOUR) for fact in facts if fact.at is not None and _rests(fact, now)), default=NEVER)


def _recorded_alert(known: FindingFact | None) -> str | None:
    return (known.evidence or {}).get("alert") if known else None


def _evidence(episode: Episode, alert: str | None) -> dict[str, str]:
    given = {**episode.evidence, "alert": alert}
    return {key: str(value) for key, value in given.items() if value is not None}


def _stays_critical(known: FindingFact | None, measured: Sequence[FindingEffectFact] | None) -> bool:
    """A bound that moves about HARM does not lower the severity: it falls when no job is slower any more."""
    is_known = known is not None and known.state == "open" and known.severity == "critical"
    return is_known and any(effect.verdict == "slower" for effect in measured or ())


def _is_harm(effect: FindingEffectFact) -> bool:
    """A job is slower, and certainly by more than HARM."""
    return effect.verdict == "slower" and effect.ratio_low is not None and effect.ratio_low > HARM


def closed(fact: FindingFact, closed_by: ClosedBy, now: Micros) -> FindingFact:
    """The row that closes a finding for another reason than its condition."""
    return msgspec.structs.replace(
        fact,
        seq=fact.seq + 1,
        at=now,
        state="closed",
        closed_at=now,
        closed_by=closed_by,
        evaluated_at=now,
        observed_at=now,
    )
