"""`refreshMounts`: running pods that mount a target are annotated once for each change that their files show."""

from __future__ import annotations

import pytest

from support.tenant import Tenant
from tools.local.kube_api import Body
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_ANNOTATION = "keybearer.dev/mounts-refreshed-at"


def _pod(
    tenant: Tenant, name: str, *, keys: tuple[str, ...] = (), running: bool = True, **source: str
) -> None:
    """A pod that mounts a Secret or ConfigMap of that name; without a node, the test says that it runs."""
    ((kind, of),) = source.items()
    named = "secretName" if kind == "secret" else "name"
    items = [{"key": key, "path": key} for key in keys]
    tenant.api.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"namespace": tenant.namespace, "name": name},
            "spec": {
                "automountServiceAccountToken": False,
                "containers": [
                    {
                        "name": "app",
                        "image": "registry.example/app:1",
                        "volumeMounts": [{"name": "v", "mountPath": "/etc/app"}],
                    }
                ],
                "volumes": [{"name": "v", kind: {named: of, **({"items": items} if items else {})}}],
            },
        }
    )
    if running:
        tenant.api.patch(
            "Pod", tenant.namespace, name, {"status": {"phase": "Running"}}, subresource="status"
        )


def _annotated(tenant: Tenant, name: str) -> str | None:
    pod: Body = tenant.api.get("Pod", tenant.namespace, name)
    found: str | None = pod["metadata"].get("annotations", {}).get(_ANNOTATION)
    return found


def _until_annotated(tenant: Tenant, name: str, *, since: str | None = None) -> str:
    def another() -> str | None:
        found = _annotated(tenant, name)
        return found if found != since else None

    return eventually(another, awaited=f"another annotation of {name}")


def test_pods_whose_files_show_the_change_are_annotated_and_no_others(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1", "B": "cnry-1"})
    tenant.sync("web", refreshInterval="1h", target={"refreshMounts": True})
    tenant.until_ready("web")
    _pod(tenant, "all-keys", secret="web")
    _pod(tenant, "key-a", secret="web", keys=("A",))
    _pod(tenant, "key-b", secret="web", keys=("B",))
    _pod(tenant, "another", secret="another")
    _pod(tenant, "not-running", secret="web", running=False)

    tenant.project.store({"A": "cnry-2", "B": "cnry-1"})
    tenant.ask("web")

    first = _until_annotated(tenant, "all-keys")
    _until_annotated(tenant, "key-a")
    # The pods of one target are seen to together, so what isn't annotated by the next change wasn't by this one.
    tenant.project.store({"A": "cnry-3", "B": "cnry-1"})
    tenant.ask("web")
    _until_annotated(tenant, "all-keys", since=first)
    assert [_annotated(tenant, name) for name in ("key-b", "another", "not-running")] == [None] * 3


def test_a_change_that_no_file_shows_and_a_run_without_one_annotate_nothing(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web", refreshInterval="1h", target={"refreshMounts": True})
    tenant.until_ready("web")
    _pod(tenant, "app", secret="web")
    tenant.project.store({"A": "cnry-2"})
    tenant.ask("web")
    before = _until_annotated(tenant, "app")

    tenant.ask("web")
    tenant.edit("web", target={"labels": {"only": "metadata"}})
    tenant.until_ready("web")
    _pod(tenant, "later", secret="web")
    tenant.project.store({"B": "cnry-new"})
    tenant.ask("web")
    _until_annotated(tenant, "later")

    written = [_annotated(tenant, name) for name in ("app", "later")]
    assert written[0] == written[1] != before, "one annotation for the one change since"


def test_a_repair_shows_in_files_as_well(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web", refreshInterval="1h", target={"refreshMounts": True})
    tenant.until_ready("web")
    _pod(tenant, "app", secret="web")

    tenant.api.patch("Secret", tenant.namespace, "web", {"data": {"A": "ZWRpdGVk"}})
    tenant.until_data("web", {"A": "cnry-1"})

    _until_annotated(tenant, "app")


def test_config_maps_are_refreshed_too(tenant: Tenant) -> None:
    tenant.project.store({"LEVEL": "cnry-1"})
    tenant.sync("settings", refreshInterval="1h", target={"kind": "ConfigMap", "refreshMounts": True})
    tenant.until_ready("settings")
    _pod(tenant, "app", configMap="settings")

    tenant.project.store({"LEVEL": "cnry-2"})
    tenant.ask("settings")

    _until_annotated(tenant, "app")


def test_many_pods_are_all_annotated(tenant: Tenant) -> None:
    """More than are read one by one, and more than are annotated within a second."""
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web", refreshInterval="1h", target={"refreshMounts": True})
    tenant.until_ready("web")
    names = [f"app-{number}" for number in range(120)]
    for name in names:
        _pod(tenant, name, secret="web")

    tenant.project.store({"A": "cnry-2"})
    tenant.ask("web")

    for name in names:
        _until_annotated(tenant, name)
