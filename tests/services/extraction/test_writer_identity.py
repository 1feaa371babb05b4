"""Who wrote a commit, from what engines of all formats leave in its summary."""

from __future__ import annotations

import pytest

from limnograph.services.extraction.summary import writer_identity


@pytest.mark.parametrize(
    ("said", "engine", "version"),
    [
        ("Apache-Spark/3.5.3 Delta-Lake/3.4.0-SNAPSHOT", "spark", "3.5.3"),
        ("Databricks-Runtime/14.3.x-scala2.12", "databricks", "14.3.x-scala2.12"),
        ("delta-rs:py-1.6.6", "delta-rs", "1.6.6"),
        ("delta-rs:rust-0.17.1", "delta-rs", "0.17.1"),
        ("Kernel-3.2.0/default", "delta-kernel", "3.2.0"),
        ("flink-engine/1.16.1-flink-delta-connector/3.0.0", "flink", "1.16.1-flink-delta-connector"),
        ("a person", None, None),
    ],
)
def test_the_engine_of_a_delta_commit_is_read_from_its_engine_info(
    said: str, engine: str | None, version: str | None
) -> None:
    found = writer_identity({"engineInfo": said})
    assert (found["engine"], found["engine_version"]) == (engine, version)


def test_trino_is_recognised_by_the_cluster_in_a_delta_commit() -> None:
    found = writer_identity({"clusterId": "trino-476-ffffffff", "userName": "ann", "operation": "append"})
    assert (found["engine"], found["engine_version"], found["user"]) == ("trino", "476", "ann")


def test_application_job_and_stream_are_read_from_a_delta_commit() -> None:
    found = writer_identity(
        {
            "engineInfo": "Apache-Spark/4.0.0 Delta-Lake/4.0.0",
            "spark.app.id": "app-1",
            "job.jobId": "7",
            "job.jobName": "nightly",
            "operationParameters.queryId": "q-9",
        }
    )
    assert (found["app_id"], found["job_id"], found["app_name"], found["query_id"]) == ("app-1", "7", "nightly", "q-9")
