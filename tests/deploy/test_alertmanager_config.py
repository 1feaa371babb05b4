"""Alertmanager's shipped configuration is accepted by amtool, and its templates carry the link."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "deploy" / "alertmanager"
AMTOOL = shutil.which("amtool") or "amtool"
LINK = "http://127.0.0.1:8787/a?alertname=SmallFileProliferation&table=customer_events"
ALERT = {
    "status": "firing",
    "labels": {"alertname": "SmallFileProliferation", "severity": "warning", "table": "customer_events"},
    "annotations": {
        "summary": "customer_events got 50000 data files",
        "description": "<b>Readers</b> open each of them.",
        "dashboard_url": LINK,
        "runbook_url": "http://127.0.0.1:8787/docs/runbooks/small-file-proliferation",
    },
    "startsAt": "2026-11-22T03:05:00Z",
    "endsAt": "0001-01-01T00:00:00Z",
    "fingerprint": "0123456789abcdef",
}


def rendered(tmp_path: Path, template: str, count: int = 1) -> str:
    common = ALERT["annotations"] if count == 1 else {}
    data = {"status": "firing", "alerts": [ALERT] * count, "commonLabels": ALERT["labels"]}
    file = tmp_path / "data.json"
    file.write_text(json.dumps({**data, "commonAnnotations": common, "groupLabels": {}, "receiver": "chat"}))
    found = subprocess.run(
        [
            *(AMTOOL, "template", "render", f"--template.glob={FOLDER}/templates/*.tmpl"),
            *(f'--template.text={{{{ template "{template}" . }}}}', f"--template.data={file}"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_amtool_accepts_the_configuration_as_it_is_and_with_every_receiver_switched_on(tmp_path: Path) -> None:
    text = (FOLDER / "alertmanager.yml").read_text()
    every = re.sub(r"^(\s*)# (?=\s*(- |[a-z_]+:|Subject))", r"\1", text.partition("receivers:")[2], flags=re.MULTILINE)
    every = re.sub(r"^\s*# .*\n", "", every, flags=re.MULTILINE)
    every = text.partition("receivers:")[0].replace("/etc/alertmanager", str(FOLDER)) + "receivers:" + every
    smart = "global:\n  smtp_smarthost: mail:25\n  smtp_from: limnograph@example.org"
    (tmp_path / "every.yml").write_text(every.replace("global:", smart, 1))
    names = [one["name"] for one in yaml.safe_load((tmp_path / "every.yml").read_text())["receivers"]]
    assert names == ["findings", "limnograph", "chat", "pager", "mail"]
    (tmp_path / "plain.yml").write_text(text.replace("/etc/alertmanager", str(FOLDER)))
    for file in ("plain.yml", "every.yml"):
        found = subprocess.run([AMTOOL, "check-config", tmp_path / file], capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize(
    ("template", "parts"),
    [
        ("limnograph.title", ["customer_events got 50000 data files"]),
        ("limnograph.link", [LINK]),
        ("limnograph.runbook", ["/docs/runbooks/small-file-proliferation"]),
        ("limnograph.slack.text", [f"<{LINK}|Incident>"]),
        ("limnograph.mail.text", ["firing since 2026-11-22 03:05:00 UTC", f"Incident: {LINK}"]),
        ("limnograph.mail.html", ['href="http://127.0.0.1:8787/a?alertname=SmallFileProliferation&']),
    ],
)
def test_every_template_contains_the_event_and_its_link(tmp_path: Path, template: str, parts: list[str]) -> None:
    found = rendered(tmp_path, template)
    for part in parts:
        assert part in found


def test_the_title_counts_several_alerts_and_the_link_is_that_of_the_first(tmp_path: Path) -> None:
    assert rendered(tmp_path, "limnograph.title", 3).strip() == "3 alerts: SmallFileProliferation"
    assert rendered(tmp_path, "limnograph.link", 3).strip() == LINK
