"""The file of `limnograph maintain`: what it means, and errors that name file, line and remedy."""

from pathlib import Path

import pytest

from limnograph.domain.errors import SettingsError
from limnograph.domain.maintenance.policy import DailyWindow, RetainedSnapshots
from limnograph.settings import load
from limnograph.settings.maintenance import MaintainSettings, load_maintenance

CATALOG = '[catalogs.lake]\ntype = "sql"\nuri = "sqlite:////lake.db"\ntoken = "reads"\n'
HOUR, DAY = 3_600_000_000, 86_400_000_000
HEAD = '[maintenance]\nmode = "approve"\n[maintenance.catalogs.lake]\n[[maintenance.policy]]\ntables = ["lake.**"]\n'


def loaded(
    folder: Path, text: str, settings: str | None = CATALOG, env: dict[str, str] | None = None
) -> MaintainSettings:
    """The maintenance file beside a settings file."""
    (folder / "maintenance.toml").write_text(text)
    if settings is None:
        return load_maintenance(folder / "maintenance.toml", None, env or {})
    (folder / "limnograph.toml").write_text(settings)
    return load_maintenance(folder / "maintenance.toml", folder / "limnograph.toml", env or {})


def refused(folder: Path, text: str, settings: str | None = CATALOG) -> str:
    """The error, without the folder."""
    with pytest.raises(SettingsError) as caught:
        loaded(folder, text, settings)
    return str(caught.value).replace(f"{folder}/", "")


def test_an_empty_section_recommends_only(tmp_path: Path) -> None:
    found = loaded(tmp_path, "[maintenance]\n")
    assert (found.policy.mode, found.policy.rules, found.catalogs) == ("advise", [], frozenset())


def test_a_policy_with_all_keys(tmp_path: Path) -> None:
    text = """
[maintenance]
mode = "advise"
window = ["22:00-05:00 UTC"]
bytes_per_day = "2 TiB"
max_cost_per_day = 20
conflict_after = "10s"
[maintenance.spark]
"spark.driver.memory" = "4g"
spark.ui.enabled = "false"
[maintenance.catalogs.lake]
token = "writes"
[[maintenance.policy]]
tables = ["lake.sales.**", "lake.crm.*"]
actions = ["compact", "expire_snapshots"]
mode = "auto"
window = []
partitions = "older than 1d"
quiet = "90s"
retain = { age = "7d", last = 20 }
readers = [{ job = "churn", lag = "36h" }]
orphans = { age = "1w", mode = "auto", longest_run = "12h" }
worth = { saved_files = 3, freed_bytes = "1.5 MiB", paying = false }
hold_out = 0.1
"""
    found = loaded(tmp_path, text, CATALOG + '[spark]\nconf = {"spark.ui.enabled" = "true", "a" = "b"}\n')
    policy, rule = found.policy, found.policy.rules[0]
    assert policy.windows == (DailyWindow(1_320, 300),)
    assert (policy.bytes_per_day, policy.max_cost_per_day, policy.conflict_after_us) == (2 * 2**40, 20.0, 10_000_000)
    assert rule.name == "policy 1 (lake.sales.** and 1 more)"
    assert rule.tables.match_table("lake.sales.eu.orders")
    assert rule.actions == {"compact", "expire_snapshots"}
    assert (rule.mode, rule.windows) == ("auto", ())
    assert (rule.partitions_older_us, rule.quiet_us) == (DAY, 90_000_000)
    assert rule.retain == RetainedSnapshots(7 * DAY, 20)
    assert [(each.job, each.lag_us) for each in rule.readers] == [("churn", 36 * HOUR)]
    assert rule.orphans == (7 * DAY, "auto", 12 * HOUR)
    assert rule.worth == (3, 3 * 2**19, False)
    assert found.spark == {"spark.ui.enabled": "false", "a": "b", "spark.driver.memory": "4g"}
    assert found.settings.catalogs["lake"] == {"type": "sql", "uri": "sqlite:////lake.db", "token": "writes"}
    assert load(tmp_path / "limnograph.toml", {}).catalogs["lake"]["token"] == "reads"


@pytest.mark.parametrize(("more", "longest"), [("", 3 * DAY), (', longest_run = "2d"', 2 * DAY)])
def test_the_age_of_orphans_says_how_long_writers_run_unless_it_is_declared(
    tmp_path: Path, more: str, longest: int
) -> None:
    (rule,) = loaded(tmp_path, HEAD + f'orphans = {{ age = "9d"{more} }}\n').policy.rules
    assert rule.orphans == (9 * DAY, "approve", longest)


def test_credentials_that_write_come_from_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "writer").write_text("written-in-a-file\n")
    found = loaded(tmp_path, '[maintenance.catalogs.lake]\ntoken_file = "writer"\nuri = "${URI}"\n', env={"URI": "x"})
    assert found.settings.catalogs["lake"]["token"] == "written-in-a-file"
    assert found.settings.catalogs["lake"]["uri"] == "x"
    assert found.catalogs == {"lake"}


def test_state_is_where_the_settings_have_it(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "limnograph.toml").write_text(CATALOG)
    (tmp_path / "own/maintenance.toml").write_text("[maintenance]\n")
    found = load_maintenance(
        tmp_path / "own/maintenance.toml", None, {"LIMNOGRAPH_CONFIG": str(tmp_path / "limnograph.toml")}
    )
    assert found.settings.inbox_url == f"sqlite:///{tmp_path}/.limnograph/inbox.db"


def test_one_file_may_have_everything(tmp_path: Path) -> None:
    found = loaded(tmp_path, f"[maintenance.catalogs.lake]\n{CATALOG}", settings=None)
    assert found.settings.inbox_url == f"sqlite:///{tmp_path}/.limnograph/inbox.db"
    same = load_maintenance(found.file, found.file, {})
    assert same.settings == found.settings


def test_a_catalog_of_its_own_leaves_the_meta_catalog_alone(tmp_path: Path) -> None:
    found = loaded(tmp_path, '[maintenance.catalogs.other]\ntype = "rest"\nuri = "http://other"\n')
    assert set(found.settings.catalogs) == {"lake", "other"}
    assert found.settings.meta_catalog == "lake"


def test_credentials_that_read_never_replace_those_that_write(tmp_path: Path) -> None:
    """The settings have no file from which `reread_catalogs` would read them again."""
    assert loaded(tmp_path, '[maintenance.catalogs.lake]\ntoken = "writes"\n').settings.file == ""


@pytest.mark.parametrize(
    ("more", "line", "said"),
    [
        (
            'quiet = "15 minutes"\n',
            6,
            "policy[0].quiet: '15 minutes' is not a duration; write a number with s, m, h, d",
        ),
        ("quiet = 15\n", 6, "policy[0].quiet: expected string, got integer; write it in quotes"),
        ('quiet = "99999d"\n', 6, "policy[0].quiet: must be at most 3650d"),
        ('partitions = "1d"\n', 6, "policy[0].partitions: '1d' is not a choice of partitions; write \"older than 1d\""),
        ('window = ["22-5"]\n', 6, "policy[0].window[0]: '22-5' is not a window; write \"22:00-05:00 UTC\""),
        ('window = ["22:00-05:00"]\n', 6, "is not a window"),
        ('window = ["24:00-05:00 UTC"]\n', 6, "is not a time of day"),
        ('window = ["10:61-11:00 UTC"]\n', 6, "is not a time of day"),
        ('window = ["05:00-05:00 UTC"]\n', 6, "begins when it ends"),
        ('retain = { age = "23h", last = 20 }\n', 6, "policy[0].retain.age: must be at least 24h, the floor of every"),
        (
            'retain = { age = "7d", last = 1 }\n',
            6,
            "policy[0].retain.last: must be at least 2, the floor of every expiry",
        ),
        ('orphans = { age = "2d" }\n', 6, "policy[0].orphans.age: must be at least 3d, the floor of every removal"),
        (
            'orphans = { age = "6d", mode = "auto" }\n',
            6,
            'policy[0].orphans.age: must be at least 7d, the floor in mode "auto"',
        ),
        ("hold_out = 0.6\n", 6, "policy[0].hold_out: must be at most 0.5"),
        ("hold_out = -0.1\n", 6, "policy[0].hold_out: must be at least 0"),
        ('actions = ["compct"]\n', 6, "policy[0].actions[0]: 'compct' is not an action; did you mean compact?"),
        ('actions = ["frobnicate"]\n', 6, "is not an action; write one of compact_deletes, compact,"),
        (
            'actions = ["cluster"]\n',
            6,
            "policy[0].actions[0]: 'cluster' is only recommended, never executed; remove it",
        ),
        ('mode = "always"\n', 6, 'policy[0].mode: \'always\' is not one of "advise", "approve", "auto", "off"'),
        ("hodl = true\n", 6, "policy[0].hodl: unknown key; did you mean hold?"),
        ("zzzzz = true\n", 6, "policy[0].zzzzz: unknown key; docs/maintenance-settings.md lists all keys"),
        ('readers = [{ job = "x" }]\n', 6, "policy[0].readers[0].lag: is required"),
        ('readers = [{ job = "x", lag = "soon" }]\n', 6, "policy[0].readers[0].lag: 'soon' is not a duration"),
        (
            'worth = { freed_bytes = "2 TB" }\n',
            6,
            "policy[0].worth.freed_bytes: '2 TB' is not a size; write a number with KiB",
        ),
        ("worth = { freed_bytes = 0 }\n", 6, "policy[0].worth.freed_bytes: must be above 0"),
        ("[maintenance.policy.worth]\nsaved_files = 0\n", 7, "policy[0].worth.saved_files: must be at least 1"),
        ("min_payback_days = 0\n", 6, "policy[0].min_payback_days: must be above 0"),
        ('name = " x"\n', 6, "policy[0].name: is not a name of 1 to 100 printable characters"),
        ("[[maintenance.policy]]\ntables = []\n", 7, "policy[1].tables: must not be empty; write a pattern"),
        (
            '[[maintenance.policy]]\ntables = ["lak.sales.*"]\n',
            7,
            "'lak' is not one of [catalogs.*]; did you mean lake?",
        ),
        (
            'name = "a"\n[[maintenance.policy]]\nname = "a"\ntables = ["lake.**"]\n',
            8,
            "'a' is already used by maintenance.policy[0]",
        ),
        (
            '[maintenance.catalogs.lac]\ntoken = "x"\n',
            6,
            "maintenance.catalogs.lac: is none of the settings' catalogs (lake)",
        ),
        ('[catalogs.lake]\ntype = "sql"\n', 6, "catalogs: belongs in "),
    ],
)
def test_an_error_names_file_line_key_and_remedy(tmp_path: Path, more: str, line: int, said: str) -> None:
    error = refused(tmp_path, HEAD + more)
    assert error.startswith(f"maintenance.toml:{line}: ")
    assert said in error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "maintenance.toml: maintenance: is missing; a maintenance file has a section [maintenance]"),
        ('[maintenance]\nmode = "auto"\n', "maintenance.catalogs: is missing: name each catalog that may be written"),
        (
            '[maintenance]\nbytes_per_day = "lots"\n',
            "maintenance.toml:2: maintenance.bytes_per_day: 'lots' is not a size",
        ),
        ('[maintenance]\nconflict_after = "0s"\n', "maintenance.toml:2: maintenance.conflict_after: must be above 0s"),
        ("[maintenance]\nconcurrent = 0\n", "maintenance.toml:2: maintenance.concurrent: must be at least 1"),
        ("maintenance = 3\n", "maintenance: expected table, got integer"),
        (
            HEAD.replace('"approve"', '"auto"\ntwo_people = true'),
            'maintenance.toml:2: maintenance.mode: cannot be "auto" with two_people = true; write "approve"',
        ),
        ('[maintenance.catalogs.lake]\ntoken = "${NO_SUCH}"\n', "environment variable NO_SUCH is not set"),
        ('[maintenance.catalogs."a.b"]\ntype = "sql"\n', "maintenance.catalogs.a.b: is the first level of table names"),
    ],
)
def test_an_error_of_the_whole_file(tmp_path: Path, text: str, said: str) -> None:
    assert said in refused(tmp_path, text)


def test_settings_must_come_from_somewhere(tmp_path: Path) -> None:
    assert "--config: no settings; pass --config FILE" in refused(tmp_path, "[maintenance]\n", settings=None)


def test_an_error_of_the_settings_names_their_file(tmp_path: Path) -> None:
    assert refused(tmp_path, "[maintenance]\n", CATALOG + "[server]\nprot = 1\n").startswith(
        "limnograph.toml:6: server.prot"
    )
    one = refused(tmp_path, f"[maintenance]\n{CATALOG}[server]\nprot = 1\n", settings=None)
    assert one.startswith("maintenance.toml:7: server.prot")


def test_a_missing_file_is_named_by_its_option(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"--maintenance: cannot read .*none\.toml"):
        load_maintenance(tmp_path / "none.toml", None, {})


def test_the_settings_file_itself_must_not_have_the_section(tmp_path: Path) -> None:
    (tmp_path / "limnograph.toml").write_text(CATALOG + "[maintenance.catalogs.lake]\n")
    with pytest.raises(SettingsError, match=r"limnograph\.toml:5: maintenance: belongs in a file of its own"):
        load(tmp_path / "limnograph.toml", {})


def test_tables_without_a_catalog_are_written_with_the_properties_of_files(tmp_path: Path) -> None:
    paths = (
        '[[observe.paths]]\nformat = "delta"\nname = "landing.orders"\nlocation = "s3://b/orders"\n'
        'properties = { "s3.region" = "eu-west-1", "s3.access-key-id" = "reads" }\n'
        '[[observe.warehouses]]\nname = "wh"\nlocation = "s3://b/wh"\n'
    )
    text = HEAD.replace("lake", "files") + (
        '[maintenance.catalogs.files]\n"s3.access-key-id" = "writes"\n"delta.commits" = "conditional-put"\n'
    )
    text = text.replace("[maintenance.catalogs.files]\n", "", 1)
    found = loaded(tmp_path, text, CATALOG + paths)
    assert found.catalogs == {"files"}
    assert list(found.settings.catalogs) == ["lake"]
    (path,), (warehouse,) = found.settings.observe.paths, found.settings.observe.warehouses
    written = {"s3.access-key-id": "writes", "delta.commits": "conditional-put"}
    assert path.properties == {"s3.region": "eu-west-1", **written}
    assert warehouse.properties == written
