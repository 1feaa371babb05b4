"""What `make test-stack` needs lies in .tools since set-up; nothing here asks a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from iceberg_rest import iceberg_rest
from limnograph.adapters.spark.stores import RESOLVING, spark_store
from s3_endpoint import s3_endpoint

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOOLS = Path(__file__).parents[2] / ".tools"
JARS = TOOLS / "jars-s3"


@pytest.fixture(scope="session")
def stack() -> Path:
    """Folder of the installed programs, one folder each."""
    if not (TOOLS / "stack" / ".stamp").exists():
        pytest.fail("the programs of the stack are missing; run `make stack`")
    return TOOLS / "stack"


@pytest.fixture(scope="session")
def rest_catalogs(stack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, str]]]:
    """Two running REST catalogs, `disk` and `s3`, as `[catalogs.*]` of settings describe them."""
    folder = tmp_path_factory.mktemp("rest")
    with ExitStack() as running:
        store = running.enter_context(s3_endpoint(stack / "s3", folder / "s3", "lake"))
        java = {**spark_store(store), "io-impl": RESOLVING}
        disk = iceberg_rest([stack / "rest"], folder / "disk", f"file://{folder}/warehouse")
        far = iceberg_rest([stack / "rest", JARS], folder / "far", "s3://lake/warehouse", java)
        yield {
            "disk": {"type": "rest", "uri": running.enter_context(disk)},
            "s3": {"type": "rest", "uri": running.enter_context(far), **store},
        }


@pytest.fixture(scope="session")
def rest_spark(rest_catalogs: dict[str, dict[str, str]]) -> Iterator[SparkSession]:
    """One session with both catalogs, made of nothing but their settings."""
    from limnograph.adapters.spark.session import start_session

    conf = {"spark.driver.memory": "1g", "spark.default.parallelism": "2"}
    session = start_session(rest_catalogs, master="local[2]", jars=str(JARS), conf=conf, app_name="limnograph-stack")
    yield session
    session.stop()
