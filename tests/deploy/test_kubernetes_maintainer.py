"""The component that adds the maintainer to deploy/kubernetes: off by default, own account, own credential."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from limnograph.settings.maintenance import load_maintenance

BASE = Path(__file__).parents[2] / "deploy" / "kubernetes"
HERE = BASE / "maintain"
COMPONENT = yaml.safe_load((HERE / "kustomization.yaml").read_text())
DOCUMENTS = [document for name in COMPONENT["resources"] for document in yaml.safe_load_all((HERE / name).read_text())]


def of_kind(kind: str) -> dict[str, Any]:
    (found,) = (document for document in DOCUMENTS if document["kind"] == kind)
    return found


POD = of_kind("Deployment")["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]
PIPELINE = yaml.safe_load((BASE / "pipeline.yaml").read_text())["spec"]["template"]["spec"]


def test_nothing_is_deployed_unless_the_component_is_named() -> None:
    base = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    assert "components" not in base
    assert not any("maintain" in name for name in base["resources"])
    assert COMPONENT["kind"] == "Component"
    assert sorted(COMPONENT["resources"]) == sorted(
        file.name for file in HERE.glob("*.yaml") if file.name != "kustomization.yaml"
    )
    assert "components: [maintain]" in (BASE / "README.md").read_text()


def test_it_has_an_account_of_its_own_with_the_role_of_a_driver() -> None:
    account = of_kind("ServiceAccount")["metadata"]["name"]
    assert POD["serviceAccountName"] == account != PIPELINE["serviceAccountName"]
    binding = of_kind("RoleBinding")
    assert [subject["name"] for subject in binding["subjects"]] == [account]
    roles = [each for each in yaml.safe_load_all((BASE / "access.yaml").read_text()) if each["kind"] == "Role"]
    assert binding["roleRef"]["name"] in {role["metadata"]["name"] for role in roles}


def test_its_pod_is_that_of_the_pipeline_with_the_policy_and_the_writers_secret() -> None:
    own = {mount["name"]: mount for mount in CONTAINER["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in POD["volumes"]}
    assert own.keys() == volumes.keys()
    (made,) = COMPONENT["configMapGenerator"]
    assert volumes["policy"]["configMap"]["name"] == made["name"]
    assert made["files"] == [own["policy"]["subPath"]]
    assert CONTAINER["args"][:3] == ["limnograph", "maintain", "--maintenance"]
    assert CONTAINER["args"][3:] == [own["policy"]["mountPath"], "--watch"]
    assert own["writer"]["readOnly"]
    (pipeline,) = PIPELINE["containers"]
    assert volumes["writer"]["secret"]["secretName"] not in str(PIPELINE)
    assert own.keys() - {mount["name"] for mount in pipeline["volumeMounts"]} == {"policy", "writer"}
    for field in ("env", "envFrom", "ports", "image", "securityContext"):
        assert CONTAINER[field] == pipeline[field]
    selector = of_kind("Deployment")["spec"]["selector"]["matchLabels"]
    assert selector.items() <= of_kind("Deployment")["spec"]["template"]["metadata"]["labels"].items()


def test_lists_of_interrupted_expiries_survive_the_pod() -> None:
    volumes = {volume["name"]: volume for volume in POD["volumes"]}
    claim = of_kind("PersistentVolumeClaim")
    assert volumes["state"]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
    assert claim["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert of_kind("Deployment")["spec"]["strategy"]["type"] == "Recreate", "two pods cannot share the volume"


def test_its_file_loads_with_the_settings_and_shares_the_servers_database(tmp_path: Path) -> None:
    text = (HERE / "maintenance.toml").read_text()
    place = next(mount["mountPath"] for mount in CONTAINER["volumeMounts"] if mount["name"] == "writer")
    (name,) = re.findall(r"secret generic limnograph-writer --from-literal=(\w+)=", (BASE / "README.md").read_text())
    assert f'"{place}/{name}"' in text
    secret = tmp_path / name
    secret.write_text("writer:secret")
    file = tmp_path / "maintenance.toml"
    file.write_text(text.replace(f"{place}/{name}", str(secret)))
    given = {entry["name"]: entry.get("value", "10.0.0.7") for entry in CONTAINER["env"]}
    inbox = "postgresql+psycopg2://me:secret@db/x"
    given |= {"LIMNOGRAPH_CATALOG_CREDENTIAL": "reader:secret", "LIMNOGRAPH_INBOX_URL": inbox}
    made = load_maintenance(file, BASE / "limnograph.toml", given)
    assert made.policy.mode == "approve"
    assert made.settings.catalogs["lake"]["credential"] == "writer:secret"
    assert made.settings.inbox_url == inbox
