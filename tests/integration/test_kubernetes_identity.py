"""An identity that logs in as a ServiceAccount of its namespace: operator, service and API server together."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import pytest

from support.canary import Canary
from support.command_line import CommandLine
from support.outlets import Outlets
from support.preloaded import PRELOADED
from support.secretsync_objects import identity_secret, namespace, reason_of
from support.service_reviews import install_with_reviews, mount_account
from support.tenant import IDENTITY, Tenant, open_tenant
from tools.chart.rendering import Json
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import Body, KubeApi
from tools.local.operator_cluster import OperatorCluster
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin

pytestmark = pytest.mark.integration

_AUDIENCE = "keybearer.test"


@dataclass(frozen=True)
class Release:
    """A release of one test, and the namespace that its operator serves."""

    installed: OperatorCluster
    name: str
    served: str
    values: dict[str, Json]


@dataclass(frozen=True)
class House:
    """An operator and a service, each with the rights that the chart gives it when asked, and a tenant."""

    service: RestartableService
    admin: ServiceAdmin
    tenant: Tenant
    line: CommandLine
    """Runs `keybearer` as an administrator of the service."""
    reviewer: Path
    """A file with a token that may review others."""


@pytest.fixture
def release(control_plane: ControlPlane) -> Iterator[Release]:
    mark = token_hex(4)
    served = f"kubernetes-identity-{mark}"
    values: dict[str, Json] = {
        "operator": {"namespaces": [served], "clusterId": "one", "allowServiceAccountTokens": True},
        "embeddedService": {"tokenReviews": {"enabled": True}},
    }
    with KubeApi(control_plane.admin_kubeconfig) as api:
        api.create(namespace(served))
        name = f"kb-{mark}"
        installed = install_with_reviews(control_plane, api, values, where=name)
        control_plane.kubectl("create", "serviceaccount", "web", f"--namespace={served}")
        yield Release(installed, name, served, values)
        api.delete("Namespace", "", served)


@pytest.fixture
def house(control_plane: ControlPlane, release: Release, tmp_path: Path, canary: Canary) -> Iterator[House]:
    account = mount_account(control_plane, release.values, tmp_path, where=release.name)
    with (
        RestartableService(tmp_path, flags=account.flags, launch=PRELOADED) as service,
        ServiceAdmin(service) as admin,
    ):
        operator_flags = [f"--service-url={service.url}", "--api-audience=https://kubernetes.default.svc"]
        operator = OperatorProcess(
            release.installed.kubeconfig,
            tmp_path,
            [*operator_flags, f"--namespace={release.served}", *release.installed.lease_flags()],
            launch=PRELOADED,
        )
        project = admin.new_project("kubernetes-identity")
        login = admin.new_login(project.id)
        tenant = open_tenant(release.installed.api, release.served, project, login)
        operator.start()
        outlets = Outlets.from_now(release.installed.api, [operator], [service])
        outlets.namespaces.append(release.served)
        line = CommandLine(
            tmp_path,
            {
                "KEYBEARER_URL": service.url,
                "KEYBEARER_CLIENT_ID": admin.login.client_id,
                "KEYBEARER_CLIENT_SECRET": admin.login.client_secret,
            },
        )
        reviewer = tmp_path / "reviewer-token"
        reviewer.write_text(account.token)
        try:
            yield House(service, admin, tenant, line, reviewer)
            outlets.show_to(canary, {login.client_secret, admin.login.client_secret, account.token})
        finally:
            operator.terminate()


def test_a_secret_is_synced_with_the_token_of_a_service_account_and_nothing_else(
    house: House, control_plane: ControlPlane
) -> None:
    tenant, identity_id = house.tenant, house.tenant.login.identity_id
    config = {
        "kubernetesHost": control_plane.server_url,
        "allowedNamespaces": tenant.namespace,
        "allowedNames": "web",
        "allowedAudience": _AUDIENCE,
    }
    house.admin.send("POST", f"/api/v1/auth/kubernetes-auth/identities/{identity_id}", config)
    tenant.project.store({"DB_PASSWORD": "cnry-db-password"})
    assert tenant.secret(IDENTITY) is not None
    known = {"identityId": identity_id, "audience": _AUDIENCE}
    for name, account in (("by-account", "web"), ("by-another", "default")):
        tenant.api.create(identity_secret(tenant.namespace, name, {**known, "serviceAccountName": account}))
    unattached = house.admin.new_login(tenant.project.id).identity_id
    for name, held in (
        ("unattached", {**known, "identityId": unattached, "serviceAccountName": "web"}),
        (
            "of-the-api-server",
            {**known, "serviceAccountName": "web", "audience": "https://kubernetes.default.svc"},
        ),
        ("no-account", {**known, "serviceAccountName": "wbe"}),
    ):
        tenant.api.create(identity_secret(tenant.namespace, name, held))
        tenant.sync(name, identityRef={"name": name}, target={"name": f"{name}-target"})

    tenant.sync("web", identityRef={"name": "by-account"})
    tenant.sync("other", identityRef={"name": "by-another"})

    tenant.until_data("web", {"DB_PASSWORD": "cnry-db-password"})
    tenant.until_ready("web")
    told = tenant.until_reason("other", "CredentialsRejected")["status"]["diagnosis"]
    assert told["command"] == f"keybearer identities kubernetes-auth show {identity_id}"
    assert tenant.secret("other") is None

    # Each mistake is told with what mends it, and nothing of client secrets.
    told = tenant.until_reason("unattached", "CredentialsRejected")["status"]["diagnosis"]
    assert told["turn"] == "ServiceAdministrator"
    assert told["command"] == (
        f"keybearer identities kubernetes-auth attach {unattached} --host HOST --namespace {tenant.namespace} "
        "--service-account SERVICE_ACCOUNT --audience AUDIENCE"
    )
    told = tenant.until_reason("of-the-api-server", "IdentityInvalid")["status"]["diagnosis"]
    assert told["about"] == "Secret of-the-api-server, key audience"
    missing = tenant.until_reason("no-account", "IdentityInvalid", saying="create the ServiceAccount")
    told = missing["status"]["diagnosis"]
    assert told["command"] == f"kubectl -n {tenant.namespace} create serviceaccount wbe"
    house.admin.send("POST", f"/api/v1/auth/kubernetes-auth/identities/{unattached}", config)
    tenant.request("unattached")
    tenant.until_ready("unattached")


def test_a_reviewers_token_that_does_not_work_is_replaced_by_the_command_of_the_diagnosis(
    house: House, control_plane: ControlPlane
) -> None:
    tenant, identity_id = house.tenant, house.tenant.login.identity_id
    config = {
        "kubernetesHost": control_plane.server_url,
        "caCert": control_plane.ca_pem.decode(),
        "allowedNamespaces": tenant.namespace,
        "allowedNames": "web",
        "allowedAudience": _AUDIENCE,
        "tokenReviewerJwt": "cnry-no-reviewer",
    }
    settings = f"/api/v1/auth/kubernetes-auth/identities/{identity_id}"
    house.admin.send("POST", settings, config)
    tenant.project.folder("/mail")
    tenant.project.store({"USER": "cnry-user"}, path="/mail")
    held = {"identityId": identity_id, "serviceAccountName": "web", "audience": _AUDIENCE}
    tenant.api.create(identity_secret(tenant.namespace, "by-account", held))
    tenant.sync(
        "mail",
        identityRef={"name": "by-account"},
        source=tenant.source(secretPath="/mail"),
        refreshInterval="1h",
    )
    before = tenant.until_reason("mail", "ServiceRefused", saying="doesn't accept the reviewer's token")
    told = before["status"]["diagnosis"]
    assert told["turn"] == "ServiceAdministrator"
    assert told["command"] == (
        f"keybearer identities kubernetes-auth update {identity_id} --reviewer-token-file FILE"
    )
    known = house.line("identities", "kubernetes-auth", "show", identity_id, "-o", "json").json

    command = shlex.split(told["command"].replace("FILE", str(house.reviewer)))
    assert house.line(*command[1:]).status == 0
    tenant.request("mail")
    after = tenant.until_ready("mail")
    assert after["spec"] == before["spec"]
    assert tenant.data("mail") == {"USER": "cnry-user"}
    present = house.line("identities", "kubernetes-auth", "show", identity_id, "-o", "json").json
    assert {name for name in known if known[name] != present[name]} <= {"updated_at"}


def test_what_breaks_at_the_service_is_told_by_doctor_though_the_operator_is_still_logged_in(
    house: House, control_plane: ControlPlane, tmp_path: Path
) -> None:
    tenant, identity_id = house.tenant, house.tenant.login.identity_id
    _attach(house, control_plane, house.reviewer.read_text())
    tenant.project.store({"USER": "cnry-user"})
    tenant.sync("web", identityRef={"name": "by-account"}, refreshInterval="1h")
    tenant.until_ready("web")
    update = ("identities", "kubernetes-auth", "update", identity_id, "--reviewer-token-file")

    broken = tmp_path / "broken"
    broken.write_text("cnry-no-reviewer")
    assert house.line(*update, str(broken)).status == 0
    found = _found_by_doctor(house, control_plane, "by-account")
    assert found["verdict"] == "trouble"
    assert "The token review failed: the API server doesn't accept the reviewer's token" in found["message"]
    assert "Ready only until the operator's access token ends" in found["message"]
    assert found["command"] == f"keybearer {' '.join(update)} FILE"
    assert reason_of(tenant.get("web")) == "Synced"

    command = shlex.split(found["command"].replace("FILE", str(house.reviewer)))
    assert house.line(*command[1:]).status == 0
    assert _found_by_doctor(house, control_plane, "by-account")["verdict"] == "fine"


def test_a_reviewer_without_rights_is_bound_by_the_command_of_the_diagnosis(
    house: House, control_plane: ControlPlane
) -> None:
    tenant = house.tenant
    where = f"--namespace={tenant.namespace}"
    _attach(house, control_plane, control_plane.kubectl("create", "token", "default", where))
    tenant.project.store({"USER": "cnry-user"})
    tenant.sync("web", identityRef={"name": "by-account"}, refreshInterval="1h")

    told = tenant.until_reason("web", "ServiceRefused", saying="may not create tokenreviews")["status"]
    name = f"keybearer-reviewer-{tenant.namespace}-default"
    assert told["diagnosis"]["turn"] == "ClusterAdministrator"
    assert told["diagnosis"]["command"] == (
        f"kubectl create clusterrolebinding {name} --clusterrole=system:auth-delegator "
        f"--serviceaccount={tenant.namespace}:default"
    )
    control_plane.kubectl(*shlex.split(told["diagnosis"]["command"])[1:])
    try:
        tenant.request("web")
        tenant.until_ready("web")
    finally:
        control_plane.kubectl("delete", "clusterrolebinding", name)


def test_a_client_id_in_place_of_the_id_is_told_by_doctor(house: House, control_plane: ControlPlane) -> None:
    tenant, login = house.tenant, house.tenant.login
    _attach(house, control_plane, house.reviewer.read_text())
    tenant.project.store({"USER": "cnry-user"})
    held = {"identityId": login.client_id, "serviceAccountName": "web", "audience": _AUDIENCE}
    tenant.api.create(identity_secret(tenant.namespace, "wrong-id", held))
    tenant.sync("web", identityRef={"name": "wrong-id"}, refreshInterval="1h")
    refused = tenant.until_reason("web", "CredentialsRejected")["status"]["diagnosis"]
    assert "the id of the identity, not its client id" in refused["step"]

    found = _found_by_doctor(house, control_plane, "wrong-id")
    assert found["verdict"] == "trouble"
    assert f"the client id of an identity whose id is {login.identity_id}" in found["message"]
    control_plane.kubectl(*shlex.split(found["command"])[1:])
    tenant.until_ready("web")


def _attach(house: House, control_plane: ControlPlane, reviewer: str) -> None:
    """Let ServiceAccount web log in, and put that into Secret by-account."""
    tenant, identity_id = house.tenant, house.tenant.login.identity_id
    config = {
        "kubernetesHost": control_plane.server_url,
        "caCert": control_plane.ca_pem.decode(),
        "allowedNamespaces": tenant.namespace,
        "allowedNames": "web",
        "allowedAudience": _AUDIENCE,
        "tokenReviewerJwt": reviewer.strip(),
    }
    house.admin.send("POST", f"/api/v1/auth/kubernetes-auth/identities/{identity_id}", config)
    held = {"identityId": identity_id, "serviceAccountName": "web", "audience": _AUDIENCE}
    tenant.api.create(identity_secret(tenant.namespace, "by-account", held))


def _found_by_doctor(house: House, control_plane: ControlPlane, secret: str) -> Body:
    """What doctor says of an identity Secret, to a person who reaches the service at another address."""
    kubeconfig = str(control_plane.admin_kubeconfig)
    answer = house.line("doctor", "--same-service", "--output=json", KUBECONFIG=kubeconfig)
    told = [one for one in answer.json if f"Secret {house.tenant.namespace}/{secret}" in one["message"]]
    (found,) = (one for one in told if one["check"] == "identities")
    return dict(found)


def test_what_was_corrected_in_the_service_is_seen_by_whoever_asks_again_and_again(
    house: House, control_plane: ControlPlane
) -> None:
    tenant, identity_id = house.tenant, house.tenant.login.identity_id
    config = {
        "kubernetesHost": control_plane.server_url,
        "allowedNames": "another",
        "allowedAudience": _AUDIENCE,
    }
    house.admin.send("POST", f"/api/v1/auth/kubernetes-auth/identities/{identity_id}", config)
    tenant.project.store({"USER": "cnry-user"})
    held = {"identityId": identity_id, "serviceAccountName": "web", "audience": _AUDIENCE}
    tenant.api.create(identity_secret(tenant.namespace, "by-account", held))
    tenant.sync("web", identityRef={"name": "by-account"}, refreshInterval="1h")
    tenant.until_reason("web", "CredentialsRejected", saying="K8s name not allowed")
    for name in ("still-another", "a-third"):
        assert (
            house.line(
                "identities", "kubernetes-auth", "update", identity_id, "--service-account", name
            ).status
            == 0
        )
        assert reason_of(tenant.ask("web")) == "CredentialsRejected"
    mended = house.line("identities", "kubernetes-auth", "update", identity_id, "--service-account", "web")
    assert mended.status == 0, mended.stderr
    assert reason_of(tenant.ask("web")) == "Synced"
