"""docs/maintenance-settings.md is what the structs say, and its examples are a file that loads."""

import re
import tomllib
from pathlib import Path

import pytest

from limnograph.settings.maintenance import load_maintenance
from limnograph.settings.maintenance.examples import EXAMPLES
from limnograph.settings.maintenance.reference import document, sections
from limnograph.settings.reference import settings_of

PAGE = Path(__file__).parents[3] / "docs/maintenance-settings.md"
CATALOG = '[catalogs.lake]\ntype = "rest"\nuri = "http://lake"\n'
STRUCTS = {name: about for name, about in sections() if not isinstance(about, str)}


def test_the_page_is_generated_from_the_structs() -> None:
    assert PAGE.read_text() == document(), "run: make types"


def test_the_examples_are_one_file_that_loads(tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/lake-writer").write_text("writes\n")
    example = "\n".join(re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL))
    (tmp_path / "maintenance.toml").write_text(example + CATALOG)
    found = load_maintenance(tmp_path / "maintenance.toml", None, {})
    assert found.settings.catalogs["lake"]["token"] == "writes"
    assert found.policy.rules[0].name == "sales"


@pytest.mark.parametrize("name", STRUCTS)
def test_every_key_of_a_section_is_in_its_example_and_no_other(name: str) -> None:
    shown = tomllib.loads(EXAMPLES[name])
    for level in re.sub(r"[\[\]]", "", name).split("."):
        shown = shown[level]
        shown = shown[0] if isinstance(shown, list) else shown
    own = {setting.key for setting in settings_of(STRUCTS[name])} - {"spark", "catalogs"}
    assert set(shown) == own
