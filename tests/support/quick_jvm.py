"""Options of a JVM that lives for seconds: no optimising compiler, and Spark's classes parsed and verified once for all
JVMs, in an archive of the JVM's own kind (class data sharing), which saves a third of a short run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pyspark

from limnograph.adapters.spark.session import find_jars

_SILENT = "-Xlog:disable -Xlog:all=error:stderr"
"""A JVM that refuses the archive, because its jars are others, does not say so."""
QUICK = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC {_SILENT}"


def archive_of_classes() -> Path:
    """Where the archive for these jars lies, or will. The JVM itself refuses one that was made from others."""
    jars = find_jars()
    state = [(jar.name, jar.stat().st_mtime_ns) for jar in (*jars, *(Path(pyspark.__file__).parent / "jars").iterdir())]
    digest = hashlib.sha256(repr(sorted(state)).encode()).hexdigest()[:16]
    return jars[0].parent.parent / "classes" / f"{digest}.jsa"


def quick_options() -> str:
    """QUICK, with the archive if it has been made."""
    archive = archive_of_classes()
    return f"{QUICK} -XX:SharedArchiveFile={archive}" if archive.exists() else QUICK


@contextmanager
def archived_classes() -> Iterator[str]:
    """Options of a JVM that ends with the block, by itself: it uses the archive, or leaves it where there is none.

    What the JVM writes at its end is only named an archive once it is whole: others may start meanwhile.
    """
    archive = archive_of_classes()
    if archive.exists():
        yield f"{_SILENT} -XX:SharedArchiveFile={archive}"
        return
    archive.parent.mkdir(exist_ok=True)
    part = archive.with_suffix(f".{uuid4().hex}")
    yield f"{_SILENT} -XX:ArchiveClassesAtExit={part}"
    if part.exists():
        part.replace(archive)
