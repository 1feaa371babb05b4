"""The family of open findings on `/metrics`: one series for each table, code and severity that has any."""

from __future__ import annotations

from collections import Counter

from limnograph.api.metrics.text_format import label_values
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.gauges import FINDING_OPEN
from limnograph.services.findings.board import FindingsBoard

_LABELS = "{" + ",".join(f'{label}="%s"' for label in FINDING_OPEN.labels) + "} "
_HEAD = f"# HELP {FINDING_OPEN.name} {FINDING_OPEN.help}\n# TYPE {FINDING_OPEN.name} {FINDING_OPEN.kind}\n"


class FindingsExposition:
    """Renders open findings in the text format, once per board. `left_out`: number of series over the
    limit, which are those of the least severe findings.
    """

    def __init__(self, max_series: int) -> None:
        self._most = max_series
        self._rendered: tuple[FindingsBoard | None, bytes] = (None, b"")
        self.left_out = 0

    def render(self, board: FindingsBoard) -> bytes:
        """The family. O(open findings) for another board."""
        if board is not self._rendered[0]:
            self._rendered = (board, self._render(board))
        return self._rendered[1]

    def _render(self, board: FindingsBoard) -> bytes:
        counts = Counter(
            (fact.catalog or "", fact.namespace or "", fact.table or "", fact.code or "", fact.severity or "")
            for fact in board.open
        )
        self.left_out = max(0, len(counts) - self._most)
        shown = list(counts.items())[: self._most]
        if not shown:
            return b""
        labels = label_values([(*TableName(*of[:3]).plain, *of[3:]) for of, _ in shown])
        lines = (f"{FINDING_OPEN.name}{_LABELS % of}{count}\n" for of, (_, count) in zip(labels, shown, strict=True))
        return (_HEAD + "".join(lines)).encode()
