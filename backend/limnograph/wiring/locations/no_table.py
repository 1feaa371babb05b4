"""Explains why `inspect` finds no table at a location: a code, a sentence and a remedy, for its document."""

from __future__ import annotations

from limnograph.adapters.storage.allowed import TableStorage
from limnograph.domain.errors import MetadataError, SourceError

MISSING, NO_TABLE, UNAVAILABLE = "location_missing", "not_a_table", "storage_unavailable"
_REMEDY = "pass the table's folder or one of its metadata files"
_LOOKED_FOR = "no files in _delta_log (Delta), .hoodie (Hudi) or metadata (Iceberg)"
_FILE_BYTES = 1 << 16
_STORES = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and AWS_ENDPOINT_URL, or an AWS profile",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "abfs": "the credentials of the account",
}


def no_table(location: str, folder: str, storage: TableStorage, looked_for: str | None = None) -> MetadataError:
    """The error for a location without a table. `looked_for`: a description of the files that the requested format
    would have. Raises SourceError.
    """
    if _is_file(location, storage):
        return _error(NO_TABLE, f"{location} is a file, but not a table's metadata file")
    local = storage.place(folder).local
    if local is not None and not local.exists():
        return _error(MISSING, f"{location} does not exist")
    files = storage.list(folder)
    parquet = sum(file.name.endswith(".parquet") for file in files)
    if parquet:
        return MetadataError(
            NO_TABLE,
            f"{location} is not a table: {looked_for or _LOOKED_FOR}. It contains {parquet} Parquet files without a "
            "table format, such as those of a Hive table: register them in a table format to inspect them, or "
            + _REMEDY,
        )
    where = "the store has nothing directly below it" if local is None else "it contains no files itself"
    lies = f"it contains {len(files)} file{'' if len(files) == 1 else 's'}" if files else where
    return _error(NO_TABLE, f"{location} is not a table: {looked_for or _LOOKED_FOR}, and {lies}")


def unavailable(location: str, error: SourceError) -> MetadataError:
    """The error for storage that is unavailable to `inspect`, which has no settings and so takes credentials from the
    environment.
    """
    scheme = location.partition("://")[0].lower() if "://" in location else "file"
    known = _STORES.get({"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs", "wasb": "abfs"}.get(scheme, scheme))
    if known is not None:
        remedy = f"check the address, and that the environment provides {known}"
    elif scheme == "file":
        remedy = "check that the current user may read it"
    else:
        remedy = "check that the store is reachable and that the current user may read it"
    return MetadataError(UNAVAILABLE, f"{error.detail}: {remedy}")


def _is_file(location: str, storage: TableStorage) -> bool:
    try:
        storage.read(location, _FILE_BYTES)
    except MetadataError as error:
        return error.code == "file_too_large"
    except SourceError:
        return False
    return True


def _error(code: str, detail: str) -> MetadataError:
    return MetadataError(code, f"{detail}; {_REMEDY}")
