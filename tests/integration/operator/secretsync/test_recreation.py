"""A Secret that is deleted and created anew: the last good one survives whatever is refused."""

from __future__ import annotations

import pytest

from keybearer.controllers.target.size import STORED_MAX_BYTES, content_bytes
from support.admission import refused_creation
from support.operator_fixtures import Installation
from support.secretsync_objects import condition, config_map, message_of
from support.tenant import Tenant
from tools.local.kube_api import Body, RefusedError
from tools.local.waiting import eventually
from unit.controllers.fakes.targets import desired, new_spec

pytestmark = pytest.mark.integration

_WITH_C = "has(object.data) && 'C' in object.data"


@pytest.mark.parametrize("only_for_real", [False, True], ids=["in a dry run", "by the store alone"])
def test_a_secret_whose_successor_is_refused_is_there_as_it_was(
    tenant: Tenant, installation: Installation, *, only_for_real: bool
) -> None:
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web", target={"immutable": True, "recreate": True}, refreshInterval="1h")
    tenant.until_ready("web")
    before = tenant.api.get("Secret", tenant.namespace, "web")
    with refused_creation(installation.cluster.plane, tenant, _WITH_C, only_for_real=only_for_real) as policy:
        tenant.project.store({"C": "cnry-c"})
        tenant.until_reason("web", "TargetRefused", saying=policy)
        once = tenant.api.get("Secret", tenant.namespace, "web")
        told = tenant.ask("web")
        after = tenant.api.get("Secret", tenant.namespace, "web")

        assert "the last good target stays" in message_of(told)
        # It may have been put back once, but further attempts don't touch it.
        assert after["metadata"]["uid"] == once["metadata"]["uid"]
        for part in ("data", "type", "immutable"):
            assert after[part] == before[part]
        for part in ("labels", "ownerReferences"):
            assert after["metadata"][part] == before["metadata"][part]
        assert (after["metadata"]["uid"] == before["metadata"]["uid"]) is not only_for_real
    tenant.ask("web")

    tenant.until_data("web", {"A": "cnry-1", "C": "cnry-c"})
    tenant.until_ready("web")

    def has_no_backup() -> bool:
        listed = tenant.api.list("Secret", tenant.namespace)
        return not [one for one in listed if "backup" in one["metadata"]["name"]]

    # It is removed beside the reconcile, which waits for nothing of it.
    eventually(has_no_backup, awaited="a namespace without a backup")


def _given_by_others(tenant: Tenant) -> Body:
    """Others give Secret web a label, an annotation and an owner; return its metadata then."""
    owner = tenant.api.create(config_map(tenant.namespace, "shop", {}))
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "shop", "uid": owner["metadata"]["uid"]}
    there = tenant.api.get("Secret", tenant.namespace, "web")["metadata"]
    given: Body = {
        "labels": {"velero.io/exclude-from-backup": "true"},
        "annotations": {"argocd.argoproj.io/sync-options": "Prune=false"},
        "ownerReferences": [*there["ownerReferences"], reference],
    }
    whole = tenant.api.patch("Secret", tenant.namespace, "web", {"metadata": given})
    metadata: Body = whole["metadata"]
    return metadata


def test_what_others_wrote_on_a_secret_goes_with_it_each_time_it_is_made_anew(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1"})
    labels = {"labels": {"ours": "1"}}
    tenant.sync("web", target={"immutable": True, "recreate": True, **labels}, refreshInterval="1h")
    tenant.until_ready("web")
    before = _given_by_others(tenant)
    for number in range(2, 4):
        tenant.project.store({"A": f"cnry-{number}"})
        tenant.until_data("web", {"A": f"cnry-{number}"})
        tenant.ask("web")
        after = tenant.api.get("Secret", tenant.namespace, "web")["metadata"]
        for part in ("labels", "annotations"):
            assert after[part] == before[part]
        assert {one["kind"] for one in after["ownerReferences"]} == {"SecretSync", "ConfigMap"}

    # What was ours goes, what is theirs stays.
    tenant.edit("web", target={"labels": None})
    tenant.until_ready("web")
    after = tenant.api.get("Secret", tenant.namespace, "web")["metadata"]
    assert after["labels"] == {name: text for name, text in before["labels"].items() if name != "ours"}
    assert after["annotations"] == before["annotations"]


def test_what_others_wrote_on_a_secret_stays_theirs_when_it_is_put_back(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web", target={"immutable": True, "recreate": True}, refreshInterval="1h")
    tenant.until_ready("web")
    before = _given_by_others(tenant)
    with refused_creation(installation.cluster.plane, tenant, _WITH_C, only_for_real=True) as policy:
        tenant.project.store({"C": "cnry-c"})
        tenant.until_reason("web", "TargetRefused", saying=policy)
        assert tenant.api.get("Secret", tenant.namespace, "web")["metadata"]["uid"] != before["uid"]
    tenant.ask("web")
    tenant.until_data("web", {"A": "cnry-1", "C": "cnry-c"})
    tenant.until_ready("web")

    after = tenant.api.get("Secret", tenant.namespace, "web")["metadata"]
    for part in ("labels", "annotations"):
        assert after[part] == before[part]


def test_where_there_never_was_a_target_nothing_is_said_to_stay(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"C": "cnry-c"})
    with refused_creation(installation.cluster.plane, tenant, _WITH_C) as policy:
        tenant.sync("web", refreshInterval="1h")
        told = tenant.until_reason("web", "TargetRefused", saying=policy)

        assert "stays" not in message_of(told)


@pytest.mark.deep
def test_more_than_the_store_takes_is_refused_before_the_secret_is_deleted(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web", target={"immutable": True, "recreate": True}, refreshInterval="1h")
    tenant.until_ready("web")
    before = tenant.secret("web")
    tenant.edit("web", mode="Suspended")
    tenant.until(
        "web",
        lambda sync: (condition(sync, "Reconciling") or {}).get("reason") == "Suspended",
        "the reason Suspended",
    )
    for part in range(10):
        tenant.project.store({f"{'K' * 240}{part}_{number:03}": "cnry-" + "x" * 350 for number in range(290)})
    tenant.edit("web", mode="Apply")

    tenant.until_reason("web", "TooLarge", saying="exclude keys")
    assert tenant.secret("web") == before


@pytest.mark.deep
@pytest.mark.parametrize(
    ("count", "name_length", "value_length"),
    [(1, 10, 1_048_576), (14_000, 8, 60), (7000, 220, 1)],
    ids=["one large value", "many keys", "long names"],
)
def test_what_is_judged_to_fit_is_stored(
    tenant: Tenant, count: int, name_length: int, value_length: int
) -> None:
    """The API server's store is the judge: as many keys as we let pass, it takes."""
    names = [f"{number:05}".ljust(name_length, "k") for number in range(count)]
    wanted = desired(new_spec(), dict.fromkeys(names, "v" * value_length))
    while content_bytes(wanted, wanted.data) > STORED_MAX_BYTES:
        names = names[: len(names) * 99 // 100]
        wanted = desired(new_spec(), dict.fromkeys(names, "v" * value_length))
    body = {**wanted.body, "metadata": {"namespace": tenant.namespace, "name": "large"}}
    tenant.api.create(body)

    assert len(tenant.data("large") or {}) == len(names)


@pytest.mark.deep
def test_what_the_store_refuses_is_judged_to_be_too_large(tenant: Tenant) -> None:
    names = [f"{number:05}".ljust(220, "k") for number in range(6900)]
    wanted = desired(new_spec(), dict.fromkeys(names, "v"))
    with pytest.raises(RefusedError, match="too large"):
        tenant.api.create({**wanted.body, "metadata": {"namespace": tenant.namespace, "name": "large"}})

    assert content_bytes(wanted, wanted.data) > STORED_MAX_BYTES
