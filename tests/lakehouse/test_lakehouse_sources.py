"""Sources and how they are read: an API with pages and refusals, files of two kinds, a log with offsets."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from lakehouse.bronze.append import parse_partner_file
from lakehouse.ingest.api import ApiRefused, rates
from lakehouse.sources.clicks import append_clicks
from lakehouse.sources.partners import partner_files
from lakehouse.sources.rates import PAGE, RatesApi, serving


def test_all_pages_are_read_through_refusals_and_a_renamed_column() -> None:
    with serving(RatesApi(date(2026, 5, 1), PAGE)) as api:
        api.refusals = 2
        first = rates(api.url)
        api.renamed = True
        assert len(first) == 2 * PAGE
        assert rates(api.url) == first


def test_an_api_that_always_refuses_is_an_error() -> None:
    with serving(RatesApi(date(2026, 5, 1), 1)) as api:
        api.refusals = 100
        with pytest.raises(ApiRefused):
            rates(api.url)


def test_both_partners_send_the_same_rows_in_their_own_format() -> None:
    files = partner_files("2026-05-01", 3)
    csv_rows, json_rows = (parse_partner_file(name, content) for name, content in sorted(files.items()))
    assert [int(row["price_cents"]) for row in csv_rows] == [row["price_cents"] for row in json_rows] == [100, 101, 102]
    with pytest.raises(ValueError, match="neither"):
        parse_partner_file("2026-05-01.xls", b"")


def test_a_log_of_clicks_only_grows(tmp_path: Path) -> None:
    log, start = tmp_path / "clicks", datetime(2026, 5, 1, tzinfo=UTC)
    assert append_clicks(log, 5, 3, start, seed=1) == 5
    before = log.read_text()
    assert append_clicks(log, 5, 3, start, seed=2) == 10
    assert log.read_text().startswith(before)
