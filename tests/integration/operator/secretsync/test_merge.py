"""`creationPolicy: Merge`: keys in a Secret of somebody else, and only those."""

from __future__ import annotations

import base64

import pytest

from support.secretsync_objects import decoded, secret
from support.tenant import Tenant
from tools.local.kube_api import Body
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_FINALIZER = "keybearer.dev/cleanup"
_MERGE = {"name": "web", "creationPolicy": "Merge"}


@pytest.fixture
def theirs(tenant: Tenant) -> Body:
    """Return a Secret of somebody else."""
    tenant.project.store({"KEY": "cnry-1", "OTHER": "cnry-2"})
    return tenant.api.create(
        secret(tenant.namespace, "web", {"THEIRS": "cnry-theirs"}, labels={"a": "b"}, annotations={"c": "d"})
    )


def test_keys_are_added_and_nothing_else_is_touched(tenant: Tenant, theirs: Body) -> None:
    tenant.sync("merging", target=_MERGE)
    tenant.until_ready("merging")

    merged = tenant.api.get("Secret", tenant.namespace, "web")

    assert decoded(merged) == {"THEIRS": "cnry-theirs", "KEY": "cnry-1", "OTHER": "cnry-2"}
    assert merged["metadata"]["uid"] == theirs["metadata"]["uid"]
    assert merged["metadata"]["labels"]["a"] == "b"
    assert merged["metadata"]["annotations"] == {"c": "d"}
    assert "ownerReferences" not in merged["metadata"]


def test_a_finalizer_is_there_only_while_something_of_ours_is_in_the_secret_of_another(
    tenant: Tenant, theirs: Body
) -> None:
    assert theirs["metadata"]["name"] == "web"
    tenant.sync("merging", target=_MERGE)
    tenant.sync("owning", target={"name": "owned"})
    tenant.sync(
        "leaving", target=_MERGE | {"onDelete": "Retain"}, source=tenant.source(keys={"include": ["KEY"]})
    )

    assert tenant.until_ready("merging")["metadata"]["finalizers"] == [_FINALIZER]
    assert "finalizers" not in tenant.until_ready("owning")["metadata"]
    assert "finalizers" not in tenant.until_ready("leaving")["metadata"]

    tenant.edit("merging", target={"creationPolicy": "Owner", "name": "own"})
    tenant.until("merging", lambda sync: "finalizers" not in sync["metadata"], "no finalizer")
    tenant.until_data("own", {"KEY": "cnry-1", "OTHER": "cnry-2"})


def test_two_syncs_merge_into_one_secret_side_by_side(tenant: Tenant, theirs: Body) -> None:
    first = tenant.source(keys={"include": ["KEY"]})
    second = tenant.source(keys={"include": ["OTHER"]})
    tenant.sync("first", source=first, target=_MERGE)
    tenant.sync("second", source=second, target=_MERGE)
    tenant.until_ready("first")
    tenant.until_ready("second")
    tenant.until_data("web", {**decoded(theirs), "KEY": "cnry-1", "OTHER": "cnry-2"})

    tenant.project.store({"KEY": "cnry-new"})
    tenant.ask("first")
    tenant.ask("second")
    assert tenant.data("web") == {**decoded(theirs), "KEY": "cnry-new", "OTHER": "cnry-2"}

    tenant.delete("first")
    tenant.until_gone("SecretSync", "first")
    assert tenant.data("web") == {**decoded(theirs), "OTHER": "cnry-2"}


def test_a_key_of_somebody_else_is_a_conflict(tenant: Tenant, theirs: Body) -> None:
    tenant.project.store({"THEIRS": "cnry-ours"})
    tenant.sync("merging", target=_MERGE)

    tenant.until_reason("merging", "TargetConflict", saying="has other values under THEIRS")

    assert tenant.secret("web") == theirs


def test_a_key_of_somebody_else_is_taken_over_when_that_is_asked_for(tenant: Tenant, theirs: Body) -> None:
    tenant.project.store({"THEIRS": "cnry-ours"})
    tenant.sync("merging", target=_MERGE | {"adopt": True})
    tenant.until_ready("merging")

    after = tenant.api.get("Secret", tenant.namespace, "web")

    assert decoded(after) == {"THEIRS": "cnry-ours", "KEY": "cnry-1", "OTHER": "cnry-2"}
    assert after["metadata"]["uid"] == theirs["metadata"]["uid"]


def test_drift_of_an_own_key_is_repaired_and_the_keys_of_others_may_change(
    tenant: Tenant, theirs: Body
) -> None:
    tenant.sync("merging", target=_MERGE, refreshInterval="1h")
    tenant.until_ready("merging")
    forged = {
        "KEY": base64.b64encode(b"cnry-forged").decode(),
        "THEIRS": base64.b64encode(b"cnry-t2").decode(),
    }

    tenant.api.patch("Secret", tenant.namespace, theirs["metadata"]["name"], {"data": forged})

    tenant.until_data("web", {"THEIRS": "cnry-t2", "KEY": "cnry-1", "OTHER": "cnry-2"})


def test_a_removed_own_key_comes_back(tenant: Tenant, theirs: Body) -> None:
    tenant.sync("merging", target=_MERGE, refreshInterval="1h")
    tenant.until_ready("merging")

    tenant.api.patch("Secret", tenant.namespace, "web", {"data": {"KEY": None}})

    tenant.until_data("web", {**decoded(theirs), "KEY": "cnry-1", "OTHER": "cnry-2"})


def test_a_key_that_left_the_source_leaves_the_secret(tenant: Tenant, theirs: Body) -> None:
    tenant.sync("merging", target=_MERGE)
    tenant.until_ready("merging")

    tenant.project.remove(["OTHER"])
    tenant.ask("merging")

    assert tenant.data("web") == {**decoded(theirs), "KEY": "cnry-1"}


def test_deletion_takes_back_own_keys_and_leaves_the_others(tenant: Tenant, theirs: Body) -> None:
    tenant.sync("merging", target=_MERGE)
    tenant.until_ready("merging")

    tenant.delete("merging")
    tenant.until_gone("SecretSync", "merging")

    left = tenant.api.get("Secret", tenant.namespace, "web")
    assert decoded(left) == {"THEIRS": "cnry-theirs"}
    assert left["metadata"]["labels"] == theirs["metadata"]["labels"]
    assert left["metadata"]["uid"] == theirs["metadata"]["uid"]


def test_retained_keys_stay_when_the_sync_goes(tenant: Tenant, theirs: Body) -> None:
    tenant.sync("merging", target=_MERGE | {"onDelete": "Retain"})
    tenant.until_ready("merging")

    tenant.delete("merging")
    tenant.until_gone("SecretSync", "merging")

    assert tenant.data("web") == {**decoded(theirs), "KEY": "cnry-1", "OTHER": "cnry-2"}


def test_a_missing_target_is_waited_for(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("merging", target=_MERGE, refreshInterval="1h")
    tenant.until_reason("merging", "TargetMissing", saying="create it, or use creationPolicy Owner")

    tenant.api.create(secret(tenant.namespace, "web", {"THEIRS": "cnry-theirs"}))

    tenant.until_data("web", {"THEIRS": "cnry-theirs", "KEY": "cnry-1"})
    tenant.until_ready("merging")


def test_a_target_that_was_made_anew_gets_its_keys_again(tenant: Tenant, theirs: Body) -> None:
    tenant.sync("merging", target=_MERGE, refreshInterval="1h")
    tenant.until_ready("merging")

    tenant.api.delete("Secret", tenant.namespace, theirs["metadata"]["name"])
    tenant.until_reason("merging", "TargetMissing")
    tenant.api.create(secret(tenant.namespace, "web", {"NEW": "cnry-n"}))

    tenant.until_data("web", {"NEW": "cnry-n", "KEY": "cnry-1", "OTHER": "cnry-2"})


def test_a_sync_that_merged_nothing_yet_goes_at_once(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("merging", target=_MERGE)
    tenant.until_reason("merging", "TargetMissing")

    tenant.delete("merging")

    tenant.until_gone("SecretSync", "merging")


def test_two_syncs_that_want_one_key_tell_the_second_of_it(tenant: Tenant, theirs: Body) -> None:
    tenant.project.folder("/other")
    tenant.project.store({"KEY": "cnry-other"}, path="/other")
    tenant.sync("first", target=_MERGE)
    tenant.until_ready("first")
    tenant.sync("second", source=tenant.source(secretPath="/other"), target=_MERGE)

    tenant.until_reason("second", "TargetConflict", saying="SecretSync first merges KEY into Secret web")

    assert tenant.data("web") == {**decoded(theirs), "KEY": "cnry-1", "OTHER": "cnry-2"}
    tenant.delete("first")
    tenant.until_gone("SecretSync", "first")
    eventually(
        lambda: tenant.data("web") == {**decoded(theirs), "KEY": "cnry-other"}, awaited="the second's key"
    )


def test_a_namespace_with_merged_keys_goes_in_good_time(tenant: Tenant, theirs: Body) -> None:
    tenant.sync("merging", target=_MERGE)
    tenant.until_ready("merging")
    assert theirs["metadata"]["namespace"] == tenant.namespace

    tenant.api.delete("Namespace", "", tenant.namespace)

    eventually(
        lambda: tenant.api.find("Namespace", "", tenant.namespace) is None,
        awaited="an end of the namespace",
    )
