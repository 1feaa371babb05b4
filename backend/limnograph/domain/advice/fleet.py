"""What is known of the bytes and costs of all tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from limnograph.domain.advice.document import MonthlyCost, TableBytes
from limnograph.domain.ids import TableName


class TableCosts(NamedTuple):
    """By table; tables that are not known are missing. `currency`: of all costs."""

    sizes: Mapping[TableName, TableBytes] = {}
    costs: Mapping[TableName, MonthlyCost] = {}
    currency: str = ""
