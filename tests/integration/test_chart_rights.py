"""The rights of the chart are those that the parts use: none is missing, and none is too many.

A cluster writes down what operator, service and the hook of the removal ask of it, while they do all that they can
do, under exactly the chart's rules. Both ways are compared: what was asked for and refused or not covered, and what
is granted and was never asked for. So a rule that is taken away breaks this test, and a rule that is added as well.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.api_audit import AuditLog, Grant, grants_of
from support.canary import Canary
from support.cert_manager import install_cert_manager_crds
from support.certificate_objects import Certificates, certificate, certificates_of
from support.chart_values import SIGNERS
from support.connection_objects import MANAGER, Connections
from support.outlets import Outlets
from support.preloaded import PRELOADED
from support.secretsync_objects import config_map, deployment, identity_secret, namespace, secret
from support.service_proxy import ServiceProxy
from support.signing_objects import (
    certificate_request,
    pod_request,
    request_pem,
    signer_of,
    signing_request,
)
from support.tenant import Tenant, open_tenant
from tools.chart.rendering import NAMESPACE, Json, Manifest, only, pods_of, render
from tools.controlplane.commands import ApiServerOptions
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi, RefusedError
from tools.local.operator_cluster import OperatorCluster, install_operator
from tools.local.operator_process import OperatorProcess, keybearer_command
from tools.local.secrets_service import RestartableService, ServiceAdmin
from tools.local.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_HOST = "front.example.com"
_AUDIENCE = "keybearer.test"
_ORDERS = "/api/v1/cert-manager/certificates"
_DONE = "nothing is being deleted\n"
_WIDE, _EDGE = "wide", "edge"
_EDGE_RELEASE = "keybearer-edge"
_ON: Json = {"enabled": True}
_WIDE_VALUES: Mapping[str, Json] = {
    "operator": {"allowServiceAccountTokens": True, "signers": dict.fromkeys(SIGNERS, _ON)},
    "embeddedService": {"tokenReviews": {"enabled": True}},
    "uninstall": {"deleteCustomResources": True, "timeoutSeconds": 60},
}
_GRANT: Mapping[str, Json] = {
    "namespaceLabels": {"team": "edge"},
    "projectSlug": "shared",
    "environment": "dev",
}
_EDGE_VALUES: Mapping[str, Json] = {
    "operator": {
        "namespaces": [_EDGE],
        "clusterId": "edge",
        "allowServiceAccountTokens": True,
        "signers": {"certManager": _ON},
        "sharedIdentity": {"existingSecret": "shared"},
        "sharedGrants": [_GRANT],
    },
    "uninstall": {"deleteCustomResources": True, "timeoutSeconds": 60},
}
_OF_EVERYBODY = Grant("authorization.k8s.io/selfsubjectaccessreviews", "create")
"""Each account may ask what it may do itself, by a role of the API server's own."""
_CHECKED_BY_ADMISSION = {
    Grant("certificates.k8s.io/signers", verb, name="certificateprofiles.keybearer.dev/*")
    for verb in ("sign", "attest")
}
"""The API server asks the rules for these itself, when a certificate or a bundle is written: they are no requests."""


@dataclass(frozen=True, slots=True)
class _House:
    """A cluster that writes down what it is asked for, and a service with the rights that the chart gives it."""

    plane: ControlPlane
    api: KubeApi
    audit: AuditLog
    service: RestartableService
    admin: ServiceAdmin
    proxy: ServiceProxy
    outlets: Outlets


@pytest.fixture
def house(tmp_path: Path, canary: Canary) -> Iterator[_House]:
    audit = AuditLog(tmp_path / "audit.log")
    options = ApiServerOptions(extra_flags=audit.flags((NAMESPACE, _EDGE_RELEASE)))
    with ControlPlane(options) as plane, KubeApi(plane.admin_kubeconfig) as api:
        api.create(namespace(NAMESPACE))
        _apply(plane, [one for one in render(_WIDE_VALUES) if _is_right(one, "service")])
        mounted = tmp_path / "serviceaccount"
        mounted.mkdir()
        token = plane.kubectl("create", "token", "keybearer-service", f"--namespace={NAMESPACE}")
        (mounted / "token").write_text(token)
        (mounted / "ca.crt").write_bytes(plane.ca_pem)
        flags = [
            f"--service-account-dir={mounted}",
            f"--service-account-api={plane.server_url}",
            "--allow-outbound=127.0.0.0/8",
        ]
        with (
            RestartableService(tmp_path, flags=flags, launch=PRELOADED) as service,
            ServiceAdmin(service) as admin,
            ServiceProxy(service.url) as proxy,
        ):
            outlets = Outlets.from_now(api, [], [service])
            yield _House(plane, api, audit, service, admin, proxy, outlets)
            outlets.show_to(canary, {token.strip(), admin.login.client_secret})


def test_the_rights_of_the_chart_are_those_that_are_used(house: _House, tmp_path: Path) -> None:
    api, plane = house.api, house.plane
    assert _await_cleanup(plane.admin_kubeconfig).stdout == _DONE, (
        "without our kinds there is nothing to wait for"
    )
    install_cert_manager_crds(plane)
    cluster = install_operator(plane, api, _WIDE_VALUES)
    wide = _open(house, _WIDE)
    flags = [f"--service-url={house.proxy.url}", f"--api-audience={plane.server_url}", *cluster.lease_flags()]
    with _running(cluster, tmp_path, flags, "wide") as operator:
        certificates = _do_what_namespaces_ask(house, wide)
        _do_what_signers_do(house, certificates)
        _install_test_passes(house.service, operator)
        _remove(house, render(_WIDE_VALUES), NAMESPACE)
    edge_cluster, edge, more = _single_namespace(house, tmp_path)
    with _running(edge_cluster, tmp_path, [*more, *edge_cluster.lease_flags()], "edge"):
        _use_the_shared_identity(edge)
        _have_a_request_of_cert_manager_signed(house, _do_what_namespaces_ask(house, edge))
        _remove(house, render(_EDGE_VALUES, namespace=_EDGE_RELEASE), _EDGE_RELEASE)

    _assert_exact(house, render(_WIDE_VALUES), NAMESPACE, but=_CHECKED_BY_ADMISSION)
    _assert_exact(house, render(_EDGE_VALUES, namespace=_EDGE_RELEASE), _EDGE_RELEASE)
    _assert_signers_are_needed(house)


def _assert_exact(
    house: _House, manifests: list[Manifest], release: str, *, but: set[Grant] | None = None
) -> None:
    for account in ("operator", "service", "uninstall"):
        granted = grants_of(manifests, release, f"keybearer-{account}")
        asked = house.audit.asked_by(release, f"keybearer-{account}")
        assert not sorted(one for one in asked if not one.allowed), "asked for, and refused"
        beyond = [one for one in asked if not any(grant.allows(one) for grant in {*granted, _OF_EVERYBODY})]
        assert not sorted(beyond), "allowed by other rules than the chart's"
        idle = {grant for grant in granted if not any(grant.allows(one) for one in asked)}
        expected = (but or set()) if account == "operator" else set()
        assert sorted(idle) == sorted(expected), f"granted to {account}, and never asked for"


def _assert_signers_are_needed(house: _House) -> None:
    """Without the rule for signers, the API server refuses what the operator wrote with it."""
    plane, account = house.plane, "without-signers"
    role = only(render(_WIDE_VALUES), "ClusterRole", "-operator")
    rules = [dict(rule) for rule in role.mappings("rules") if rule["resources"] != ["signers"]]
    assert len(rules) == len(role.mappings("rules")) - 1
    named = {"metadata": {"name": account}}
    made: list[dict[str, Any]] = [
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account, "namespace": NAMESPACE}},
        {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", **named, "rules": rules},
    ]
    plane.kubectl("apply", "--filename=-", input="---\n".join(map(json.dumps, made)))
    bound = ("create", "clusterrolebinding", account, f"--clusterrole={account}")
    plane.kubectl(*bound, f"--serviceaccount={NAMESPACE}:{account}")
    signer = signer_of(_WIDE, "web")
    house.api.create(signing_request("unsigned", request_pem(_HOST), signer=signer))
    failed = {"type": "Failed", "status": "True", "reason": "Test", "message": "by the test"}
    bundle = {
        "apiVersion": "certificates.k8s.io/v1beta1",
        "kind": "ClusterTrustBundle",
        "metadata": {"name": f"{signer.replace('/', ':')}:test"},
        "spec": {"signerName": signer, "trustBundle": plane.ca_pem.decode()},
    }
    with KubeApi(plane.service_account_kubeconfig(NAMESPACE, account)) as unsigning:
        # The authorizer takes rules in from a watch of its own.
        eventually(lambda: _may_list(unsigning), awaited=f"the rights of {account}")
        with pytest.raises(RefusedError, match="not permitted to sign"):
            unsigning.patch(
                "CertificateSigningRequest",
                "",
                "unsigned",
                {"status": {"conditions": [failed]}},
                subresource="status",
            )
        with pytest.raises(RefusedError, match="not permitted to attest"):
            unsigning.create(bundle)


def _may_list(api: KubeApi) -> bool:
    try:
        api.list("ClusterTrustBundle")
    except RefusedError:
        return False
    return True


# What is done


def _do_what_namespaces_ask(house: _House, tenant: Tenant) -> Certificates:
    """Each kind of object, in each way that asks for another right."""
    certificates = certificates_of(tenant, house.admin)
    certificates.create("web", certificate("front"), defaults=_defaults())
    connections = _connections(house, tenant)
    connections.create("far")
    tenant.project.store({"KEY": "cnry-1"})
    _sync_in_every_way(tenant)
    _log_in_as_an_account(house, tenant)
    tenant.project.store({"KEY": "cnry-2"})
    for name in ("web", "file", "merged"):
        tenant.ask(name)
        tenant.until_ready(name)
    # The same Event twice is one whose count is raised.
    for _ in range(2):
        tenant.api.delete("Secret", tenant.namespace, "web")
        tenant.until_data("web", {"KEY": "cnry-2"})
    tenant.edit("web", target={"name": "renamed"})
    tenant.edit("file", target={"name": "renamed"})
    tenant.until_gone("Secret", "web")
    tenant.until_gone("ConfigMap", "file")
    connections.until_reason("far", "Connected")
    certificates.until_reason("web", "Issued")
    return certificates


def _sync_in_every_way(tenant: Tenant) -> None:
    where = tenant.namespace
    tenant.api.create(deployment(where, "app"))
    tenant.api.create(secret(where, "theirs", {"THEIRS": "cnry-theirs"}))
    tenant.api.create(config_map(where, "template", {"key": "{{ KEY }}"}))
    workloads = [{"kind": "Deployment", "name": "app"}]
    # Whoever patches what isn't there needs the right as well.
    workloads += [{"kind": kind, "name": "missing"} for kind in ("StatefulSet", "DaemonSet")]
    tenant.sync("web", target={"rolloutRestart": workloads})
    template = {"configMapRef": {"name": "template"}}
    tenant.sync("file", target={"kind": "ConfigMap", "name": "file", "template": template})
    tenant.sync("merged", target={"name": "theirs", "creationPolicy": "Merge"})
    for name in ("web", "file", "merged"):
        tenant.until_ready(name)


def _log_in_as_an_account(house: _House, tenant: Tenant) -> None:
    """Log in with a token that the operator mints, and that the service has reviewed."""
    identity_id = tenant.login.identity_id
    config = {
        "kubernetesHost": house.plane.server_url,
        "allowedNamespaces": tenant.namespace,
        "allowedNames": "default",
        "allowedAudience": _AUDIENCE,
    }
    house.admin.send("POST", f"/api/v1/auth/kubernetes-auth/identities/{identity_id}", config)
    known = {"identityId": identity_id, "audience": _AUDIENCE, "serviceAccountName": "default"}
    tenant.api.create(identity_secret(tenant.namespace, "by-account", known))
    tenant.sync("logged-in", identityRef={"name": "by-account"})
    tenant.until_ready("logged-in")


def _do_what_signers_do(house: _House, certificates: Certificates) -> None:
    """Sign for all who ask; somebody else writes their requests meanwhile, so that they are read again."""
    api, where = house.api, certificates.tenant.namespace
    signer = signer_of(where, "web")
    with house.proxy.holding(lambda asked: (asked.method, asked.path) == ("POST", _ORDERS)) as hold:
        api.create(signing_request("csr", request_pem(_HOST), signer=signer))
        house.plane.kubectl("certificate", "approve", "csr")
        api.create(pod_request(where, "pod", request_pem(), signer=signer))
        _ask_by_cert_manager(api, where)
        eventually(lambda: hold.count >= 3, awaited="an order for each of three requests")
        _touch(api, where)
        hold.release()
    eventually(
        lambda: api.get("CertificateSigningRequest", "", "csr")["status"].get("certificate"),
        awaited="a certificate for the user",
    )
    eventually(
        lambda: api.get("PodCertificateRequest", where, "pod")["status"].get("certificateChain"),
        awaited="a certificate for the pod",
    )
    _until_cert_manager_has_it(api, where)


def _have_a_request_of_cert_manager_signed(house: _House, certificates: Certificates) -> None:
    where = certificates.tenant.namespace
    with house.proxy.holding(lambda asked: (asked.method, asked.path) == ("POST", _ORDERS)) as hold:
        _ask_by_cert_manager(house.api, where)
        hold.wait_caught()
        house.api.patch("CertificateRequest", where, "cm", {"metadata": {"annotations": {"a": "b"}}})
        hold.release()
    _until_cert_manager_has_it(house.api, where)


def _ask_by_cert_manager(api: KubeApi, where: str) -> None:
    api.create(certificate_request(where, "cm", request_pem(_HOST), profile="web"))
    approval = {"type": "Approved", "status": "True", "reason": "Fine", "message": "by the test"}
    status = {"status": {"conditions": [approval]}}
    api.patch("CertificateRequest", where, "cm", status, subresource="status")


def _until_cert_manager_has_it(api: KubeApi, where: str) -> None:
    eventually(
        lambda: api.get("CertificateRequest", where, "cm").get("status", {}).get("certificate"),
        awaited="a certificate for cert-manager",
    )


def _touch(api: KubeApi, where: str) -> None:
    """Another version of each request, that asks for the same."""
    patch = {"metadata": {"annotations": {"a": "b"}}}
    for kind, at, name in (
        ("CertificateSigningRequest", "", "csr"),
        ("PodCertificateRequest", where, "pod"),
        ("CertificateRequest", where, "cm"),
    ):
        api.patch(kind, at, name, patch)


def _use_the_shared_identity(tenant: Tenant) -> None:
    tenant.sync("shared", identityRef=None, source={"projectSlug": "shared", "environment": "dev"})
    tenant.until_data("shared", {"SHARED": "cnry-shared"})


def _install_test_passes(service: RestartableService, operator: OperatorProcess) -> None:
    """What `helm test` runs finds both parts well."""
    _, script, *_ = only(pods_of(render()), "Pod", "-test").texts("spec", "containers", 0, "args")
    told = _python(script, service.url, operator.metrics_url)
    assert told.stdout == "the service answers, and one operator leads\n", told.stderr


def _remove(house: _House, manifests: list[Manifest], release: str) -> None:
    """What the hook before `helm uninstall` runs: all objects go, with all that they left anywhere."""
    _apply(house.plane, [one for one in manifests if _is_right(one, "uninstall")])
    kubeconfig = house.plane.service_account_kubeconfig(release, "keybearer-uninstall")
    arguments = only(pods_of(manifests), "Pod", "-uninstall").texts("spec", "containers", 0, "args")

    def run() -> bool:
        done = _await_cleanup(kubeconfig, *arguments[1:])
        if "403" in done.stderr or "forbidden" in done.stderr:
            return False  # the authorizer takes rules in from a watch of its own
        assert (done.returncode, done.stdout) == (0, _DONE), done.stderr
        return True

    eventually(run, awaited="the rights of the hook")
    for kind in ("SecretSync", "AppConnection", "CertificateProfile"):
        assert house.api.list(kind) == []
    assert house.api.list("ClusterTrustBundle") == []


def _await_cleanup(kubeconfig: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(keybearer_command()), "await-cleanup", *arguments, f"--kubeconfig={kubeconfig}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)


# What it is done with


def _open(house: _House, name: str) -> Tenant:
    project = house.admin.new_project(f"project-{name}")
    return open_tenant(house.api, name, project, house.admin.new_login(project.id))


def _single_namespace(house: _House, directory: Path) -> tuple[OperatorCluster, Tenant, list[str]]:
    """An operator for one namespace, which may use the shared identity by its labels."""
    house.api.create(namespace(_EDGE, {"team": "edge"}))
    cluster = install_operator(house.plane, house.api, _EDGE_VALUES, where=_EDGE_RELEASE)
    shared = house.admin.new_project("shared")
    shared.store({"SHARED": "cnry-shared"})
    folder = directory / "shared"
    folder.mkdir()
    for key, text in house.admin.new_login(shared.id).as_secret().items():
        (folder / key).write_text(text)
    grants = directory / "grants.json"
    grants.write_text(json.dumps([_GRANT]))
    flags = [f"--namespace={_EDGE}", "--cluster-id=edge", f"--service-url={house.proxy.url}"]
    flags += [
        f"--identity-dir={folder}",
        f"--shared-grants={grants}",
        f"--api-audience={house.plane.server_url}",
    ]
    return cluster, _open(house, _EDGE), flags


def _connections(house: _House, tenant: Tenant) -> Connections:
    """A connection from a project of the service to another one of the same service."""
    manager = house.admin.new_login(tenant.project.id, role="admin")
    tenant.api.create(identity_secret(tenant.namespace, MANAGER, manager.as_secret()))
    far = house.admin.new_project(f"far-{tenant.namespace}")
    login = house.admin.new_login(far.id, role="member")
    connections = Connections(tenant, far, login, house.service.url)
    connections.keep_login()
    return connections


def _defaults() -> Mapping[str, object]:
    return {
        "ttlDays": 30,
        "commonName": _HOST,
        "subjectAltNames": [{"type": "dns_name", "value": _HOST}],
        "keyUsages": ["digital_signature"],
        "extendedKeyUsages": ["server_auth"],
    }


@contextmanager
def _running(
    cluster: OperatorCluster, directory: Path, flags: Sequence[str], name: str
) -> Iterator[OperatorProcess]:
    """Yield an operator, which ends in good order afterwards."""
    operator = OperatorProcess(cluster.kubeconfig, directory, list(flags), name, launch=PRELOADED)
    operator.start()
    yield operator
    operator.terminate()


def _is_right(one: Manifest, component: str) -> bool:
    kinds = {"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
    labels = one.mapping("metadata", "labels")
    return one.kind in kinds and labels.get("app.kubernetes.io/component") == component


def _apply(plane: ControlPlane, manifests: Sequence[Manifest]) -> None:
    plane.kubectl("apply", "--filename=-", input="---\n".join(one.as_yaml() for one in manifests))


def _python(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script as the chart's pod does."""
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
