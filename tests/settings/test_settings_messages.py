"""Errors of a settings file: they name file, line and key, and speak TOML's words."""

import re
from pathlib import Path

import pytest

from limnograph.domain.errors import SettingsError
from limnograph.settings import load

HEAD = '[catalogs.lake]\ntype = "sql"\nuri = "sqlite:////lake.db"\n'


@pytest.mark.parametrize(
    ("more", "line", "said"),
    [
        ('[server]\nport = "high"\n', 5, "server.port: expected integer, got string"),
        ("[server]\nport = 8787.5\n", 5, "server.port: expected integer, got float"),
        ("[server]\nhost = 8787\n", 5, "server.host: expected string, got integer; write it in quotes"),
        ("[server]\nhost = true\n", 5, "server.host: expected string, got boolean; write it in quotes"),
        ("[server]\n\n# a word\ninsecure = 1\n", 7, "server.insecure: expected boolean, got integer"),
        ("server = 3\n", None, "server: expected table, got integer"),
        ('[observe]\ninclude = "lake.**"\n', 5, "observe.include: expected array, got string"),
        ('[observe]\ninclude = [\n  "lake.**",\n  3,\n]\n', 5, "observe.include[1]: expected string, got integer"),
        ("[trino]\nurl = 1979-05-27\n", 5, "trino.url: expected string, got local date; write it in quotes"),
        ('[observe]\ntable_deadline_seconds = "1"\n', 5, "observe.table_deadline_seconds: expected float, got string"),
        ('[[jobs]]\nname = "a"\n[[jobs]]\nname = "b"\nreads = 3\n', 8, "jobs[1].reads: expected array, got integer"),
        ('[[jobs]]\nname = "a"\n[[jobs]]\n', 6, "jobs[1].name: is required"),
        ("[alertmanager]\n", 4, "alertmanager.url: is required"),
        ('[[observe.paths]]\nformat = "parquet"\nname = "x"\nlocation = "/x"\n', 5, '"delta", "hudi"'),
        ('[auth]\nmode = "magic"\n', 5, "auth.mode: 'magic' is not one of \"none\""),
        ("[server]\nport = 70000\n", 5, "server.port: must be at most 65535"),
        ("[prices]\nget_1000 = -0.1\n", 5, "prices.get_1000: must be at least 0"),
        ("[prices]\nvcpu_hour = nan\n", 5, "prices.vcpu_hour: "),
        ("[prices]\nput_1000 = inf\n", 5, "prices.put_1000: must be at most 1000000"),
        ("[prices]\nstorage = 1\n", 5, "prices.storage: unknown key; did you mean storage_gb_month?"),
        ('[prices]\ncurrency = "US\\u0007D"\n', 5, "prices.currency: is not a name of 1 to 12 characters; write"),
        ('[prices]\ncurrency = ""\n', 5, "prices.currency: is not a name of"),
        ('[prices]\nas_of = "last week"\n', 5, "prices.as_of: is not a date; write one such as"),
        ('[prices]\nvcpu_hour = "0.05"\n', 5, "prices.vcpu_hour: expected float, got string"),
        ("[server]\nprot = 1\n", 5, "server.prot: unknown key; did you mean port?"),
        ('[meta]\ncatalog = "pond"\n', 5, "meta.catalog: 'pond' is not one of [catalogs.*]"),
        ("[catalogs.pond]\npool = 3\n", 5, "catalogs.pond.pool: expected string, got integer; write it in quotes"),
        ('[spark]\nconf."spark.ui.port" = 4040\n', 5, "spark.conf.spark.ui.port: expected string, got integer"),
        ('[prometheus.main]\nurl = "localhost:9090"\n', 5, "prometheus.main.url: "),
        ('[prometheus.main]\nurl = "http://x"\nbearer_token_file = "/no/such"\n', 6, "bearer_token"),
        ('[inbox]\nurl = "${NO_SUCH}"\n', 5, "environment variable NO_SUCH is not set"),
    ],
)
def test_an_error_names_file_line_and_key(more, line, said, tmp_path) -> None:
    file = tmp_path / "limnograph.toml"
    file.write_text(more + HEAD if line is None else HEAD + more)
    with pytest.raises(SettingsError) as caught:
        load(file, {})
    assert str(caught.value).startswith(f"{file}:{line or 1}: ")
    assert said in str(caught.value)
    assert not re.search(r"`|\b(object|str|int|bool)\b", str(caught.value))


def test_a_key_inside_a_multi_line_text_is_not_a_key(tmp_path) -> None:
    file = tmp_path / "limnograph.toml"
    file.write_text(f'{HEAD}[[jobs]]\nname = "a"\npromql = """\nreads = 1\n"""\nreads = 2\n')
    with pytest.raises(SettingsError, match=r"limnograph\.toml:9: jobs\[0\]\.reads: expected array, got integer"):
        load(file, {})


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty.toml").write_text("")
    with pytest.raises(SettingsError, match=r"empty\.toml: catalogs: is required"):
        load(tmp_path / "empty.toml", {})
