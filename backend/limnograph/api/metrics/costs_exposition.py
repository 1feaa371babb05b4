"""The families of held bytes and costs on `/metrics`: of the tables whose storage was read."""

from __future__ import annotations

from limnograph.api.metrics.text_format import label_values
from limnograph.domain.advice.fleet import TableCosts
from limnograph.domain.ids import TableName
from limnograph.domain.metrics.gauges import COST_PER_MONTH, HELD_BYTES, LABELS

PARTS = ("storage", "held", "requests")
_TABLE = ",".join(f'{label}="%s"' for label in LABELS)


class CostsExposition:
    """Renders them in the text format; an unknown number has no sample. `left_out`: number of series over the limit,
    which are those of the tables that hold the fewest bytes.
    """

    def __init__(self, max_series: int) -> None:
        self._most = max_series // (1 + len(PARTS))
        self.left_out = 0

    def render(self, known: TableCosts) -> bytes:
        """The families. O(tables)."""
        names = {*known.sizes, *known.costs}
        ranked = sorted(names, key=lambda name: (-known.sizes[name].held if name in known.sizes else 0, name))
        shown = sorted(ranked[: self._most])
        self.left_out = sum(len(_lines(name, "", known)) for name in ranked[self._most :])
        labels = label_values([name.plain for name in shown])
        lines = [line for name, of in zip(shown, labels, strict=True) for line in _lines(name, _TABLE % of, known)]
        found = []
        for metric in (HELD_BYTES, COST_PER_MONTH):
            own = [line for line in lines if line.startswith(f"{metric.name}{{")]
            if own:
                found += [f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n", *own]
        return "".join(found).encode()


def _lines(name: TableName, labels: str, known: TableCosts) -> list[str]:
    size, cost = known.sizes.get(name), known.costs.get(name)
    lines = [] if size is None else [f"{HELD_BYTES.name}{{{labels}}} {size.held}\n"]
    if cost is not None:
        ((currency,),) = label_values([(known.currency,)])
        values = ((part, getattr(cost, part)) for part in PARTS)
        lines += [
            f'{COST_PER_MONTH.name}{{{labels},part="{part}",currency="{currency}"}} {value}\n'
            for part, value in values
            if value is not None
        ]
    return lines
