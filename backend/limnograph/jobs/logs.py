"""Logging of long-running programs: on stderr, one line per event, plain or JSON."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
from pathlib import Path

from limnograph.adapters.spark.failures import first_line
from limnograph.domain.secrecy import clean

_REPORTED = frozenset({"limnograph.pipeline", "limnograph.housekeeping", "limnograph.stream"})
"""Loggers of the pipeline whose exceptions its progress output also reports."""
_LINE = "%(asctime)s %(levelname)-7s %(name)s: %(message)s"


def cause(error: BaseException) -> str:
    """An exception in one line; for Spark's exceptions the innermost cause."""
    return f"{type(error).__name__}: {first_line(str(error))}"


class _Plain(logging.Formatter):
    """One line of text, with credentials masked whatever libraries log."""

    def format(self, record: logging.LogRecord) -> str:
        return clean(super().format(record))


class _Brief(_Plain):
    """The same without stack traces: only the innermost cause of an exception."""

    def format(self, record: logging.LogRecord) -> str:
        brief = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None, "stack_info": None})
        error = record.exc_info[1] if record.exc_info else None
        return super().format(brief) + (f": {cause(error)}" if error is not None else "")


class _Json(logging.Formatter):
    """One JSON object per line, with credentials masked."""

    def format(self, record: logging.LogRecord) -> str:
        at = dt.datetime.fromtimestamp(record.created, tz=dt.UTC).isoformat(timespec="milliseconds")
        entry = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return json.dumps({key: clean(text) for key, text in entry.items()})


def configure(form: str, traces: Path | None = None) -> None:
    """Set up logging in form `plain` or `json`, with warnings and above from libraries. With `traces`, stack traces are
    written to that file only.
    """
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
