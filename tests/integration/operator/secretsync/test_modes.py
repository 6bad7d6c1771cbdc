"""Modes, the guard, and requests by people: what is held back, and what lets it through."""

from __future__ import annotations

import base64

import pytest

from support.operator_fixtures import Installation
from support.secretsync_objects import condition
from support.service_proxy import about_project, is_subscription
from support.tenant import Tenant
from tools.local.kube_api import Body

pytestmark = pytest.mark.integration


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_plan_writes_nothing_and_lists_what_it_would(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1", "B": "cnry-2"})
    tenant.sync("web", mode="Plan")

    told = tenant.until_reason("web", "Planned", saying="approve with the annotations")

    assert tenant.secret("web") is None
    assert told["status"]["plan"] == {"add": ["A", "B"], "change": [], "remove": [], "omitted": 0}
    assert {one["state"] for one in told["status"]["keys"]} == {"Pending"}
    assert "finalizers" not in told["metadata"]


def test_an_approved_plan_is_carried_out_once(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1", "B": "cnry-2"})
    tenant.sync("web", mode="Plan", refreshInterval="1h")
    tenant.until_reason("web", "Planned")

    tenant.ask("web", "approve-plan")
    tenant.until_data("web", {"A": "cnry-1", "B": "cnry-2"})
    assert "plan" not in tenant.until_ready("web")["status"]

    tenant.project.store({"A": "cnry-3", "C": "cnry-4"})
    tenant.project.remove(["B"])
    tenant.ask("web")
    told = tenant.until_reason("web", "Planned")
    assert told["status"]["plan"] == {"add": ["C"], "change": ["A"], "remove": ["B"], "omitted": 0}
    assert tenant.data("web") == {"A": "cnry-1", "B": "cnry-2"}


def test_a_plan_that_changed_since_it_was_shown_is_shown_anew(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"A": "cnry-1"})
    # An event about the change would have it shown before it is approved.
    with installation.proxy.answering(is_subscription, 404, {"message": "Route POST not found"}):
        tenant.sync("web", mode="Plan", refreshInterval="1h")
        tenant.until_reason("web", "Planned")

        tenant.project.store({"UNSEEN": "cnry-2"})
        told = tenant.ask("web", "approve-plan")

    assert told["status"]["plan"]["add"] == ["A", "UNSEEN"]
    assert tenant.secret("web") is None


def test_suspended_neither_reads_nor_writes_and_keeps_what_is_there(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web")
    tenant.until_ready("web")
    tenant.edit("web", mode="Suspended")
    told = tenant.until(
        "web",
        lambda sync: (condition(sync, "Reconciling") or {}).get("reason") == "Suspended",
        "the reason Suspended",
    )
    start = installation.proxy.mark()
    assert (condition(told, "Ready") or {})["status"] == "True"

    tenant.project.store({"A": "cnry-2"})
    tenant.api.patch("Secret", tenant.namespace, "web", {"data": {"A": _encoded("cnry-edited")}})
    # Another SecretSync is done after all of that: had this one reacted, it would have done so by now.
    tenant.project.folder("/other")
    tenant.project.store({"X": "cnry-x"}, path="/other")
    tenant.sync("other", source=tenant.source(secretPath="/other"))
    tenant.until_ready("other")

    assert tenant.data("web") == {"A": "cnry-edited"}
    read = installation.proxy.requests(about_project(tenant.project.id), since=start)
    assert {request.query["secretPath"] for request in read if "secretPath" in request.query} == {"/other"}

    tenant.edit("web", mode="Apply")
    tenant.until_data("web", {"A": "cnry-2"})
    assert condition(tenant.until_ready("web"), "Reconciling") is None


def test_suspended_from_the_start_writes_nothing(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web", mode="Suspended")

    told = tenant.until_reason("web", "Suspended", saying="set mode to Apply to go on")

    assert (condition(told, "Ready") or {})["status"] == "False"
    assert tenant.secret("web") is None


def test_create_once_leaves_its_secret_alone_afterwards(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web", mode="CreateOnce")
    tenant.until_ready("web")

    tenant.project.store({"A": "cnry-2"})
    tenant.ask("web")
    assert tenant.data("web") == {"A": "cnry-1"}

    tenant.api.patch("Secret", tenant.namespace, "web", {"data": {"A": _encoded("cnry-edited")}})
    tenant.ask("web")
    assert tenant.data("web") == {"A": "cnry-edited"}
    assert (condition(tenant.get("web"), "Ready") or {})["status"] == "True"


@pytest.fixture
def four_keys(tenant: Tenant) -> Body:
    """Return a Secret with four keys in sync."""
    tenant.project.store({"A": "cnry-1", "B": "cnry-2", "C": "cnry-3", "D": "cnry-4"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    return tenant.api.get("Secret", tenant.namespace, "web")


def test_a_source_that_lost_more_than_half_is_guarded_until_released(tenant: Tenant, four_keys: Body) -> None:
    tenant.project.remove(["A", "B", "C"])
    tenant.ask("web")

    told = tenant.until_reason("web", "Guarded", saying="3 of 4 keys would be removed (A, B, C)")
    assert tenant.secret("web") == four_keys
    assert {one["type"] for one in told["status"]["conditions"]} == {"Ready", "Stalled", "Guarded"}
    assert told["status"]["plan"] == {"add": [], "change": [], "remove": ["A", "B", "C"], "omitted": 0}

    tenant.ask("web", "release-guard")
    assert tenant.data("web") == {"D": "cnry-4"}
    assert condition(tenant.until_ready("web"), "Guarded") is None


def test_an_emptied_source_does_not_empty_its_secret_until_released(tenant: Tenant, four_keys: Body) -> None:
    tenant.project.remove(["A", "B", "C", "D"])
    tenant.ask("web")

    tenant.until_reason("web", "Guarded", saying="4 of 4 keys would be removed")
    assert tenant.secret("web") == four_keys

    tenant.ask("web", "release-guard")
    assert tenant.data("web") == {}
    tenant.until_ready("web")


def test_a_guard_of_all_percent_still_does_not_empty_a_secret(tenant: Tenant, four_keys: Body) -> None:
    tenant.edit("web", guard={"maxDeletions": 100})
    tenant.until_ready("web")
    tenant.project.remove(["A", "B", "C", "D"])
    tenant.ask("web")

    tenant.until_reason("web", "Guarded")
    assert tenant.secret("web") == four_keys


def test_a_release_holds_for_one_change_only(tenant: Tenant, four_keys: Body) -> None:
    assert four_keys["metadata"]["name"] == "web"
    tenant.project.remove(["A", "B", "C"])
    tenant.ask("web")
    tenant.until_reason("web", "Guarded")
    tenant.ask("web", "release-guard")
    assert tenant.data("web") == {"D": "cnry-4"}

    tenant.project.store({"E": "cnry-5", "F": "cnry-6"})
    tenant.ask("web")
    tenant.project.remove(["D", "E"])
    tenant.ask("web")

    tenant.until_reason("web", "Guarded", saying="2 of 3 keys")
    assert tenant.data("web") == {"D": "cnry-4", "E": "cnry-5", "F": "cnry-6"}


def test_keys_that_go_one_by_one_are_held_like_all_at_once(tenant: Tenant, four_keys: Body) -> None:
    assert four_keys["metadata"]["name"] == "web"
    for name in ("A", "B"):
        tenant.project.remove([name])
        tenant.ask("web")
        tenant.until_ready("web")
    tenant.project.remove(["C"])
    tenant.ask("web")

    told = tenant.until_reason(
        "web", "Guarded", saying="1 of 2 keys would be removed (C) after 2 others within 24h"
    )
    assert tenant.data("web") == {"C": "cnry-3", "D": "cnry-4"}
    assert [one["names"] for one in told["status"]["target"]["removals"]] == [["A"], ["B"]]

    tenant.ask("web", "release-guard")
    assert tenant.data("web") == {"D": "cnry-4"}
    assert "removals" not in tenant.until_ready("web")["status"]["target"]


@pytest.mark.parametrize("target", [{"name": "other"}, {"kind": "ConfigMap"}], ids=["name", "kind"])
def test_what_is_held_stays_held_when_the_target_gets_another_name_or_kind(
    tenant: Tenant, four_keys: Body, target: Body
) -> None:
    """The former target goes once the new one is there, and it is the last good one."""
    tenant.project.remove(["A", "B", "C"])
    tenant.ask("web")
    tenant.until_reason("web", "Guarded")
    tenant.edit("web", target=target)

    told = tenant.until_reason("web", "Guarded", saying="3 of 4 keys would be removed (A, B, C)")
    assert told["status"]["plan"] == {"add": ["D"], "change": [], "remove": ["A", "B", "C"], "omitted": 0}
    assert tenant.secret("web") == four_keys

    tenant.ask("web", "release-guard")
    tenant.until_ready("web")
    kind, name = target.get("kind", "Secret"), target.get("name", "web")
    assert list(tenant.api.get(kind, tenant.namespace, name)["data"]) == ["D"]
    assert tenant.secret("web") is None


def test_keys_that_go_one_by_one_count_on_under_another_name(tenant: Tenant, four_keys: Body) -> None:
    assert four_keys["metadata"]["name"] == "web"
    tenant.project.remove(["A", "B"])
    tenant.ask("web")
    tenant.until_ready("web")
    tenant.edit("web", target={"name": "other"})
    tenant.until_ready("web")
    tenant.project.remove(["C"])
    tenant.ask("web")

    tenant.until_reason("web", "Guarded", saying="1 of 2 keys would be removed (C) after 2 others")
    assert tenant.data("other") == {"C": "cnry-3", "D": "cnry-4"}


def test_what_the_guard_holds_in_a_plan_takes_a_release_alone(tenant: Tenant, four_keys: Body) -> None:
    tenant.edit("web", mode="Plan")
    tenant.until_ready("web")
    tenant.project.remove(["A", "B", "C"])
    tenant.project.store({"D": "cnry-new"})
    tenant.ask("web")
    told = tenant.until_reason("web", "Guarded", saying="keybearer.dev/request: release-guard")
    assert told["status"]["plan"]["change"] == ["D"]

    tenant.ask("web", "approve-plan")
    tenant.until_reason("web", "Guarded")
    assert tenant.secret("web") == four_keys

    tenant.ask("web", "release-guard")
    assert tenant.data("web") == {"D": "cnry-new"}


def test_a_guarded_source_that_is_mended_goes_on_by_itself(tenant: Tenant, four_keys: Body) -> None:
    tenant.edit("web", refreshInterval="10s")
    tenant.until_ready("web")
    tenant.project.remove(["A", "B", "C"])
    tenant.ask("web")
    tenant.until_reason("web", "Guarded")

    tenant.project.store({"A": "cnry-1", "B": "cnry-2", "C": "cnry-new"})

    tenant.until_data("web", {"A": "cnry-1", "B": "cnry-2", "C": "cnry-new", "D": "cnry-4"})
    assert (
        four_keys["metadata"]["uid"] == tenant.api.get("Secret", tenant.namespace, "web")["metadata"]["uid"]
    )


def test_half_of_the_keys_may_go_without_a_release(tenant: Tenant, four_keys: Body) -> None:
    assert four_keys["metadata"]["name"] == "web"
    tenant.project.remove(["A", "B"])
    tenant.ask("web")

    assert tenant.data("web") == {"C": "cnry-3", "D": "cnry-4"}


def test_a_request_is_answered_once_and_its_annotation_left_in_place(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web")
    tenant.until_ready("web")

    answered = tenant.ask("web")

    annotations = answered["metadata"]["annotations"]
    assert annotations["keybearer.dev/requestedAt"] == answered["status"]["lastHandledRequestedAt"]
    assert annotations["keybearer.dev/request"] == "sync"
