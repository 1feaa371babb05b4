"""The parser's process: reads observed tables for its parent, over pipes, until the parent goes. Started by us only."""

from __future__ import annotations

from limnograph.adapters.sandbox.serving import serve
from limnograph.jobs.logs import configure
from limnograph.wiring.formats import iceberg
from limnograph.wiring.parsing import TableParser


def main() -> None:
    """Answer questions until standard input ends."""
    configure("plain")
    serve(TableParser, iceberg)


if __name__ == "__main__":
    main()
