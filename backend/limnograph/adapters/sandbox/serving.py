"""The child's loop: a request in, a response out, whatever happens. The composition provides the responses."""

from __future__ import annotations

import gc
import logging
import os
import sys
from collections.abc import Callable, Iterable
from typing import BinaryIO, Protocol

import msgspec

from limnograph.adapters.avro import turns
from limnograph.adapters.sandbox.board import ProgressBoard
from limnograph.adapters.sandbox.confine import confine, end_after
from limnograph.adapters.sandbox.frames import framed, read_frame
from limnograph.adapters.sandbox.messages import (
    DETAIL_CHARACTERS,
    AnswerPart,
    Ask,
    Done,
    FailedAnswer,
    Question,
    Ready,
    Setup,
    StorageAccess,
    decode_request,
    encode,
    failed,
)
from limnograph.domain.errors import LimnographError, MetadataError
from limnograph.ports.storage import ListedFile, Storage

_log = logging.getLogger("limnograph.parser")


class Answers(Protocol):
    """Responds to requests with one access to storage."""

    def answer(self, question: Question) -> Iterable[object]:
        """Parts of the response, each of which is JSON-serialisable."""
        ...


def serve(answers: Callable[[StorageAccess, ProgressBoard], Answers], prepare: Callable[[], object]) -> None:
    """Serve requests until standard input ends. The last argument is the descriptor of the board. `prepare` loads what
    the first response needs, so that this time counts towards no table's limit.
    """
    out = confine()
    board = ProgressBoard(int(sys.argv[-1]))
    board.starting("loading")
    turns.listen(board.starting)
    prepare()
    gc.freeze()  # libraries stay loaded: collecting their objects again took a tenth of a second each time
    out.write(framed(encode(Ready())))
    current: Answers | None = None
    while (body := read_frame(sys.stdin.buffer)) is not None:
        request = decode_request(body)
        if isinstance(request, Setup):
            os.environ.update(request.environment)
            current = answers(request.access, board)
        elif current is not None:
            _reply(out, board, current, request)


def _reply(out: BinaryIO, board: ProgressBoard, answers: Answers, request: Ask) -> None:
    end_after(request.seconds)
    board.clear()
    last: Done | FailedAnswer = Done()
    try:
        for part in answers.answer(request.question):
            _send(out, encode(AnswerPart(msgspec.Raw(encode(part)))))
    except LimnographError as error:
        last = failed(error)
    except MemoryError:
        last = _broken(board, "memory_exceeded", "out of memory: the table exceeds the memory limit", spent=True)
    except Exception as error:  # noqa: BLE001 - a reader's surprise is a fact of the table it met
        _log.exception("unexpected error while reading %s", board.location())
        last = _broken(board, "parser_crashed", f"{type(error).__name__}: {error}")
    except BaseException as error:  # noqa: BLE001 - native libraries panic with it, and readers may try to exit
        last = _broken(board, "parser_crashed", f"{type(error).__name__}: {error}", spent=True)
    end_after(0)
    _send(out, encode(last))


def _broken(board: ProgressBoard, code: str, how: str, *, spent: bool = False) -> FailedAnswer:
    location = board.location()
    sentence = f"{how}, at {location}" if location else how
    return FailedAnswer("metadata", code, sentence[:DETAIL_CHARACTERS], spent)


def _send(out: BinaryIO, body: bytes) -> None:
    view = memoryview(framed(body))
    while view:
        view = view[out.write(view) :]


class ToldStorage:
    """Storage that reports on the board what it reads. Raises MetadataError for an invalid location."""

    def __init__(self, storage: Storage, board: ProgressBoard) -> None:
        self._storage, self._board = storage, board

    def read(self, location: str, limit: int) -> bytes:
        with self._board.reading(location):
            return self._storage.read(_text(location), limit)

    def size(self, location: str) -> int:
        with self._board.reading(location):
            return self._storage.size(_text(location))

    def list(self, location: str, *, deep: bool = False) -> list[ListedFile]:
        with self._board.reading(location):
            return self._storage.list(_text(location), deep=deep)


def _text(location: str) -> str:
    try:
        location.encode()
    except UnicodeEncodeError as error:
        raise MetadataError("location_refused", "a location is not valid Unicode") from error
    return location
