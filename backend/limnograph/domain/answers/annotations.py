"""Commits as marks on another program's graphs, with the field names that Grafana reads. Times epoch ms."""

from __future__ import annotations

from limnograph.domain.answers.tables import View
from limnograph.domain.time import Millis


class Annotation(View, frozen=True, kw_only=True):
    """One mark. `path`: the page of the commit at this server."""

    id: str
    time: Millis
    title: str
    text: str
    tags: list[str]
    path: str


class AnnotationsPage(View, frozen=True, kw_only=True):
    """Marks, newest first."""

    rows: list[Annotation]
