"""What is not set up yet, with the text to copy. A page says it once instead of showing empty lanes."""

from __future__ import annotations

from limnograph.domain.answers import Hint
from limnograph.domain.ids import TableName

NO_PIPELINE = Hint(
    code="no_pipeline",
    title="No pipeline has run yet",
    detail="History is read by the server itself and is lost with it. The pipeline keeps it in Iceberg tables.",
    snippet="limnograph pipeline --config limnograph.toml",
)
NO_PROMETHEUS = Hint(
    code="no_prometheus",
    title="No Prometheus is configured",
    detail="Job durations come from Prometheus. Add it to the settings file and start the server again.",
    snippet='[prometheus.main]\nurl = "http://127.0.0.1:9090"',
)
NO_TABLES = Hint(
    code="no_tables",
    title="No table is observed",
    detail="The catalogs list no table that [observe] includes, or no pass has finished yet.",
    snippet='[observe]\ninclude = ["**"]',
)


def no_jobs(name: TableName) -> Hint:
    """No job is linked to the table."""
    return Hint(
        code="no_jobs",
        title="No job is linked to this table",
        detail="Measure a PySpark job with limnograph.spark_metrics, or name one in the settings file.",
        snippet=f'[[jobs]]\nname = "my_job"\nreads = ["{_toml(str(name))}"]',
    )


def _toml(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
