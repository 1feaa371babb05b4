"""Starts children: from one thread that lives as long as its process, with an environment that holds no secret."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

COMMAND = (sys.executable, "-P", "-m", "limnograph.jobs.parser")
_LIMITED = {
    # The address space is limited: no allocators that reserve much of it, no pools of threads with their stacks.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "2",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKIO_WORKER_THREADS": "1",
}
_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ", "NUMBA_CACHE_DIR", "LD_LIBRARY_PATH")
_STORES = ("AWS_", "GOOGLE_", "AZURE_", "HADOOP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT", "KRB5")


_KERNEL = Path(__file__).parent.parent / "avro"
"""Where the compiled part of reading lies: numba keeps its code beside it."""


def start(command: Sequence[str], page: int, cache_dir: str = "") -> subprocess.Popen[bytes]:
    """A child with three pipes that inherits the descriptor of its board, as its last argument. Compiled code is kept
    in `cache_dir` where the package's own folder cannot be written.
    """

    def popen() -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        arguments = [*(command or COMMAND), str(page)]
        # The command comes from settings or from here, never from what is observed.
        return subprocess.Popen(
            arguments,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            bufsize=0,
            pass_fds=(page,),
            env={**_environment(), **writable(compiled_code(cache_dir, _KERNEL, os.environ))},
        )

    return _spawner(os.getpid()).submit(popen).result()


@lru_cache(maxsize=1)
def _spawner(_pid: int) -> ThreadPoolExecutor:
    """The kernel ends a child when the *thread* that made it ends, so no thread of a passing pool may make it."""
    return ThreadPoolExecutor(1, "limnograph-spawner")


def store_environment() -> dict[str, str]:
    """Variables in which stores' clients look for credentials and proxies. They go over the pipe."""
    return {name: value for name, value in os.environ.items() if name.upper().startswith(_STORES)}


def compiled_code(cache_dir: str, beside: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The variable that names a place for compiled code: the user's own, none where numba can write `beside` its
    source, else one in the cache folder. Without any, every child would compile for seconds.
    """
    kept = beside / "__pycache__"
    if "NUMBA_CACHE_DIR" in environment or not cache_dir or os.access(kept if kept.exists() else beside, os.W_OK):
        return {}
    return {"NUMBA_CACHE_DIR": str(Path(cache_dir) / "compiled")}


def writable(place: dict[str, str]) -> dict[str, str]:
    """The same place, or one of this process alone where that cannot be written: its children share it."""
    for folder in place.values():
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError:
            return {"NUMBA_CACHE_DIR": _own_folder(os.getpid())}
        if not os.access(folder, os.W_OK):
            return {"NUMBA_CACHE_DIR": _own_folder(os.getpid())}
    return place


@lru_cache(maxsize=1)
def _own_folder(_pid: int) -> str:
    """Only its owner may write it: it contains code."""
    folder = tempfile.mkdtemp(prefix="limnograph-compiled-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _environment() -> dict[str, str]:
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    # The child imports what this process can: workers of a cluster have the package on a path of their own.
    return {**passed, **_LIMITED, "PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
