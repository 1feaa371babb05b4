"""Rows of the comparison of what a table costs now with what it would cost after maintenance."""

from __future__ import annotations

from typing import Literal

import msgspec

from limnograph.domain.advice.document import MonthlyCost

Situation = Literal["now", "expired", "compacted", "expired_and_compacted"]


class ComparedCost(msgspec.Struct, frozen=True, kw_only=True):
    """Cost of a month in one situation.

    situation     now; all held bytes freed; small files compacted; both
    per_gb_month  total cost of one live GB (2^30 bytes) for a month; null: unknown, or no live bytes
    """

    situation: Situation
    cost: MonthlyCost
    per_gb_month: float | None
