"""What the chart runs before it is removed: it waits for objects that are being deleted, and names them."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from support.secretsync_objects import secret_sync
from tools.chart.rendering import Json, Manifest, only, pods_of, render
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import install_crds
from tools.local.operator_process import keybearer_command
from tools.local.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_RELEASE, _SERVED, _OTHER = "keybearer-removed", "removal-served", "removal-other"
_HOLD = "tests.keybearer.dev/hold"
_KEEPING: Mapping[str, Json] = {
    "operator": {"namespaces": [_SERVED], "clusterId": "one"},
    "uninstall": {"timeoutSeconds": 10},
}
_DELETING: Mapping[str, Json] = {
    "operator": {"namespaces": [_SERVED], "clusterId": "one"},
    "uninstall": {"timeoutSeconds": 10, "deleteCustomResources": True},
}


@pytest.fixture(scope="module")
def api(control_plane: ControlPlane) -> Iterator[KubeApi]:
    """The administrator of a cluster with two namespaces, of which a release serves one."""
    install_crds(control_plane)
    with KubeApi(control_plane.admin_kubeconfig) as api:
        for name in (_RELEASE, _SERVED, _OTHER):
            api.create_namespace(name)
        yield api
        for name in (_RELEASE, _SERVED, _OTHER):
            api.delete("Namespace", "", name)


@pytest.fixture(scope="module")
def account(control_plane: ControlPlane, api: KubeApi) -> Path:
    """A kubeconfig of the hook's ServiceAccount, with its rights to delete."""
    kinds = {"ServiceAccount", "Role", "RoleBinding"}
    rights = [
        one
        for one in render(_DELETING, namespace=_RELEASE)
        if one.kind in kinds and one.name.endswith("-uninstall")
    ]
    control_plane.kubectl("apply", "--filename=-", input="---\n".join(one.as_yaml() for one in rights))
    kubeconfig = control_plane.service_account_kubeconfig(_RELEASE, "keybearer-uninstall")
    # The authorizer takes rules in from a watch of its own; the program itself shows when it has.
    eventually(lambda: _run(_KEEPING, kubeconfig).returncode == 0, awaited="the rights of the hook")
    assert api.list("SecretSync", _SERVED) == []
    return kubeconfig


@pytest.fixture
def held(api: KubeApi) -> Iterator[str]:
    """Yield the name of a SecretSync in each namespace that can't go by itself."""
    for where in (_SERVED, _OTHER):
        body = secret_sync(where, "held", {"source": {"projectSlug": "some-project", "environment": "dev"}})
        body["metadata"]["finalizers"] = [_HOLD]
        api.create(body)
    yield "held"
    for where in (_SERVED, _OTHER):
        if api.find("SecretSync", where, "held") is not None:
            _release(api, where)
            api.delete("SecretSync", where, "held")


def _release(api: KubeApi, where: str) -> None:
    api.patch("SecretSync", where, "held", {"metadata": {"finalizers": None}})


def _command(values: Mapping[str, Json], kubeconfig: Path, *more: str) -> list[str]:
    """What the Job runs, as somebody outside the cluster."""
    pod: Manifest = only(pods_of(render(values, namespace=_RELEASE)), "Pod", "-uninstall")
    arguments = pod.texts("spec", "containers", 0, "args")
    return [str(keybearer_command()), *arguments, f"--kubeconfig={kubeconfig}", *more]


def _run(values: Mapping[str, Json], kubeconfig: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = _command(values, kubeconfig, *more)
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)


def test_what_stays_is_named_and_holds_nobody_up(account: Path, held: str) -> None:
    done = _run(_KEEPING, account)
    assert done.returncode == 0, done.stderr
    told = "nothing is being deleted; what stays needs an operator once more to go: "
    assert done.stdout == f"{told}SecretSync {_SERVED}/{held}\n"


def test_an_object_that_is_being_deleted_is_waited_for_and_named(
    api: KubeApi, account: Path, held: str
) -> None:
    api.delete("SecretSync", _SERVED, held)
    late = _run(_KEEPING, account, "--timeout=4")
    assert late.returncode == 1
    assert f"after 4 s, still being deleted: SecretSync {_SERVED}/{held}" in late.stderr
    with subprocess.Popen(_command(_KEEPING, account), stdout=subprocess.PIPE, text=True) as waiting:
        _release(api, _SERVED)
        told, _ = waiting.communicate(timeout=PATIENCE_SECONDS)
    assert (waiting.returncode, told) == (0, "nothing is being deleted\n")


def test_all_of_the_served_namespaces_and_nothing_else_is_deleted_where_that_is_asked_for(
    api: KubeApi, account: Path, held: str
) -> None:
    _release(api, _SERVED)
    done = _run(_DELETING, account)
    assert (done.returncode, done.stdout) == (0, "nothing is being deleted\n"), done.stderr
    assert api.find("SecretSync", _SERVED, held) is None
    assert "deletionTimestamp" not in api.get("SecretSync", _OTHER, held)["metadata"]
