"""Programs of the stream, from the jars of `.tools/stream`: Kafka with one node, Kafka Connect with Debezium."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from lakehouse.parts.places import SECRET, TOOLS, Places
from lakehouse.parts.programs import SMALL_JVM
from lakehouse.sources.shop import PUBLICATION, SLOT
from limnograph.adapters.spark.java import java_home
from limnograph.demo.processes.children import Program
from limnograph.domain.errors import EnvironmentFault

JARS = TOOLS / "stream"
CLICKS_TOPIC = "clicks"
TABLES = ("customers", "orders")
CHANGE_TOPICS = tuple(f"shop.public.{table}" for table in TABLES)
OUTBOX = "outbox"
EVENT_TOPICS = ("events.Order",)
"""One for each type of aggregate that the outbox has."""
TOPICS = (*CHANGE_TOPICS, *EVENT_TOPICS, CLICKS_TOPIC)
PARTITIONS = 2
CLUSTER = "bGFrZWhvdXNlLWthZmthMQ"
QUIET = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
_TOOL_S = 120.0


def ensure_installed() -> None:
    """Raises EnvironmentFault with the remedy if jars are missing."""
    for name in ("kafka", "debezium", "spark-kafka"):
        if not (JARS / name).exists():
            raise EnvironmentFault(f"{JARS / name} is missing; run `make stack-stream`, which installs it once")


def spark_jars() -> list[Path]:
    """Spark's Kafka source."""
    return sorted((JARS / "spark-kafka").glob("*.jar"))


def broker(places: Places) -> Program:
    """Broker and controller in one process, after its storage was formatted."""
    ports, file = places.ports, places.kafka / "server.properties"
    properties = {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@127.0.0.1:{ports.controller}",
        "listeners": f"PLAINTEXT://127.0.0.1:{ports.broker},CONTROLLER://127.0.0.1:{ports.controller}",
        "advertised.listeners": f"PLAINTEXT://{places.broker}",
        "controller.listener.names": "CONTROLLER",
        "log.dirs": str(places.kafka / "logs"),
        "num.partitions": str(PARTITIONS),
        "offsets.topic.num.partitions": "2",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "log.segment.bytes": "67108864",
        "group.initial.rebalance.delay.ms": "0",
    }
    _write(file, properties)
    if not (places.kafka / "logs" / "meta.properties").exists():
        _tool("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(file))
    return Program("kafka", [*_java("384m", "kafka"), "kafka.Kafka", str(file)])


def connect(places: Places) -> Program:
    """One worker with two connectors: Debezium reads the shop's slot, and a file source reads the log of clicks."""
    own = places.connect
    plugins = own / "plugins"
    plugins.mkdir(parents=True, exist_ok=True)
    if not (plugins / "debezium").exists():
        (plugins / "debezium").symlink_to(JARS / "debezium")
    json_converter = "org.apache.kafka.connect.json.JsonConverter"
    worker = {
        "bootstrap.servers": places.broker,
        "key.converter": json_converter,
        "value.converter": json_converter,
        "key.converter.schemas.enable": "false",
        "value.converter.schemas.enable": "false",
        "offset.storage.file.filename": str(own / "offsets"),
        "offset.flush.interval.ms": "5000",
        "listeners": places.worker,
        "plugin.path": str(plugins),
        "plugin.discovery": "service_load",
    }
    _write(own / "worker.properties", worker)
    files = [str(own / "worker.properties")]
    for name, config in (("shop", _shop(places)), (CLICKS_TOPIC, _click_log(places))):
        file = own / f"{name}.json"
        file.write_text(json.dumps({"name": name, "config": config}))
        files.append(str(file))
    main = "org.apache.kafka.connect.cli.ConnectStandalone"
    return Program("connect", [*_java("320m", "kafka"), main, *files])


def _shop(places: Places) -> Mapping[str, str]:
    """Debezium reads the slot and the publication that the shop made."""
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "tasks.max": "1",
        "database.hostname": "127.0.0.1",
        "database.port": str(places.ports.postgres),
        "database.user": "lake",
        "database.password": SECRET,
        "database.dbname": "shop",
        "plugin.name": "pgoutput",
        "slot.name": SLOT,
        "publication.name": PUBLICATION,
        "publication.autocreate.mode": "disabled",
        "topic.prefix": "shop",
        "table.include.list": ",".join(f"public.{table}" for table in (*TABLES, OUTBOX)),
        "snapshot.mode": "initial",
        "decimal.handling.mode": "string",
        # A tombstone is for compacted topics; the delete before it says all.
        "tombstones.on.delete": "false",
        "poll.interval.ms": "200",
        "heartbeat.interval.ms": "5000",
        **_routed_events(),
    }


def _routed_events() -> Mapping[str, str]:
    """Rows of the outbox become events of a topic of their own: the payload alone, and all else in headers."""
    router = {
        "type": "io.debezium.transforms.outbox.EventRouter",
        "predicate": "isOutbox",
        "route.topic.replacement": "events.${routedByValue}",
        "table.expand.json.payload": "true",
        "table.fields.additional.placement": "aggregateid:header,type:header,created_at:header",
    }
    return {
        "transforms": OUTBOX,
        **{f"transforms.{OUTBOX}.{key}": value for key, value in router.items()},
        "predicates": "isOutbox",
        "predicates.isOutbox.type": "org.apache.kafka.connect.transforms.predicates.TopicNameMatches",
        "predicates.isOutbox.pattern": rf"shop\.public\.{OUTBOX}",
    }


def _click_log(places: Places) -> Mapping[str, str]:
    text = "org.apache.kafka.connect.storage.StringConverter"
    return {
        "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
        "tasks.max": "1",
        "file": str(places.click_log),
        "topic": CLICKS_TOPIC,
        "key.converter": text,
        "value.converter": text,
    }


def create_topics(places: Places) -> None:
    """All topics, before anything reads them: a reader learns of a topic that comes later only after minutes."""
    for topic in TOPICS:
        given = ("--create", "--if-not-exists", "--topic", topic, "--partitions", str(PARTITIONS))
        _tool("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", places.broker, *given)


def end_offsets(places: Places) -> dict[str, int]:
    """Records of each topic, as Kafka's own tool counts them."""
    said = _tool("org.apache.kafka.tools.GetOffsetShell", "--bootstrap-server", places.broker)
    found: dict[str, int] = {}
    for line in said.splitlines():
        topic, _, end = line.rsplit(":", 2)
        if topic in TOPICS:
            found[topic] = found.get(topic, 0) + int(end)
    return found


def broken_connectors(places: Places) -> list[str]:
    """Connectors that do not run, or of which a task does not; all while the worker does not answer."""
    broken = []
    for name in ("shop", CLICKS_TOPIC):
        try:
            with urllib.request.urlopen(f"{places.worker}/connectors/{name}/status", timeout=5) as answer:  # noqa: S310
                status = json.load(answer)
        except (OSError, ValueError):
            broken.append(name)
            continue
        states = [status["connector"]["state"], *(task["state"] for task in status["tasks"])]
        if len(states) < 2 or set(states) != {"RUNNING"}:
            broken.append(name)
    return broken


def restart_connector(places: Places, name: str) -> None:
    """Start a connector and its failed tasks again. A worker that does not answer will be asked later."""
    url = f"{places.worker}/connectors/{name}/restart?includeTasks=true&onlyFailed=true"
    try:
        urllib.request.urlopen(urllib.request.Request(url, method="POST"), timeout=10).close()  # noqa: S310
    except OSError:
        return


def _java(heap: str, jars: str) -> list[str]:
    return [f"{java_home()}/bin/java", *SMALL_JVM, f"-Xmx{heap}", QUIET, "-cp", f"{JARS / jars}/*"]


def _tool(*command: str) -> str:
    """One of Kafka's own tools. Raises EnvironmentFault with its last words."""
    done = subprocess.run(
        [*_java("128m", "kafka"), *command], capture_output=True, text=True, check=False, timeout=_TOOL_S
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip()[-300:]
        raise EnvironmentFault(f"{command[0]} ended with {done.returncode}: {said}")
    return done.stdout


def _write(file: Path, properties: Mapping[str, str]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
