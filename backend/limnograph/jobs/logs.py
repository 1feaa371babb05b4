"""Logs of long-running programs: on stderr, one line an event, plain or JSON."""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys

from limnograph.domain.secrecy import clean


class _Plain(logging.Formatter):
    """A line of text, without credentials, whatever libraries quote."""

    def format(self, record: logging.LogRecord) -> str:
        return clean(super().format(record))


class _Json(logging.Formatter):
    """One JSON object a line, likewise."""

    def format(self, record: logging.LogRecord) -> str:
        at = dt.datetime.fromtimestamp(record.created, tz=dt.UTC).isoformat(timespec="milliseconds")
        entry = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return json.dumps({key: clean(text) for key, text in entry.items()})


def configure(form: str) -> None:
    """`plain` or `json`; libraries speak from warnings on."""
    handler = logging.StreamHandler(sys.stderr)
    plain = _Plain("%(asctime)s %(levelname)-7s %(name)s: %(message)s")
    handler.setFormatter(_Json() if form == "json" else plain)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("limnograph").setLevel(logging.INFO)
