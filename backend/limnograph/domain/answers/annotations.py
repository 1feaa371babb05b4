"""Commits and findings as marks on other programs' graphs, with Grafana's field names. Times are epoch ms."""

from __future__ import annotations

from typing import Literal

from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis

AnnotationKind = Literal["commits", "findings"]


class Annotation(View, frozen=True, kw_only=True):
    """One mark. `path`: the page of the commit or finding on this server."""

    id: str
    time: Millis
    title: str
    text: str
    tags: list[str]
    path: str


class AnnotationsPage(View, frozen=True, kw_only=True):
    """Marks, newest first."""

    rows: list[Annotation]
