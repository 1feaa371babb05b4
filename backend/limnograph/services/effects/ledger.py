"""Pages of the effect ledger."""

from __future__ import annotations

from limnograph.domain.answers.effect_ledger import LedgerPage
from limnograph.domain.queries import EffectsQuery


class EffectLedger:
    """Pages of the ledger."""

    async def page(self, query: EffectsQuery) -> LedgerPage:
        """Raises InvalidInput (cursor)."""
        raise NotImplementedError
