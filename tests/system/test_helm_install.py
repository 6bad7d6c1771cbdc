"""The chart as people meet it: installed by Helm on a cluster whose node runs its pods from the image.

The commands are those of the quick start, of docs/installing.md and of the notes that Helm prints.
"""

from __future__ import annotations

import base64
import json
import re
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import pkcs12

from keybearer.client import ClientOptions, Keybearer, UniversalAuth
from support.chart_values import VERSION_BEFORE
from support.java_keystores import read_jks
from support.pasted import Shell, blocks
from support.pod_logs import PodLogs
from support.real_nodes import add_volumes
from support.releases import RELEASE_SECONDS, Release
from support.secretsync_objects import decoded, namespace
from support.tcp_balancer import TcpBalancer
from tools.chart.rendering import ROOT
from tools.local.kube_api import Body, KubeApi
from tools.local.moto import Moto
from tools.local.waiting import PATIENCE_SECONDS, eventually
from tools.node.cluster import NodeCluster

# The first one waits for the release, whose image the pods run.
pytestmark = [pytest.mark.system, pytest.mark.timeout(RELEASE_SECONDS)]

_EXAMPLES = ROOT / "examples"
_QUICK_START = _EXAMPLES / "quickstart" / "README.md"
_INSTALLING = ROOT / "docs" / "installing.md"
_RELEASE_NAMESPACE, _DEMO = "keybearer", "demo"
_OPERATIONS = ROOT / "docs" / "operations.md"
_IMAGE = "registry.example.com/keybearer"
_STORE_REGION, _STORE_PATH = "eu-central-1", "/keybearer-demo/"
_PROJECT, _ENVIRONMENT = "keybearer-demo", "dev"
_KINDS = ("SecretSync", "AppConnection", "CertificateProfile")
_CRDS = ("secretsyncs.keybearer.dev", "appconnections.keybearer.dev", "certificateprofiles.keybearer.dev")
_PLANNED = {("SecretSync", "web-planned"): "Planned", ("CertificateProfile", "web-planned"): "PolicyViolated"}
"""They wait by design: for somebody's approval, and for a name that the policy allows."""
_CHANGED = "changed-in-the-service"
_KEPT = {"keybearer-service-root-key", "keybearer-service-admin"}
_FORWARDED = "kubectl -n keybearer port-forward service/keybearer-service 8443:443 &"


@dataclass(frozen=True, slots=True)
class _House:
    """A cluster with a node, somebody at a shell, and a cloud that pods reach at `store`."""

    api: KubeApi
    shell: Shell
    logs: PodLogs
    moto: Moto
    store: str

    def run(self, script: str, *, given: str = "") -> str:
        """Return what commands printed; with what the pods logged, where they fail."""
        try:
            return self.shell.run(script, given=given)
        except Exception as error:
            error.add_note(self.logs.told())
            raise

    @contextmanager
    def forwarding(self) -> Iterator[int]:
        """Yield the port at which the quick start's own command leads to the service; a free one."""
        process = self.shell.start(_FORWARDED.removesuffix(" &").replace("8443:443", ":443"))
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.match(r"Forwarding from 127\.0\.0\.1:(\d+) ->", line)
            assert found is not None, line
            yield int(found[1])
        finally:
            process.terminate()
            process.communicate()

    @contextmanager
    def quick_start(self) -> Iterator[list[str]]:
        """Yield the blocks of the quick start, while the command is at work that they leave running."""
        text = _QUICK_START.read_text()
        assert _FORWARDED in text
        with self.forwarding() as port:
            yield blocks(text.replace(_FORWARDED, "").replace("localhost:8443", f"localhost:{port}"))


@pytest.fixture
def house(
    tmp_path: Path,
    moto: Moto,
    fit_machine: None,  # noqa: ARG001 - which may skip
    released: Release,
) -> Iterator[_House]:
    moto.ask("fresh")
    with (
        NodeCluster() as cluster,
        KubeApi(cluster.plane.admin_kubeconfig) as api,
        PodLogs(cluster, _RELEASE_NAMESPACE) as logs,
        TcpBalancer([moto.url], cluster.address) as store,
    ):
        cluster.load(released.image, names=[f"{_IMAGE}:{version}" for version in _app_versions()])
        add_volumes(cluster, 3)
        # The pods meet the strictest standard, or they aren't made.
        api.create(namespace(_RELEASE_NAMESPACE, {"pod-security.kubernetes.io/enforce": "restricted"}))
        shell = Shell(tmp_path / "checkout", cluster.plane.admin_kubeconfig)
        yield _House(api, shell, logs, moto, store.url)


def test_the_quick_start_leads_to_an_installation_under_which_all_examples_reconcile(house: _House) -> None:
    _install(house)
    _fill_and_sync(house)
    secret = _secret_values(house)
    _apply_all_examples(house)
    _assert_examples(house)
    _change_a_value(house)
    _follow_the_notes(house)
    _remove_and_install_again(house)
    _remove_with_everything(house)
    _install_without_helm_at_the_cluster(house)
    _assert_not_told(house, {*secret, _CHANGED})


def test_an_upgrade_from_the_version_before_keeps_what_is_synced(house: _House) -> None:
    image = f"--set image.repository={_IMAGE}"
    house.run(f"helm install keybearer {VERSION_BEFORE} --namespace keybearer --wait {image}")
    _fill_and_sync(house)
    before, kept, secret = _identities(house), _chart_secrets(house), _files(house, "web-database")
    upgrade = "helm upgrade keybearer charts/keybearer --namespace keybearer --reset-then-reuse-values --wait"
    house.run(f"{upgrade} --set operator.workers=16")
    assert _workers(house) == "16"
    _assert_heals(house, "web-database")
    house.run("helm test keybearer --namespace keybearer")
    house.run("helm rollback keybearer --namespace keybearer --wait")
    assert _workers(house) == "32"
    _assert_heals(house, "web-database")
    found = _identities(house), _chart_secrets(house), _files(house, "web-database")
    assert found == (before, kept, secret)


def test_the_root_key_is_rotated_as_the_page_on_operations_says(house: _House) -> None:
    _install(house, replicas=1)
    with _administrator(house) as client:
        project = client.projects.create("my-shop", slug="my-shop").id
        client.secrets.create("DB_PASSWORD", "cnry-kept", project_id=project, environment="dev")
    first, later = blocks(_chapter(_OPERATIONS, "### The root key in a cluster"))
    made, former_pod = _root_keys(house), _service_pod(house)
    assert list(made.values()) == ["active"]
    house.run(first)
    brought = _until_rotated(house, made)
    pod = _service_pod(house)
    assert pod != former_pod
    # The second time nothing is restarted: the kubelet brings what the service reads, and soon, for the pod changes.
    house.run(later)
    house.run(f"kubectl -n {_RELEASE_NAMESPACE} annotate pod keybearer-service-0 looked-at=now")
    _until_rotated(house, brought)
    assert _service_pod(house) == pod
    with _administrator(house) as client:
        listed = client.secrets.list(project_id=project, environment="dev")
    assert [one.secret_value for one in listed] == ["cnry-kept"]
    key = house.api.get("Secret", _RELEASE_NAMESPACE, "keybearer-service-root-key")
    assert key["immutable"] is True
    assert not [name for name, text in house.logs.of_pods().items() if "cnry-" in text]


def test_a_backup_is_made_and_restored_as_the_page_on_operations_says(house: _House) -> None:
    _install(house, replicas=1)
    page = _OPERATIONS.read_text()
    _, backup, *_ = blocks(_chapter(_OPERATIONS, "## Back up"))
    _, restore, *_ = blocks(_chapter(_OPERATIONS, "## Restore"))
    (stop,) = re.findall(r"`(kubectl -n keybearer scale deployment/keybearer-operator --replicas=0)`", page)
    (start,) = re.findall(r"`(kubectl -n keybearer scale statefulset/keybearer-service --replicas=1)`", page)
    manifest = _chapter(_OPERATIONS, "### A pod for restoring").split("```")[1].removeprefix("yaml")
    (house.shell.directory / "restore-pod.yaml").write_text(manifest)
    with _administrator(house) as client:
        project = client.projects.create("my-shop", slug="my-shop").id
        client.secrets.create("BEFORE", "cnry-before", project_id=project, environment="dev")
    house.run(backup)
    size = (house.shell.directory / "backup.db").stat().st_size
    with _administrator(house) as client:
        client.secrets.create("AFTER", "cnry-after", project_id=project, environment="dev")
    house.run(stop)
    said = house.run(restore)
    assert f"Restored {size} bytes" in said
    house.run(start)
    house.run(
        f"kubectl -n keybearer rollout status statefulset/keybearer-service --timeout={PATIENCE_SECONDS:g}s"
    )
    with _administrator(house) as client:
        listed = client.secrets.list(project_id=project, environment="dev")
    assert {one.secret_key: one.secret_value for one in listed} == {"BEFORE": "cnry-before"}
    assert not [name for name, text in house.logs.of_pods().items() if "cnry-" in text]


# Steps


def _install(house: _House, *, replicas: int = 2) -> None:
    """Install by the first block of the quick start, with the address of a cloud of our own besides."""
    values = {
        "operator": {"replicas": replicas},
        "embeddedService": {"extraArgs": [f"--app-endpoint=cloud={house.store}"]},
    }
    (house.shell.directory / "values.json").write_text(json.dumps(values))
    command = blocks(_QUICK_START.read_text())[0]
    assert command.endswith("--wait\n")
    house.run(f"{command.rstrip()} --values values.json")


def _fill_and_sync(house: _House) -> None:
    """Follow the quick start up to the first Secret."""
    with house.quick_start() as pasted:
        _, prepare, sync, *_ = pasted
        house.run(prepare)
        house.run(sync)
    assert decoded(house.api.get("Secret", _DEMO, "web-database")) == _source(house)


def _apply_all_examples(house: _House) -> None:
    files = sorted(str(file.relative_to(ROOT)) for file in _EXAMPLES.rglob("*.yaml"))
    house.run(f"kubectl -n {_DEMO} apply {' '.join(f'-f {file}' for file in files)}")
    # As the example of the push says it, with the key of the store.
    key = house.moto.ask("user", name="keybearer", actions=["*"], partition="aws")
    literals = " ".join(f"--from-literal={name}={key[name]}" for name in ("accessKeyId", "secretAccessKey"))
    house.run(f"kubectl -n {_DEMO} create secret generic store-key {literals}")
    _until_settled(house)


def _assert_examples(house: _House) -> None:
    """Every target holds what its example says, made from the source in another way than the operator's."""
    root, shared, registry = (_source(house, path) for path in ("/", "/shared", "/registry"))
    expected: Mapping[str, Mapping[str, str]] = {
        "web-database": root,
        "web-retained": root,
        "web-restarting": root,
        "web-own": {"LOG_FORMAT": "json", "DB_USER": root["DB_USER"], "DB_PASSWORD": root["DB_PASSWORD"]},
        "web-settings": {
            **{name.removeprefix("DB_"): value for name, value in root.items()},
            "LOG_LEVEL": shared["LOG_LEVEL"],
            "CURRENCY": json.loads(shared["FEATURES"])["checkout"]["currency"],
        },
        "web-connection": {
            # The password is of letters that a URL holds as they are.
            "DATABASE_URL": f"postgresql://web:{root['DB_PASSWORD']}@{root['DB_HOST']}:5432/web",
            "settings.ini": f"[database]\nhost = {root['DB_HOST']}\nuser = {root['DB_USER']}\n",
        },
    }
    for name, data in expected.items():
        assert decoded(house.api.get("Secret", _DEMO, name)) == data, name
    pull = house.api.get("Secret", _DEMO, "registry")
    login = {"username": registry["REGISTRY_USER"], "password": registry["REGISTRY_PASSWORD"]}
    assert pull["type"] == "kubernetes.io/dockerconfigjson"
    assert json.loads(decoded(pull)[".dockerconfigjson"]) == {"auths": {registry["REGISTRY_HOST"]: login}}
    logging = house.api.get("ConfigMap", _DEMO, "web-logging")
    assert logging["data"] == {"LOG_LEVEL": shared["LOG_LEVEL"]}
    assert house.api.find("Secret", _DEMO, "web-planned") is None
    assert _pushed(house) == root
    _assert_certificates(house)


def _assert_certificates(house: _House) -> None:
    web = _files(house, "web-tls")
    leaf, authority = (x509.load_pem_x509_certificate(web[name]) for name in ("tls.crt", "ca.crt"))
    leaf.verify_directly_issued_by(authority)
    assert _names(leaf) == ["www.demo.example"]
    client = x509.load_pem_x509_certificate(_files(house, "billing-client")["tls.crt"])
    key = client.public_key()
    assert isinstance(key, rsa.RSAPublicKey)
    assert key.key_size == 3072
    stores = _files(house, "shop-keystores")
    _, inside, _ = pkcs12.load_key_and_certificates(stores["keystore.p12"], b"change-it")
    assert inside is not None
    assert _names(inside) == ["shop.demo.example"]
    (entry,) = read_jks(stores["keystore.jks"], "change-it")
    assert entry.alias == "shop"


def _change_a_value(house: _House) -> None:
    """Follow the end of the quick start; the workload that an example restarts is restarted."""
    before = _restarted_for(house)
    with house.quick_start() as pasted:
        house.run(pasted[3], given=_CHANGED)
    changed = {**_source(house), "DB_PASSWORD": _CHANGED}
    assert _source(house) == changed
    for name in ("web-database", "web-retained", "web-restarting"):
        _until_data(house, name, changed)
    eventually(
        lambda: _pushed(house) == changed, awaited="the changed value in the store", told=house.logs.told
    )
    eventually(lambda: _restarted_for(house) not in {"", before}, awaited="a restart of the workload")
    _until_settled(house)


def _follow_the_notes(house: _House) -> None:
    notes = house.run("helm get notes keybearer --namespace keybearer")
    commands = [line for block in blocks(notes) for line in block.splitlines()]
    told = [one for one in commands if one.startswith(("kubectl", "helm"))]
    assert len(told) == 6, notes
    for command in told:
        house.run(command)
    key = yaml.safe_load((house.shell.directory / "root-key.yaml").read_text())
    assert key["data"] == house.api.get("Secret", _RELEASE_NAMESPACE, "keybearer-service-root-key")["data"]
    assert "https://keybearer-service.keybearer.svc" in commands


def _remove_and_install_again(house: _House) -> None:
    """What is left on purpose is there, and the next release takes it up."""
    custom, kept, targets = _identities(house), _chart_secrets(house), _data_of_all(house)
    (remove,) = re.findall(
        r"`(helm uninstall keybearer [^`]* --wait --cascade foreground)`", _INSTALLING.read_text()
    )
    house.run(remove)
    assert (_identities(house), _data_of_all(house)) == (custom, targets)
    assert _chart_secrets(house) == {name: data for name, data in kept.items() if name in _KEPT}
    assert not house.api.list("Deployment", _RELEASE_NAMESPACE)
    _install(house, replicas=1)
    _assert_heals(house, "web-database")
    _until_settled(house)
    assert _identities(house) == custom
    assert _source(house)["DB_PASSWORD"] == _CHANGED


def _remove_with_everything(house: _House) -> None:
    """Follow the page on removing everything."""
    page = _INSTALLING.read_text().partition("## Removing")[2]
    _, with_all, _, the_rest = blocks(page)
    assert "deleteCustomResources=true" in with_all
    house.run(with_all)
    assert not _identities(house)
    ours = {
        "keybearer-identity",
        "keybearer-manager",
        "keybearer-issuer",
        "store-key",
        "shop-keystore-password",
    }
    # What an object owned is collected after it.
    eventually(
        lambda: (
            {one["metadata"]["name"] for one in house.api.list("Secret", _DEMO)}
            == {*ours, "web-own", "web-retained"}
        ),
        awaited="an end of all targets but those that stay",
    )
    assert decoded(house.api.get("Secret", _DEMO, "web-own")) == {"LOG_FORMAT": "json"}
    house.run(the_rest)
    kept = (house.api.list(kind, _RELEASE_NAMESPACE) for kind in ("Secret", "Lease"))
    assert not [one["metadata"]["name"] for listed in kept for one in listed]
    assert not house.run("kubectl get crd --output=name")


def _install_without_helm_at_the_cluster(house: _House) -> None:
    """Follow the page on rendering: what is applied again is taken, and keeps the keys."""
    page = _INSTALLING.read_text().partition("## Rendered without the cluster")[2]
    make, apply, *_ = blocks(page)
    house.run(make.replace("create namespace", "get namespace"))
    kept = _chart_secrets(house)
    assert kept.keys() == {*_KEPT, "keybearer-service-tls"}
    for _ in range(2):
        house.run(apply)
    for workload in ("statefulset/keybearer-service", "deployment/keybearer-operator"):
        house.run(
            f"kubectl -n {_RELEASE_NAMESPACE} rollout status {workload} --timeout={PATIENCE_SECONDS:g}s"
        )
    assert _chart_secrets(house) == kept
    assert "uninstall" not in house.run(
        f"kubectl -n {_RELEASE_NAMESPACE} get job,serviceaccount --output=name"
    )


def _assert_not_told(house: _House, secret: set[str]) -> None:
    """Nothing of it is in what the pods logged."""
    logs = house.logs.of_pods()
    assert {name.partition("-0")[0] for name in logs} >= {"keybearer-service", "keybearer-test"}
    assert not [name for name, text in logs.items() for value in secret if value in text]


# What is there


def _until_settled(house: _House) -> None:
    eventually(
        lambda: not _unsettled(house),
        awaited="a verdict on every object",
        told=lambda: str(_unsettled(house)),
    )


def _unsettled(house: _House) -> dict[str, str]:
    """Whoever isn't as its example says: Ready, or waiting for the reason that it tells of."""
    found = {}
    for kind in _KINDS:
        for one in house.api.list(kind, _DEMO):
            key = (kind, one["metadata"]["name"])
            ready = _ready(one)
            wanted = ("False", _PLANNED[key]) if key in _PLANNED else ("True", ready[1])
            if ready != wanted or one["status"].get("observedGeneration") != one["metadata"]["generation"]:
                found["/".join(key)] = ready[1]
    return found


def _ready(one: Body) -> tuple[str, str]:
    conditions = one.get("status", {}).get("conditions", [])
    return next(((at["status"], at["reason"]) for at in conditions if at["type"] == "Ready"), ("", ""))


def _restarted_for(house: _House) -> str:
    """What the workload of an example was restarted for; empty where it never was."""
    metadata = house.api.get("Deployment", _DEMO, "web")["spec"]["template"]["metadata"]
    return str(metadata.get("annotations", {}).get("keybearer.dev/restarted-for", ""))


def _assert_heals(house: _House, name: str) -> None:
    """An operator works: it mends a Secret that somebody edited."""
    before = decoded(house.api.get("Secret", _DEMO, name))
    spoilt = base64.b64encode(b"edited-by-hand").decode()
    house.api.patch("Secret", _DEMO, name, {"data": {"DB_PASSWORD": spoilt}})
    _until_data(house, name, before)


def _until_data(house: _House, name: str, data: Mapping[str, str]) -> None:
    eventually(
        lambda: decoded(house.api.get("Secret", _DEMO, name)) == data,
        awaited=f"Secret {name} as its source is",
        told=house.logs.told,
    )


def _identities(house: _House) -> dict[str, str]:
    """UIDs of all custom resources."""
    found = (one for kind in _KINDS for one in house.api.list(kind, _DEMO))
    return {f"{one['kind']}/{one['metadata']['name']}": one["metadata"]["uid"] for one in found}


def _chart_secrets(house: _House) -> dict[str, Mapping[str, str]]:
    """Data of the Secrets that the chart made."""
    listed = house.api.list("Secret", _RELEASE_NAMESPACE)
    return {
        one["metadata"]["name"]: one["data"]
        for one in listed
        if one["metadata"]["name"].startswith("keybearer-service")
    }


def _data_of_all(house: _House) -> dict[str, Any]:
    return {one["metadata"]["name"]: one["data"] for one in house.api.list("Secret", _DEMO)}


def _files(house: _House, name: str) -> dict[str, bytes]:
    data = house.api.get("Secret", _DEMO, name)["data"]
    return {key: base64.b64decode(value) for key, value in data.items()}


def _names(certificate: x509.Certificate) -> list[str]:
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return found.get_values_for_type(x509.DNSName)


def _pushed(house: _House) -> dict[str, str]:
    held: Mapping[str, Body] = house.moto.ask("parameters", region=_STORE_REGION)
    return {name.removeprefix(_STORE_PATH): one["value"] for name, one in held.items()}


def _workers(house: _House) -> str:
    """How many reconciles at once the operator's pods are told."""
    deployment = house.api.get("Deployment", _RELEASE_NAMESPACE, "keybearer-operator")
    args: list[str] = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    return args[args.index("--workers") + 1]


def _secret_values(house: _House) -> set[str]:
    """What nobody should be told: passwords of the source, and the administrator's."""
    admin = decoded(house.api.get("Secret", _RELEASE_NAMESPACE, "keybearer-service-admin"))
    source = _source(house), _source(house, "/registry")
    passwords = {value for one in source for name, value in one.items() if name.endswith("PASSWORD")}
    assert len(passwords) == 2
    return {*passwords, admin["clientSecret"]}


def _chapter(page: Path, heading: str) -> str:
    """What stands under a heading, up to the next one."""
    return re.split(r"^##", page.read_text().partition(f"\n{heading}\n")[2], maxsplit=1, flags=re.MULTILINE)[
        0
    ]


def _root_keys(house: _House) -> dict[str, str]:
    """States of the root keys by their ids, the latest first."""
    with _administrator(house) as client:
        return {one.id: str(one.state) for one in client.keys.status().root_keys}


def _until_rotated(house: _House, before: Mapping[str, str]) -> dict[str, str]:
    """A new root key wraps, and those of before are retired; all of them."""

    def is_over() -> bool:
        new, *others = _root_keys(house).items()
        return new[0] not in before and new[1] == "active" and others == [(one, "retired") for one in before]

    eventually(is_over, awaited="the rotation of the root key", told=house.logs.told)
    return _root_keys(house)


def _service_pod(house: _House) -> tuple[str, int]:
    """Which pod the service runs in, and how often it was started again there."""
    path = f"/api/v1/namespaces/{_RELEASE_NAMESPACE}/pods/keybearer-service-0"
    found = house.api.send("GET", path)
    return found["metadata"]["uid"], found["status"]["containerStatuses"][0]["restartCount"]


def _source(house: _House, path: str = "/") -> dict[str, str]:
    """What the service has in a folder, for its administrator."""
    with _administrator(house) as client:
        project = client.projects.get_by_slug(_PROJECT)
        listed = client.secrets.list(project_id=project.id, environment=_ENVIRONMENT, secret_path=path)
    return {one.secret_key: one.secret_value for one in listed}


@contextmanager
def _administrator(house: _House) -> Iterator[Keybearer]:
    """The service, for its administrator."""
    admin = decoded(house.api.get("Secret", _RELEASE_NAMESPACE, "keybearer-service-admin"))
    authority = decoded(house.api.get("Secret", _RELEASE_NAMESPACE, "keybearer-service-tls"))["ca.crt"]
    login = UniversalAuth(admin["clientId"], admin["clientSecret"])
    options = ClientOptions(ca_pem=authority.encode())
    with house.forwarding() as port, Keybearer(f"https://localhost:{port}", login, options=options) as client:
        yield client


def _app_versions() -> set[str]:
    """The versions that this chart and the one before ask for: both are given the image of today."""
    with tarfile.open(VERSION_BEFORE) as before:
        described = before.extractfile("keybearer/Chart.yaml")
        assert described is not None
        charts = (described.read(), (ROOT / "charts" / "keybearer" / "Chart.yaml").read_bytes())
    return {str(yaml.safe_load(chart)["appVersion"]) for chart in charts}
