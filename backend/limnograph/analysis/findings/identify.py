"""Gives episodes the identity of the findings that are recorded: the same (about, code, subject) whose intervals
overlap, else a new id.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from limnograph.analysis.findings.episodes import Episode
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import UNSHOWN
from limnograph.domain.time import EPOCH, Micros


class IdentifiedFinding(NamedTuple):
    """An episode with its id. `recorded`: its newest row. `opened_at`: as first recorded where the facts no longer
    reach back to it. `merged`: findings that are closed because late facts joined them with this one.
    """

    finding_id: str
    episode: Episode
    opened_at: Micros
    recorded: FindingFact | None
    merged: tuple[FindingFact, ...] = ()


class Identified(NamedTuple):
    """Findings, and recorded ones that no episode confirms."""

    findings: list[IdentifiedFinding]
    retracted: list[FindingFact]


def finding_id(about: str, code: str, subject: str, opened_at: Micros) -> str:
    """The first 32 hex digits of SHA-256 over the identity, as text with a zero byte between the parts."""
    text = "\0".join((about, code, subject, str(opened_at)))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def identify(about: str, episodes: Sequence[Episode], recorded: Sequence[FindingFact]) -> Identified:
    """Episodes of one table with ids. `recorded`: the newest row of each of its findings. Which recorded findings an
    episode meets does not depend on their order: the oldest id remains.
    """
    known: dict[tuple[str, str], list[FindingFact]] = defaultdict(list)
    for each in sorted(recorded, key=lambda each: (_opened(each), each.finding_id)):
        if each.closed_by not in UNSHOWN:
            known[each.code or "", each.subject or ""].append(each)
    by_id = {each.finding_id: each for each in recorded}
    found, taken = [], set[str]()
    for episode in sorted(episodes, key=lambda each: each.stretch.began):
        met = [
            each
            for each in known[episode.code, episode.subject]
            if each.finding_id not in taken and _overlap(episode, each)
        ]
        taken.update(each.finding_id for each in met)
        began = episode.stretch.began
        if not met:
            made = finding_id(about, episode.code, episode.subject, began)
            found.append(IdentifiedFinding(made, episode, began, by_id.get(made)))
            continue
        first = met[0]
        opened_at = min(began, _opened(first)) if episode.stretch.truncated else began
        merged = tuple(each for each in met[1:] if each.closed_at is None)
        found.append(IdentifiedFinding(first.finding_id, episode, opened_at, first, merged))
    lost = [
        each for group in known.values() for each in group if each.finding_id not in taken and each.closed_at is None
    ]
    return Identified(found, lost)


def _opened(recorded: FindingFact) -> Micros:
    return recorded.opened_at or EPOCH


def _overlap(episode: Episode, recorded: FindingFact) -> bool:
    stretch = episode.stretch
    ends, recorded_ends = stretch.closed, recorded.closed_at
    return (recorded_ends is None or stretch.began < recorded_ends) and (ends is None or _opened(recorded) < ends)
