"""`limnograph init`: what it writes loads and was tested, what it refuses names the option, and no secret is shown."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import click.testing
import pytest
from click.testing import CliRunner
from pyiceberg.catalog.sql import SqlCatalog

from limnograph.cli.init import command
from limnograph.domain.errors import EnvironmentFault, InvalidInput
from limnograph.settings import Settings, load

SECRET = "p@ss/word:1"


class Place:
    """An empty folder in which the command runs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.file = folder, folder / "limnograph.toml"
        self.password = folder / "password"
        self.password.write_text(f"{SECRET}\n")

    def run(self, *arguments: str, answers: str | None = None) -> click.testing.Result:
        """Without `--no-test` it connects. `answers`: what a person types; None: there is no terminal."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            if answers is not None:
                patch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _self: True)
            found = CliRunner().invoke(command, [*arguments, "--output", str(self.file)], input=answers or "")
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
        return found

    def settings(self) -> Settings:
        return load(str(self.file))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def sqlite(folder: Path) -> tuple[str, ...]:
    """An empty catalog."""
    SqlCatalog("lake", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/warehouse")
    return "--type", "sql", "--uri", f"sqlite:///{folder}/catalog.db", "--warehouse", f"file://{folder}/warehouse"


def test_a_sql_catalog_is_tested_and_written_for_its_owner_alone(place: Place) -> None:
    told = place.run(*sqlite(place.folder), "--prometheus", "http://127.0.0.1:9090")
    assert told.exit_code == 0
    assert "ok    catalog lake" in told.output
    assert mode(place.file) == 0o600
    found = place.settings()
    assert found.catalogs["lake"]["uri"] == f"sqlite:///{place.folder}/catalog.db"
    assert found.prometheus["main"].url == "http://127.0.0.1:9090"
    for verb in ("doctor", "setup", "pipeline --once", "serve"):
        assert f"limnograph {verb}" in told.output
    assert sorted(each.name for each in place.folder.iterdir() if each.name.startswith(".limnograph.toml")) == []


def test_a_password_is_read_from_a_file_and_shown_nowhere(place: Place) -> None:
    told = place.run(
        *("--type", "sql", "--uri", "postgresql+psycopg2://db.example.org:5432/lake", "--warehouse", "s3://lake/w"),
        *("--user", "limno graph", "--password-file", str(place.password), "--no-test"),
    )
    assert SECRET not in told.output + place.file.read_text()
    kept = place.folder / "secrets/lake-uri"
    assert (mode(kept), mode(kept.parent)) == (0o600, 0o700)
    uri = place.settings().catalogs["lake"]["uri"]
    assert uri == "postgresql+psycopg2://limno%20graph:p%40ss%2Fword%3A1@db.example.org:5432/lake"


def test_a_rest_catalog_has_a_token_or_the_credential_of_a_client(place: Place) -> None:
    rest = ("--type", "rest", "--uri", "https://catalog.example.org", "--password-file", str(place.password))
    place.run(*rest, "--property", "s3.region=eu-central-1", "--no-test")
    found = place.settings().catalogs["lake"]
    assert (found["token"], found["s3.region"]) == (SECRET, "eu-central-1")
    place.run(*rest, "--user", "reader", "--no-test", "--force")
    assert place.settings().catalogs["lake"]["credential"] == f"reader:{SECRET}"
    assert SECRET not in place.file.read_text()


def test_a_folder_has_a_catalog_of_its_own_for_the_meta_tables(place: Place) -> None:
    landing = place.folder / "landing"
    landing.mkdir()
    told = place.run("--type", "folder", "--warehouse", str(landing), "--name", "landing", "--format", "delta")
    assert told.exit_code == 0
    found = place.settings()
    (warehouse,) = found.observe.warehouses
    assert (warehouse.name, warehouse.location, warehouse.format) == ("landing", str(landing), "delta")
    assert found.meta_catalog == "meta"


def test_hive_and_glue_are_written(place: Place) -> None:
    place.run("--type", "hive", "--uri", "thrift://metastore:9083", "--no-test")
    assert place.settings().catalogs["lake"] == {"type": "hive", "uri": "thrift://metastore:9083"}
    place.run("--type", "glue", "--property", "glue.region=eu-central-1", "--no-test", "--force")
    assert place.settings().catalogs["lake"] == {"type": "glue", "glue.region": "eu-central-1"}


def test_a_person_is_asked_for_what_is_missing(place: Place) -> None:
    sqlite(place.folder)
    answers = f"sql\nsqlite:///{place.folder}/catalog.db\nfile://{place.folder}/warehouse\n"
    told = place.run(answers=answers)
    assert told.exit_code == 0
    assert "Address of the catalog" in told.output
    assert place.settings().catalogs["lake"]["type"] == "sql"


def test_an_existing_file_is_replaced_only_with_force(place: Place) -> None:
    place.file.write_text("# mine\n")
    with pytest.raises(InvalidInput, match=r"--output.*exists.*--force"):
        place.run(*sqlite(place.folder))
    assert place.file.read_text() == "# mine\n"
    place.run(*sqlite(place.folder), "--force")
    assert "[catalogs.lake]" in place.file.read_text()


def test_a_catalog_that_does_not_respond_leaves_no_file(place: Place) -> None:
    place.file.write_text("# mine\n")
    with pytest.raises(EnvironmentFault, match=r"catalog lake: (?!catalog lake).*--uri.*--no-test"):
        place.run(
            "--type",
            "rest",
            "--uri",
            "http://127.0.0.1:9",
            "--user",
            "me",
            "--password-file",
            str(place.password),
            "--force",
        )
    assert place.file.read_text() == "# mine\n"
    assert not (place.folder / "secrets/lake-credential").exists()
    assert [each.name for each in place.folder.glob(".limnograph.toml*")] == []


REST = ("--type", "rest", "--uri", "https://c.example.org")
WRONG: list[tuple[tuple[str, ...], str]] = [
    ((), "--type.*is required"),
    (("--type", "rest"), "--uri.*is required"),
    (("--type", "sql", "--uri", "sqlite://"), "--warehouse.*is required"),
    (("--type", "rest", "--uri", "catalog.example.org"), r"--uri.*http:// or https://"),
    (("--type", "hive", "--uri", "http://metastore"), "--uri.*thrift://"),
    (("--type", "sql", "--uri", "lake", "--warehouse", "/w"), "--uri.*not a database URL"),
    (("--type", "sql", "--uri", "postgresql://u:p@h/d", "--warehouse", "/w"), "--uri.*password-file"),
    ((*REST, "--name", "a b"), "--name"),
    ((*REST, "--password-file", "missing"), "--password-file.*not a file"),
    ((*REST, "--user", "me"), "--password-file.*required with --user"),
    ((*REST, "--property", "s3.region"), "--property.*name and a value"),
    ((*REST, "--property", "s3.secret-access-key=x"), "--property.*_file"),
    ((*REST, "--prometheus", "9090"), "--prometheus"),
    ((*REST, "--format", "delta"), "--format.*folder only"),
    (("--type", "folder", "--warehouse", "missing"), "--warehouse.*not a folder"),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_wrong_input_is_an_error_that_names_the_option(place: Place, arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        place.run(*arguments)
    assert not place.file.exists()


def test_names_and_values_cannot_break_the_file(place: Place) -> None:
    values: dict[str, Any] = {"a": 'x"\n[auth]\nmode = "none"', "b.c": "ü\\n", "d e": "1"}
    properties = [part for key, value in values.items() for part in ("--property", f"{key}={value}")]
    place.run(*REST, *properties, "--no-test")
    found = place.settings().catalogs["lake"]
    assert {key: found[key] for key in values} == values


def test_the_help_has_examples() -> None:
    told = CliRunner().invoke(command, ["--help"])
    assert "limnograph init --type folder" in told.output
