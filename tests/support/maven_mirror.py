"""A Maven repository on this machine that has the pipeline's jars and nothing else, and Ivy settings that name it."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from limnograph.adapters.spark.jars import USUAL

SETTINGS = """<ivysettings>
  <settings defaultResolver="mirror"/>
  <resolvers>
    <ibiblio name="mirror" m2compatible="true" root="{root}"/>
  </resolvers>
</ivysettings>
"""
POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>{0}</groupId><artifactId>{1}</artifactId><version>{2}</version>
</project>
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing to say."""


@contextmanager
def maven_mirror(folder: Path, jars: Path) -> Iterator[Path]:
    """The file of Ivy settings. `jars`: the folder that has them."""
    for group, artifact, version in (coordinate.split(":") for coordinate in USUAL.coordinates):
        place = folder / "repository" / group.replace(".", "/") / artifact / version
        place.mkdir(parents=True)
        (place / f"{artifact}-{version}.pom").write_text(POM.format(group, artifact, version))
        (place / f"{artifact}-{version}.jar").symlink_to(jars / f"{artifact}-{version}.jar")
    handler = functools.partial(Quiet, directory=str(folder / "repository"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        settings = folder / "ivysettings.xml"
        settings.write_text(SETTINGS.format(root=f"http://127.0.0.1:{server.server_port}/"))
        yield settings
        server.shutdown()
