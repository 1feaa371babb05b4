"""Which files a plan takes up, as a digest: the same only for the same files."""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt


def files_digest(path: npt.NDArray[np.uint64], size: npt.NDArray[np.int64]) -> str:
    """SHA-256 of the sorted (hash of the path, size) of the files, as hexadecimal digits."""
    order = np.lexsort((size, path))
    content = np.stack([path[order].astype("<u8"), size[order].astype("<u8")], axis=1)
    return hashlib.sha256(content.tobytes()).hexdigest()
