"""A release takes the place of an earlier one with 200 live objects, and gives it back: nothing is written for it."""

from __future__ import annotations

import time
from collections.abc import Mapping

import httpx
import pytest

from support.chart_values import VERSION_BEFORE, app_version
from support.helm_house import HelmHouse
from support.installed_service import guest, reached_from_outside
from support.proofs import Observe
from support.real_nodes import pod
from support.release_shell import RELEASE_NAMESPACE
from support.released_nodes import PASTED_REPOSITORY
from support.releases import RELEASE_SECONDS, Release
from support.secretsync_objects import reason_of
from support.tenant import Tenant
from support.workloads import deployment_of, until_available
from tools.local.kube_api import Body
from tools.local.secrets_service import ServiceAdmin
from tools.local.waiting import eventually

# The first one waits for the release, whose image the pods run, and for an earlier one.
pytestmark = [pytest.mark.system, pytest.mark.timeout(2 * RELEASE_SECONDS)]

_OBJECTS = 200
_RESTARTED = 10
"""So many Deployments are restarted when their Secret changes; Helm's upgrade is no such change."""
_CHANGED, _FOLDER = "changed", "/changed"


def test_an_upgrade_with_200_objects_writes_no_secret_and_restarts_no_workload(
    house: HelmHouse, earlier_release: Release, observe: Observe
) -> None:
    nodes = house.nodes
    before = app_version(VERSION_BEFORE)
    nodes.cluster.load(earlier_release.image, names=[f"{PASTED_REPOSITORY}:{before}"])
    image = f"--set image.repository={PASTED_REPOSITORY}"
    house.run(f"helm install keybearer {VERSION_BEFORE} --namespace keybearer --wait {image}")
    with (
        reached_from_outside(house) as service,
        ServiceAdmin(service) as admin,
        guest(house, admin, "upgraded") as tenant,
    ):
        _fill(house, tenant)
        kept, since = house.chart_secrets(), house.api.version("Secret", tenant.namespace)
        former = _state(house, tenant)
        upgrade = (
            "helm upgrade keybearer charts/keybearer --namespace keybearer --reset-then-reuse-values --wait"
        )
        took = [_timed(house, f"{upgrade} --set operator.workers=16")]
        assert (_workers(house), _images(house)) == ("16", {f"{PASTED_REPOSITORY}:{nodes.release.version}"})
        _until_served(tenant, "cnry-upgraded")
        house.run("helm test keybearer --namespace keybearer")
        took.append(_timed(house, "helm rollback keybearer --namespace keybearer --wait"))
        assert (_workers(house), _images(house)) == ("32", {f"{PASTED_REPOSITORY}:{before}"})
        _until_served(tenant, "cnry-rolled-back")
        assert house.chart_secrets() == kept
        assert _state(house, tenant) == former
        written = [one["metadata"]["name"] for _, one in house.api.events("Secret", tenant.namespace, since)]
        # Only what was changed on purpose, to see each time that an operator works.
        assert sorted(written) == [_CHANGED] * 2
        observe(
            f"{_OBJECTS} SecretSyncs, {_RESTARTED} Deployments: upgrade {took[0]:.0f} s, rollback {took[1]:.0f} s; "
            "no Secret written, no workload changed, no pod replaced"
        )


def _fill(house: HelmHouse, tenant: Tenant) -> None:
    """All objects are in sync, and what uses their Secrets runs."""
    tenant.project.folder(_FOLDER)
    for path in ("/", _FOLDER):
        tenant.project.store({"PASSWORD": "cnry-first"}, path=path)
    tenant.sync(_CHANGED, source=tenant.source(secretPath=_FOLDER))
    names = [f"sync-{number}" for number in range(_OBJECTS - 1)]
    for name in names:
        restart = {"rolloutRestart": [{"kind": "Deployment", "name": name}]}
        tenant.sync(name, **({"target": restart} if name in names[:_RESTARTED] else {}))
    eventually(
        lambda: len(_in_sync(tenant)) == _OBJECTS,
        awaited=f"{_OBJECTS} SecretSyncs in sync",
        told=lambda: f"{len(_in_sync(tenant))} are; {house.logs.told()}",
    )
    for name in names[:_RESTARTED]:
        variable = {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": name, "key": "PASSWORD"}}}
        template = pod(tenant.namespace, name, "sleep infinity", container={"env": [variable]})
        house.api.create(deployment_of(template, 1))
    for name in names[:_RESTARTED]:
        until_available(house.nodes.cluster, tenant.namespace, name)


def _in_sync(tenant: Tenant) -> list[str]:
    listed = tenant.api.list("SecretSync", tenant.namespace)
    return [one["metadata"]["name"] for one in listed if reason_of(one) == "Synced"]


def _state(house: HelmHouse, tenant: Tenant) -> Mapping[str, object]:
    """What an upgrade must not change: the objects, the workloads, and their pods."""
    space = tenant.namespace
    listed = {kind: house.api.list(kind, space) for kind in ("SecretSync", "Deployment", "Pod")}
    assert len(listed["Pod"]) == _RESTARTED
    return {
        "objects": {(one["metadata"]["name"], one["metadata"]["uid"]) for one in listed["SecretSync"]},
        "workloads": {
            (one["metadata"]["name"], one["metadata"]["generation"]) for one in listed["Deployment"]
        },
        "pods": {
            (one["metadata"]["uid"], one["status"]["containerStatuses"][0]["restartCount"])
            for one in listed["Pod"]
        },
    }


def _until_served(tenant: Tenant, value: str) -> None:
    """Service and operator work: a value that is changed now is where it belongs."""
    eventually(lambda: _is_stored(tenant, value), awaited="a way to the service's new pod")
    tenant.until_data(_CHANGED, {"PASSWORD": value})
    eventually(lambda: len(_in_sync(tenant)) == _OBJECTS, awaited=f"{_OBJECTS} SecretSyncs in sync")


def _is_stored(tenant: Tenant, value: str) -> bool:
    try:
        tenant.project.store({"PASSWORD": value}, path=_FOLDER)
    except httpx.TransportError:
        return False  # the nodes learn of a pod a moment after it is ready
    return True


def _timed(house: HelmHouse, command: str) -> float:
    began = time.monotonic()
    house.run(command)
    return time.monotonic() - began


def _container(house: HelmHouse, kind: str, name: str) -> Body:
    path = f"/apis/apps/v1/namespaces/{RELEASE_NAMESPACE}/{kind}/{name}"
    found: Body = house.api.send("GET", path)["spec"]["template"]["spec"]["containers"][0]
    return found


def _workers(house: HelmHouse) -> str:
    """How many reconciles at once the operator's pods are told."""
    args: list[str] = _container(house, "deployments", "keybearer-operator")["args"]
    return args[args.index("--workers") + 1]


def _images(house: HelmHouse) -> set[str]:
    workloads = (("deployments", "keybearer-operator"), ("statefulsets", "keybearer-service"))
    return {str(_container(house, *one)["image"]) for one in workloads}
