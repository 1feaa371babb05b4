"""Prices of storage, requests and compute, from which costs and savings are calculated."""

from __future__ import annotations

import msgspec


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """Prices in one currency, which is only a label. The defaults are list prices of S3 Standard and a common vCPU.

    storage_gb_month  one GB (2^30 bytes) for a month of 30 days
    put_1000          1,000 writing requests
    get_1000          1,000 reading requests
    vcpu_hour         one core for an hour
    as_of             date of the prices, as text; null: unknown
    is_default        whether no price was configured
    """

    currency: str = "USD"
    storage_gb_month: float = 0.023
    put_1000: float = 0.005
    get_1000: float = 0.0004
    vcpu_hour: float = 0.05
    as_of: str | None = "2026-11-01"
    is_default: bool = True
