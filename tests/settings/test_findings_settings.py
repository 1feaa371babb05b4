"""Sections of findings: defaults, thresholds by name, and what is refused."""

from pathlib import Path

import pytest

from limnograph.domain.errors import SettingsError
from limnograph.domain.finding_codes import CODES
from limnograph.domain.finding_limits import DAY, FindingLimits
from limnograph.settings import load
from limnograph.settings.findings import FindingsSettings
from limnograph.wiring.finding_limits import limits_of

HEAD = '[catalogs.lake]\ntype = "sql"\nuri = "sqlite:////lake.db"\n'


def loaded(folder: Path, text: str) -> FindingLimits:
    file = folder / "limnograph.toml"
    file.write_text(HEAD + text)
    return limits_of(load(file, {}).findings)


def test_without_settings_the_thresholds_are_the_documented_ones() -> None:
    assert limits_of(FindingsSettings()) == FindingLimits()


def test_every_code_has_a_section_of_its_own() -> None:
    assert set(FindingsSettings.__struct_fields__) - {"small_table_bytes"} == set(CODES)


def test_thresholds_are_given_by_name_in_the_units_of_their_names(tmp_path: Path) -> None:
    text = "[findings]\nsmall_table_bytes = 0\n[findings.snapshots_unbounded]\nsnapshots = 50\nage_days = 0.5\n"
    text += "[findings.stale]\ngaps = 5\nleast_seconds = 120\n[findings.schema_changed]\nenabled = false\n"
    assert loaded(tmp_path, text) == FindingLimits(
        small_table_bytes=0,
        snapshots=50,
        snapshot_age=DAY // 2,
        stale_intervals=5.0,
        stale_least=120_000_000,
        disabled=frozenset({"schema_changed"}),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[findings.smal_files]\nsaved_files = 3\n", "findings.smal_files: unknown key; did you mean small_files?"),
        ("[findings.stale]\ngap = 3\n", "findings.stale.gap: unknown key; did you mean gaps?"),
        ("[findings.stale]\ngaps = 0.5\n", "findings.stale.gaps: must be above 1"),
        ("[findings.small_files]\nsaved_share = 2.0\n", "findings.small_files.saved_share: must be at most 1"),
        ('[findings.small_files]\nenabled = "no"\n', "findings.small_files.enabled: expected boolean, got string"),
        (
            '[[objectives]]\ntables = "lake.**"\n',
            (
                "objectives[0]: has no limit; set freshness_seconds, duration_seconds, query_p95_seconds, "
                "event_to_queryable_seconds or cost_per_gb_month"
            ),
        ),
        ("[findings]\nsmall_table_bytes = -1\n", "findings.small_table_bytes: must be at least 0"),
    ],
)
def test_bad_names_and_values_are_refused_with_their_key_and_the_remedy(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, text)
    assert said in str(caught.value)
