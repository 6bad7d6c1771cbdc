"""Shapes of targets: ConfigMaps, types, immutable ones; and workloads that start anew with new data."""

from __future__ import annotations

import base64
import json

import pytest

from support.admission import refused_restarts
from support.operator_fixtures import Installation
from support.secretsync_objects import decoded, deployment
from support.tenant import Tenant
from tools.local.kube_api import Body
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration


def test_what_is_no_secret_goes_into_a_config_map(tenant: Tenant) -> None:
    tenant.project.store({"LEVEL": "cnry-info", "BLOB": base64.b64encode(b"cnry-\xff").decode()})
    keys = {"items": [{"key": "BLOB", "decode": "Base64"}]}
    tenant.sync("settings", source=tenant.source(keys=keys), target={"kind": "ConfigMap"})
    tenant.until_ready("settings")

    written = tenant.api.get("ConfigMap", tenant.namespace, "settings")
    assert written["data"] == {"LEVEL": "cnry-info"}
    assert {key: base64.b64decode(text) for key, text in written["binaryData"].items()} == {
        "BLOB": b"cnry-\xff"
    }
    assert tenant.secret("settings") is None

    tenant.api.patch("ConfigMap", tenant.namespace, "settings", {"data": {"LEVEL": "cnry-edited", "X": "y"}})
    eventually(
        lambda: tenant.api.get("ConfigMap", tenant.namespace, "settings")["data"] == {"LEVEL": "cnry-info"},
        awaited="the repair of the ConfigMap",
    )
    tenant.delete("settings")
    tenant.until_gone("ConfigMap", "settings")


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        ("kubernetes.io/basic-auth", {"username": "cnry-u", "password": "cnry-p"}),
        ("kubernetes.io/ssh-auth", {"ssh-privatekey": "cnry-key"}),
        ("kubernetes.io/tls", {"tls.crt": "cnry-certificate", "tls.key": "cnry-key"}),
        (
            "kubernetes.io/dockerconfigjson",
            {".dockerconfigjson": json.dumps({"auths": {"r": {"auth": "cnry-"}}})},
        ),
    ],
)
def test_secrets_have_the_type_that_is_asked_for(tenant: Tenant, type_: str, values: dict[str, str]) -> None:
    tenant.project.store(values)
    tenant.sync("typed", target={"type": type_})
    tenant.until_ready("typed")

    written = tenant.api.get("Secret", tenant.namespace, "typed")
    assert written["type"] == type_
    assert decoded(written) == values


def test_a_change_of_type_needs_a_word_because_it_deletes_and_creates(tenant: Tenant) -> None:
    tenant.project.store({"username": "cnry-u", "password": "cnry-p"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    before = tenant.api.get("Secret", tenant.namespace, "web")

    tenant.edit("web", target={"type": "kubernetes.io/basic-auth"})
    tenant.until_reason("web", "TargetImmutable", saying="set target.recreate")
    assert tenant.secret("web") == before

    tenant.edit("web", target={"recreate": True})
    tenant.until_ready("web")
    after = tenant.api.get("Secret", tenant.namespace, "web")
    assert after["type"] == "kubernetes.io/basic-auth"
    assert decoded(after) == decoded(before)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]


def test_new_data_of_an_immutable_secret_needs_a_word_because_it_deletes_and_creates(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", target={"immutable": True}, refreshInterval="1h")
    tenant.until_ready("web")
    before = tenant.api.get("Secret", tenant.namespace, "web")
    assert before["immutable"] is True

    tenant.project.store({"KEY": "cnry-2"})
    tenant.ask("web")
    tenant.until_reason("web", "TargetImmutable", saying="set target.recreate")
    assert tenant.secret("web") == before

    tenant.edit("web", target={"recreate": True})
    after = tenant.until_data("web", {"KEY": "cnry-2"})
    assert after["immutable"] is True
    assert after["metadata"]["uid"] != before["metadata"]["uid"]


def test_an_immutable_secret_that_was_deleted_is_made_again(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", target={"immutable": True}, refreshInterval="1h")
    tenant.until_ready("web")

    tenant.api.delete("Secret", tenant.namespace, "web")

    assert tenant.until_data("web", {"KEY": "cnry-1"})["immutable"] is True


def test_planned_labels_and_annotations_may_change_on_an_immutable_secret(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", target={"immutable": True, "labels": {"a": "b"}}, refreshInterval="1h")
    tenant.until_ready("web")

    tenant.edit("web", target={"labels": {"a": None, "c": "d"}, "annotations": {"e": "f"}})
    tenant.until_ready("web")

    metadata = tenant.api.get("Secret", tenant.namespace, "web")["metadata"]
    assert "a" not in metadata["labels"]
    assert metadata["labels"]["c"] == "d"
    assert metadata["annotations"] == {"e": "f"}


def _restarted_for(tenant: Tenant) -> str | None:
    template = tenant.api.get("Deployment", tenant.namespace, "app")["spec"]["template"]
    found: str | None = template["metadata"].get("annotations", {}).get("keybearer.dev/restarted-for")
    return found


def _generation(tenant: Tenant) -> int:
    return int(tenant.api.get("Deployment", tenant.namespace, "app")["metadata"]["generation"])


def test_a_workload_starts_anew_once_for_each_change_of_data(tenant: Tenant) -> None:
    tenant.api.create(deployment(tenant.namespace, "app"))
    tenant.project.store({"KEY": "cnry-1"})
    restart = [{"kind": "Deployment", "name": "app"}, {"kind": "StatefulSet", "name": "missing"}]
    tenant.sync("web", refreshInterval="1h", target={"rolloutRestart": restart})
    tenant.until_ready("web")
    assert _generation(tenant) == 1, "the first sync must not restart what starts with it"

    tenant.project.store({"KEY": "cnry-2"})
    tenant.ask("web")
    first = _restarted_for(tenant)
    assert first is not None
    assert _generation(tenant) == 2

    tenant.ask("web")
    tenant.edit("web", target={"labels": {"only": "metadata"}})
    tenant.until_ready("web")
    assert _generation(tenant) == 2, "no data changed"

    tenant.project.store({"KEY": "cnry-3"})
    tenant.ask("web")
    # Less than a minute after the restart before; when it comes stands in the unit tests of the restarter.
    tenant.until_reason("web", "Synced", saying="Deployment app is restarted at ")
    assert tenant.data("web") == {"KEY": "cnry-3"}
    assert _generation(tenant) == 2


def test_a_missing_workload_is_named_and_its_restart_made_up_when_the_name_is_corrected(
    tenant: Tenant,
) -> None:
    tenant.api.create(deployment(tenant.namespace, "app"))
    tenant.project.store({"KEY": "cnry-1"})
    slip = {"rolloutRestart": [{"kind": "Deployment", "name": "apq"}]}
    tenant.sync("web", refreshInterval="1h", target=slip)
    tenant.until_reason("web", "Synced", saying="Deployment apq of rolloutRestart doesn't exist")
    tenant.project.store({"KEY": "cnry-2"})
    tenant.ask("web")
    assert tenant.data("web") == {"KEY": "cnry-2"}
    assert _generation(tenant) == 1

    tenant.edit("web", target={"rolloutRestart": [{"kind": "Deployment", "name": "app"}]})
    tenant.until(
        "web",
        lambda found: (
            [one.get("lastRestartTime") is not None for one in found["status"]["workloads"]] == [True]
        ),
        "a restart of the workload that the spec names now",
    )
    assert _restarted_for(tenant) is not None
    assert _generation(tenant) == 2
    tenant.ask("web")
    assert _generation(tenant) == 2


def test_a_restart_that_the_api_server_refuses_is_told_and_done_later(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.api.create(deployment(tenant.namespace, "app"))
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync(
        "web", refreshInterval="1h", target={"rolloutRestart": [{"kind": "Deployment", "name": "app"}]}
    )
    tenant.until_ready("web")
    with refused_restarts(installation.cluster.plane, tenant, "app"):
        tenant.project.store({"KEY": "cnry-2"})
        tenant.ask("web")
        tenant.until_reason("web", "WorkloadNotRestarted", saying="the target is written, but not every")
        assert tenant.data("web") == {"KEY": "cnry-2"}

    tenant.until_reason("web", "Synced")
    assert _restarted_for(tenant) is not None


def test_a_repaired_secret_restarts_nothing(tenant: Tenant) -> None:
    tenant.api.create(deployment(tenant.namespace, "app"))
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync(
        "web", refreshInterval="1h", target={"rolloutRestart": [{"kind": "Deployment", "name": "app"}]}
    )
    tenant.until_ready("web")

    tenant.api.delete("Secret", tenant.namespace, "web")
    tenant.until_data("web", {"KEY": "cnry-1"})
    tenant.ask("web")

    assert _generation(tenant) == 1


def test_a_workload_that_appears_later_does_not_hold_up_the_secret(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync(
        "web", refreshInterval="1h", target={"rolloutRestart": [{"kind": "Deployment", "name": "app"}]}
    )
    tenant.until_ready("web")
    tenant.project.store({"KEY": "cnry-2"})
    tenant.ask("web")
    (told,) = tenant.until_ready("web")["status"]["workloads"]
    assert told["missingSince"]
    assert told["dueSince"]

    created: Body = tenant.api.create(deployment(tenant.namespace, "app"))
    tenant.ask("web")

    assert created["metadata"]["generation"] == _generation(tenant)
    assert tenant.get("web")["status"]["workloads"] == [{"kind": "Deployment", "name": "app"}]
    assert tenant.data("web") == {"KEY": "cnry-2"}
