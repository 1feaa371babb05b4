"""Section `[prices]`: what storage, requests and compute cost."""

from __future__ import annotations

import datetime as dt
from typing import Annotated

import msgspec

from limnograph.domain.advice.prices import Prices
from limnograph.settings.base import FrozenSettings

_LIST = Prices()
_NUMBERS = ("storage_gb_month", "put_1000", "get_1000", "vcpu_hour")
MAX_CURRENCY = 12
Price = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]


class PricesSettings(FrozenSettings, frozen=True, kw_only=True):
    """Prices from which costs and savings are calculated ([cost.md](cost.md)). The defaults are list prices in US
    dollars of S3 Standard and a common vCPU, and are marked as defaults wherever a cost is shown; with another
    currency, set all of them.
    """

    currency: str = _LIST.currency
    """Name of the currency, of at most 12 characters. A label: nothing is converted."""
    storage_gb_month: Price = _LIST.storage_gb_month
    """One GB (2^30 bytes) stored for a month of 30 days."""
    put_1000: Price = _LIST.put_1000
    """1,000 writing requests (PUT, POST, LIST)."""
    get_1000: Price = _LIST.get_1000
    """1,000 reading requests (GET)."""
    vcpu_hour: Price = _LIST.vcpu_hour
    """One core for an hour."""
    as_of: dt.date | None = None
    """Date of the prices, such as `2026-11-01`; shown with every cost."""


def prices_of(settings: PricesSettings) -> Prices:
    """The prices. They are defaults if none of them, nor a date, is configured, whatever the currency is called."""
    given = {name: getattr(settings, name) for name in _NUMBERS}
    is_default = settings.as_of is None and given == {name: getattr(_LIST, name) for name in _NUMBERS}
    as_of = settings.as_of.isoformat() if settings.as_of else _LIST.as_of if is_default else None
    return Prices(currency=settings.currency, as_of=as_of, is_default=is_default, **given)
