"""Gives episodes the identity of the findings that are recorded: the same (about, code, subject) whose intervals
overlap, else a new id.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from limnograph.analysis.findings.episodes import Episode
from limnograph.domain.time import Micros


class RecordedFinding(NamedTuple):
    """What is recorded of a finding; microseconds. `closed_at`: None while open; `seq`: of its newest row."""

    finding_id: str
    code: str
    subject: str
    opened_at: Micros
    closed_at: Micros | None
    closed_by: str | None
    severity: str
    seq: int


class IdentifiedFinding(NamedTuple):
    """An episode with its id. `opened_at`: as first recorded where the facts no longer reach back to it. `merged`: ids
    that are closed because late facts joined them with this one.
    """

    finding_id: str
    episode: Episode
    opened_at: Micros
    recorded: RecordedFinding | None
    merged: tuple[RecordedFinding, ...] = ()


class Identified(NamedTuple):
    """Findings, and recorded ones that no episode confirms."""

    findings: list[IdentifiedFinding]
    retracted: list[RecordedFinding]


def finding_id(about: str, code: str, subject: str, opened_at: Micros) -> str:
    """The first 32 hex digits of SHA-256 over the identity, as text with a zero byte between the parts."""
    text = "\0".join((about, code, subject, str(opened_at)))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def identify(about: str, episodes: Sequence[Episode], recorded: Sequence[RecordedFinding]) -> Identified:
    """Episodes of one table with ids. `recorded`: the newest row of each of its findings. Which recorded findings an
    episode meets does not depend on their order: the oldest id remains.
    """
    known: dict[tuple[str, str], list[RecordedFinding]] = defaultdict(list)
    for each in sorted(recorded, key=lambda each: (each.opened_at, each.finding_id)):
        if each.closed_by not in {"merged", "retracted"}:
            known[each.code, each.subject].append(each)
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
            found.append(IdentifiedFinding(made, episode, began, None))
            continue
        first = met[0]
        opened_at = min(began, first.opened_at) if episode.stretch.truncated else began
        merged = tuple(each for each in met[1:] if each.closed_at is None)
        found.append(IdentifiedFinding(first.finding_id, episode, opened_at, first, merged))
    lost = [
        each for group in known.values() for each in group if each.finding_id not in taken and each.closed_at is None
    ]
    return Identified(found, lost)


def _overlap(episode: Episode, recorded: RecordedFinding) -> bool:
    stretch = episode.stretch
    ends, recorded_ends = stretch.closed, recorded.closed_at
    return (recorded_ends is None or stretch.began < recorded_ends) and (ends is None or recorded.opened_at < ends)
