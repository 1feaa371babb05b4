"""Generates `docs/api.md`: `python -m limnograph.api.docs.reference`. CI compares it with the file."""

from __future__ import annotations

import sys

from limnograph.api.docs.reference.blocks import markdown
from limnograph.api.docs.reference.routes import blocks

NOTE = "Generated from the OpenAPI document of `backend/limnograph/api`: change it there, then run `make types`.\n"


def document() -> str:
    """The whole page as Markdown."""
    title, *rest = blocks()
    return f"{markdown([title])}\n{NOTE}\n{markdown(rest)}"


if __name__ == "__main__":
    sys.stdout.write(document())
