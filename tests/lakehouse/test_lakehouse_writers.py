"""Refused commits are counted by the catalog's own log, for one table."""

from __future__ import annotations

from pathlib import Path

from lakehouse.ingest.writers import refused_commits
from lakehouse.parts.places import Places, Ports

LOG = """\
refused {namespace=lab, table=contended}: Requirement failed: branch main was created concurrently
INFO started {namespace=lab, table=contended}
refused {namespace=lab, table=contended2}: Requirement failed: branch main has changed
refused {namespace=other, table=contended}: Requirement failed: branch main has changed
refused {table=contended, namespace=lab}: Requirement failed: table=pointer
"""


def test_refused_commits_are_those_of_the_named_table(tmp_path: Path) -> None:
    places = Places(tmp_path, Ports())
    places.renew()
    (places.logs / "catalog.log").write_text(LOG)
    assert refused_commits(places, "lake.lab.contended") == 2
    assert refused_commits(places, "lake.lab.pointer") == 0
