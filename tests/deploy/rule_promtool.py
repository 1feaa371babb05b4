"""Prometheus' own tool for rules and their tests."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
PROMTOOL = ROOT / ".tools" / "prometheus" / "promtool"
RULES = sorted((ROOT / "deploy" / "prometheus" / "rules").glob("*.yml"))
GOGC = "400"
"""Rules are evaluated thousands of times on little that stays: to collect less often saves a seventh."""


def promtool(*arguments: object) -> subprocess.CompletedProcess[str]:
    """What it says."""
    command = [str(PROMTOOL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "GOGC": GOGC})


def rules_that_fire(folder: Path, without: str = "") -> list[str]:
    """Files in `folder` with the shipped rules, but without their annotations and the group `without`.

    When an alert fires does not depend on its annotations, and to fill in those of every alert that fires, at each
    evaluation, takes a third of the time.
    """
    files = []
    for file in RULES:
        groups = [group for group in yaml.safe_load(file.read_text())["groups"] if group["name"] != without]
        for rule in (rule for group in groups for rule in group["rules"]):
            rule.pop("annotations", None)
        files.append(folder / file.name)
        files[-1].write_text(json.dumps({"groups": groups}))
    return [str(file) for file in files]


def with_needed_rules(file: Path, folder: Path) -> list[Path]:
    """Test files in `folder` with the tests of `file`, each beside only those of its rules that its checks can see.

    promtool evaluates every rule at every minute of every test. A check names its alerts and records; a rule that none
    of these depends on changes no result, and to leave such rules out saves four fifths of the time.
    """
    whole = yaml.safe_load(file.read_text())
    sources = [yaml.safe_load((file.parent / name).read_text())["groups"] for name in whole["rule_files"]]
    groups = [group for source in sources for group in source]
    tests_by_rules = defaultdict[frozenset[str], list[Any]](list)
    for test in whole["tests"]:
        tests_by_rules[needed_rules(test, groups)].append(test)
    written = []
    for number, (needed, tests) in enumerate(tests_by_rules.items()):
        left = [{**group, "rules": [each for each in group["rules"] if _name(each) in needed]} for group in groups]
        rules, path = folder / f"rules-{number}.json", folder / f"tests-{number}.json"
        rules.write_text(json.dumps({"groups": [group for group in left if group["rules"]]}))
        path.write_text(json.dumps({**whole, "rule_files": [str(rules)], "tests": tests}))
        written.append(path)
    return written


def needed_rules(test: dict[str, Any], groups: list[Any]) -> frozenset[str]:
    """Names of the alerts and records that the checks of a test depend on, directly or through other records.

    All rules where a test checks in another way than by expressions, or asks for alerts without naming them.
    """
    rules = [rule for group in groups for rule in group["rules"]]
    expressions = [check["expr"] for check in test.get("promql_expr_test", ())]
    asked = [selector for expr in expressions for selector in re.findall(r"\bALERTS\w*\b(\{[^}]*\})?", expr)]
    if "alert_rule_test" in test or any('alertname="' not in selector for selector in asked):
        return frozenset(map(_name, rules))
    needed: set[str] = set()
    while expressions:
        text = expressions.pop()
        found = [rule for rule in rules if _name(rule) not in needed and _is_named_in(rule, text)]
        needed |= {_name(rule) for rule in found}
        expressions += [rule["expr"] for rule in found]
    return frozenset(needed)


def _name(rule: dict[str, Any]) -> str:
    return str(rule.get("alert") or rule["record"])


def _is_named_in(rule: dict[str, Any], expression: str) -> bool:
    """A record by its name; an alert in quotes, as a label."""
    if "record" in rule:
        return re.search(rf"(?<![\w:]){re.escape(rule['record'])}(?![\w:])", expression) is not None
    return f'"{rule["alert"]}"' in expression
