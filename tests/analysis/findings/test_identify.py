"""Late facts that move an episode, join two, or disprove one: what remains of the recorded findings."""

from __future__ import annotations

import pytest

from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.identify import finding_id, identify
from limnograph.analysis.findings.stretch import Stretch
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import CODES, FindingCode
from limnograph.domain.time import Micros
from table_facts import DAY, HOUR, START

TABLE = "3d5e8f3a"


def episode(code: FindingCode, began: int, closed: int | None = None, *, truncated: bool = False) -> Episode:
    ends = None if closed is None else Micros(START + closed)
    stretch = Stretch(Micros(START + began), Micros(START + began), closed=ends, truncated=truncated)
    return Episode(code, "", stretch, CODES[code].severity, None, {})


def recorded(code: FindingCode, began: int, closed: int | None = None) -> FindingFact:
    at = Micros(START + began)
    return FindingFact(
        finding_id=finding_id(TABLE, code, "", at),
        seq=1,
        code=code,
        subject="",
        state="open" if closed is None else "closed",
        opened_at=at,
        closed_at=None if closed is None else Micros(START + closed),
        closed_by=None if closed is None else "7",
    )


@pytest.mark.parametrize("code", sorted(CODES))
def test_an_episode_that_late_facts_move_keeps_its_id_and_corrects_when_it_opened(code: FindingCode) -> None:
    known = recorded(code, 5 * HOUR)
    for began in (3 * HOUR, 6 * HOUR):
        (found,) = identify(TABLE, [episode(code, began)], [known]).findings
        assert (found.finding_id, found.opened_at) == (known.finding_id, START + began)


@pytest.mark.parametrize("code", sorted(CODES))
def test_two_findings_that_late_facts_join_are_the_older_one_and_the_other_is_merged(code: FindingCode) -> None:
    older, newer = recorded(code, HOUR, 2 * HOUR), recorded(code, 4 * HOUR)
    for given in ([older, newer], [newer, older]):
        result = identify(TABLE, [episode(code, HOUR)], given)
        (found,) = result.findings
        assert (found.finding_id, [each.finding_id for each in found.merged]) == (older.finding_id, [newer.finding_id])
        assert result.retracted == []


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_finding_that_late_facts_disprove_is_retracted_unless_it_has_ended(code: FindingCode) -> None:
    ended, standing = recorded(code, HOUR, 2 * HOUR), recorded(code, 4 * HOUR)
    result = identify(TABLE, [], [ended, standing])
    assert (result.findings, result.retracted) == ([], [standing])


def test_an_episode_whose_beginning_is_past_the_retention_keeps_when_it_was_recorded_to_open() -> None:
    known = recorded("small_files", HOUR)
    (found,) = identify(TABLE, [episode("small_files", 20 * DAY, truncated=True)], [known]).findings
    assert (found.finding_id, found.opened_at) == (known.finding_id, START + HOUR)


def test_an_episode_after_a_closed_finding_is_another_one() -> None:
    known = recorded("small_files", HOUR, 2 * HOUR)
    (found,) = identify(TABLE, [episode("small_files", 3 * HOUR)], [known]).findings
    assert found.finding_id != known.finding_id
    assert found.recorded is None
