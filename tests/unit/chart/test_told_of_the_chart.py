"""What pages say of the chart is what it renders; their commands come in an order in which they work."""

from __future__ import annotations

import re

import pytest
import yaml

from keybearer.store.engines import Bounds
from support.chart_values import MONITORED, ROWS
from support.pasted import blocks, yaml_with
from tools.chart.rendering import CHART, RELEASE, ROOT, Manifest, only, render

_INSTALLING = ROOT / "docs" / "installing.md"
_README = CHART / "README.md"
_NUMBERS = {8: "eight", 9: "nine", 10: "ten", 12: "twelve"}
_OWN_ROLE = ("Role", f"{RELEASE}-operator")
_MAKES_NAMESPACE = "kubectl create namespace keybearer"
_BLOCKS = [block for page in (_INSTALLING, _README) for block in blocks(page.read_text())]


def test_the_table_of_alerts_has_a_row_for_each() -> None:
    groups = only(render(MONITORED), "PrometheusRule").mappings("spec", "groups")
    alerts = [str(rule["alert"]) for group in groups for rule in Manifest(group).mappings("rules")]
    rows = re.findall(r"^\| `(Keybearer\w+)` \|", _INSTALLING.read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(alerts)


def test_the_values_for_production_render_with_the_secrets_that_the_page_makes() -> None:
    page = ROOT / "docs" / "tutorials" / "production.md"
    values = yaml.safe_load(yaml_with(page, "docsUrl:"))
    kinds = {one.kind for one in render(values)}
    assert {"NetworkPolicy", "PrometheusRule", "ServiceMonitor", "CronJob", "PodDisruptionBudget"} <= kinds
    made = set(re.findall(r"create secret generic (\S+)", page.read_text()))
    assert set(re.findall(r"existingSecret: ([\w-]+)", page.read_text())) <= made


def test_the_secrets_that_the_operator_makes_are_named_where_they_are_left_and_where_they_are_removed() -> (
    None
):
    (role,) = [one for one in render(ROWS["two namespaces only"]) if (one.kind, one.name) == _OWN_ROLE]
    made = {
        str(name)
        for position, rule in enumerate(role.mappings("rules"))
        if rule["resources"] == ["secrets"] and "resourceNames" in rule
        for name in role.texts("rules", position, "resourceNames")
    }
    assert len(made) == 2
    left, _, the_rest = (
        _INSTALLING.read_text().partition("## Removing")[2].partition("And to remove the rest")
    )
    uninstalled = _README.read_text().partition("## Uninstall")[2]
    for name in made:
        assert f"`{name}`" in left
        assert re.search(rf"delete secret .*\b{name}\b", the_rest)
        assert f"`…{name.removeprefix(RELEASE)}`" in uninstalled


def test_the_connections_of_a_process_are_counted_as_it_opens_them() -> None:
    size = Bounds().pool_size
    apart = 2  # what PostgreSQL tells is heard on one, and whether lists still stand is asked on another
    told = _NUMBERS[2 * size + apart]
    assert f"`--database-pool-size` ({size})" in (page := (ROOT / "docs" / "service.md").read_text())
    assert f"{told} for a process" in page
    assert f"Each replica takes {told} connections" in (readme := _README.read_text())
    assert f"changes it to 2 N + {apart}" in readme


@pytest.mark.parametrize("block", [one for one in _BLOCKS if " create secret " in one])
def test_a_secret_is_made_in_a_namespace_that_is_there(block: str) -> None:
    assert _MAKES_NAMESPACE in block.partition(" create secret ")[0]


@pytest.mark.parametrize("block", [one for one in _BLOCKS if "existingSecret=" in one])
def test_a_secret_that_a_command_names_is_made_before(block: str) -> None:
    before = "".join(_BLOCKS[: _BLOCKS.index(block) + 1])
    made = set(re.findall(r"create secret generic (\S+)", before))
    if "--show-only templates/embedded-service/secrets.yaml" in before:
        made |= {one.name for one in render() if one.kind == "Secret"}
    assert set(re.findall(r"existingSecret=(\S+)", block)) <= made
