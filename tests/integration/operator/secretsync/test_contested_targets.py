"""Somebody else writes to our targets too: what of it stays, and what becomes of a fight."""

from __future__ import annotations

import pytest

from support.admission import refused_statuses
from support.operator_fixtures import Installation
from support.secretsync_objects import condition
from support.tenant import Tenant
from tools.local.kube_api import Body
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_VALUES = {"KEY": "cnry-1"}


def _label(tenant: Tenant, team: str) -> Body:
    return tenant.api.patch("Secret", tenant.namespace, "web", {"metadata": {"labels": {"team": team}}})


def test_labels_and_annotations_of_others_stay_and_cost_no_write(tenant: Tenant) -> None:
    tenant.project.store(_VALUES)
    tenant.sync("web", refreshInterval="1h", target={"labels": {"team": "a"}})
    tenant.until_ready("web")
    theirs = {"metadata": {"labels": {"theirs": "x"}, "annotations": {"theirs": "y"}}}
    labelled = tenant.api.patch("Secret", tenant.namespace, "web", theirs)

    tenant.ask("web")

    assert tenant.secret("web") == labelled
    # Another change of ours leaves it as well.
    tenant.edit("web", target={"labels": {"team": None, "group": "b"}})
    tenant.until_ready("web")
    after = tenant.api.get("Secret", tenant.namespace, "web")["metadata"]
    assert after["labels"]["theirs"] == "x"
    assert after["annotations"] == {"theirs": "y"}
    assert after["labels"]["group"] == "b"
    assert "team" not in after["labels"]


def test_a_fight_over_a_planned_label_is_slowed_down_and_told(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store(_VALUES)
    tenant.sync("web", refreshInterval="1h", target={"labels": {"team": "a"}})
    tenant.until_ready("web")

    def is_put_right() -> bool:
        found = tenant.api.get("Secret", tenant.namespace, "web")
        return bool(found["metadata"]["labels"]["team"] == "a")

    for _ in range(15):
        _label(tenant, "b")
        eventually(is_put_right, awaited="a repair")
    _label(tenant, "b")

    told = tenant.until_reason("web", "TargetContested", saying="it is put right less often")
    contested = condition(told, "BudgetUsed")
    assert contested is not None
    assert contested["status"] == "True"
    assert 'field manager "' in contested["message"]
    assert 'keybearer_effects_delayed_total{effect="repair"}' in installation.operator.metrics()
    eventually(is_put_right, awaited="the next repair, after a pause")
    assert tenant.data("web") == _VALUES


def test_a_fight_is_slowed_down_though_no_status_can_be_written(
    tenant: Tenant, installation: Installation
) -> None:
    """What the status says is behind the spec then, so that it doesn't tell a repair from a first write."""
    tenant.project.store(_VALUES)
    tenant.sync("web", refreshInterval="1h", target={"labels": {"team": "a"}})
    tenant.until_ready("web")
    with refused_statuses(installation.cluster.plane, tenant, "web"):
        tenant.edit("web", target={"labels": {"group": "g"}})
        eventually(lambda: _labels(tenant).get("group") == "g", awaited="the new spec carried out")
        before, repairs = _delayed(installation), 0
        while _delayed(installation) == before:
            assert repairs <= 20
            _label(tenant, "b")
            eventually(
                lambda: _labels(tenant)["team"] == "a" or _delayed(installation) != before,
                awaited="a repair, or its delay",
            )
            repairs += 1


def _labels(tenant: Tenant) -> Body:
    found: Body = tenant.api.get("Secret", tenant.namespace, "web")["metadata"]["labels"]
    return found


def _delayed(installation: Installation) -> str:
    name = 'keybearer_effects_delayed_total{effect="repair"}'
    return next((one for one in installation.operator.metrics().splitlines() if one.startswith(name)), "")
