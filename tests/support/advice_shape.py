"""The contract of the document of `limnograph advise --json`: exactly these keys, in every situation."""

from __future__ import annotations

from typing import Any

KEYS = {
    "": "generated_at evaluated_at tables",
    "table": "catalog namespace table table_uuid format snapshot_id status findings recommendations not_worth "
    "not_known bytes cost_per_month currency prices_as_of",
    "finding": "code severity subject opened_at evidence",
    "recommendation": "plan_id action rule because scope predicted value guards statements",
    "scope": "partitions where",
    "predicted": "files_in files_out bytes_in bytes_out bytes_freed seconds cost",
    "estimate": "low mid high",
    "value": "seconds_per_day money_per_month payback_days",
    "saved": "mid basis",
    "guard": "code ok text",
    "statements": "spark trino python",
    "not_worth": "rule text",
    "not_known": "rule missing",
    "bytes": "live held metadata by_ref by_age",
    "cost": "storage held requests total",
}


def check(document: dict[str, Any]) -> None:
    """Every part has its keys and no other, and every number is a number of its kind or null."""
    _keys(document, "")
    assert isinstance(document["generated_at"], int)
    assert isinstance(document["evaluated_at"], int)
    for table in document["tables"]:
        _table(table)


def _keys(part: Any, name: str) -> None:
    assert list(part) == KEYS[name].split(), (name, part)


def _table(table: dict[str, Any]) -> None:
    _keys(table, "table")
    assert table["status"] in {"ok", "partial", "unreadable"}
    for finding in table["findings"]:
        _keys(finding, "finding")
    for plan in table["recommendations"]:
        _plan(plan)
    for name in ("not_worth", "not_known"):
        for each in table[name]:
            _keys(each, name)
    if table["bytes"] is not None:
        _keys(table["bytes"], "bytes")
        numbers = [table["bytes"][name] for name in ("live", "held", "metadata")]
        assert all(isinstance(number, int) and number >= 0 for number in numbers)
        assert all(len(step) == 2 for step in table["bytes"]["by_age"])
    if table["cost_per_month"] is not None:
        _keys(table["cost_per_month"], "cost")


def _plan(plan: dict[str, Any]) -> None:
    _keys(plan, "recommendation")
    assert len(plan["plan_id"]) == 32
    for name in ("scope", "predicted", "value", "statements"):
        _keys(plan[name], name)
    for name in ("seconds", "cost"):
        if plan["predicted"][name] is not None:
            _keys(plan["predicted"][name], "estimate")
            assert plan["predicted"][name]["low"] <= plan["predicted"][name]["mid"] <= plan["predicted"][name]["high"]
    if plan["value"]["seconds_per_day"] is not None:
        _keys(plan["value"]["seconds_per_day"], "saved")
    for guard in plan["guards"]:
        _keys(guard, "guard")
        assert isinstance(guard["ok"], bool)
        assert guard["text"].endswith(".")
    assert all(text is None or text for text in plan["statements"].values())
