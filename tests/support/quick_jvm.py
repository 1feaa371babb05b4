"""Options of a JVM that lives for seconds: no optimising compiler, and the classes of Spark and Iceberg parsed and
verified once for all of them, in an archive of the JVM's own kind (class data sharing).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pyspark

from limnograph.adapters.spark.session import find_jars

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable -Xlog:all=error:stderr"


def archive_of_classes() -> Path:
    """Where the archive for these jars lies, or will. The JVM itself refuses one that was made from others."""
    jars = find_jars()
    state = [(jar.name, jar.stat().st_mtime_ns) for jar in (*jars, *(Path(pyspark.__file__).parent / "jars").iterdir())]
    digest = hashlib.sha256(repr(sorted(state)).encode()).hexdigest()[:16]
    return jars[0].parent.parent / "classes" / f"{digest}.jsa"


@contextmanager
def quick_jvm(*, archiving: bool) -> Iterator[str]:
    """The options of one run. `archiving`: it lasts to its own end, so that it can leave the archive if there is none.

    What the JVM writes at its end is only named an archive once it is whole: others may start meanwhile.
    """
    archive = archive_of_classes()
    if archive.exists():
        yield f"{QUICK} -XX:SharedArchiveFile={archive}"
    elif not archiving:
        yield QUICK
    else:
        archive.parent.mkdir(exist_ok=True)
        part = archive.with_suffix(f".{uuid4().hex}")
        yield f"{QUICK} -XX:ArchiveClassesAtExit={part}"
        if part.exists():
            part.replace(archive)
