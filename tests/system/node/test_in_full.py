"""The release with PostgreSQL, two replicas of operator and service, all signers and monitoring."""

from __future__ import annotations

import json
import re
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Event

import httpx
import pytest
import yaml

from keybearer.base.certificate_terms import NameType
from keybearer.pki.certificates import parse_certificates
from keybearer.pki.chains import verify_chain
from keybearer.pki.names import AlternativeName
from support.certificate_objects import Certificates, certificates_of
from support.chart_values import SIGNERS
from support.helm_house import HelmHouse, open_house
from support.monitoring_crds import install_monitoring_crds
from support.outer_postgres import DATABASE_URL, lead_to_database, outer_postgres
from support.pasted import block_with, yaml_with
from support.proofs import Observe
from support.real_nodes import pod, until_ready
from support.release_shell import RELEASE_NAMESPACE
from support.released_nodes import PASTED_REPOSITORY, ReleasedNodes
from support.releases import RELEASE_SECONDS
from support.secretsync_objects import decoded
from support.tenant import Tenant
from support.tls_workloads import TLS_PORT, shaking_hands, tls_server
from support.workloads import PORT, service_of
from tools.chart.rendering import ROOT
from tools.local.kube_api import Body, KubeApi
from tools.local.secrets_service import ServiceAdmin, SourceProject
from tools.local.waiting import PATIENCE_SECONDS, PROBE_SECONDS, eventually

# The first one waits for the release, whose image the pods run.
pytestmark = [pytest.mark.system, pytest.mark.timeout(RELEASE_SECONDS)]

_DOCS = ROOT / "docs"
_VALUES = {
    "operator": {
        "signers": {name: {"enabled": True} for name in SIGNERS},
        "refreshMounts": {"enabled": True},
    },
    "monitoring": {
        "serviceMonitor": {"enabled": True},
        "prometheusRule": {"enabled": True},
        "dashboard": {"enabled": True},
    },
}
_STAY = "sleep infinity"
_SYNCS = 10
_CHANGES = 10
_OWN_PACE_SECONDS = 15.0
"""A kubelet looks once a minute, at moments that are spread over it: ten times in a row within this is no chance."""
_PAUSE_SECONDS = 0.2


@pytest.fixture(scope="module")
def house(released_nodes: ReleasedNodes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HelmHouse]:
    """The release, installed by the command of the page on installing."""
    directory, cluster = tmp_path_factory.mktemp("in-full"), released_nodes.cluster
    with (
        outer_postgres(cluster.address, directory) as (port, authority),
        open_house(released_nodes, directory) as opened,
    ):
        install_monitoring_crds(cluster.plane)
        lead_to_database(cluster, port)
        (opened.shell.directory / "postgres-ca.pem").write_bytes(authority.read_bytes())
        (opened.shell.directory / "values.json").write_text(json.dumps(_VALUES))
        install = block_with(_DOCS / "installing.md", DATABASE_URL)
        assert install.count("replicas=3") == 1
        install = install.replace("replicas=3", "replicas=2").rstrip()
        opened.run(f"{install} --values values.json --wait --timeout {PATIENCE_SECONDS:g}s")
        yield opened


@pytest.fixture
def certificates(tenant: Tenant, admin: ServiceAdmin) -> Certificates:
    return certificates_of(tenant, admin, [f"web.{tenant.namespace}.svc", f"pods.{tenant.namespace}.svc"])


def test_two_operators_and_two_services_are_ready_and_scraped_and_helm_test_passes(
    house: HelmHouse, observe: Observe
) -> None:
    house.run("helm test keybearer --namespace keybearer")
    operators, services = (_pods(house, component) for component in ("operator", "service"))
    assert (len(operators), len(services)) == (2, 2)
    leading = [_metric(one, 8081, "keybearer_leader") for one in operators]
    assert sorted(leading) == [0, 1]
    # How many connections a replica has depends on who came to it; that it tells is what a scrape needs.
    in_flight = [_metric(one, 9090, "keybearer_server_requests_in_flight") for one in services]
    assert len(in_flight) == len(services)
    wanted = ("servicemonitors", "prometheusrules", "configmaps --selector=grafana_dashboard=1")
    made = {one: house.run(f"kubectl -n keybearer get {one} --output=name") for one in wanted}
    assert all(made.values()), made
    observe(
        "one of two operators leads; all four pods tell their metrics; ServiceMonitor, rules and dashboard are there"
    )


def test_a_tls_server_takes_up_a_renewed_certificate_without_a_refused_handshake(
    house: HelmHouse, certificates: Certificates, observe: Observe
) -> None:
    cluster, space = house.nodes.cluster, certificates.tenant.namespace
    host, image = f"web.{space}.svc", f"{PASTED_REPOSITORY}:{house.nodes.release.version}"
    attributes = {"commonName": host, "altNames": [{"value": host}], "ttl": "30d"}
    wanted = {"name": "web", "secretName": "web-tls", "refreshMounts": True, "attributes": attributes}
    certificates.create("web", wanted)
    certificates.until_reason("web", "Issued")
    (first, *_) = certificates.stored("web-tls")
    for manifest in (tls_server(space, "web", image, "web-tls"), service_of(space, "web", 443, TLS_PORT)):
        cluster.plane.kubectl("create", "--filename=-", input=json.dumps(manifest))
    until_ready(cluster, space, "web")
    with shaking_hands(cluster, space, image, "web-tls", host, 443) as client:
        assert client.answers().keys() == {_word(first.serial)}
        renew = block_with(_DOCS / "certificates.md", "keybearer.dev/request=renew")
        began = time.monotonic()
        house.run(renew.replace("annotate certificateprofile", f"-n {space} annotate certificateprofile"))
        second = eventually(
            lambda: next(
                (one for one in certificates.stored("web-tls")[:1] if one.serial != first.serial), None
            ),
            awaited="a renewed certificate in the Secret",
        )
        stored = time.monotonic() - began
        eventually(
            lambda: client.answers()[_word(second.serial)], awaited="a handshake with the renewed certificate"
        )
        shown = time.monotonic() - began
        client.until_more()
        answers = client.answers()
    assert answers.keys() == {_word(first.serial), _word(second.serial)}, answers
    observe(
        f"renewed in the Secret after {stored:.1f} s, in handshakes after {shown:.1f} s; "
        f"{answers.total()} handshakes under {host}, none refused"
    )


def test_a_changed_value_is_in_a_mounted_file_before_the_kubelet_looks_by_itself(
    house: HelmHouse, tenant: Tenant, observe: Observe
) -> None:
    # tests/system/test_refreshed_mounts.py takes a hundred, beside a pod without it.
    space = tenant.namespace
    tenant.project.store({"NUMBER": "cnry-0"})
    tenant.sync("web", target={"refreshMounts": True})
    tenant.until_ready("web")
    tenant.until_updates("web")
    volumes = [{"name": "secret", "secret": {"secretName": "web"}}]
    mount = {"volumeMounts": [{"name": "secret", "mountPath": "/etc/secret", "readOnly": True}]}
    script = f"exec httpd -f -p {PORT} -h /etc/secret"
    house.api.create(pod(space, "web", script, volumes=volumes, container=mount))
    until_ready(house.nodes.cluster, space, "web")
    address = house.api.get("Pod", space, "web")["status"]["podIP"]
    taken = []
    for number in range(1, _CHANGES + 1):
        began = time.monotonic()
        tenant.project.store({"NUMBER": f"cnry-{number}"})
        _until_shown(f"http://{address}:{PORT}/NUMBER", f"cnry-{number}")
        taken.append(time.monotonic() - began)
    assert max(taken) < _OWN_PACE_SECONDS, taken
    observe(f"{_CHANGES} changes: median {statistics.median(taken):.2f} s, at most {max(taken):.2f} s")


def test_a_pod_gets_a_certificate_of_its_own_as_a_projected_volume(
    house: HelmHouse, certificates: Certificates, observe: Observe
) -> None:
    cluster, space = house.nodes.cluster, certificates.tenant.namespace
    host = f"pods.{space}.svc"
    certificates.create(
        "web",
        defaults={
            "ttlDays": 30,
            "commonName": host,
            "subjectAltNames": [{"type": "dns_name", "value": host}],
            "keyUsages": ["digital_signature"],
            "extendedKeyUsages": ["server_auth"],
        },
    )
    shown = yaml_with(_DOCS / "signers.md", "podCertificate:")
    volumes = yaml.safe_load(shown.replace("team-a.web", f"{space}.web"))["volumes"]
    mount = {"volumeMounts": [{"name": "identity", "mountPath": "/etc/identity", "readOnly": True}]}
    began = time.monotonic()
    house.api.create(pod(space, "certified", _STAY, volumes=volumes, container=mount))
    until_ready(cluster, space, "certified")
    took = time.monotonic() - began
    files = (
        "set -e; cat /etc/identity/ca.crt; echo and; sed -n '/BEGIN CERT/,$p' /etc/identity/credentials.pem"
    )
    said = cluster.plane.kubectl("exec", "certified", f"--namespace={space}", "--", "sh", "-c", files)
    trusted, _, held = said.partition("and\n")
    leaf, *above = parse_certificates(held)
    verify_chain(leaf, above, list(parse_certificates(trusted)), datetime.now(UTC))
    assert leaf.alternative_names == (AlternativeName(NameType.DNS_NAME, host),)
    (asked,) = house.api.list("PodCertificateRequest", space)
    assert asked["spec"]["podName"] == "certified"
    observe(
        f"running {took:.1f} s after it was made, with a certificate for {host} and the bundle that verifies it"
    )


def test_draining_the_leaders_node_moves_the_lease_and_nothing_is_written_twice(
    house: HelmHouse, tenant: Tenant, observe: Observe
) -> None:
    tenant.project.store({"NUMBER": "cnry-0"})
    names = [tenant.sync(f"web-{index}") for index in range(_SYNCS)]
    for name in names:
        tenant.until_ready(name)
        tenant.until_updates(name)
    places = {one["metadata"]["name"]: one["spec"]["nodeName"] for one in _pods(house, "operator")}
    assert len(set(places.values())) == len(places), "the replicas are on one node"
    leader = _leader(house)
    node = places[leader]
    since = house.api.version("Secret", tenant.namespace)
    with _uncordoned(house, node):
        with _changes(tenant.project) as made:
            began = time.monotonic()
            house.run(f"kubectl drain {node} --ignore-daemonsets --delete-emptydir-data --force")
            drained = time.monotonic() - began
            eventually(lambda: _leader(house) not in {"", leader}, awaited="another holder of the Lease")
            moved = time.monotonic() - began
            before = len(made)
            eventually(lambda: len(made) > before + 2, awaited="changes after the Lease had moved")
        last = made[-1]
        for name in names:
            tenant.until_data(name, {"NUMBER": f"cnry-{last}"})
        written = _numbers(house.api, tenant.namespace, since)
    assert written.keys() == set(names)
    for name, numbers in written.items():
        assert numbers == sorted(set(numbers)), (
            f"{name} was written twice, or with an older value after a newer"
        )
        assert numbers[-1] == last
    house.until_rolled_out("deployment/keybearer-operator", "deployment/keybearer-service")
    writes = sum(map(len, written.values()))
    observe(
        f"{node} drained in {drained:.0f} s, the Lease had moved by then or {max(0.0, moved - drained):.0f} s later; "
        f"{len(made)} changes of the source made {writes} writes of {_SYNCS} Secrets, none twice"
    )


def _pods(house: HelmHouse, component: str) -> list[Body]:
    return [
        one
        for one in house.api.list("Pod", RELEASE_NAMESPACE)
        if one["metadata"]["labels"].get("app.kubernetes.io/component") == component
        and "deletionTimestamp" not in one["metadata"]
    ]


def _until_shown(url: str, text: str) -> None:
    eventually(lambda: _text(url) == text, awaited="the changed value in the mounted file")


def _text(url: str) -> str:
    return httpx.get(url, timeout=PROBE_SECONDS, trust_env=False).raise_for_status().text


def _metric(one: Body, port: int, name: str) -> float:
    """The sum of a metric over its labels, as a pod tells it; it fails where the pod doesn't."""
    address = one["status"]["podIP"]
    told = _text(f"http://{address}:{port}/metrics")
    lines = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", told, re.MULTILINE)
    assert lines, f"{one['metadata']['name']} has no metric {name}"
    return sum(map(float, lines))


def _word(serial: str) -> str:
    return f"serial-{int(serial, 16)}"


def _leader(house: HelmHouse) -> str:
    """The pod that holds the Lease; empty where none does."""
    held = house.api.get("Lease", RELEASE_NAMESPACE, "keybearer-operator")["spec"].get("holderIdentity") or ""
    return next(
        (name for one in _pods(house, "operator") if (name := str(one["metadata"]["name"])) in held), ""
    )


@contextmanager
def _uncordoned(house: HelmHouse, node: str) -> Iterator[None]:
    """The node takes pods again after the block."""
    try:
        yield
    finally:
        house.run(f"kubectl uncordon {node}")


@contextmanager
def _changes(project: SourceProject) -> Iterator[list[int]]:
    """Yield the numbers that were stored so far, one after the other; none is stored after the block."""
    made, over = list[int](), Event()

    def change() -> None:
        while not over.wait(_PAUSE_SECONDS):
            number = made[-1] + 1 if made else 1
            try:
                project.store({"NUMBER": f"cnry-{number}"})
            except httpx.TransportError:
                # A replica of the service went with its node; the same number is stored again.
                continue
            made.append(number)

    with ThreadPoolExecutor(1) as thread:
        changing = thread.submit(change)
        try:
            yield made
        finally:
            over.set()
            changing.result()


def _numbers(api: KubeApi, namespace: str, since: str) -> dict[str, list[int]]:
    """What was written to each Secret since, in its order."""
    found: dict[str, list[int]] = {}
    for what, one in api.events("Secret", namespace, since):
        assert what == "MODIFIED"
        number = int(decoded(one)["NUMBER"].removeprefix("cnry-"))
        found.setdefault(one["metadata"]["name"], []).append(number)
    return found
