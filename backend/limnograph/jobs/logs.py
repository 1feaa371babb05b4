"""Logs of long-running programs: on stderr, one line an event, plain or JSON."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
from pathlib import Path

from limnograph.adapters.spark.failures import first_line
from limnograph.domain.secrecy import clean

_REPORTED = frozenset({"limnograph.pipeline", "limnograph.housekeeping", "limnograph.stream"})
"""Loggers of the pipeline whose exceptions its progress reports too."""
_LINE = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


def cause(error: BaseException) -> str:
    """An exception in one line; of Spark's the innermost cause."""
    return f"{type(error).__name__}: {first_line(str(error))}"


class _Plain(logging.Formatter):
    """A line of text, without credentials, whatever libraries quote."""

    def format(self, record: logging.LogRecord) -> str:
        return clean(super().format(record))


class _Brief(_Plain):
    """The same without stack traces: an exception is shown by its innermost cause."""

    def format(self, record: logging.LogRecord) -> str:
        brief = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None, "stack_info": None})
        error = record.exc_info[1] if record.exc_info else None
        return super().format(brief) + (f": {cause(error)}" if error is not None else "")


class _Json(logging.Formatter):
    """One JSON object a line, likewise."""

    def format(self, record: logging.LogRecord) -> str:
        at = dt.datetime.fromtimestamp(record.created, tz=dt.UTC).isoformat(timespec="milliseconds")
        entry = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return json.dumps({key: clean(text) for key, text in entry.items()})


def configure(form: str, traces: Path | None = None) -> None:
    """`plain` or `json`; libraries log warnings and above. With `traces`, stack traces go to that file only."""
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    kind = _Plain if traces is None else _Brief
    handlers[0].setFormatter(_Json() if form == "json" else kind(_LINE))
    if traces is not None:
        handlers[0].addFilter(lambda record: not (record.exc_info and record.name in _REPORTED))
        traces.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(traces, delay=True))
        handlers[1].setFormatter(_Plain(_LINE))
    logging.basicConfig(level=logging.WARNING, handlers=handlers, force=True)
    logging.getLogger("limnograph").setLevel(logging.INFO)
