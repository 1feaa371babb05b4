"""Section `[prices]`: its values, and what counts as a default."""

import pytest

from limnograph.domain.advice.prices import Prices
from limnograph.settings import load
from limnograph.settings.prices import PricesSettings, prices_of

HEAD = '[catalogs.lake]\ntype = "sql"\nuri = "sqlite:////lake.db"\n'


def test_without_the_section_the_prices_are_dated_defaults() -> None:
    assert prices_of(PricesSettings()) == Prices()
    assert Prices().is_default


@pytest.mark.parametrize("date", ["2026-10-31", '"2026-10-31"'])
def test_configured_prices_are_no_defaults_and_have_their_own_date(tmp_path, date) -> None:
    file = tmp_path / "limnograph.toml"
    file.write_text(f'{HEAD}[prices]\ncurrency = "EUR"\nstorage_gb_month = 0.02\nvcpu_hour = 0\nas_of = {date}\n')
    expected = Prices(currency="EUR", storage_gb_month=0.02, vcpu_hour=0.0, as_of="2026-10-31", is_default=False)
    assert prices_of(load(file, {}).prices) == expected


def test_prices_without_a_date_have_an_unknown_one() -> None:
    found = prices_of(PricesSettings(get_1000=0.0005))
    assert (found.as_of, found.is_default) == (None, False)


def test_a_label_alone_leaves_the_defaults_marked() -> None:
    assert prices_of(PricesSettings(currency="EUR")) == Prices(currency="EUR")
