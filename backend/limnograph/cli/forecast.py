"""`limnograph forecast`: forecasts the tables of the meta tables, once or daily, or trains the model on them. `--cases
FILE`: reads cases as JSON lines and writes their forecasts as JSON lines, in the same order.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import click
import msgspec

from limnograph.cli.cases import FAILED, CaseReader
from limnograph.domain.errors import InvalidInput
from limnograph.domain.forecasts.cases import FactColumns, ForecastCase
from limnograph.domain.secrecy import clean
from limnograph.domain.time import LAST_DATE_MS, MICROS_PER_SECOND, Micros, to_millis
from limnograph.settings import load

if TYPE_CHECKING:
    from limnograph.analysis.forecast import Forecaster
    from limnograph.services.housekeeping.forecasting import ForecastReport

_EXAMPLES = (
    "The format of cases and answers: docs/forecast.md.\n\n"
    "Exit status: 0 all cases answered; 1 some lines are not cases, each reported on stderr as a JSON object; 2 wrong "
    "usage.\n\n"
    "\b\nExamples:\n  limnograph forecast --config limnograph.toml --once\n"
    "  limnograph forecast --config limnograph.toml --train\n"
    "  limnograph forecast --config limnograph.toml --backtest --since 2026-11-01\n"
    "  limnograph forecast --cases cases.jsonl > forecasts.jsonl\n"
    "  gunzip -c cases.jsonl.gz | limnograph forecast --cases - > forecasts.jsonl\n"
    "  jq -c 'select(.alert) | [.id, .risk]' forecasts.jsonl\n"
    "  limnograph forecast --cases cases.jsonl --model model.npz > forecasts.jsonl"
)
_EVERY = re.compile(r"(\d{1,3})\s*(h|d)")
_MOST_EVERY_H = 168
_HOUR_MS = 3_600_000
_MOST_HOURS = 24 * 366


@click.command("forecast", epilog=_EXAMPLES)
@click.option(
    "--config", type=click.Path(dir_okay=False, path_type=Path), help="Settings file; default $LIMNOGRAPH_CONFIG."
)
@click.option("--once", is_flag=True, help="Forecast the tables of the meta tables once, then exit.")
@click.option("--every", metavar="TIME", help="Time between two passes, such as 6h or 1d; default 24h.")
@click.option(
    "--train",
    is_flag=True,
    help="Train the model on the past of these tables, then exit. It is used only if it is better on the newest week.",
)
@click.option(
    "--backtest",
    is_flag=True,
    help="Forecast these tables as of earlier days instead, compare with what happened, and write the scores.",
)
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="DATE",
    help="With --backtest: first day, UTC; default two weeks ago.",
)
@click.option("--json", "as_json", is_flag=True, help="With --backtest: write JSON instead of text.")
@click.option("--verbose", is_flag=True, help="Write stack traces and Spark's errors to stderr instead of a file.")
@click.option(
    "--cases",
    type=click.File("rb"),
    metavar="FILE",
    help="Forecast cases instead, one per line: a table's history, its reader's runs, and targets; lines of one fleet "
    "are contiguous. - reads standard input.",
)
@click.option(
    "--model",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --cases: model to use instead of the one that ships with Limnograph.",
)
def command(
    config: Path | None,
    *,
    once: bool,
    every: str | None,
    train: bool,
    backtest: bool,
    since: datetime | None,
    as_json: bool,
    verbose: bool,
    cases: BinaryIO | None,
    model: Path | None,
) -> None:
    """Forecast which tables will cross a threshold, when, why, and whether maintenance would prevent it.

    Writes rows of the meta table `forecasts`, daily until a signal, or once; the pipeline does the same as one of its
    steps. With --train: prints what came of the training: `replaced`, `kept`, `too_few_tables` (less than 1,000) or
    `too_little_history`. With --cases: one answer per line, for each target the level to be expected with an 80 %
    interval, the probability of crossing, the same with maintenance now, and the reason if the data allow no forecast.
    With --backtest: how right forecasts of the last weeks would have been, beside methods without a model.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy loads: small matrices lose time on more
    if cases is not None:
        if once or train or backtest or every is not None or config is not None:
            raise InvalidInput("--cases", "cannot be combined with --config, --once, --every, --train or --backtest")
        _answer_cases(cases, model)
        return
    if model is not None:
        raise InvalidInput("--model", "requires --cases")
    if once and every is not None:
        raise InvalidInput("--every", "cannot be combined with --once")
    if train and (once or every is not None):
        raise InvalidInput("--train", "cannot be combined with --once or --every")
    if backtest and (train or once or every is not None):
        raise InvalidInput("--backtest", "cannot be combined with --once, --every or --train")
    if (since is not None or as_json) and not backtest:
        raise InvalidInput("--json" if as_json else "--since", "requires --backtest")
    if backtest:
        _backtest(config, since, as_json=as_json)
    elif train:
        _train(config, verbose=verbose)
    else:
        _forecast_tables(config, _hours(every or "24h"), once=once, verbose=verbose)


def _answer_cases(cases: BinaryIO, model: Path | None) -> None:
    from limnograph.analysis.forecast import load_model, read_model

    forecaster = read_model(model) if model else load_model()
    with _rewindable(cases) as lines:
        if not _answer(lines, forecaster):
            raise SystemExit(FAILED)


def _forecast_tables(config: Path | None, hours: int, *, once: bool, verbose: bool) -> None:
    settings = load(config)
    from limnograph.jobs.forecasting import forecast_always, forecast_once
    from limnograph.wiring.state import private_state

    private_state(settings)
    if once:
        _print(forecast_once(settings, _progress, verbose=verbose))
    else:
        forecast_always(settings, hours * 3_600, _progress, _print, verbose=verbose)


def _train(config: Path | None, *, verbose: bool) -> None:
    settings = load(config)
    from limnograph.jobs.forecasting import train_once
    from limnograph.wiring.state import private_state

    private_state(settings)
    report = train_once(settings, _progress, verbose=verbose)
    click.echo(msgspec.json.encode(report).decode())


def _backtest(config: Path | None, since: datetime | None, *, as_json: bool) -> None:
    from limnograph.cli.backtest_view import backtest_lines
    from limnograph.wiring.forecasting import backtest

    first = None if since is None else Micros(round(since.replace(tzinfo=UTC).timestamp()) * MICROS_PER_SECOND)
    report = backtest(load(config), _progress).run(first)
    text = msgspec.json.encode(report).decode() if as_json else "\n".join(backtest_lines(report))
    click.echo(text)


def _print(report: ForecastReport) -> None:
    counts = {name: getattr(report, name) for name in ("tables", "rows", "judged", "failed")}
    made = {"as_of": to_millis(report.as_of), "model": report.model}
    click.echo(msgspec.json.encode(counts | made).decode())


def _progress(line: str) -> None:
    click.echo(clean(line), err=True)


def _hours(text: str) -> int:
    match = _EVERY.fullmatch(text.strip())
    hours = int(match[1]) * (24 if match[2] == "d" else 1) if match else 0
    if not 1 <= hours <= _MOST_EVERY_H:
        raise InvalidInput("--every", f"{text!r} is not a time from 1h to 7d")
    return hours


def parse(line: bytes) -> ForecastCase:
    """Parse one line, and check that its columns match. Raises InvalidInput, which names the field."""
    case = _READER.parse(line)
    _check_time("as_of", case.as_of)
    _check_time("first_seen", case.first_seen)
    if case.as_of % _HOUR_MS:
        raise InvalidInput("as_of", "must be a whole UTC hour")
    for place, hours in enumerate(case.horizons_hours):
        if not 1 <= hours <= _MOST_HOURS:
            raise InvalidInput(f"horizons_hours[{place}]", f"must be from 1 to {_MOST_HOURS}")
    _check_facts(case.facts)
    if case.runs:
        for name, values in (("duration_seconds", case.runs.duration_seconds), ("read_bytes", case.runs.read_bytes)):
            _check_length(f"runs.{name}", "times", case.runs.times, values)
        for place, at in enumerate(case.runs.times):
            _check_time(f"runs.times[{place}]", at)
    metrics = [target.metric for target in case.targets]
    for place, metric in enumerate(metrics):
        if metric in metrics[:place]:
            raise InvalidInput(f"targets[{place}].metric", f"{metric} occurs twice")
    return case


class _NumberedCase(NamedTuple):
    """A case, or why its line is none."""

    line: int
    case: ForecastCase | None
    error: InvalidInput | None


def _answer(lines: BinaryIO, forecaster: Forecaster) -> bool:
    """Write answers fleet by fleet, and errors. Returns whether there were no errors."""
    from limnograph.analysis.forecast import FleetPasts

    pasts = FleetPasts()
    for fleet in _fleets(lines):
        pasts.add([each.case for each in fleet if each.case])
    lines.seek(0)
    good = True
    for fleet in _fleets(lines):
        cases = [each.case for each in fleet if each.case]
        if cases:
            adapted = forecaster.adapted(pasts.adaptation(forecaster.model, cases[0].as_of))
            for found in adapted.forecast(cases):
                sys.stdout.buffer.write(msgspec.json.encode(found.answer) + b"\n")
            sys.stdout.buffer.flush()
        for line, _, error in fleet:
            if error:
                good = False
                problem = {"line": line, "field": error.field, "error": error.detail}
                click.echo(msgspec.json.encode(problem).decode(), err=True)
    return good


def _fleets(lines: BinaryIO) -> Iterator[list[_NumberedCase]]:
    """Contiguous cases of one fleet and cut-off. A line that is not a case belongs to the fleet before it."""
    current: tuple[str, int] | None = None
    fleet: list[_NumberedCase] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            case = parse(line)
        except InvalidInput as error:
            fleet.append(_NumberedCase(number, None, error))
            continue
        if current is not None and (case.fleet, case.as_of) != current:
            yield fleet
            fleet = []
        current = case.fleet, case.as_of
        fleet.append(_NumberedCase(number, case, None))
    if fleet:
        yield fleet


def _rewindable(cases: BinaryIO) -> BinaryIO:
    """The lines in a file that can be read twice."""
    if cases.seekable():
        return cases
    spooled = tempfile.SpooledTemporaryFile(max_size=1 << 28)  # noqa: SIM115 - the caller closes it
    shutil.copyfileobj(cases, spooled)
    spooled.seek(0)
    return spooled  # type: ignore[return-value]


def _check_facts(facts: FactColumns) -> None:
    for name in FactColumns.__struct_fields__:
        values = getattr(facts, name)
        if name != "at" and values is not None:
            _check_length(f"facts.{name}", "at", facts.at, values)
    for place, at in enumerate(facts.at):
        _check_time(f"facts.at[{place}]", at)
        if place and at < facts.at[place - 1]:
            raise InvalidInput(f"facts.at[{place}]", "must not be before the row above")
    for span, rows in groupby(enumerate(facts.span_hours), key=lambda each: each[1]):
        if not 1 <= span <= _MOST_HOURS:
            raise InvalidInput(f"facts.span_hours[{next(rows)[0]}]", f"must be from 1 to {_MOST_HOURS}")


def _check_length(field: str, against: str, times: Sequence[object], values: Sequence[object]) -> None:
    if len(values) != len(times):
        raise InvalidInput(field, f"has {len(values)} values for {len(times)} in {against}")


def _check_time(field: str, at: int) -> None:
    if abs(at) > LAST_DATE_MS:
        raise InvalidInput(field, "must be epoch milliseconds")


_READER = CaseReader(ForecastCase)
