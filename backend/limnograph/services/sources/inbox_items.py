"""Facts in the items of the inbox. An item that cannot be decoded is logged and left out, as in the pipeline."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from limnograph.ports.inbox import InboxItem

_log = logging.getLogger("limnograph.inbox")
_T = TypeVar("_T")


def facts_of_items(items: Iterable[InboxItem], decoder: msgspec.json.Decoder[_T], what: str) -> Iterator[_T]:
    """The facts of items of one kind. `what`: a fact in the log, with its article."""
    for item in items:
        try:
            yield decoder.decode(item.payload)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            _log.warning("inbox: item %s is not %s: %s", item.key, what, error)
