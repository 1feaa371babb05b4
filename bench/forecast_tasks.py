"""Tasks of `forecasts.py`: cases in files, and the command that answers them."""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

Clock = Callable[[], contextlib.AbstractContextManager[None]]

PROCESSES = 2
_FLEETS = 5
_FLEET_TABLES = 50
_SEED = 81_001


def forecast_files(clock: Clock, folder: str, tables: str) -> int:
    """Cases in a file for each process. A task of its own, because a process begins with the peak of its parent."""
    with clock():
        for place in range(PROCESSES):
            _write(Path(folder) / f"cases-{place}.jsonl", int(tables) // PROCESSES, place)
    return int(tables)


def forecast_cases(clock: Clock, folder: str) -> list[Any]:
    """Tables that are answered, CPU seconds of each process, and the peak memory of both in MB."""
    files = sorted(Path(folder).glob("cases-*.jsonl"))
    command = [sys.executable, "-c", "from limnograph.cli import main; main()", "forecast", "--cases"]
    with clock():
        running = [
            subprocess.Popen([*command, str(file)], stdout=file.with_suffix(".answers").open("wb")) for file in files
        ]
        codes = [each.wait() for each in running]
    if any(codes):
        raise SystemExit("limnograph forecast failed")
    answered = sum(len(file.with_suffix(".answers").read_bytes().splitlines()) for file in files)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return [answered, (used.ru_utime + used.ru_stime) / len(files), len(files) * used.ru_maxrss / 1024]


def _write(file: Path, tables: int, process: int) -> None:
    """Cases of a few fleets, repeated, because what a table costs depends on its history alone."""
    drawn = [list(_lines(_SEED + _FLEETS * process + place)) for place in range(_FLEETS)]
    with file.open("wb") as lines:
        for number in range(tables):
            fleet, row = divmod(number, _FLEET_TABLES)
            case = drawn[fleet % _FLEETS][row]
            lines.write(msgspec.json.encode({**case, "id": str(number), "fleet": str(fleet)}) + b"\n")


def _lines(seed: int) -> Iterator[dict[str, Any]]:
    from forecast.fleets import judged_fleet

    for judged in judged_fleet(seed, _FLEET_TABLES, paths=2):
        yield msgspec.to_builtins(judged.case, enc_hook=_plain)


def _plain(value: Any) -> Any:
    """Arrays as JSON has them: what is not known is null."""
    values = np.asarray(value)
    return np.where(np.isfinite(values), values, None).tolist() if values.dtype.kind == "f" else values.tolist()


TASKS: dict[str, Callable[..., Any]] = {task.__name__: task for task in (forecast_files, forecast_cases)}
