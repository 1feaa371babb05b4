"""Names of base and log files: their file group and their instant.

Hudi's technical specification, versions 6 and 8, `File Layout`; the native logs of table version 10.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_LOG = re.compile(r"\.(?P<id>[^.].*)_(?P<instant>\d+)\.log\.\d+(?:_[^_.]+)?(?P<suffix>\.(?:cdc|lsm))?", re.ASCII)
_NATIVE_LOG = re.compile(r"(?P<id>.+)_[^_]+_(?P<instant>\d+)_\d+\.(?P<kind>[a-z]+)\.[a-z0-9]+", re.ASCII)
_BASE = re.compile(r"(?P<id>[^_]+(?:_[^_]+)*?)_[^_]*_(?P<instant>\d+)\.[A-Za-z0-9]+", re.ASCII)
_EXTERNAL = re.compile(r"(?P<id>.+)_(?P<instant>\d+)_hudiext", re.ASCII)


class FileName(NamedTuple):
    """A parsed file name.

    instant  of a base file: its own. Of a log: that of its base file (table versions below 8), or of the delta commit
             that wrote it
    cdc      a log that contains only changes, not part of the table's content
    """

    file_id: str
    instant: str
    is_log: bool
    cdc: bool = False


def parse_name(name: str) -> FileName | None:
    """Parse a file name; None for one that is neither a base nor a log file."""
    if len(name) > 1024:
        return None
    if name.startswith("."):
        match = _LOG.fullmatch(name)
        return FileName(match["id"], match["instant"], is_log=True, cdc=match["suffix"] == ".cdc") if match else None
    if match := _BASE.fullmatch(name) or _EXTERNAL.fullmatch(name):
        return FileName(match["id"], match["instant"], is_log=False)
    match = _NATIVE_LOG.fullmatch(name)
    return FileName(match["id"], match["instant"], is_log=True, cdc=match["kind"] == "cdc") if match else None
