"""The families of reported reads on `/metrics`: one series for each table that was read in the last hour."""

from __future__ import annotations

from limnograph.api.metrics.text_format import label_values
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.gauges import LABELS, READ_GAUGES
from limnograph.services.reads.recent import TableReadNumbers

_LABELS = "{" + ",".join(f'{label}="%s"' for label in LABELS) + "} "
_PLANNING, _QUERY = READ_GAUGES


class ReadsExposition:
    """Renders reads in the text format; an unknown number has no sample. `left_out`: number of series over the limit,
    which are those of the tables that were read least.
    """

    def __init__(self, max_series: int) -> None:
        self._most = max_series // len(READ_GAUGES)
        self.left_out = 0

    def render(self, reads: dict[TableName, TableReadNumbers]) -> bytes:
        """The families. O(tables that were read)."""
        ranked = sorted(reads, key=lambda name: (-reads[name].scans - reads[name].queries, name))
        shown, rest = sorted(ranked[: self._most]), ranked[self._most :]
        self.left_out = sum(value is not None for name in rest for value in _values(reads[name]))
        labels = label_values([name.plain for name in shown])
        parts = []
        for place, metric in enumerate((_PLANNING, _QUERY)):
            values = [_values(reads[name])[place] for name in shown]
            lines = [
                f"{metric.name}{_LABELS % of}{value}\n"
                for of, value in zip(labels, values, strict=True)
                if value is not None
            ]
            if lines:
                parts += [f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n", *lines]
        return "".join(parts).encode()


def _values(reads: TableReadNumbers) -> tuple[float | None, float | None]:
    """In the order of READ_GAUGES."""
    return reads.planning_p95_s, reads.query_p95_s
