"""A release as people meet it, from its installation to its end, with all examples.

The commands are those of the quick start, of docs/installing.md and of the notes that Helm prints.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import pkcs12

from support.helm_house import DEMO, HelmHouse
from support.how_tos import follow_how_tos, pasted_store_key
from support.java_keystores import read_jks
from support.pasted import blocks
from support.proofs import Observe
from support.release_shell import RELEASE_NAMESPACE
from support.released_nodes import ReleasedNodes
from support.releases import RELEASE_SECONDS
from support.secretsync_objects import decoded
from support.tcp_balancer import TcpBalancer
from tools.chart.rendering import ROOT
from tools.local.kube_api import Body
from tools.local.moto import Moto
from tools.local.waiting import eventually

# The first one waits for the release, whose image the pods run.
pytestmark = [pytest.mark.system, pytest.mark.timeout(RELEASE_SECONDS)]

_EXAMPLES = ROOT / "examples"
_INSTALLING = ROOT / "docs" / "installing.md"
_STORE_REGION, _STORE_PATH = "eu-central-1", "/keybearer-demo/"
_PLANNED = {("SecretSync", "web-planned"): "Planned", ("CertificateProfile", "web-planned"): "PolicyViolated"}
"""They wait by design: for somebody's approval, and for a name that the policy allows."""
_CHANGED = "changed-in-the-service"
_KEPT = {"keybearer-service-root-key", "keybearer-service-admin"}


@dataclass(frozen=True, slots=True)
class _Cloud:
    """A cloud that pods reach.

    Attributes:
        moto: on this machine.
        url: where pods find it.
    """

    moto: Moto
    url: str


@pytest.fixture
def cloud(moto: Moto, released_nodes: ReleasedNodes) -> Iterator[_Cloud]:
    """A cloud with nothing in it."""
    moto.ask("fresh")
    with TcpBalancer([moto.url], released_nodes.cluster.address) as balancer:
        yield _Cloud(moto, balancer.url)


def test_the_quick_start_leads_to_an_installation_under_which_all_examples_reconcile(
    house: HelmHouse, cloud: _Cloud, observe: Observe
) -> None:
    house.install(_values(cloud))
    house.fill_and_sync()
    secret = _secret_values(house)
    _apply_all_examples(house, cloud)
    _assert_examples(house, cloud)
    _change_a_value(house, cloud)
    _follow_the_notes(house)
    _remove_and_install_again(house, cloud)
    commands = follow_how_tos(house)
    assert house.files("web-planned") == house.files("web-database")
    _remove_with_everything(house)
    _install_without_helm_at_the_cluster(house)
    _assert_not_told(house, {*secret, _CHANGED})
    observe(f"as pasted: the quick start, the notes, {commands} commands of how-tos, removing, rendering")


# Steps


def _values(cloud: _Cloud) -> dict[str, object]:
    """The cloud's address, which the pages can't know."""
    return {"embeddedService": {"extraArgs": [f"--app-endpoint=cloud={cloud.url}"]}}


def _apply_all_examples(house: HelmHouse, cloud: _Cloud) -> None:
    files = sorted(str(file.relative_to(ROOT)) for file in _EXAMPLES.rglob("*.yaml"))
    house.run(f"kubectl -n {DEMO} apply {' '.join(f'-f {file}' for file in files)}")
    key = cloud.moto.ask("user", name="keybearer", actions=["*"], partition="aws")
    lines = "".join(f"{name}={key[name]}\n" for name in ("accessKeyId", "secretAccessKey"))
    pasted_store_key(house, lines)
    _until_settled(house)


def _assert_examples(house: HelmHouse, cloud: _Cloud) -> None:
    """Every target holds what its example says, made from the source in another way than the operator's."""
    root, shared, registry = (house.source(path) for path in ("/", "/shared", "/registry"))
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
        assert decoded(house.api.get("Secret", DEMO, name)) == data, name
    pull = house.api.get("Secret", DEMO, "registry")
    login = {"username": registry["REGISTRY_USER"], "password": registry["REGISTRY_PASSWORD"]}
    assert pull["type"] == "kubernetes.io/dockerconfigjson"
    assert json.loads(decoded(pull)[".dockerconfigjson"]) == {"auths": {registry["REGISTRY_HOST"]: login}}
    logging = house.api.get("ConfigMap", DEMO, "web-logging")
    assert logging["data"] == {"LOG_LEVEL": shared["LOG_LEVEL"]}
    assert house.api.find("Secret", DEMO, "web-planned") is None
    assert _pushed(cloud) == root
    _assert_certificates(house)


def _assert_certificates(house: HelmHouse) -> None:
    web = house.files("web-tls")
    leaf, authority = (x509.load_pem_x509_certificate(web[name]) for name in ("tls.crt", "ca.crt"))
    leaf.verify_directly_issued_by(authority)
    assert _names(leaf) == ["www.demo.example"]
    client = x509.load_pem_x509_certificate(house.files("billing-client")["tls.crt"])
    key = client.public_key()
    assert isinstance(key, rsa.RSAPublicKey)
    assert key.key_size == 3072
    stores = house.files("shop-keystores")
    _, inside, _ = pkcs12.load_key_and_certificates(stores["keystore.p12"], b"change-it")
    assert inside is not None
    assert _names(inside) == ["shop.demo.example"]
    (entry,) = read_jks(stores["keystore.jks"], "change-it")
    assert entry.alias == "shop"


def _change_a_value(house: HelmHouse, cloud: _Cloud) -> None:
    """Follow the end of the quick start; the workload that an example restarts is restarted."""
    before = _restarted_for(house)
    with house.quick_start() as pasted:
        house.run(pasted[3], given=_CHANGED)
    changed = {**house.source(), "DB_PASSWORD": _CHANGED}
    assert house.source() == changed
    for name in ("web-database", "web-retained", "web-restarting"):
        house.until_data(name, changed)
    eventually(
        lambda: _pushed(cloud) == changed, awaited="the changed value in the store", told=house.logs.told
    )
    eventually(lambda: _restarted_for(house) not in {"", before}, awaited="a restart of the workload")
    _until_settled(house)


def _follow_the_notes(house: HelmHouse) -> None:
    notes = house.run("helm get notes keybearer --namespace keybearer")
    commands = [line for block in blocks(notes) for line in block.splitlines()]
    told = [one for one in commands if one.startswith(("kubectl", "helm"))]
    assert len(told) == 6, notes
    for command in told:
        house.run(command)
    key = yaml.safe_load((house.shell.directory / "root-key.yaml").read_text())
    assert key["data"] == house.api.get("Secret", RELEASE_NAMESPACE, "keybearer-service-root-key")["data"]
    assert "https://keybearer-service.keybearer.svc" in commands


def _remove_and_install_again(house: HelmHouse, cloud: _Cloud) -> None:
    """What is left on purpose is there, and the next release takes it up."""
    custom, kept, targets = house.identities(), house.chart_secrets(), _data_of_all(house)
    (remove,) = re.findall(
        r"`(helm uninstall keybearer [^`]* --wait --cascade foreground)`", _INSTALLING.read_text()
    )
    house.run(remove)
    assert (house.identities(), _data_of_all(house)) == (custom, targets)
    assert house.chart_secrets() == {name: data for name, data in kept.items() if name in _KEPT}
    assert not house.api.list("Deployment", RELEASE_NAMESPACE)
    house.install({**_values(cloud), "operator": {"replicas": 1}})
    house.assert_heals("web-database")
    _until_settled(house)
    assert house.identities() == custom
    assert house.source()["DB_PASSWORD"] == _CHANGED


def _remove_with_everything(house: HelmHouse) -> None:
    """Follow the page on removing everything."""
    page = _INSTALLING.read_text().partition("## Removing")[2]
    _, with_all, _, the_rest = blocks(page)
    assert "deleteCustomResources=true" in with_all
    house.run(with_all)
    assert not house.identities()
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
            {one["metadata"]["name"] for one in house.api.list("Secret", DEMO)}
            == {*ours, "web-own", "web-retained"}
        ),
        awaited="an end of all targets but those that stay",
    )
    assert decoded(house.api.get("Secret", DEMO, "web-own")) == {"LOG_FORMAT": "json"}
    house.run(the_rest)
    kept = (house.api.list(kind, RELEASE_NAMESPACE) for kind in ("Secret", "Lease"))
    assert not [one["metadata"]["name"] for listed in kept for one in listed]
    assert not house.run("kubectl get crd --output=name")


def _install_without_helm_at_the_cluster(house: HelmHouse) -> None:
    """Follow the page on rendering: what is applied again is taken, and keeps the keys."""
    page = _INSTALLING.read_text().partition("## Rendered without the cluster")[2]
    make, apply, *_ = blocks(page)
    house.run(make.replace("create namespace", "get namespace"))
    kept = house.chart_secrets()
    assert kept.keys() == {*_KEPT, "keybearer-service-tls"}
    for _ in range(2):
        house.run(apply)
    house.until_rolled_out("statefulset/keybearer-service", "deployment/keybearer-operator")
    assert house.chart_secrets() == kept
    assert "uninstall" not in house.run(
        f"kubectl -n {RELEASE_NAMESPACE} get job,serviceaccount --output=name"
    )


def _assert_not_told(house: HelmHouse, secret: set[str]) -> None:
    """Nothing of it is in what the pods logged."""
    logs = house.logs.of_pods()
    assert {name.partition("-0")[0] for name in logs} >= {"keybearer-service", "keybearer-test"}
    assert not [name for name, text in logs.items() for value in secret if value in text]


# What is there


def _until_settled(house: HelmHouse) -> None:
    eventually(
        lambda: not _unsettled(house),
        awaited="a verdict on every object",
        told=lambda: str(_unsettled(house)),
    )


def _unsettled(house: HelmHouse) -> dict[str, str]:
    """Whoever isn't as its example says: Ready, or waiting for the reason that it tells of."""
    found = {}
    for one in house.objects():
        key = (one["kind"], one["metadata"]["name"])
        ready = _ready(one)
        wanted = ("False", _PLANNED[key]) if key in _PLANNED else ("True", ready[1])
        if ready != wanted or one["status"].get("observedGeneration") != one["metadata"]["generation"]:
            found["/".join(key)] = ready[1]
    return found


def _ready(one: Body) -> tuple[str, str]:
    conditions = one.get("status", {}).get("conditions", [])
    return next(((at["status"], at["reason"]) for at in conditions if at["type"] == "Ready"), ("", ""))


def _restarted_for(house: HelmHouse) -> str:
    """What the workload of an example was restarted for; empty where it never was."""
    metadata = house.api.get("Deployment", DEMO, "web")["spec"]["template"]["metadata"]
    return str(metadata.get("annotations", {}).get("keybearer.dev/restarted-for", ""))


def _data_of_all(house: HelmHouse) -> dict[str, Any]:
    return {one["metadata"]["name"]: one["data"] for one in house.api.list("Secret", DEMO)}


def _names(certificate: x509.Certificate) -> list[str]:
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return found.get_values_for_type(x509.DNSName)


def _pushed(cloud: _Cloud) -> dict[str, str]:
    held: Mapping[str, Body] = cloud.moto.ask("parameters", region=_STORE_REGION)
    return {name.removeprefix(_STORE_PATH): one["value"] for name, one in held.items()}


def _secret_values(house: HelmHouse) -> set[str]:
    """What nobody should be told: passwords of the source, and the administrator's."""
    admin = decoded(house.api.get("Secret", RELEASE_NAMESPACE, "keybearer-service-admin"))
    source = house.source(), house.source("/registry")
    passwords = {value for one in source for name, value in one.items() if name.endswith("PASSWORD")}
    assert len(passwords) == 2
    return {*passwords, admin["clientSecret"]}
