"""docs/runbook.md has an entry for each alert, where the alert's link leads."""

from __future__ import annotations

import re

from support.chart_values import MONITORED
from tools.chart.rendering import ROOT, Manifest, only, render

_RUNBOOK = (ROOT / "docs" / "runbook.md").read_text()
_ENTRIES = re.findall(r"^## (.+)$", _RUNBOOK, re.MULTILINE)


def test_each_alert_has_an_entry_and_each_entry_an_alert() -> None:
    groups = only(render(MONITORED), "PrometheusRule").mappings("spec", "groups")
    alerts = [str(rule["alert"]) for group in groups for rule in Manifest(group).mappings("rules")]
    assert sorted(_ENTRIES) == sorted(alerts)


def test_an_entry_names_a_command_or_a_page() -> None:
    entries = re.split(r"^## .+$", _RUNBOOK, flags=re.MULTILINE)[1:]
    without = [
        name
        for name, entry in zip(_ENTRIES, entries, strict=True)
        if not re.search(r"^    \S|\]\(|`keybearer_", entry, re.MULTILINE)
    ]
    assert without == []
