"""The parser process: reads observed tables on request of its parent, over pipes, until the parent exits."""

from __future__ import annotations

from limnograph.adapters.sandbox.serving import serve
from limnograph.jobs.logs import configure
from limnograph.wiring.formats import iceberg
from limnograph.wiring.parsing import TableParser


def main() -> None:
    """Serve requests until standard input ends."""
    configure("plain")
    serve(TableParser, iceberg)


if __name__ == "__main__":
    main()
