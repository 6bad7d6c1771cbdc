"""A replica of the service that is killed while clients and an operator use both: what was answered stays."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from chaos.replica_scene import ReplicaScene, Writers
from support.certificate_objects import certificate, certificates_of
from support.event_listener import EventListener
from support.preloaded import PRELOADED
from support.secretsync_objects import namespace
from support.tenant import open_tenant
from tools.chart.rendering import Json
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi
from tools.local.marks import find_mark
from tools.local.operator_cluster import install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.postgres import PostgresServer
from tools.local.secrets_service import ServiceAdmin
from tools.local.waiting import eventually

pytestmark = pytest.mark.deep

_NAMESPACE = "replicated"
_CERTIFICATES = 20
_SYNCS = 10
_CERTIFICATE_ROUTES = "/api/v1/cert-manager"

Record = Callable[[str, object], None]


@pytest.fixture
def scene(tmp_path: Path, postgres: PostgresServer) -> Iterator[ReplicaScene]:
    """Yield two replicas behind a balancer; neither has logged a value in the end."""
    with ReplicaScene(tmp_path, postgres) as made:
        yield made
        assert find_mark(made.logs()) is None


def test_what_was_answered_is_kept_and_told_when_a_replica_is_killed(
    scene: ReplicaScene, record_property: Record
) -> None:
    project = scene.admin.new_project("replicas")
    writer = scene.admin.new_login(project.id, role="member")
    token = scene.admin.new_token(writer)
    with (
        EventListener(scene.two.url, token, project.id) as stream,
        Writers(scene.balancer.url, token, project) as writers,
    ):
        writers.until_each_wrote(8)
        scene.one.kill()
        killed = time.monotonic()
        writers.until_each_wrote(8)
        scene.one.start()
        writers.until_each_wrote(4)
        answered = writers.answered()
        # The one that stays tells its stream of what was written through the other.
        stream.until(
            lambda: {write.key for write in answered} <= {place[-1] for place in stream.places},
            "an event of everything that was answered",
        )

    record_property("longest_gap_seconds", round(writers.longest_gap(killed), 2))
    assert writers.refusals == []
    assert min(scene.balancer.carried.values()) > 0
    tried = {write.key: write.value for write in writers.writes()}
    for replica in (scene.one, scene.two):
        kept = writers.kept(replica.url)
        assert {write.key: write.value for write in writers.answered()}.items() <= kept.items()
        # A write without an answer was made whole or not at all.
        assert kept.items() <= tried.items()
    assert scene.count("SELECT count(*) FROM alembic_version") == 1


@pytest.mark.integration
def test_an_operator_goes_on_and_orders_nothing_twice_when_a_replica_is_killed(
    scene: ReplicaScene, control_plane: ControlPlane, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        api = stack.enter_context(KubeApi(control_plane.admin_kubeconfig))
        api.create(namespace(_NAMESPACE))
        stack.callback(api.delete, "Namespace", "", _NAMESPACE)
        values: Mapping[str, Json] = {"operator": {"namespaces": [_NAMESPACE], "clusterId": "replicated"}}
        cluster = install_operator(control_plane, api, values, where="keybearer-replicated")
        flags = [f"--service-url={scene.balancer.url}", f"--namespace={_NAMESPACE}", "--no-leader-election"]
        flags += [f"--lease-namespace={cluster.namespace}", "--cluster-id=replicated"]
        operator = OperatorProcess(cluster.kubeconfig, tmp_path, flags, launch=PRELOADED)
        stack.callback(operator.kill)
        project = scene.admin.new_project("replicated")
        tenant = open_tenant(api, _NAMESPACE, project, scene.admin.new_login(project.id))
        certificates = certificates_of(tenant, scene.admin)
        project.store({"KEY": "cnry-1"})
        operator.start()
        for number in range(_SYNCS):
            tenant.sync(f"s{number}")
        for number in range(_SYNCS):
            tenant.until_ready(f"s{number}")

        certificates.create("web", *(certificate(f"c{number}") for number in range(_CERTIFICATES)))
        issued = "SELECT count(*) FROM certificates WHERE profile_id IS NOT NULL"
        eventually(lambda: scene.count(issued) > 0, awaited="a first certificate")
        scene.one.kill()
        admin = stack.enter_context(scene.new_admin())
        admin.send("PATCH", "/api/v4/secrets/KEY", _place(project.id, secretValue="cnry-2"))
        for number in range(_SYNCS):
            tenant.until_data(f"s{number}", {"KEY": "cnry-2"})
        certificates.until(
            "web",
            lambda found: found.get("status", {}).get("issued") == f"{_CERTIFICATES}/{_CERTIFICATES}",
            "all certificates",
        )
        scene.one.start()
        asked = replace(certificates, admin=admin).requests()
        assert Counter(one["commonName"] for one in asked) == {
            f"c{number}.example.com": 1 for number in range(_CERTIFICATES)
        }
        serials = {one["certificate"]["serialNumber"] for one in asked}
        assert serials == {certificates.stored(f"c{number}")[0].serial for number in range(_CERTIFICATES)}
        assert scene.count(issued) == _CERTIFICATES
        _revoke_at_both(scene, certificates.authority_id, [one["certificateId"] for one in asked])
        operator.terminate()
    assert find_mark(operator.log()) is None


def _revoke_at_both(scene: ReplicaScene, authority_id: str, certificate_ids: list[str]) -> None:
    """Half of them at each, all at once: both then have one list, with all of them."""
    with ServiceAdmin(scene.one) as one, ServiceAdmin(scene.one, scene.two.url) as two:

        def revoke(turn: int) -> None:
            path = f"{_CERTIFICATE_ROUTES}/certificates/{certificate_ids[turn]}/revoke"
            (one, two)[turn % 2].send("POST", path, {"revocationReason": "SUPERSEDED"})
            _lists((one, two)[turn % 2], authority_id)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(revoke, range(len(certificate_ids))))
        lists = [_lists(each, authority_id) for each in (one, two)]
    assert lists[0] == lists[1]
    (text,) = lists[0]
    assert len(x509.load_pem_x509_crl(text.encode())) == len(certificate_ids)


def _lists(admin: ServiceAdmin, authority_id: str) -> list[str]:
    answer: Any = admin.send("GET", f"{_CERTIFICATE_ROUTES}/ca/internal/{authority_id}/crls")
    return [str(one["crl"]) for one in answer]


def _place(project_id: str, **more: str) -> dict[str, str]:
    return {"projectId": project_id, "environment": "dev", "secretPath": "/", **more}
