"""The additional jars that Spark needs: their list, checksums, location, and installation.

Shared by `limnograph setup`, the first start of the pipeline and the Makefile. A file gets its final name only after
its checksum is verified, so an interrupted download is never used, and concurrent setups do not interfere.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from limnograph.adapters.spark import ivy
from limnograph.domain.errors import EnvironmentFault

JARS_ENV = "LIMNOGRAPH_JARS"
_HERE = Path(__file__).resolve().parent
_STALE = ".setup-"
Say = Callable[[str], None]


class Jars(NamedTuple):
    """Coordinates of jars, their total size, and the file with their checksums."""

    coordinates: tuple[str, ...]
    megabytes: int
    lock: Path

    @property
    def checksums(self) -> dict[str, str]:
        """SHA-256 by file name."""
        lines = self.lock.read_text().splitlines()
        return {name: digest for digest, name in (line.split() for line in lines)}


USUAL = Jars(
    (
        "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0",
        "org.xerial:sqlite-jdbc:3.50.3.0",
        "org.postgresql:postgresql:42.7.8",
    ),
    63,
    _HERE / "jars.lock",
)
S3 = Jars(("org.apache.iceberg:iceberg-aws-bundle:1.11.0",), 61, _HERE / "jars-s3.lock")
"""Additional jars for meta tables on S3."""


def checkout() -> Path | None:
    """Root of the source tree that this code runs from; None in an installed package."""
    root = _HERE.parents[3]
    return root if (root / "Makefile").is_file() and (root / "backend" / "limnograph").is_dir() else None


def remedy(folder: str = "") -> str:
    """The command that downloads missing jars into the given folder."""
    if checkout():
        return "make setup"
    return f"limnograph setup --into {folder}" if folder else "limnograph setup"


def cache_folder(env: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """The user's folder of jars: below XDG_CACHE_HOME, else in the system's cache folder."""
    home = Path(env.get("HOME") or Path.home())
    usual = home / "Library" / "Caches" if platform == "darwin" else home / ".cache"
    given = env.get("XDG_CACHE_HOME", "")
    return (Path(given) if Path(given).is_absolute() else usual) / "limnograph" / "jars"


def own_folder() -> Path:
    """Target of `limnograph setup`: LIMNOGRAPH_JARS, `.tools/jars` of a checkout, else the user's cache."""
    if named := os.environ.get(JARS_ENV):
        return Path(named)
    root = checkout()
    return root / ".tools" / "jars" if root else cache_folder()


def find_jars(given: str = "") -> list[Path]:
    """Jars of the folder that the settings or LIMNOGRAPH_JARS name, else of `.tools/jars` above the working directory
    or the source, else of the user's cache, where checksums are verified. Raises EnvironmentFault.
    """
    named = given or os.environ.get(JARS_ENV, "")
    above = (*Path.cwd().parents, *Path(__file__).resolve().parents)
    folders = [Path(named)] if named else [place / ".tools" / "jars" for place in (Path.cwd(), *above)]
    for folder in folders:
        if found := sorted(folder.glob("*.jar")):
            return [jar.resolve() for jar in found]
    cache = cache_folder()
    if not named and not missing(cache, USUAL):
        return [(cache / name).resolve() for name in sorted(USUAL.checksums)]
    place = f"{named} has none" if named else f"neither .tools/jars nor {cache} has them"
    raise EnvironmentFault(f"Spark's Iceberg jars are missing: {place}; run `{remedy(named)}` or set {JARS_ENV}")


def ensure_jars(given: str, conf: Mapping[str, str], say: Say) -> None:
    """Download the jars that `find_jars` would not find, unless a folder is configured: the user manages that one.
    Raises EnvironmentFault.
    """
    with suppress(EnvironmentFault):
        find_jars(given)
        return
    if given or os.environ.get(JARS_ENV):
        find_jars(given)
    say("Spark's Iceberg jars are missing; downloading them once")
    install(USUAL, own_folder(), ivy.resolver(USUAL.coordinates, conf, say, USUAL.megabytes), say)


def missing(folder: Path, jars: Jars) -> list[str]:
    """Names of jars that are missing or have another checksum."""
    return [name for name, digest in jars.checksums.items() if sha256(folder / name) != digest]


def install(jars: Jars, folder: Path, resolve: Callable[[Path], dict[str, Path]], say: Say) -> None:
    """Install the jars with verified checksums in a folder. `resolve` returns them by name; it may put them into the
    folder that it receives. Raises EnvironmentFault; valid files that existed before are kept.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder, say):
            wanted = missing(folder, jars)
            if wanted:
                say(f"{len(wanted)} jars, about {jars.megabytes} MB, into {folder}: {', '.join(sorted(wanted))}")
                _fill(folder, wanted, jars, resolve)
    except OSError as error:
        where = f"cannot write jars into {folder}: {error.strerror or error}"
        raise EnvironmentFault(f"{where}; choose another folder with --into, {JARS_ENV} or XDG_CACHE_HOME") from error
    say(f"{len(jars.checksums)} jars in {folder}, checksums match")


def in_folder(folder: Path, jars: Jars) -> Callable[[Path], dict[str, Path]]:
    """Resolves to existing files in a folder, by Maven's or Ivy's names."""
    return lambda _work: {
        name: file for name in jars.checksums for file in (*folder.glob(f"*_{name}"), folder / name) if file.is_file()
    }


def sha256(file: Path) -> str:
    """Hex digits; empty if the file does not exist."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


def _fill(folder: Path, wanted: list[str], jars: Jars, resolve: Callable[[Path], dict[str, Path]]) -> None:
    for left in folder.glob(f"{_STALE}*"):
        shutil.rmtree(left, ignore_errors=True)  # of a killed setup: the lock excludes any other
    with tempfile.TemporaryDirectory(prefix=_STALE, dir=folder) as work:
        found = resolve(Path(work))
        for name in wanted:
            if name not in found:
                raise EnvironmentFault(f"{name} was not found; found {len(found)} of {len(jars.checksums)} jars")
            copy = Path(work) / f"{name}.checked"
            shutil.copyfile(found[name], copy)
            if sha256(copy) != jars.checksums[name]:
                raise EnvironmentFault(
                    f"{found[name].name} does not match this version: its SHA-256 is"
                    f" {sha256(copy)}, not {jars.checksums[name]}; it was not installed"
                )
            copy.replace(folder / name)


@contextmanager
def _alone(folder: Path, say: Say) -> Iterator[None]:
    """Allow one setup at a time; the lock ends with its process."""
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        waits = False
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not waits:
                    say(f"another setup is writing to {folder}; waiting for it")
                waits = True
                time.sleep(0.2)
            except OSError:
                break  # a file system without locks: files are still replaced atomically
        yield
    finally:
        os.close(descriptor)
