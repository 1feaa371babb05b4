"""The effect ledger of the running server, as `demo --check` reads it."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from limnograph.demo.requests import DemoServer
from limnograph.domain.answers.effect_ledger import LedgerRow

LONGEST_S = 240.0
"""How long a measurement is awaited: the server measures with a fifth of one core, on a machine that may be busy."""
_EVERY_S = 2.0


class HttpLedger:
    """Port LedgerReader. At least one operation besides `awaited` is waited for."""

    def __init__(self, server: DemoServer) -> None:
        self._server = server

    def rows(self, awaited: str) -> Sequence[LedgerRow]:
        """As the port specifies. Raises SourceError if the server does not respond."""
        deadline = time.monotonic() + LONGEST_S
        while True:
            page = self._server.get("/api/v1/effects?limit=200")
            rows = [
                row
                for row in msgspec.convert(page["rows"], list[LedgerRow], strict=False)
                if row.runs_before is not None
            ]
            measured = {row.operation_id for row in rows}
            if (awaited in measured and len(measured) > 1) or time.monotonic() > deadline:
                return rows
            time.sleep(_EVERY_S)
