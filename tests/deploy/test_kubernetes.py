"""The manifests of deploy/kubernetes fit one another, their settings load, and Spark knows every property they name."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from limnograph.settings import Settings, load

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
HERE = ROOT / "deploy" / "kubernetes"
ENTRYPOINT = ROOT / "deploy" / "images" / "entrypoint.sh"
PREFIXES = (
    "spark.kubernetes.executor.volumes.",
    "spark.kubernetes.driver.volumes.",
    "spark.kubernetes.driver.secrets.",
)
"""Spark reads what follows as names of ours."""
FIELDS = {"metadata.name", "metadata.namespace", "status.podIP"}


def documents() -> list[dict[str, Any]]:
    listed = yaml.safe_load((HERE / "kustomization.yaml").read_text())["resources"]
    assert sorted(listed) == sorted(f.name for f in HERE.glob("*.yaml") if f.name != "kustomization.yaml")
    return [document for name in listed for document in yaml.safe_load_all((HERE / name).read_text())]


def pods() -> dict[str, dict[str, Any]]:
    """Specs of the pods, by the kind that makes them."""
    found = {document["kind"]: document["spec"] for document in documents() if "spec" in document}
    return {
        "Deployment": found["Deployment"]["template"]["spec"],
        "CronJob": found["CronJob"]["jobTemplate"]["spec"]["template"]["spec"],
    }


def environment(container: dict[str, Any]) -> dict[str, str]:
    """What the container's own variables would hold, and those of the secret that README.md says to make."""
    told = re.findall(r"--from-literal=(\w+)=", (HERE / "README.md").read_text())
    given = {entry["name"]: entry.get("value", "10.0.0.7") for entry in container["env"]}
    return {**dict.fromkeys(told, "postgresql+psycopg2://me:secret@db/x"), **given}


def settings(container: dict[str, Any]) -> Settings:
    return load(HERE / "limnograph.toml", environment(container))


def test_every_name_that_is_referred_to_exists() -> None:
    named = {(document["kind"], document["metadata"]["name"]) for document in documents()}
    assert len(named) == len(documents())
    binding = next(document for document in documents() if document["kind"] == "RoleBinding")
    assert (binding["roleRef"]["kind"], binding["roleRef"]["name"]) in named
    assert all((subject["kind"], subject["name"]) in named for subject in binding["subjects"])
    generated = {
        entry["name"]: entry["files"]
        for entry in yaml.safe_load((HERE / "kustomization.yaml").read_text())["configMapGenerator"]
    }
    for pod in pods().values():
        assert ("ServiceAccount", pod["serviceAccountName"]) in named
        (container,) = pod["containers"]
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        assert {mount["name"] for mount in container["volumeMounts"]} == set(volumes)
        mounted = next(mount for mount in container["volumeMounts"] if mount["name"] == "settings")
        assert generated[volumes["settings"]["configMap"]["name"]] == [mounted["subPath"]]
        assert {e["valueFrom"]["fieldRef"]["fieldPath"] for e in container["env"] if "valueFrom" in e} == FIELDS
    deployment = next(document for document in documents() if document["kind"] == "Deployment")["spec"]
    assert deployment["selector"]["matchLabels"].items() <= deployment["template"]["metadata"]["labels"].items()


def test_the_two_pods_differ_only_in_how_often_they_poll() -> None:
    stream, once = pods()["Deployment"], pods()["CronJob"]
    assert once.pop("restartPolicy") == "Never"
    assert stream["containers"][0].pop("args") == ["limnograph", "pipeline"]
    assert once["containers"][0].pop("args") == ["limnograph", "pipeline", "--once", "--json"]
    assert stream == once


def test_the_settings_load_with_the_variables_of_the_pod_and_point_at_what_it_has() -> None:
    (container,) = pods()["Deployment"]["containers"]
    made = settings(container)
    conf = made.spark.conf
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    config = environment(container)["LIMNOGRAPH_CONFIG"]
    assert config in mounts
    assert str(Path(config).parent / ".limnograph") in mounts
    assert made.cache.dir in mounts
    assert conf["spark.kubernetes.executor.volumes.emptyDir.cache.mount.path"] == made.cache.dir
    ports = {port["containerPort"] for port in container["ports"]}
    assert {int(conf["spark.driver.port"]), int(conf["spark.driver.blockManager.port"])} == ports
    assert conf["spark.driver.host"] == "10.0.0.7"
    accounts = {document["metadata"]["name"] for document in documents() if document["kind"] == "ServiceAccount"}
    assert conf["spark.kubernetes.authenticate.executor.serviceAccountName"] in accounts
    (image,) = yaml.safe_load((HERE / "kustomization.yaml").read_text())["images"]
    assert conf["spark.kubernetes.container.image"] == f"{image['name']}:{image['newTag']}"
    assert container["image"] == image["name"]


def test_no_secret_has_a_value_in_the_manifests() -> None:
    text = (HERE / "limnograph.toml").read_text()
    assert not re.search(r"(?i)(password|credential|secret[a-z.-]*key|token)\"? *= *\"?[^\s\"$]", text)
    assert "Secret" not in {document["kind"] for document in documents()}


@pytest.mark.spark
def test_spark_knows_every_property_that_manifests_and_commands_name(spark: SparkSession) -> None:
    jvm: Any = spark._jvm
    for holder in ("org.apache.spark.deploy.k8s.Config", "org.apache.spark.deploy.yarn.config"):
        suffix = ".package$" if holder.endswith("config") else "$"
        jvm.java.lang.Class.forName(holder + suffix)  # its entries register themselves
    text = (ROOT / "deploy" / "spark-submit.md").read_text()
    written = set(re.findall(r"--conf (spark[\w.-]+)=", text)) | set(re.findall(r'"(spark\.[\w.-]+)" =', text))
    (container,) = pods()["Deployment"]["containers"]
    wanted = {*written, *settings(container).spark.conf}
    find = jvm.org.apache.spark.internal.config.ConfigEntry.findEntry
    assert len(wanted) > 15
    assert {key for key in wanted if not key.startswith(PREFIXES) and find(key) is None} == set()
    assert find("spark.executor.memoryOverhaed") is None


def test_the_image_starts_executors_as_spark_on_kubernetes_requires(tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text('#!/bin/bash\nprintf "%s\\n" "$@"\n')
    java.chmod(0o755)
    given = {
        "JAVA_HOME": str(tmp_path),
        "SPARK_HOME": "/spark",
        "SPARK_CONF_DIR": "/opt/spark/conf",
        "SPARK_JAVA_OPT_0": "-Dspark.driver.port=7078",
        "SPARK_JAVA_OPT_10": "--add-opens=java.base/java.lang=ALL-UNNAMED",
        "SPARK_JAVA_OPT_9": "-Da=b c",
        "SPARK_EXECUTOR_MEMORY": "1024m",
        "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@10.0.0.7:7078",
        "SPARK_EXECUTOR_ID": "3",
        "SPARK_EXECUTOR_CORES": "1",
        "SPARK_APPLICATION_ID": "spark-1",
        "SPARK_EXECUTOR_POD_IP": "10.0.0.8",
        "SPARK_EXECUTOR_POD_NAME": "limnograph-exec-3",
        "SPARK_RESOURCE_PROFILE_ID": "0",
    }
    command = ["bash", str(ENTRYPOINT), "executor"]
    found = subprocess.run(
        command, env={"PATH": os.environ["PATH"], **given}, capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == [
        "-Dspark.driver.port=7078",
        "-Da=b c",
        "--add-opens=java.base/java.lang=ALL-UNNAMED",
        "-Xms1024m",
        "-Xmx1024m",
        "-cp",
        "/opt/spark/conf::/spark/jars/*",
        "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend",
        *("--driver-url", given["SPARK_DRIVER_URL"], "--executor-id", "3", "--cores", "1", "--app-id", "spark-1"),
        *("--hostname", "10.0.0.8", "--resourceProfileId", "0", "--podName", "limnograph-exec-3"),
    ]


def test_the_image_runs_any_other_command_as_it_is() -> None:
    command = ["bash", str(ENTRYPOINT), "printf", "%s|", "limnograph", "pipeline --once"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout == "limnograph|pipeline --once|"
