"""Personal data: what silver is made of, and what its lineage says."""

from __future__ import annotations

from lakehouse.silver.masks import CUSTOMERS, expression, lineage


def test_a_masked_column_is_a_salted_hash_and_never_the_value() -> None:
    email = next(column for column in CUSTOMERS if column.masked)
    assert expression(email, "salt-") == "sha2(concat('salt-', image['email']), 256) as email_hash"


def test_a_name_does_not_enter_silver() -> None:
    assert "name" not in {column.source for column in CUSTOMERS}


def test_lineage_says_which_columns_are_masked() -> None:
    found = lineage(CUSTOMERS, {"namespace": "s3://lake", "name": "warehouse/bronze/cdc"})
    masked = {
        name
        for name, field in found.items()
        if field["inputFields"][0]["transformations"][0]["masking"]  # type: ignore[index]
    }
    assert masked == {"email_hash"}
