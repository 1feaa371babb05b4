"""Rules of access are made of what tables declare, and nothing that holds raw personal data is in them."""

from __future__ import annotations

from lakehouse.access.tiers import ANALYST, DECLARED, rules
from lakehouse.bronze.tables import CDC, CLICKS

OF_ANALYST = {f"lake.{each['schema']}.{each['table']}": each for each in rules()["tables"] if "table" in each}


def test_raw_personal_data_have_no_rule_so_that_they_are_closed() -> None:
    assert CDC.pii == "raw"
    assert CDC.name not in OF_ANALYST
    assert OF_ANALYST.keys() == {each.name for each in DECLARED if each.pii != "raw"}
    assert {each["user"] for each in OF_ANALYST.values()} == {ANALYST}
    assert all(each["privileges"] == ["SELECT"] for each in OF_ANALYST.values())


def test_each_tier_hides_its_own_columns() -> None:
    assert OF_ANALYST[CLICKS.name]["columns"] == [{"name": "user_id", "mask": "cast(null as bigint)"}]
    assert OF_ANALYST["lake.silver.customers"]["columns"][0]["mask"] == "substr(email_hash, 1, 8)"
    assert OF_ANALYST["lake.silver.customers"]["filter"] == "country = 'DE'"
    for table in DECLARED:
        rule = OF_ANALYST.get(table.name, {})
        assert bool(rule.get("columns")) == (table.pii in {"user_id", "hash"}), table.name
