"""`limnograph token`: made once, shown once, kept as a hash, ended at once."""

import json

import pytest
from click.testing import CliRunner

from limnograph.cli.token import command, expiry
from limnograph.domain.errors import EnvironmentFault, InvalidInput, NotFound
from serving_kit import NOW, SECOND


@pytest.fixture
def run(tmp_path):
    file = tmp_path / "limnograph.toml"
    file.write_text(
        '[catalogs.lake]\ntype = "sql"\nuri = "sqlite://"\nwarehouse = "file:///w"\n[auth]\nmode = "tokens"\n'
    )

    def ran(*arguments):
        found = CliRunner().invoke(command, [*arguments, "--config", str(file)])
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
        return found

    return ran


def test_a_token_is_printed_once_and_kept_as_a_hash(run, tmp_path) -> None:
    made = run("create", "alertmanager", "--scope", "webhook,read", "--expires", "90d")
    token = made.stdout.strip()
    assert token.startswith("lmn_")
    kept = (tmp_path / ".limnograph/tokens.json").read_text()
    assert token.split("_", 2)[2] not in kept
    rows = json.loads(run("list", "--json").stdout)
    assert [(row["name"], row["scopes"], row["status"]) for row in rows] == [
        ("alertmanager", ["read", "webhook"], "valid")
    ]
    assert token.split("_", 2)[2] not in run("list").stdout
    run("revoke", "alertmanager")
    assert json.loads(run("list", "--json").stdout)[0]["status"] == "revoked"
    with pytest.raises(NotFound):
        run("revoke", "alertmanager")
    told = [json.loads(line) for line in (tmp_path / ".limnograph/audit.log").read_text().splitlines()]
    assert [line["what"] for line in told] == ["token create", "token revoke"]
    assert all(line["who"] for line in told)


@pytest.mark.parametrize(
    "arguments",
    [
        ("x", "--scope", "root"),
        ("x", "--scope", ","),
        ("", "--scope", "read"),
        ("a b", "--scope", "read"),
        ("x" * 80, "--scope", "read"),
        ("x", "--scope", "read", "--expires", "soon"),
        ("x", "--scope", "read", "--expires", "0d"),
        ("x", "--scope", "read", "--expires", "2020-01-01"),
    ],
)
def test_invalid_arguments_of_a_token_name_what_to_change(run, arguments) -> None:
    with pytest.raises(InvalidInput):
        run("create", *arguments)
    assert json.loads(run("list", "--json").stdout) == []


def test_a_name_is_one_token_at_a_time(run) -> None:
    run("create", "x", "--scope", "read")
    with pytest.raises(InvalidInput, match="already exists"):
        run("create", "x", "--scope", "read")
    run("revoke", "x")
    run("create", "x", "--scope", "read")


def test_a_damaged_file_grants_no_access_and_is_not_overwritten(run, tmp_path) -> None:
    run("create", "x", "--scope", "read")
    file = tmp_path / ".limnograph/tokens.json"
    file.write_text('[{"id": 1')
    assert json.loads(run("list", "--json").stdout) == []
    with pytest.raises(EnvironmentFault, match="damaged"):
        run("create", "y", "--scope", "read")
    assert file.read_text() == '[{"id": 1'


@pytest.mark.parametrize(("text", "seconds"), [("30m", 1_800), ("12h", 43_200), ("90d", 7_776_000)])
def test_an_expiry_is_a_span_or_a_date(text, seconds) -> None:
    assert expiry(text, NOW) == NOW + seconds * SECOND
    assert expiry("2027-01-31", NOW) == 1_801_353_600 * SECOND


@pytest.mark.parametrize("verb", [[], ["create"]])
def test_the_example_can_be_copied_as_one_line(verb) -> None:
    told = CliRunner().invoke(command, [*verb, "--help"], terminal_width=80).stdout
    assert "  limnograph token create alertmanager --scope webhook --expires 365d\n" in told
