"""The report of `limnograph advise` for people: what, why, how long, how much, what is at risk, how to undo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TextIO

from limnograph.cli.words import counted, instant, number, plain, sized
from limnograph.domain.advice.document import (
    BORROWED,
    MEASURED,
    Advice,
    AdvisedTable,
    Estimate,
    PlanValue,
    Predicted,
    Recommendation,
    StatementTexts,
)

_TITLES = {
    "rewrite_data_files": "Rewrite data files",
    "rewrite_position_delete_files": "Rewrite position delete files",
    "rewrite_manifests": "Rewrite manifests",
    "expire_snapshots": "Expire snapshots",
    "remove_orphan_files": "Remove orphan files",
    "optimize": "Optimize",
    "vacuum": "Vacuum",
    "set_properties": "Change how the table is written",
    "run_compaction": "Compact in the writer",
}
_UNDO = {
    "rewrite_data_files": "roll back to the snapshot before, while it is retained and nothing was committed since",
    "rewrite_position_delete_files": "roll back to the snapshot before, while nothing was committed since",
    "rewrite_manifests": "not needed: no file and no row changes",
    "set_properties": "set the properties back",
    "optimize": "restore the version before, while its files are not vacuumed",
}
_BASES = {MEASURED: "measured on this table", BORROWED: "estimated from effects on other tables"}
_SHOWN = 8
_MINUTE = 120
_LEAST_SHOWN = 0.01


def draw(
    advice: Advice, out: TextIO, bounds: Mapping[str, Estimate] | None = None, location: str | None = None
) -> None:
    """Print the whole report. `bounds`: of the bytes that rewrites leave, by plan id. `location`: of the only table."""
    for at, table in enumerate(advice.tables):
        lines = [*([""] if at else []), *_table(table, instant(advice.evaluated_at), bounds or {}, location)]
        out.write("\n".join(lines) + "\n")


def _table(table: AdvisedTable, at: str, bounds: Mapping[str, Estimate], location: str | None) -> Iterator[str]:
    name = ".".join(part for part in (table.catalog, table.namespace, table.table) if part)
    title = name or location or table.table_uuid or "table"
    yield plain(f"{title}: {table.status}" + ("" if table.status == "unreadable" else f", judged at {at} UTC"))
    for finding in table.findings[:_SHOWN]:
        subject = f" ({plain(finding.subject)})" if finding.subject else ""
        yield f"  {finding.severity:8}  {finding.code}{subject} since {instant(finding.opened_at)} UTC"
    if len(table.findings) > _SHOWN:
        yield f"  and {len(table.findings) - _SHOWN} more findings; use --json to list them all"
    for place, plan in enumerate(table.recommendations, 1):
        yield ""
        yield from _plan(place, plan, table.currency, bounds.get(plan.plan_id))
    if location and not name and any(_lacks_name(plan, table) for plan in table.recommendations):
        yield ""
        yield "  Statements need the name of the table: pass --name CATALOG.NAMESPACE.TABLE."
    if not table.recommendations and table.status != "unreadable":
        yield (
            "  Nothing is due."
            if table.status == "ok"
            else "  Not all of the table could be read; in the rest, nothing is due."
        )
    if table.not_worth or table.not_known:
        yield ""
    yield from (plain(f"  Not worth it: {each.rule}: {each.text}.") for each in table.not_worth)
    yield from (
        plain(f"  Not known: {each.rule}, because this is missing: {each.missing}.") for each in table.not_known
    )
    yield from _bytes(table)


def _lacks_name(plan: Recommendation, table: AdvisedTable) -> bool:
    """Whether there is no statement because an engine addresses tables of this format by their names."""
    return table.format == "iceberg" and plan.statements == StatementTexts()


def _plan(place: int, plan: Recommendation, currency: str, left: Estimate | None) -> Iterator[str]:
    yield f"  {place}. {_TITLES.get(plan.action, plan.action)}: {_effect(plan.predicted) or plan.rule}"
    yield f"     plan {plan.plan_id}, rule {plan.rule}"
    if plan.because:
        yield f"     because of {', '.join(plan.because)}"
    if plan.scope.partitions:
        shown = ", ".join(plain(each) for each in plan.scope.partitions[:_SHOWN])
        more = len(plan.scope.partitions) - _SHOWN
        yield f"     in {shown}{f' and {more} more partitions' if more > 0 else ''}"
    if left is not None:
        yield f"     leaves {sized(round(left.low))} to {sized(round(left.high))}"
    if plan.predicted.seconds is not None:
        yield f"     takes {_range(plan.predicted.seconds)}"
    if plan.predicted.cost is not None:
        cost = plan.predicted.cost
        yield f"     costs {_between(cost, currency)}{_worth(plan.value, currency)}"
    elif _worth(plan.value, currency):
        yield f"     {_worth(plan.value, currency).removeprefix(', ')}"
    for guard in plan.guards:
        yield plain(f"     {'ok   ' if guard.ok else 'CHECK'} {guard.text}")
    yield f"     undo: {_UNDO.get(plan.action, 'cannot be undone')}"
    for engine, text in (
        ("Spark", plan.statements.spark),
        ("Trino", plan.statements.trino),
        ("Python", plan.statements.python),
    ):
        if text is not None:
            yield f"     {engine}:"
            yield from (f"       {line}" for line in text.splitlines())


def _effect(predicted: Predicted) -> str:
    parts = []
    if predicted.files_in is not None:
        files = f"{number(predicted.files_in)} files into {number(predicted.files_out)}"
        parts.append(files + (f", {sized(predicted.bytes_in)}" if predicted.bytes_in is not None else ""))
    if predicted.bytes_freed is not None:
        parts.append(f"frees {sized(predicted.bytes_freed)}")
    return "; ".join(parts)


def _range(seconds: Estimate) -> str:
    if seconds.high < _MINUTE:
        return f"{seconds.low:,.0f} to {seconds.high:,.0f} s"
    return f"{seconds.low / 60:,.0f} to {seconds.high / 60:,.0f} min"


def _between(cost: Estimate, currency: str) -> str:
    if cost.high < _LEAST_SHOWN:
        return f"less than {_LEAST_SHOWN:.2f} {currency}"
    return f"{cost.low:,.2f} to {cost.high:,.2f} {currency}"


def _worth(value: PlanValue, currency: str) -> str:
    parts = []
    if value.money_per_month is not None:
        parts.append(f"saves {value.money_per_month:,.2f} {currency} a month")
    if value.payback_days is not None:
        parts.append(f"pays back in {value.payback_days:,.1f} days")
    if value.seconds_per_day is not None:
        basis = _BASES.get(value.seconds_per_day.basis, value.seconds_per_day.basis)
        parts.append(f"saves jobs {value.seconds_per_day.mid:,.0f} s a day ({basis})")
    return f", {', '.join(parts)}" if parts else ""


def _bytes(table: AdvisedTable) -> Iterator[str]:
    held = table.bytes
    if held is None:
        return
    yield ""
    yield f"  {sized(held.live)} live, {sized(held.held)} held by old snapshots, {sized(held.metadata)} of metadata"
    for name, size in sorted(held.by_ref.items(), key=lambda each: -each[1])[:_SHOWN]:
        yield plain(f"  {sized(size)} held by {name} alone")
    cost = table.cost_per_month
    if cost is not None and cost.storage is not None and cost.held is not None:
        yield f"  costs {cost.storage:,.2f} {table.currency} a month, and {cost.held:,.2f} for held bytes"
    yield f"  {counted(len(table.findings), 'finding')}, {counted(len(table.recommendations), 'recommendation')}"
