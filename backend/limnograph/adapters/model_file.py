"""The forecast model that was trained on a site's own tables: a file of plain arrays in the folder of the state."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

from limnograph.adapters import private_files
from limnograph.analysis.forecast import Forecaster, Model, read_model
from limnograph.domain.errors import EnvironmentFault, InvalidInput

_UNREADABLE = (InvalidInput, OSError, KeyError, ValueError, IndexError, zipfile.BadZipFile, zlib.error)


class ModelFile:
    """Port `TrainedModels`. Thread-safe: a new model takes the place of the old one at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def own(self) -> Forecaster | None:
        """As the port specifies."""
        if not self._path.exists():
            return None
        try:
            return read_model(self._path)
        except _UNREADABLE as error:
            detail = error.detail if isinstance(error, InvalidInput) else "is damaged"
            raise EnvironmentFault(
                f"the forecast model {self._path} {detail}; train another with `limnograph forecast --train`, or "
                "delete the file to forecast with the model that ships with Limnograph"
            ) from error

    def keep(self, model: Model) -> None:
        """As the port specifies."""
        part = self._path.with_suffix(".part")
        try:
            private_files.make_folder(self._path.parent)
            private_files.write(part, model.to_bytes())
            part.replace(self._path)
        except OSError as error:
            raise EnvironmentFault(f"the forecast model cannot be stored in {self._path}: {error.strerror}") from error
