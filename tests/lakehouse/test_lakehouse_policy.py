"""The maintainer's file is valid beside the lakehouse's settings, and lets it change only the tables that it names."""

from __future__ import annotations

from pathlib import Path

from lakehouse.check.maintained import TABLES
from lakehouse.maintain.maintainer import POLICY, WATCHED
from lakehouse.parts.places import Places, Ports
from lakehouse.parts.settings import limnograph_toml
from limnograph.analysis.maintenance.limits import rule_of
from limnograph.domain.ids import TableName
from limnograph.settings.maintenance import load_maintenance


def test_the_policy_covers_the_tables_with_a_past_and_no_other(tmp_path: Path) -> None:
    settings, file = tmp_path / "limnograph.toml", tmp_path / "maintenance.toml"
    settings.write_text(limnograph_toml(Places(tmp_path, Ports())))
    file.write_text(POLICY)
    policy = load_maintenance(file, settings).policy
    assert policy.mode == "advise"
    for table in TABLES:
        rule = rule_of(policy, TableName(*table.name.split(".")))
        assert rule is not None
        assert rule.mode == "auto"
        assert table.rule in (rule.actions or ())
    assert rule_of(policy, TableName("lake", "silver", "orders")) is None


def test_a_watched_lakehouse_is_maintained_where_its_jobs_write(tmp_path: Path) -> None:
    settings, file = tmp_path / "limnograph.toml", tmp_path / "maintenance.toml"
    settings.write_text(limnograph_toml(Places(tmp_path, Ports()), alerts=True))
    file.write_text(WATCHED)
    policy = load_maintenance(file, settings).policy
    orders = rule_of(policy, TableName("lake", "silver", "orders"))
    assert orders is not None
    assert orders.mode == "auto"
    assert rule_of(policy, TableName("lake", "gold", "daily_revenue")) is None
