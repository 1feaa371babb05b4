"""The Spark store's edges without a JVM."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import PySparkException

from limnograph.adapters.meta.schema import arrow_schema
from limnograph.adapters.spark.store import SparkMetaStore
from limnograph.domain.errors import Conflict, SourceUnavailable
from limnograph.domain.facts.meta_tables import SNAPSHOTS


class Refusing:
    """A session that makes no frame, for the reason it is given."""

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def createDataFrame(self, _rows: Any) -> Any:  # noqa: N802 - Spark's name
        raise PySparkException(self.reason)


@pytest.mark.parametrize(
    ("reason", "error"),
    [("", SourceUnavailable), ("\n\n", SourceUnavailable), ("Cannot commit: the head moved", Conflict)],
)
def test_any_failure_of_spark_is_an_append_that_may_be_retried(reason: str, error: type[Exception]) -> None:
    session: Any = Refusing(reason)
    store = SparkMetaStore(session, lambda: pytest.fail("not needed"), "meta")
    with pytest.raises(error):
        store.append(SNAPSHOTS, arrow_schema(SNAPSHOTS).empty_table(), None, "run")
