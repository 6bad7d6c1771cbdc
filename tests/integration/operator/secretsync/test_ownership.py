"""Whose object the target is: repaired where it is ours, never touched where it is somebody else's."""

from __future__ import annotations

import base64

import pytest

from support.secretsync_objects import condition, decoded, secret
from support.tenant import Tenant
from tools.local.kube_api import Body
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_VALUES = {"KEY": "cnry-1", "OTHER": "cnry-2"}


@pytest.fixture
def owned(tenant: Tenant) -> Body:
    """Return a Secret in sync, whose source is not asked again during the test."""
    tenant.project.store(_VALUES)
    tenant.sync("web", refreshInterval="1h", target={"labels": {"team": "a"}})
    tenant.until_ready("web")
    return tenant.api.get("Secret", tenant.namespace, "web")


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "patch",
    [
        pytest.param({"data": {"KEY": _encoded("cnry-forged")}}, id="a value was changed"),
        pytest.param({"data": {"KEY": None}}, id="a key was removed"),
        pytest.param({"data": {"FOREIGN": _encoded("cnry-x")}}, id="a key was added"),
        pytest.param({"data": None}, id="all data was removed"),
        pytest.param({"metadata": {"labels": {"team": "b"}}}, id="a planned label was changed"),
        pytest.param({"metadata": {"ownerReferences": None}}, id="the owner reference was removed"),
        pytest.param(
            {"data": {"FOREIGN": _encoded("cnry-x"), "KEY": None}, "metadata": {"labels": {"team": None}}},
            id="several things were changed at once",
        ),
    ],
)
def test_a_secret_that_drifted_is_restored(tenant: Tenant, owned: Body, patch: Body) -> None:
    edited = tenant.api.patch("Secret", tenant.namespace, "web", patch)

    def restored() -> Body | None:
        now = tenant.api.get("Secret", tenant.namespace, "web")
        return now if now["metadata"]["resourceVersion"] != edited["metadata"]["resourceVersion"] else None

    after = eventually(restored, awaited="a repair", told=lambda: str(sorted(tenant.data("web") or {})))
    assert decoded(after) == _VALUES
    assert after["metadata"]["labels"] == owned["metadata"]["labels"]
    assert "annotations" not in after["metadata"]
    assert after["metadata"]["ownerReferences"] == owned["metadata"]["ownerReferences"]
    assert after["metadata"]["uid"] == owned["metadata"]["uid"]


def test_a_secret_whose_managed_label_was_removed_is_restored(tenant: Tenant, owned: Body) -> None:
    # The watch selects by this label: to the operator the Secret looks deleted.
    tenant.api.patch(
        "Secret", tenant.namespace, "web", {"metadata": {"labels": {"keybearer.dev/managed": None}}}
    )

    after = eventually(
        lambda: _with_labels(tenant, owned["metadata"]["labels"]), awaited="the label of the operator"
    )
    assert after["metadata"]["uid"] == owned["metadata"]["uid"]
    assert decoded(after) == _VALUES


def test_a_secret_whose_labels_were_all_removed_is_restored(tenant: Tenant, owned: Body) -> None:
    tenant.api.patch("Secret", tenant.namespace, "web", {"metadata": {"labels": None}})

    after = eventually(lambda: _with_labels(tenant, owned["metadata"]["labels"]), awaited="our labels")
    assert after["metadata"]["uid"] == owned["metadata"]["uid"]
    assert decoded(after) == _VALUES
    tenant.until_ready("web")


def _with_labels(tenant: Tenant, labels: Body) -> Body | None:
    found = tenant.api.get("Secret", tenant.namespace, "web")
    return found if found["metadata"].get("labels") == labels else None


def test_a_deleted_secret_is_made_again(tenant: Tenant, owned: Body) -> None:
    tenant.api.delete("Secret", tenant.namespace, "web")

    again = tenant.until_data("web", _VALUES)

    assert again["metadata"]["uid"] != owned["metadata"]["uid"]
    tenant.until_ready("web")


@pytest.fixture
def foreign(tenant: Tenant) -> Body:
    """Return a Secret of somebody else by the name of a target."""
    tenant.project.store(_VALUES)
    return tenant.api.create(
        secret(tenant.namespace, "web", {"KEY": "cnry-theirs", "THEIRS": "cnry-3"}, labels={"a": "b"})
    )


def test_a_foreign_secret_of_that_name_is_not_touched(tenant: Tenant, foreign: Body) -> None:
    tenant.sync("web")

    told = tenant.until_reason(
        "web", "TargetConflict", saying="set target.adopt to take it over, or use creationPolicy Merge"
    )

    stalled = condition(told, "Stalled")
    assert stalled is not None
    assert stalled["status"] == "True"
    tenant.ask("web")
    assert tenant.secret("web") == foreign
    assert "target" not in told["status"]


def test_a_foreign_secret_is_taken_over_when_that_is_asked_for(tenant: Tenant, foreign: Body) -> None:
    tenant.sync("web")
    tenant.until_reason("web", "TargetConflict")

    tenant.edit("web", target={"adopt": True})

    taken = tenant.until_data("web", _VALUES)
    assert taken["metadata"]["uid"] == foreign["metadata"]["uid"]
    assert taken["metadata"]["labels"]["a"] == "b"
    assert taken["metadata"]["ownerReferences"][0]["name"] == "web"
    tenant.until_ready("web")


def test_a_foreign_secret_of_another_type_is_never_deleted_whatever_the_manifest_says(tenant: Tenant) -> None:
    tenant.project.store(_VALUES)
    theirs = tenant.api.create(
        secret(tenant.namespace, "web", {"release": "cnry-theirs"}) | {"type": "helm.sh/release.v1"}
    )
    tenant.sync("web", refreshInterval="1h", target={"adopt": True, "recreate": True})

    told = tenant.until_reason(
        "web", "TargetConflict", saying="is of type helm.sh/release.v1, where Opaque is wanted"
    )
    tenant.ask("web")

    stalled = condition(told, "Stalled")
    assert stalled is not None
    assert stalled["status"] == "True"
    assert tenant.secret("web") == theirs
    # Whoever made it may let it go: then the target is ours, without another word.
    tenant.api.delete("Secret", tenant.namespace, "web")
    written = tenant.until_data("web", _VALUES)
    assert written["type"] == "Opaque"
    tenant.until_ready("web")


def test_a_sync_heals_when_the_foreign_secret_goes(tenant: Tenant, foreign: Body) -> None:
    tenant.sync("web", refreshInterval="1h")
    tenant.until_reason("web", "TargetConflict")
    tenant.ask("web")

    tenant.api.delete("Secret", tenant.namespace, foreign["metadata"]["name"])

    tenant.until_data("web", _VALUES)
    assert condition(tenant.until_ready("web"), "Stalled") is None


def test_a_secret_under_another_controller_is_not_taken_over_even_when_asked(tenant: Tenant) -> None:
    tenant.project.store(_VALUES)
    tenant.api.create(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"namespace": tenant.namespace, "name": "controller"},
        }
    )
    controller = tenant.api.get("ConfigMap", tenant.namespace, "controller")
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "controller",
        "uid": controller["metadata"]["uid"],
        "controller": True,
    }
    theirs = tenant.api.create(
        secret(tenant.namespace, "web", {"KEY": "cnry-theirs"}, ownerReferences=[reference])
    )
    tenant.sync("web", target={"adopt": True})

    tenant.until_reason("web", "TargetConflict", saying="is controlled by ConfigMap controller")

    assert tenant.secret("web") == theirs


def test_two_syncs_never_fight_over_one_secret(tenant: Tenant) -> None:
    tenant.project.store(_VALUES)
    tenant.sync("first", target={"name": "web"})
    tenant.until_ready("first")
    written = tenant.secret("web")

    tenant.sync("second", target={"name": "web"})
    tenant.until_reason("second", "TargetConflict")
    tenant.ask("first")
    tenant.ask("second")

    assert tenant.secret("web") == written


def test_adopting_takes_nothing_from_a_sync_that_lives_and_all_that_a_deleted_one_retained(
    tenant: Tenant,
) -> None:
    target = {"name": "web", "onDelete": "Retain", "adopt": True}
    tenant.project.store(_VALUES)
    tenant.sync("first", target=target)
    tenant.until_ready("first")
    written = tenant.secret("web")

    tenant.sync("second", target=target)
    tenant.until_reason("second", "TargetConflict", saying="belongs to SecretSync first")
    tenant.ask("first")
    assert tenant.secret("web") == written

    tenant.delete("first")
    tenant.until_gone("SecretSync", "first")
    tenant.ask("second")
    tenant.until_ready("second")
    kept = tenant.secret("web")
    assert kept is not None
    assert written is not None
    assert kept["metadata"]["uid"] == written["metadata"]["uid"]
