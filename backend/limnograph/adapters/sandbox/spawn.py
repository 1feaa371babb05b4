"""Starts child processes from one thread that lives as long as this process, with an environment without secrets."""

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
    # The address space is limited: no allocators that reserve large parts of it, no thread pools with their stacks.
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
"""Folder of the compiled kernel: numba caches its code next to the source."""


def start(command: Sequence[str], page: int, cache_dir: str = "") -> subprocess.Popen[bytes]:
    """A child with three pipes that inherits the descriptor of its board, as its last argument. Compiled code is cached
    in `cache_dir` if the package's folder is not writable.
    """

    def popen() -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        arguments = [*(command or COMMAND), str(page)]
        # The command comes from settings or from this package, never from observed data.
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
    """The kernel ends a child when the *thread* that started it ends, so no thread of a temporary pool may start it."""
    return ThreadPoolExecutor(1, "limnograph-spawner")


def store_environment() -> dict[str, str]:
    """Variables in which clients of stores look for credentials and proxies. They are sent over the pipe."""
    return {name: value for name, value in os.environ.items() if name.upper().startswith(_STORES)}


def compiled_code(cache_dir: str, beside: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """The variable with the folder for compiled code: the user's value; none if numba can write `beside` its source;
    else a folder in the cache folder. Without it, every child would compile for seconds.
    """
    kept = beside / "__pycache__"
    if "NUMBA_CACHE_DIR" in environment or not cache_dir or os.access(kept if kept.exists() else beside, os.W_OK):
        return {}
    return {"NUMBA_CACHE_DIR": str(Path(cache_dir) / "compiled")}


def writable(place: dict[str, str]) -> dict[str, str]:
    """The same folder, or a temporary one of this process if it is not writable; all children share it."""
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
    """Writable by its owner only: it contains code."""
    folder = tempfile.mkdtemp(prefix="limnograph-compiled-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _environment() -> dict[str, str]:
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    # The child gets this process's import path: cluster workers have the package on a separate path.
    return {**passed, **_LIMITED, "PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
