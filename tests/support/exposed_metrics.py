"""What running parts expose: names of the families of server, pipeline and a measured job that have a sample."""

from __future__ import annotations

from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest

from limnograph.adapters.prometheus.exporter import Exporter
from limnograph.api.metrics.exposition import Exposition
from limnograph.api.metrics.maintenance_metrics import MaintenanceMetrics
from limnograph.api.metrics.served_metrics import ServedMetrics
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.metrics import pipeline as pipeline_metrics
from limnograph.domain.metrics.maintenance import MaintenanceNumbers
from limnograph.domain.metrics.pipeline import PIPELINE_METRICS
from limnograph.domain.time import Micros
from limnograph.services.plans.tally import PlanTally
from limnograph.spark_metrics import REGISTRY, job_run
from limnograph.spark_streams import StreamMeter
from limnograph.wiring.server_metrics import catalog_answers, own_metrics
from serving_kit import HOUR, NOW, lake, parts, row


def exposed() -> set[str]:
    """Families with a sample in what the server, the pipeline and a measured job really serve."""
    columns = "total_delete_files total_delete_bytes total_bytes target_file_bytes debt_files manifests metadata_bytes "
    known: dict[str, Any] = dict.fromkeys(
        [*columns.split(), "live_snapshots", "oldest_snapshot_at", "small_files", "file_size_p50"], 5
    )
    known["metadata_bytes"] = 10 << 20  # a finding
    rows = [row(i, NOW - (9 - i) * HOUR, i, skew_max_over_median=2.0, observed_at=NOW, **known) for i in range(1, 8)]
    made = parts(lake(rows))
    made.reported.add([ReportFact(event_id="1", kind="commit", attempts=2, catalog="lake", namespace="a", table="t")])
    made.store.probed(NOW, ["lake"], [])
    server = Exposition(
        made.gauges.numbers,
        lambda: made.store.watermark,
        board=lambda: made.evaluator.board,
        own=partial(own_metrics, made),
        collectors=[
            ServedMetrics(made.reported.told, "http://127.0.0.1:8787", partial(catalog_answers, made)),
            MaintenanceMetrics(maintained),
        ],
    )
    pipeline = Exporter(PIPELINE_METRICS)
    pipeline.put(pipeline_metrics.LAG, 3.0)
    pipeline.put(pipeline_metrics.PASS_ENDED, 3.0)
    pipeline.put(pipeline_metrics.INBOX_OLDEST, 3.0)
    pipeline.put(pipeline_metrics.CATALOG_UP, 1, "lake")
    StreamMeter({"exposed": ["lake.a.b"]}).batch("exposed", 1.0, 2.0)
    failed = StreamMeter({"failed": ["lake.a.b"]})
    failed.started("1", "failed")
    failed.stopped("1", 3.0)
    with job_run("exposed", reads=["lake.a.b"]):
        pass
    pages = [server(), _rendered(pipeline), generate_latest(REGISTRY)]
    return {line.split("{")[0].split(" ")[0] for page in pages for line in page.decode().splitlines()}


def maintained() -> MaintenanceNumbers:
    """Numbers of one action that was not confirmed, and of the breaker that it opened."""
    tally, action = PlanTally(), "rewrite_data_files"
    done = PlanFact(plan_id="p", seq=6, state="failed", action=action, result_seconds=5.0, result_bytes_in=1)
    tally.count("committed", done)
    opened = {"opened_by": "p", "opened_at": Micros(NOW), "text": "", "scope": "action", "subject": action}
    return tally.numbers([MaintenanceBreaker(key=f"action:{action}:verification", code="verification", **opened)])


def _rendered(pipeline: Exporter) -> bytes:
    registry = CollectorRegistry()
    registry.register(pipeline)
    return generate_latest(registry)
