"""Signers against a real API server: its admission, its validation, its rights, kinds that come and go."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from keybearer.base.backoff import Backoff
from keybearer.base.certificate_terms import KeyAlgorithm, RequestStatus
from keybearer.kube import list_watch, optional_watch
from keybearer.pki.certificates import parse_certificate, parse_certificates
from keybearer.pki.chains import verify_chain
from support.cert_manager import install_cert_manager_crds, remove_cert_manager_crds
from support.secretsync_objects import namespace
from support.signers_in_process import SignersInProcess, aside, signers_in_process, until
from support.signing_objects import certificate_request, pod_request, request_pem, signer_of, signing_request
from tools.controlplane.commands import ApiServerOptions
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import Body, KubeApi
from tools.local.operator_cluster import OperatorCluster, install_operator
from unit.controllers.fakes.signing_service import PROFILE_ID, PROJECT_ID, FakeSigningService, authority

pytestmark = pytest.mark.integration

_RELEASE = "keybearer-signers"
"""Other tests of the shared cluster make the chart's own namespace."""
_TEAM, _OTHER = "team-sign", "team-other"
_SIGNER = signer_of(_TEAM, "web")
_BUNDLE = f"{_SIGNER.replace('/', ':')}:ca-1"
_STATUS = {
    "profile": {"id": PROFILE_ID, "slug": "web", "caId": "ca-1"},
    "authorities": [{"key": "key-1", "anchors": parse_certificates(authority()[1])[-1].pem}],
}
_USAGES = ["digital signature", "server auth"]
_ANN = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: asks-for-certificates}
rules:
  - {apiGroups: [certificates.k8s.io], resources: [certificatesigningrequests], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: asks-for-certificates}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: asks-for-certificates}
subjects: [{kind: User, name: ann}, {kind: User, name: eve}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: signs-web, namespace: team-sign}
rules:
  - {apiGroups: [keybearer.dev], resources: [certificateprofiles], resourceNames: [web], verbs: [sign]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: signs-web, namespace: team-sign}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: signs-web}
subjects: [{kind: User, name: ann}]
"""


def _with_profiles(plane: ControlPlane, api: KubeApi) -> OperatorCluster:
    """A cluster with the operator's rights, two namespaces, and two users of whom one may sign."""
    installed = install_operator(plane, api, where=_RELEASE)
    for name in (_TEAM, _OTHER):
        api.create(namespace(name))
    plane.kubectl("apply", "--filename=-", input=_ANN)
    return installed


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[OperatorCluster]:
    """Yield the shared cluster, which is without cert-manager."""
    with KubeApi(control_plane.admin_kubeconfig) as api:
        yield _with_profiles(control_plane, api)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes and goes is looked for more often than others would like."""
    brief = Backoff(timedelta(seconds=0.05), timedelta(seconds=0.2))
    monkeypatch.setattr(optional_watch, "_LOOK_EVERY", timedelta(seconds=0.2))
    monkeypatch.setattr(list_watch, "_BACKOFF", brief)
    monkeypatch.setattr(list_watch, "_FORBIDDEN_BACKOFF", brief)


@pytest.fixture
def service() -> FakeSigningService:
    return FakeSigningService(lambda: datetime.now(UTC))


@pytest.fixture
def profile(cluster: OperatorCluster) -> Iterator[Body]:
    """Yield a profile that is ready."""
    yield _make_profile(cluster)
    cluster.api.delete("CertificateProfile", _TEAM, "web")
    # Signers that have ended clean nothing up.
    if cluster.api.find("CertificateProfile", _TEAM, "web") is not None:
        cluster.api.patch("CertificateProfile", _TEAM, "web", {"metadata": {"finalizers": None}})


def _make_profile(cluster: OperatorCluster) -> Body:
    spec = {"identityRef": {"name": "identity"}, "existing": True, "projectId": PROJECT_ID}
    meta = {"name": "web", "namespace": _TEAM}
    kind = {"apiVersion": "keybearer.dev/v1alpha1", "kind": "CertificateProfile"}
    cluster.api.create({**kind, "metadata": meta, "spec": spec})
    return cluster.api.patch("CertificateProfile", _TEAM, "web", {"status": _STATUS}, subresource="status")


def _condition(body: Body, kind: str) -> str | None:
    listed = body.get("status", {}).get("conditions", [])
    return next((one["reason"] for one in listed if one["type"] == kind and one["status"] == "True"), None)


def _ask(cluster: OperatorCluster, body: Body, user: str) -> None:
    cluster.plane.kubectl("create", "--filename=-", f"--as={user}", input=json.dumps(body))


def _csr(cluster: OperatorCluster, name: str) -> Body:
    return cluster.api.get("CertificateSigningRequest", "", name)


async def test_a_signing_request_is_signed_once_approved_for_a_user_who_may(
    cluster: OperatorCluster, service: FakeSigningService, profile: Body
) -> None:
    async with signers_in_process(cluster, service) as signers:
        signers.show(profile)
        pem = request_pem("web.example.com")
        name = "ann@example.com #1"  # the API server lets these names be
        body = signing_request(name, pem, signer=_SIGNER, spec={"expirationSeconds": 86_400})
        await aside(_ask, cluster, body, "ann")
        await _no_sign_of_life(cluster, name)
        assert service.orders == []

        await aside(cluster.plane.kubectl, "certificate", "approve", name)
        signed = await until(
            lambda: found if (found := _csr(cluster, name))["status"].get("certificate") else None,
            "a certificate",
        )

    chain = parse_certificates(base64.b64decode(signed["status"]["certificate"]).decode())
    assert len(chain) == 2
    assert [one["type"] for one in signed["status"]["conditions"]] == ["Approved"]
    assert len(service.orders) == 1
    assert service.orders[0].metadata["keybearer.dev/request"] == signed["metadata"]["uid"]


async def _no_sign_of_life(cluster: OperatorCluster, name: str) -> None:
    """Another request of a user without the right, which comes later and is refused, shows that time has passed."""
    after = f"{name}-after"
    await aside(_ask, cluster, signing_request(after, request_pem("x"), signer=_SIGNER), "eve")
    await aside(cluster.plane.kubectl, "certificate", "approve", after)
    await until(lambda: _condition(_csr(cluster, after), "Failed"), "a refusal")
    assert "certificate" not in _csr(cluster, name).get("status", {})


async def test_a_user_without_the_right_gets_nothing(
    cluster: OperatorCluster, service: FakeSigningService, profile: Body
) -> None:
    async with signers_in_process(cluster, service) as signers:
        signers.show(profile)
        await aside(_ask, cluster, signing_request("eve-1", request_pem("web"), signer=_SIGNER), "eve")
        await aside(cluster.plane.kubectl, "certificate", "approve", "eve-1")
        await until(lambda: _condition(_csr(cluster, "eve-1"), "Failed") == "SignNotAllowed", "a refusal")

    assert service.orders == []


async def test_a_denied_request_and_one_of_another_signer_are_left_alone(
    cluster: OperatorCluster, service: FakeSigningService, profile: Body
) -> None:
    async with signers_in_process(cluster, service) as signers:
        signers.show(profile)
        for name, signer in (("denied", _SIGNER), ("foreign", "example.com/team-sign.web")):
            await aside(_ask, cluster, signing_request(name, request_pem("web"), signer=signer), "ann")
        await aside(cluster.plane.kubectl, "certificate", "deny", "denied")
        await aside(cluster.plane.kubectl, "certificate", "approve", "foreign")
        await _no_sign_of_life(cluster, "denied")

    assert service.orders == []
    assert {
        one["type"] for name in ("denied", "foreign") for one in _csr(cluster, name)["status"]["conditions"]
    } == {
        "Denied",
        "Approved",
    }


@pytest.mark.parametrize("algorithm", [KeyAlgorithm.EC_P256, KeyAlgorithm.EC_P384, KeyAlgorithm.RSA_3072])
async def test_a_pods_request_is_signed_as_the_api_server_demands(
    cluster: OperatorCluster, service: FakeSigningService, profile: Body, algorithm: KeyAlgorithm
) -> None:
    name = f"pod-{algorithm.value.lower().replace('_', '-')}"
    async with signers_in_process(cluster, service) as signers:
        signers.show(profile)
        stub = request_pem(algorithm=algorithm)
        body = pod_request(_TEAM, name, stub, signer=_SIGNER, spec={"maxExpirationSeconds": 3600})
        await aside(cluster.api.create, body)
        found = await until(lambda: _pod(cluster, name, "Issued"), "a certificate")

    status = found["status"]
    leaf, *_ = parse_certificates(status["certificateChain"])
    begin, end = (datetime.fromisoformat(status[field]) for field in ("notBefore", "notAfter"))
    assert (begin, end) == (leaf.not_before, leaf.not_after)
    assert end - begin == timedelta(hours=1)


def _pod(cluster: OperatorCluster, name: str, kind: str, where: str = _TEAM) -> Body | None:
    found = cluster.api.get("PodCertificateRequest", where, name)
    return found if _condition(found, kind) else None


async def test_pods_of_other_namespaces_and_with_wishes_of_their_own_are_denied(
    cluster: OperatorCluster, service: FakeSigningService, profile: Body
) -> None:
    async with signers_in_process(cluster, service) as signers:
        signers.show(profile)
        wish = {"unverifiedUserAnnotations": {"example.com/name": "admin"}}
        for where, name, pem, spec in (
            (_OTHER, "stranger", request_pem(), {}),
            (_TEAM, "wisher", request_pem(), wish),
        ):
            await aside(cluster.api.create, pod_request(where, name, pem, signer=_SIGNER, spec=spec))
        await until(lambda: _pod(cluster, "stranger", "Denied", _OTHER), "a denial")
        await until(lambda: _pod(cluster, "wisher", "Denied"), "a denial")
        await aside(cluster.api.create, pod_request(_TEAM, "named", request_pem("admin"), signer=_SIGNER))
        await until(lambda: _pod(cluster, "named", "Failed"), "a refusal")

    assert service.orders == []


@pytest.mark.deep
async def test_a_pod_whose_certificate_comes_too_late_is_told_so(
    cluster: OperatorCluster, service: FakeSigningService, profile: Body
) -> None:
    service.status = RequestStatus.PENDING
    async with signers_in_process(cluster, service) as signers:
        signers.show(profile)
        await aside(cluster.api.create, pod_request(_TEAM, "late", request_pem(), signer=_SIGNER))
        await until(lambda: service.orders or None, "an order")
        service.decide(RequestStatus.FAILED, "nobody validated it")
        failed = await until(lambda: _pod(cluster, "late", "Failed"), "a refusal")

    assert failed["status"]["conditions"][0]["message"].endswith("nobody validated it")


async def test_the_authority_is_published_kept_and_taken_back_with_the_profile(
    cluster: OperatorCluster, service: FakeSigningService, profile: Body
) -> None:
    async with signers_in_process(cluster, service) as signers:
        signers.show(profile)
        bundle = await until(lambda: cluster.api.find("ClusterTrustBundle", "", _BUNDLE), "a bundle")
        (root,) = parse_certificates(bundle["spec"]["trustBundle"])
        assert root.is_self_issued
        assert bundle["spec"]["signerName"] == _SIGNER

        cluster.api.delete("ClusterTrustBundle", "", _BUNDLE)
        again = await until(lambda: cluster.api.find("ClusterTrustBundle", "", _BUNDLE), "the bundle again")
        assert again["metadata"]["uid"] != bundle["metadata"]["uid"]

        await until(lambda: _with_finalizer(cluster), "the finalizer")
        cluster.api.delete("CertificateProfile", _TEAM, "web")
        signers.show(cluster.api.get("CertificateProfile", _TEAM, "web"))
        await until(lambda: cluster.api.find("CertificateProfile", _TEAM, "web") is None, "its end")

    assert cluster.api.find("ClusterTrustBundle", "", _BUNDLE) is None


def _with_finalizer(cluster: OperatorCluster) -> Body | None:
    found = cluster.api.get("CertificateProfile", _TEAM, "web")
    return found if "keybearer.dev/trust-bundle" in found["metadata"].get("finalizers", []) else None


@pytest.mark.deep
async def test_cert_managers_kinds_may_come_go_and_come_again_while_the_rest_goes_on(
    cluster: OperatorCluster, service: FakeSigningService, profile: Body
) -> None:
    assert cluster.api.find("CertificateRequest", _TEAM, "any") is None
    async with signers_in_process(cluster, service) as signers:
        signers.show(profile)
        for turn in ("first", "second"):
            await aside(install_cert_manager_crds, cluster.plane)
            await _sign_for_cert_manager(cluster, signers, turn)
            await aside(remove_cert_manager_crds, cluster.plane)
            name = f"beside-{turn}"
            await aside(cluster.api.create, pod_request(_TEAM, name, request_pem(), signer=_SIGNER))
            await until(lambda name=name: _pod(cluster, name, "Issued"), "a pod's certificate")  # type: ignore[misc]

    assert len(service.orders) == 4


async def _sign_for_cert_manager(cluster: OperatorCluster, signers: SignersInProcess, name: str) -> None:
    del signers
    body = certificate_request(_TEAM, name, request_pem("web.example.com"), profile="web")
    await aside(cluster.api.create, body)
    approval = {"type": "Approved", "status": "True", "reason": "Fine", "message": "by the test"}
    await aside(
        cluster.api.patch,
        "CertificateRequest",
        _TEAM,
        name,
        {"status": {"conditions": [approval]}},
        subresource="status",
    )
    found = await until(
        lambda: (
            one
            if _condition(one := cluster.api.get("CertificateRequest", _TEAM, name), "Ready") == "Issued"
            else None
        ),
        "a certificate",
    )
    leaf, intermediate = parse_certificates(base64.b64decode(found["status"]["certificate"]).decode())
    root = parse_certificate(base64.b64decode(found["status"]["ca"]).decode())
    assert verify_chain(leaf, [intermediate], [root], datetime.now(UTC)) == (leaf, intermediate, root)
    assert _condition(found, "Approved") == "Fine"


_WITH_BETA = ApiServerOptions()
_NEXT_VERSION = ApiServerOptions(next_version=True)
_WITHOUT_BETA = ApiServerOptions(
    runtime_config={"certificates.k8s.io/v1beta1": False, "certificates.k8s.io/v1alpha1": False},
    feature_gates={
        "ClusterTrustBundle": False,
        "ClusterTrustBundleProjection": False,
        "PodCertificateRequest": False,
    },
)


@pytest.fixture(scope="module")
def bare_cluster() -> Iterator[OperatorCluster]:
    """Yield a cluster without cert-manager and without certificates.k8s.io/v1beta1."""
    with ControlPlane(_WITHOUT_BETA) as plane, KubeApi(plane.admin_kubeconfig) as api:
        yield _with_profiles(plane, api)


@pytest.mark.deep
async def test_beta_kinds_may_be_absent_come_and_go_while_the_rest_goes_on(
    bare_cluster: OperatorCluster, service: FakeSigningService
) -> None:
    made = _make_profile(bare_cluster)
    assert bare_cluster.api.find("PodCertificateRequest", _TEAM, "any") is None
    assert bare_cluster.api.find("ClusterTrustBundle", "", "any") is None
    async with signers_in_process(bare_cluster, service) as signers:
        signers.show(made)
        await _sign_for_ann(bare_cluster, "ann-without")

        await aside(bare_cluster.plane.restart_api_server, _WITH_BETA)
        await aside(bare_cluster.api.create, pod_request(_TEAM, "pod", request_pem(), signer=_SIGNER))
        await until(lambda: _pod(bare_cluster, "pod", "Issued"), "a pod's certificate")
        await until(lambda: bare_cluster.api.find("ClusterTrustBundle", "", _BUNDLE), "a bundle")
        await until(lambda: _with_finalizer(bare_cluster), "the finalizer")
        await _sign_for_ann(bare_cluster, "ann-with")

        await aside(bare_cluster.plane.restart_api_server, _WITHOUT_BETA)
        await _sign_for_ann(bare_cluster, "ann-without-again")
        # What can't be looked for is no reason to hold the profile.
        bare_cluster.api.delete("CertificateProfile", _TEAM, "web")
        signers.show(bare_cluster.api.get("CertificateProfile", _TEAM, "web"))
        await until(lambda: bare_cluster.api.find("CertificateProfile", _TEAM, "web") is None, "its end")

    assert len(service.orders) == 4


@pytest.mark.deep
async def test_an_api_server_of_the_next_version_needs_no_beta_to_sign_for_pods_and_to_publish(
    service: FakeSigningService,
) -> None:
    with ControlPlane(_NEXT_VERSION) as plane, KubeApi(plane.admin_kubeconfig) as api:
        cluster = _with_profiles(plane, api)
        _assert_v1_alone(cluster)
        made = _make_profile(cluster)
        async with signers_in_process(cluster, service) as signers:
            signers.show(made)
            await _sign_for_pod(cluster, "pod", version="v1")
            bundle = await until(lambda: api.find("ClusterTrustBundle", "", _BUNDLE), "a bundle")
            assert bundle["apiVersion"] == "certificates.k8s.io/v1"
            wish = {"unverifiedUserAnnotations": {"example.com/name": "admin"}}
            body = pod_request(_TEAM, "wisher", request_pem(), signer=_SIGNER, spec=wish, version="v1")
            await aside(api.create, body)
            await until(lambda: _pod(cluster, "wisher", "Denied"), "a denial")
            assert signers.versions() == {
                "CertificateRequest": "none",
                "CertificateSigningRequest": "v1",
                "ClusterTrustBundle": "v1",
                "PodCertificateRequest": "v1",
            }

    assert len(service.orders) == 1


@pytest.mark.deep
async def test_running_signers_follow_an_upgrade_of_the_api_server(service: FakeSigningService) -> None:
    with ControlPlane(_WITH_BETA) as plane, KubeApi(plane.admin_kubeconfig) as api:
        cluster = _with_profiles(plane, api)
        made = _make_profile(cluster)
        async with signers_in_process(cluster, service) as signers:
            signers.show(made)
            await _sign_for_pod(cluster, "before", version="v1beta1")
            before = await until(lambda: api.find("ClusterTrustBundle", "", _BUNDLE), "a bundle")
            await until(lambda: _with_finalizer(cluster), "the finalizer")
            assert signers.versions()["PodCertificateRequest"] == "v1beta1"
            service.status = RequestStatus.PENDING
            await aside(api.create, pod_request(_TEAM, "open", request_pem(), signer=_SIGNER))
            await until(lambda: len(service.orders) == 2, "an order")

            await aside(plane.restart_api_server, _NEXT_VERSION)
            _assert_v1_alone(cluster)
            await until(lambda: set(signers.versions().values()) == {"none", "v1"}, "a look")
            assert service.cancelled == [], "a request that was under way is asked for still"
            service.decide(RequestStatus.ISSUED)
            await until(lambda: _pod(cluster, "open", "Issued"), "a certificate")
            service.status = RequestStatus.ISSUED
            await _sign_for_pod(cluster, "after", version="v1")
            kept = await aside(api.get, "ClusterTrustBundle", "", _BUNDLE)
            assert kept["metadata"]["uid"] == before["metadata"]["uid"]

            api.delete("CertificateProfile", _TEAM, "web")
            signers.show(api.get("CertificateProfile", _TEAM, "web"))
            await until(lambda: api.find("CertificateProfile", _TEAM, "web") is None, "its end")
        assert api.find("ClusterTrustBundle", "", _BUNDLE) is None

    assert len(service.orders) == 3


def _assert_v1_alone(cluster: OperatorCluster) -> None:
    served = cluster.plane.kubectl("api-versions").split()
    assert [one for one in served if one.startswith("certificates.k8s.io/")] == ["certificates.k8s.io/v1"]


async def _sign_for_pod(cluster: OperatorCluster, name: str, *, version: str) -> None:
    body = pod_request(_TEAM, name, request_pem(), signer=_SIGNER, version=version)
    await aside(cluster.api.create, body)
    found = await until(lambda: _pod(cluster, name, "Issued"), "a pod's certificate")
    assert found["apiVersion"] == f"certificates.k8s.io/{version}"


async def _sign_for_ann(cluster: OperatorCluster, name: str) -> None:
    await aside(_ask, cluster, signing_request(name, request_pem("web.example.com"), signer=_SIGNER), "ann")
    await aside(cluster.plane.kubectl, "certificate", "approve", name)
    await until(lambda: _csr(cluster, name)["status"].get("certificate"), "a certificate")
