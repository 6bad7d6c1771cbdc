"""The chart's package of the release, installed with its values as they are, and what workloads have of it."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from threading import Event

import httpx
import pytest

from support.helm_house import HelmHouse, open_house
from support.pasted import block_with, blocks, chapter, yaml_with
from support.proofs import Observe
from support.real_nodes import pod
from support.release_shell import RELEASE_NAMESPACE
from support.released_nodes import ReleasedNodes
from support.releases import RELEASE_SECONDS
from support.tenant import Tenant
from support.workloads import PORT, asking, deployment_of, service_of, until_available
from tools.chart.rendering import ROOT
from tools.local.kube_api import Body, KubeApi
from tools.local.waiting import PATIENCE_SECONDS, PROBE_SECONDS, eventually

# The first one waits for the release, whose image the pods run.
pytestmark = [pytest.mark.system, pytest.mark.timeout(RELEASE_SECONDS)]

_RELEASING = ROOT / "docs" / "releasing.md"
_OPERATIONS = ROOT / "docs" / "operations.md"
_PYTHON = "/opt/keybearer/bin/python"
_LOOK = """
import errno, json, os, pathlib, sys
lines = pathlib.Path("/proc/1/status").read_text().splitlines()
status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
refusals = {}
for place in ("/", "/opt/keybearer", "/etc", "/tmp"):
    try:
        (pathlib.Path(place) / "written").write_text("")
        refusals[place] = ""
    except OSError as error:
        refusals[place] = errno.errorcode[error.errno]
limits = [pathlib.Path("/sys/fs/cgroup") / name for name in ("memory.max", "memory/memory.limit_in_bytes")]
(limit,) = (int(path.read_text()) for path in limits if path.exists())
print(json.dumps({"status": status, "refusals": refusals, "limit": limit}))
"""
_OPERATORS = 2
_REPLICAS = 3
_LOOK_SECONDS = 0.05


@pytest.fixture(scope="module")
def house(released_nodes: ReleasedNodes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HelmHouse]:
    """The release, installed by the command of the page on releasing, on nodes that have its image."""
    with open_house(released_nodes, tmp_path_factory.mktemp("as-shipped")) as opened:
        version = released_nodes.release.version
        imported, install = block_with(_RELEASING, "images import dist/").splitlines()
        # The nodes took the same archive by the same program when they were made.
        assert f"images import dist/keybearer-{version}-" in imported
        opened.run(f"{install} --wait --timeout {PATIENCE_SECONDS:g}s")
        yield opened


def test_operator_and_service_are_ready_and_helm_test_passes(house: HelmHouse, observe: Observe) -> None:
    said = house.run("helm test keybearer --namespace keybearer")
    assert "Succeeded" in said
    pods = _pods(house)
    for name, one in pods.items():
        (status,) = one["status"]["containerStatuses"]
        assert (status["ready"], status["started"], status["restartCount"]) == (True, True, 0), name
        observe(f"{name}: ready {_seconds_to_ready(one):.0f} s after it was made")
    assert len(pods) == _OPERATORS + 1


def test_pods_have_no_more_rights_than_the_chart_gives_them(house: HelmHouse, observe: Observe) -> None:
    for name, one in _pods(house).items():
        (container,) = one["spec"]["containers"]
        seen = json.loads(
            house.nodes.cluster.plane.kubectl(
                *("exec", name, f"--namespace={RELEASE_NAMESPACE}", "--", _PYTHON, "-c", _LOOK)
            )
        )
        status = seen["status"]
        # 2: every system call goes through a filter (proc(5)).
        assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1"), name
        assert {status[of] for of in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}, name
        assert status["Uid"].split() == ["65532"] * 4, name
        assert status["Gid"].split() == ["65532"] * 4, name
        assert seen["refusals"] == {"/": "EROFS", "/opt/keybearer": "EROFS", "/etc": "EROFS", "/tmp": ""}  # noqa: S108 - of the container
        wanted = int(container["resources"]["limits"]["memory"].removesuffix("Mi").removesuffix("Gi"))
        unit = 2**30 if container["resources"]["limits"]["memory"].endswith("Gi") else 2**20
        assert seen["limit"] == wanted * unit, name
        observe(
            f"{name}: seccomp filter, no capability, user 65532, read-only root, {seen['limit'] >> 20} MiB"
        )


def test_a_deployment_mounts_a_secret_and_restarts_pod_by_pod_without_a_refused_request(
    house: HelmHouse, tenant: Tenant, observe: Observe
) -> None:
    cluster, space = house.nodes.cluster, tenant.namespace
    tenant.project.store({"PASSWORD": "cnry-first"})
    tenant.sync("web", target={"rolloutRestart": [{"kind": "Deployment", "name": "web"}]})
    tenant.until_ready("web")
    house.api.create(_web(space))
    cluster.plane.kubectl("create", "--filename=-", input=json.dumps(service_of(space, "web", 80, PORT)))
    until_available(cluster, space, "web")
    assert _shown(house, space) == {"cnry-first cnry-first"}
    with asking(cluster, space, f"http://web.{space}.svc") as client, _fewest_ready(house, space) as fewest:
        tenant.project.store({"PASSWORD": "cnry-second"})
        began = time.monotonic()
        eventually(
            lambda: "keybearer.dev/restarted-for" in _template(house, space).get("annotations", {}),
            awaited="a restart of the Deployment",
        )
        until_available(cluster, space, "web")
        took = time.monotonic() - began
        client.until_more()
        answers = client.answers()
    assert answers["refused"] == 0, answers
    assert _shown(house, space) == {"cnry-second cnry-second"}
    assert fewest == [_REPLICAS - 1]
    observe(
        f"{_REPLICAS} pods restarted in {took:.0f} s, never fewer than {fewest[0]} ready; "
        f"{answers['answered']} requests answered, {answers['refused']} refused"
    )


def test_the_root_key_is_rotated_as_the_page_on_operations_says(house: HelmHouse) -> None:
    with house.administrator() as client:
        project = client.projects.create("my-shop", slug="my-shop").id
        client.secrets.create("DB_PASSWORD", "cnry-kept", project_id=project, environment="dev")
    first, later = blocks(chapter(_OPERATIONS, "### The root key in a cluster"))
    made, former_pod = _root_keys(house), _service_pod(house)
    assert list(made.values()) == ["active"]
    house.run(first)
    brought = _until_rotated(house, made)
    pod = _service_pod(house)
    assert pod != former_pod
    # The second time nothing is restarted: the kubelet brings what the service reads, and soon, for the pod changes.
    house.run(later)
    house.run(f"kubectl -n {RELEASE_NAMESPACE} annotate pod keybearer-service-0 looked-at=now")
    _until_rotated(house, brought)
    assert _service_pod(house) == pod
    with house.administrator() as client:
        listed = client.secrets.list(project_id=project, environment="dev")
    assert [one.secret_value for one in listed] == ["cnry-kept"]
    key = house.api.get("Secret", RELEASE_NAMESPACE, "keybearer-service-root-key")
    assert key["immutable"] is True


def test_a_backup_is_made_and_restored_as_the_page_on_operations_says(house: HelmHouse) -> None:
    page = _OPERATIONS.read_text()
    _, backup, *_ = blocks(chapter(_OPERATIONS, "## Back up"))
    _, restore, *_ = blocks(chapter(_OPERATIONS, "## Restore"))
    (stop,) = re.findall(r"`(kubectl -n keybearer scale deployment/keybearer-operator --replicas=0)`", page)
    (start,) = re.findall(r"`(kubectl -n keybearer scale statefulset/keybearer-service --replicas=1)`", page)
    (house.shell.directory / "restore-pod.yaml").write_text(yaml_with(_OPERATIONS, "name: restore"))
    with house.administrator() as client:
        project = client.projects.create("restored-shop", slug="restored-shop").id
        client.secrets.create("BEFORE", "cnry-before", project_id=project, environment="dev")
    house.run(backup)
    size = (house.shell.directory / "backup.db").stat().st_size
    with house.administrator() as client:
        client.secrets.create("AFTER", "cnry-after", project_id=project, environment="dev")
    house.run(stop)
    said = house.run(restore)
    assert f"Restored {size} bytes" in said
    house.run(start)
    house.until_rolled_out("statefulset/keybearer-service")
    with house.administrator() as client:
        listed = client.secrets.list(project_id=project, environment="dev")
    assert {one.secret_key: one.secret_value for one in listed} == {"BEFORE": "cnry-before"}
    house.run(stop.replace("=0", f"={_OPERATORS}"))
    house.until_rolled_out("deployment/keybearer-operator")


def _web(space: str) -> Body:
    """Serves what it has of the Secret: the variable as it began, and the file as it is."""
    script = (
        'mkdir -p /tmp/www/cgi-bin && printf "%s" "$PASSWORD" > /tmp/www/environment '
        "&& ln -s /etc/secret/PASSWORD /tmp/www/file && touch /tmp/www/index.html "
        f"&& exec httpd -f -p {PORT} -h /tmp/www"
    )
    container = {
        "env": [
            {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "web", "key": "PASSWORD"}}},
        ],
        "volumeMounts": [
            {"name": "scratch", "mountPath": "/tmp"},  # noqa: S108 - of the container
            {"name": "secret", "mountPath": "/etc/secret", "readOnly": True},
        ],
        "readinessProbe": {"httpGet": {"path": "/", "port": PORT}, "periodSeconds": 1},
    }
    volumes = [{"name": "scratch", "emptyDir": {}}, {"name": "secret", "secret": {"secretName": "web"}}]
    # As process 1 the server has no mind for SIGTERM: it goes on answering until the grace is over, and by then
    # no node sends it anything.
    template = pod(
        space, "web", script, container=container, volumes=volumes, terminationGracePeriodSeconds=5
    )
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
    return deployment_of(template, _REPLICAS, strategy=strategy)


def _pods(house: HelmHouse) -> Mapping[str, Body]:
    """Those of operator and service, by name."""
    found = house.api.list("Pod", RELEASE_NAMESPACE)
    return {
        one["metadata"]["name"]: one
        for one in found
        if one["metadata"]["labels"].get("app.kubernetes.io/component") in {"operator", "service"}
    }


def _seconds_to_ready(one: Body) -> float:
    became = next(at for at in one["status"]["conditions"] if at["type"] == "Ready")["lastTransitionTime"]
    return (_instant(became) - _instant(one["metadata"]["creationTimestamp"])).total_seconds()


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _template(house: HelmHouse, space: str) -> Body:
    """Metadata of the pods that the Deployment makes."""
    found: Body = house.api.get("Deployment", space, "web")["spec"]["template"]["metadata"]
    return found


def _shown(house: HelmHouse, space: str) -> set[str]:
    """What each pod says of its variable and its file."""
    pods = [
        one
        for one in house.api.list("Pod", space)
        if one["metadata"]["labels"].get("app") == "web" and "deletionTimestamp" not in one["metadata"]
    ]
    assert len(pods) == _REPLICAS
    return {
        " ".join(_read(one["status"]["podIP"], place) for place in ("environment", "file")) for one in pods
    }


def _read(address: str, place: str) -> str:
    answer = httpx.get(f"http://{address}:{PORT}/{place}", timeout=PROBE_SECONDS, trust_env=False)
    return answer.raise_for_status().text


@contextmanager
def _fewest_ready(house: HelmHouse, space: str) -> Iterator[list[int]]:
    """Yield a list that holds, after the block, the smallest number of ready pods that its Deployment showed."""
    fewest, over = [_REPLICAS], Event()

    def look(api: KubeApi) -> None:
        while not over.wait(_LOOK_SECONDS):
            status = api.get("Deployment", space, "web")["status"]
            fewest[0] = min(fewest[0], status.get("readyReplicas", 0))

    with KubeApi(house.nodes.cluster.plane.admin_kubeconfig) as api, ThreadPoolExecutor(1) as thread:
        looking = thread.submit(look, api)
        try:
            yield fewest
        finally:
            over.set()
            looking.result()


def _root_keys(house: HelmHouse) -> dict[str, str]:
    """States of the root keys by their ids, the latest first."""
    with house.administrator() as client:
        return {one.id: str(one.state) for one in client.keys.status().root_keys}


def _until_rotated(house: HelmHouse, before: Mapping[str, str]) -> dict[str, str]:
    """A new root key wraps, and those of before are retired; all of them."""

    def is_over() -> bool:
        new, *others = _root_keys(house).items()
        return new[0] not in before and new[1] == "active" and others == [(one, "retired") for one in before]

    eventually(is_over, awaited="the rotation of the root key", told=house.logs.told)
    return _root_keys(house)


def _service_pod(house: HelmHouse) -> tuple[str, int]:
    """Which pod the service runs in, and how often it was started again there."""
    path = f"/api/v1/namespaces/{RELEASE_NAMESPACE}/pods/keybearer-service-0"
    found = house.api.send("GET", path)
    return found["metadata"]["uid"], found["status"]["containerStatuses"][0]["restartCount"]
