"""Resolves Maven coordinates with Spark's Ivy, in a separate process: a JVM loads jars only at its start.

Ivy uses the configuration that Spark's users expect: `spark.jars.ivySettings` and `spark.jars.repositories`, from
`[spark.conf]` in the settings or from spark-defaults.conf. LIMNOGRAPH_IVY_SETTINGS names an Ivy settings file for
mirrors.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from limnograph.adapters.spark.java import java_home
from limnograph.domain.errors import EnvironmentFault

IVY_SETTINGS_ENV = "LIMNOGRAPH_IVY_SETTINGS"
_GIVEN = ("spark.jars.ivySettings", "spark.jars.repositories", "spark.driver.extraJavaOptions")
_UNWANTED = ("org.checkerframework:checker-qual", "com.github.luben:zstd-jni")
"""Annotations that a driver declares as a dependency; jars that Spark already includes."""
_TELLING = ("unresolved dependency", "not found", "SERVER ERROR", "download failed", "Exception", "Error")
_LOOK_S = 2.0


def resolver(
    coordinates: tuple[str, ...], conf: Mapping[str, str], say: Callable[[str], None], megabytes: int
) -> Callable[[Path], dict[str, Path]]:
    """A function that downloads into a folder and returns the files there. Raises EnvironmentFault if pyspark, a JDK or
    an Ivy settings file is missing, or a download fails.
    """
    submit, home, settings = _spark_submit(), java_home(), _ivy_settings()
    given = {key: conf[key] for key in _GIVEN if key in conf}
    if settings:
        given["spark.jars.ivySettings"] = settings

    def resolve(work: Path) -> dict[str, Path]:
        entries = {
            "spark.jars.packages": ",".join(coordinates),
            "spark.jars.excludes": ",".join(_UNWANTED),
            "spark.jars.ivy": str(work / "ivy"),
            **given,
        }
        command = [submit, *(part for key, value in entries.items() for part in ("--conf", f"{key}={value}"))]
        # Its Python gateway exits immediately, because no client is connected: the download happens before that.
        env = {**os.environ, "JAVA_HOME": home, "_PYSPARK_DRIVER_CONN_INFO_PATH": str(work / "connection")}
        for other in ("PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "SPARK_HOME"):
            env.pop(other, None)
        _run([*command, "pyspark-shell"], env, work, say, megabytes)
        return _named(coordinates, work / "ivy" / "jars")

    return resolve


def _run(command: list[str], env: Mapping[str, str], work: Path, say: Callable[[str], None], megabytes: int) -> None:
    log = work / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, env=env, cwd=work, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
    ended = threading.Event()

    def tell() -> None:
        told = 0
        while not ended.wait(_LOOK_S):
            come = sum(file.stat().st_size for file in _files(work / "ivy" / "cache")) // 1_000_000
            if come > told:
                told = come
                say(f"{come} of {megabytes} MB downloaded")

    telling = threading.Thread(target=tell, daemon=True)
    telling.start()
    try:
        code = process.wait()
    finally:
        ended.set()
        process.kill()
        process.wait()
        telling.join()
    if code:
        lines = [line.strip(" \t:") for line in log.read_text("utf-8", "replace").splitlines()]
        why = list(dict.fromkeys(line for line in lines if any(word in line for word in _TELLING)))
        said = "; ".join((why or lines[-1:])[:3]) or f"it exited with status {code}"
        raise EnvironmentFault(
            f"Ivy could not download the jars: {said}. Behind a mirror, set {IVY_SETTINGS_ENV} to an Ivy settings file "
            "(or spark.jars.repositories in [spark.conf]); without a network, copy the jars into a folder and run "
            "`limnograph setup --from FOLDER`"
        )


def _files(folder: Path) -> list[Path]:
    """Jars and partial downloads; files that vanish meanwhile are not counted."""
    return [file for file in folder.rglob("*.jar*") if file.is_file()]


def _named(coordinates: tuple[str, ...], folder: Path) -> dict[str, Path]:
    """Ivy writes `group_artifact-version.jar`; Maven's file name is the part after the group."""
    found = {}
    for group, artifact, version in (coordinate.split(":") for coordinate in coordinates):
        name = f"{artifact}-{version}.jar"
        for file in (folder / f"{group}_{name}", folder / name):
            if file.is_file():
                found[name] = file
    return found


def _spark_submit() -> str:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise EnvironmentFault("pyspark is not installed; `pip install 'limnograph[spark]'`")
    return str(Path(spec.origin).parent / "bin" / "spark-submit")


def _ivy_settings() -> str:
    named = os.environ.get(IVY_SETTINGS_ENV, "")
    if named and not Path(named).is_file():
        raise EnvironmentFault(f"{IVY_SETTINGS_ENV} is {named}, which is not a file; it must be an Ivy settings file")
    return str(Path(named).absolute()) if named else ""
