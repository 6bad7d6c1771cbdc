"""The chart's alerts and the dashboard's queries, as Prometheus itself reads them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.system_tools import SystemTool
from tools.chart.rendering import Json, Manifest, only, render
from tools.local.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.system

_CASES = Path(__file__).with_name("alerts.yaml")
_VALUES: Mapping[str, Json] = {
    "monitoring": {"prometheusRule": {"enabled": True}, "dashboard": {"enabled": True}},
    "embeddedService": {"metrics": {"enabled": True}, "backup": {"enabled": True}},
}
_OF_GRAFANA = {"$__rate_interval": "5m", "$job": ".+", "$namespace": ".+"}


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """The rules as the chart renders them, in a file as Prometheus reads it."""
    written = tmp_path / "rules.yaml"
    written.write_text(yaml.safe_dump(dict(only(render(_VALUES), "PrometheusRule").mapping("spec"))))
    return written


def _promtool(program: str, *arguments: str | Path) -> str:
    """What it says of what is good; else the test fails with what it says."""
    done = subprocess.run(
        [program, *arguments], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _alerts(rules: Path) -> set[str]:
    return {rule["alert"] for group in yaml.safe_load(rules.read_text())["groups"] for rule in group["rules"]}


def test_promtool_accepts_the_alert_rules(system_tool: SystemTool, rules: Path) -> None:
    said = _promtool(system_tool("promtool"), "check", "rules", "--lint-fatal", rules)
    assert f"{len(_alerts(rules))} rules found" in said


def test_alerts_fire_when_they_should_and_not_before(
    system_tool: SystemTool, rules: Path, tmp_path: Path
) -> None:
    shutil.copy(_CASES, tmp_path)
    _promtool(system_tool("promtool"), "test", "rules", tmp_path / _CASES.name)
    assert rules.is_file()


def test_each_alert_fires_in_one_case_and_is_silent_in_another(rules: Path) -> None:
    cases: list[dict[str, Any]] = [
        asked for test in yaml.safe_load(_CASES.read_text())["tests"] for asked in test["alert_rule_test"]
    ]
    assert {asked["alertname"] for asked in cases if asked.get("exp_alerts")} == _alerts(rules)
    assert {asked["alertname"] for asked in cases if not asked.get("exp_alerts")} == _alerts(rules)


def test_promtool_accepts_the_queries_of_the_dashboard(system_tool: SystemTool, tmp_path: Path) -> None:
    board = json.loads(only(render(_VALUES), "ConfigMap", "-dashboard").text("data", "keybearer.json"))
    queries = [
        str(target["expr"]) for panel in board["panels"] for target in Manifest(panel).mappings("targets")
    ]
    assert queries
    recorded = [
        {"record": f"panel:query:{number}", "expr": _as_prometheus_is_asked(query)}
        for number, query in enumerate(queries)
    ]
    written = tmp_path / "dashboard.yaml"
    written.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": recorded}]}))
    said = _promtool(system_tool("promtool"), "check", "rules", "--lint-fatal", written)
    assert f"{len(queries)} rules found" in said


def _as_prometheus_is_asked(query: str) -> str:
    for variable, text in _OF_GRAFANA.items():
        query = query.replace(variable, text)
    assert not re.search(r"\$", query), query
    return query
