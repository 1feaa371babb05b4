"""docs/settings.md is what the structs say, and its examples are settings that load."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from limnograph.domain.secrecy import is_secret
from limnograph.settings import Settings, load
from limnograph.settings.base import FrozenSettings
from limnograph.settings.examples import EXAMPLES
from limnograph.settings.reference import document, sections, settings_of

PAGE = Path(__file__).parents[2] / "docs/settings.md"
EXAMPLE = "\n".join(re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL))
VARIABLES = {"S3_KEY": "reader", "CATALOG_PASSWORD": "of-the-catalog"}
SECTIONS = {name: struct for name, struct in sections() if struct is not None}


def example(folder: Path) -> Settings:
    """The examples of the page as one file, beside the secrets that they name."""
    for secret in re.findall(r'"(secrets/\w+)"', EXAMPLE):
        (folder / "secrets").mkdir(exist_ok=True)
        (folder / secret).write_text(f"content-of-{secret}\n")
    (folder / "limnograph.toml").write_text(EXAMPLE)
    return load(folder / "limnograph.toml", VARIABLES)


def test_the_page_is_generated_from_the_structs() -> None:
    assert PAGE.read_text() == document(), "run: make types"


def test_the_examples_are_one_file_that_loads(tmp_path: Path) -> None:
    settings = example(tmp_path)
    assert settings.trino is not None
    assert settings.trino.password == "content-of-secrets/trino"
    assert settings.catalogs["local"]["uri"].startswith("postgresql+psycopg2://limnograph:of-the-catalog@")
    assert settings.catalogs["lake"]["s3.secret-access-key"] == "content-of-secrets/s3"


@pytest.mark.parametrize(("name", "struct"), SECTIONS.items(), ids=SECTIONS)
def test_every_key_of_a_section_is_in_its_example_and_no_other(name: str, struct: type[FrozenSettings]) -> None:
    shown = tomllib.loads(EXAMPLES[name])
    for level in re.sub(r"[\[\]]", "", name).replace("NAME", "main").split("."):
        shown = shown[level]
        shown = shown[0] if isinstance(shown, list) else shown
    told = {setting.key for setting in settings_of(struct)} - {"token"}  # of Trino: a password or a token
    assert {key.removesuffix("_file") for key in shown} - {"token"} == told


def test_every_section_has_a_table_and_an_example() -> None:
    fields = {field.name for field in msgspec.structs.fields(Settings)} - {"base", "file"}
    assert {re.match(r"\W+(\w+)", name)[1] for name, _ in sections()} == fields
    assert set(EXAMPLES) == {name for name, _ in sections()}


def test_settings_marked_secret_on_the_page_are_hidden_everywhere() -> None:
    secrets = {s.key for struct in SECTIONS.values() for s in settings_of(struct) if "Secret:" in s.meaning}
    assert secrets == {"bearer_token", "password", "token", "client_secret", "session_key", "secret"}
    assert all(map(is_secret, secrets))


def test_a_setting_without_a_description_fails_the_generation() -> None:
    class Silent(FrozenSettings, frozen=True, kw_only=True):
        """A section."""

        told: int = 1
        """A number."""
        silent: int = 2

    with pytest.raises(LookupError, match=r"Silent\.silent"):
        list(settings_of(Silent))
