"""`keybearer doctor` beside a real API server, operator and service: trouble first, and what it takes to end it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from keybearer import __version__
from keybearer.kube.microtime import format_micro_time
from support.canary import Canary
from support.command_line import PROGRAM, Answer, CommandLine
from support.outlets import Outlets
from support.preloaded import PRELOADED
from support.secretsync_objects import identity_secret
from support.tenant import IDENTITY, Tenant, open_tenant
from tools.chart.rendering import Json, render
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi, RefusedError
from tools.local.marks import find_mark
from tools.local.operator_cluster import OPERATOR_LEASE, OperatorCluster, install_crds, install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

OK, DENIED, TROUBLE = 0, 4, 8
_TENANT = "patient"
_FOREIGN = "aaa"
"""The namespace that is listed first."""
_DEPLOYMENT = "keybearer-operator"
_CRD = "secretsyncs.keybearer.dev"


@dataclass
class House:
    """A release whose programs run as processes of ours, and a tenant whose SecretSync is Ready."""

    cluster: OperatorCluster
    operator: OperatorProcess
    service: RestartableService
    admin: ServiceAdmin
    tenant: Tenant
    line: CommandLine

    def doctor(self, *flags: str, **variables: str) -> Answer:
        answer = self.line.here("doctor", *flags, **variables)
        assert find_mark(answer.stdout + answer.stderr) is None
        assert self.tenant.login.client_secret not in answer.stdout + answer.stderr
        return answer

    def troubles(self, **variables: str) -> list[tuple[str, str, str]]:
        answer = self.doctor("--output=json", **variables)
        assert answer.status == TROUBLE, answer.stdout
        verdicts = [one["verdict"] for one in answer.json]
        assert verdicts == sorted(verdicts, key=["trouble", "not checked", "fine"].index)
        found: list[dict[str, Any]] = [one for one in answer.json if one["verdict"] == "trouble"]
        return [(one["check"], one["message"], one["command"]) for one in found]

    def configure(self, *options: str) -> None:
        """The operator's Deployment has these options."""
        where = ("Deployment", self.cluster.namespace, _DEPLOYMENT)
        container = self.tenant.api.get(*where)["spec"]["template"]["spec"]["containers"][0]
        containers = [{**container, "args": ["operator", *options]}]
        patch = {"spec": {"template": {"spec": {"containers": containers}}}}
        self.tenant.api.patch(*where, patch)

    def available(self, count: int) -> None:
        """The kubelet says that so many replicas are ready: there are no nodes here."""
        status = {"status": {"replicas": 2, "readyReplicas": count, "availableReplicas": count}}
        self.tenant.api.patch("Deployment", self.cluster.namespace, _DEPLOYMENT, status, subresource="status")


def _values(url: str) -> Mapping[str, Json]:
    return {
        "image": {"repository": "registry.example.com/keybearer"},
        "embeddedService": {"enabled": False},
        "operator": {"serviceUrl": url, "allowInsecureHttp": True},
    }


@pytest.fixture(scope="module")
def plane() -> Iterator[ControlPlane]:
    """Yield a cluster of this module alone: the checks look at all of it."""
    with ControlPlane() as running:
        yield running


@pytest.fixture
def house(plane: ControlPlane, tmp_path: Path, canary: Canary) -> Iterator[House]:
    with (
        KubeApi(plane.admin_kubeconfig) as api,
        RestartableService(tmp_path, launch=PRELOADED) as service,
        ServiceAdmin(service) as admin,
    ):
        values = _values(service.url)
        cluster = install_operator(plane, api, values)
        rendered = [one for one in render(values) if one.kind in ("Deployment", "ConfigMap")]
        plane.kubectl("apply", "--filename=-", input="---\n".join(one.as_yaml() for one in rendered))
        operator = OperatorProcess(
            cluster.kubeconfig,
            tmp_path,
            [f"--service-url={service.url}", *cluster.lease_flags()],
            launch=PRELOADED,
        )
        project = admin.new_project("patient-project")
        login = admin.new_login(project.id)
        api.delete("Secret", _TENANT, IDENTITY)
        tenant = open_tenant(api, _TENANT, project, login)
        operator.start()
        outlets = Outlets.from_now(api, [operator], [service])
        outlets.namespaces.append(_TENANT)
        project.store({"DB_HOST": "cnry-host"})
        tenant.sync("web")
        tenant.until_ready("web")
        line = CommandLine(
            tmp_path,
            {
                "KUBECONFIG": str(plane.admin_kubeconfig),
                "KEYBEARER_URL": service.url,
                "KEYBEARER_CLIENT_ID": admin.login.client_id,
                "KEYBEARER_CLIENT_SECRET": admin.login.client_secret,
            },
        )
        made = House(cluster, operator, service, admin, tenant, line)
        made.available(2)
        try:
            yield made
            outlets.show_to(canary, {login.client_secret, admin.login.client_secret})
        finally:
            if not operator.running:
                operator.start()
            operator.wait_ready()
            api.delete_all("SecretSync", _TENANT)
            eventually(lambda: not api.list("SecretSync", _TENANT), awaited="an end of all SecretSyncs")
            operator.terminate()


def test_an_installation_that_works_is_fine(house: House) -> None:
    answer = house.doctor("--output=json")
    assert answer.status == OK, answer.stdout
    told = {(one["check"], one["verdict"]) for one in answer.json}
    checks = ("operator", "crds", "release", "service", "identities", "rights", "leases", "objects")
    assert told == {(check, "fine") for check in checks}
    messages = "\n".join(one["message"] for one in answer.json)
    holder = house.tenant.api.get("Lease", house.cluster.namespace, OPERATOR_LEASE)["spec"]["holderIdentity"]
    for part in (holder, f"has version {__version__}", "serves all namespaces", "clock is right", IDENTITY):
        assert part in messages
    table = house.doctor()
    assert (table.status, "fine" in table.stdout) == (OK, True)


def test_an_operator_without_pods_and_with_foreign_namespaces_comes_first(house: House) -> None:
    house.available(0)
    house.configure("--namespace", "nope", "--service-url", house.service.url)
    found = house.troubles()
    told = "\n".join(message for _, message, _ in found)
    assert "has 0 of 2 replicas" in told
    assert "serves namespace nope, which doesn't exist" in told
    assert f"no operator serves namespace {_TENANT}" in told
    assert all(command for _, _, command in found)


def test_credentials_that_the_service_refuses_are_told_without_them(house: House) -> None:
    untried = house.doctor("--output=json", "--no-logins")
    assert (untried.status, "its login wasn't tried" in untried.stdout) == (DENIED, True)
    identities = house.admin.client.identities
    (used,) = identities.client_secrets.list(house.tenant.login.identity_id)
    # An operator at work would soon notice the refusal itself, and doctor would report that instead.
    house.operator.freeze()
    try:
        identities.client_secrets.revoke(house.tenant.login.identity_id, used.id)
        (found,) = (one for one in house.troubles() if one[0] == "identities")
    finally:
        house.operator.thaw()
    assert (
        f"Secret {_TENANT}/{IDENTITY} (UniversalAuth): the service at {house.service.url} refuses it"
        in found[1]
    )
    assert found[2] == (
        f"keybearer identities client-secret create {house.tenant.login.client_id} --manifest {IDENTITY} "
        f"| kubectl -n {_TENANT} apply --server-side --force-conflicts -f -"
    )


def test_credentials_go_to_another_address_only_if_the_person_says_that_it_is_the_same_service(
    house: House,
) -> None:
    house.configure("--service-url", "http://127.0.0.1:1", "--lease-namespace", house.cluster.namespace)
    answer = house.doctor("--output=json")
    (found,) = (one for one in answer.json if one["check"] == "identities")
    assert (answer.status, found["verdict"]) == (DENIED, "not checked")
    assert found["command"] == "keybearer doctor --same-service"
    answer = house.doctor("--output=json", "--same-service")
    (found,) = (one for one in answer.json if one["check"] == "identities")
    assert (answer.status, found["verdict"]) == (OK, "fine"), answer.stdout


_LABELS = {"app.kubernetes.io/part-of": "keybearer", "app.kubernetes.io/component": "operator"}


@contextmanager
def listening_elsewhere() -> Iterator[tuple[str, list[str]]]:
    """Somebody else's address, and the paths that are asked for there."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(self.path)
            self.send_error(HTTPStatus.UNAUTHORIZED)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", asked
        finally:
            server.shutdown()


def _looks_like_an_operator(house: House, *arguments: str) -> None:
    if house.tenant.api.find("Namespace", "", _FOREIGN) is None:
        house.tenant.api.create_namespace(_FOREIGN)
    container = {"name": "x", "image": "registry.example.com/x", "args": list(arguments)}
    template = {"metadata": {"labels": {"x": "y"}}, "spec": {"containers": [container]}}
    house.tenant.api.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"namespace": _FOREIGN, "name": "x", "labels": _LABELS},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"x": "y"}}, "template": template},
        }
    )


def _who_may(plane: ControlPlane, account: str, rights: Mapping[str, tuple[str, str]]) -> str:
    """Return the kubeconfig of a ServiceAccount with these verbs and resources in each namespace."""
    plane.kubectl("create", "serviceaccount", account, f"--namespace={_TENANT}")
    for namespace, (verbs, resources) in rights.items():
        named = (account, f"--namespace={namespace}")
        plane.kubectl("create", "role", *named, f"--verb={verbs}", f"--resource={resources}")
        user = f"--serviceaccount={_TENANT}:{account}"
        plane.kubectl("create", "rolebinding", *named, f"--role={account}", user)
    return str(plane.service_account_kubeconfig(_TENANT, account))


def test_no_credentials_go_where_a_deployment_says_that_may_not_read_them(house: House) -> None:
    with listening_elsewhere() as (url, asked):
        _looks_like_an_operator(house, "--service-url", url, "--allow-insecure-http")
        try:
            answer = house.doctor("--output=json")
        finally:
            house.tenant.api.delete("Deployment", _FOREIGN, "x")
    (found,) = (one for one in answer.json if one["check"] == "identities")
    assert (asked, found["verdict"]) == ([], "fine"), found
    assert house.service.url in found["message"]


def test_options_that_no_operator_can_have_are_trouble_and_hide_no_other_check(house: House) -> None:
    _looks_like_an_operator(house, "--namespace", "a/b", "--lease-name", "../x")
    try:
        told = {check: message for check, message, _ in house.troubles()}
    finally:
        house.tenant.api.delete("Deployment", _FOREIGN, "x")
    assert "is no name that Kubernetes allows" in told["operator"]
    assert "is no name that Kubernetes allows" in told["leases"]


def test_no_credentials_are_sent_for_an_operator_that_is_not_visible(
    house: House, plane: ControlPlane
) -> None:
    little = _who_may(plane, "reader", {_TENANT: ("get,list", "secrets,secretsyncs.keybearer.dev")})
    with listening_elsewhere() as (url, asked):
        held = {"clientId": "cnry-id", "clientSecret": "cnry-secret", "url": url}
        house.tenant.api.create(identity_secret(_TENANT, "elsewhere", held))
        house.tenant.sync("abroad", identityRef={"name": "elsewhere"})
        house.tenant.until_reason("abroad", "UrlNotAllowed")
        answer = house.doctor("--output=json", KUBECONFIG=little)
    found = [one for one in answer.json if one["check"] == "identities"]
    assert asked == []
    assert [one["verdict"] for one in found] == ["not checked", "not checked"], found
    same = house.doctor("--output=json", "--same-service", KUBECONFIG=little)
    own = [one for one in same.json if f"Secret {_TENANT}/{IDENTITY} " in one["message"]]
    assert [one["verdict"] for one in own] == ["fine"], own


def test_who_sees_one_operator_is_not_told_that_all_namespaces_are_served(
    house: House, plane: ControlPlane
) -> None:
    house.configure("--namespace", house.cluster.namespace, "--service-url", house.service.url)
    operators = house.cluster.namespace
    rights = {_TENANT: ("list", "secretsyncs.keybearer.dev"), operators: ("list", "deployments,statefulsets")}
    little = _who_may(plane, "lister", rights)
    answer = house.doctor("--output=json", f"--operator-namespace={operators}", KUBECONFIG=little)
    told = [one["message"] for one in answer.json if one["verdict"] == "not checked"]
    assert any(f"whether an operator serves namespace {_TENANT}" in one for one in told), answer.stdout


def test_a_refusal_at_another_address_than_the_operators_is_no_trouble_of_an_object_that_is_ready(
    house: House, plane: ControlPlane
) -> None:
    little = _who_may(plane, "stranger", {_TENANT: ("get,list", "secrets,secretsyncs.keybearer.dev")})
    with listening_elsewhere() as (url, asked):
        answer = house.doctor("--output=json", "--same-service", KUBECONFIG=little, KEYBEARER_URL=url)
    (found,) = (one for one in answer.json if one["check"] == "identities")
    assert (len(asked), found["verdict"]) == (1, "not checked"), found
    assert "every object that uses it is Ready" in found["message"]


def test_an_operator_outside_the_chart_is_not_called_absent(house: House) -> None:
    house.tenant.api.delete("Deployment", house.cluster.namespace, _DEPLOYMENT)
    answer = house.doctor("--output=json")
    found = {one["check"]: (one["verdict"], one["message"]) for one in reversed(answer.json)}
    assert answer.status == DENIED, answer.stdout
    lease = f"Lease {house.cluster.namespace}/{OPERATOR_LEASE}"
    expected = f"an operator leads by {lease}, but not as a Deployment of the chart that you can see"
    assert found["operator"] == ("not checked", expected)
    assert found["leases"][0] == "fine"
    assert found["identities"][0] == "not checked"


def test_objects_that_no_operator_has_looked_at_are_told_with_their_namespace(house: House) -> None:
    house.operator.terminate()
    house.tenant.sync("unseen")

    def told() -> tuple[str, str]:
        (found,) = (one for one in house.troubles() if one[0] == "objects")
        return found[1:]

    message, command = told()
    assert f"serves namespace {_TENANT}, but no operator has looked at 1 of its objects" in message
    plugin = replace(house.line, program=(str(PROGRAM.with_name("kubectl-keybearer")),))
    waited = plugin("sync", "kbs/unseen", "-n", _TENANT, "--wait", "--timeout=1")
    assert f"Check that one runs and serves namespace {_TENANT}: keybearer doctor" in waited.stderr
    assert command == f"kubectl -n {house.cluster.namespace} logs deployment/{_DEPLOYMENT}"
    house.tenant.api.delete("Deployment", house.cluster.namespace, _DEPLOYMENT)
    message, command = told()
    assert message.startswith(f"no operator seems to serve namespace {_TENANT}: ")
    assert command.startswith(f"add {_TENANT} to operator.namespaces (chart) or to --namespace")


def test_credentials_that_the_operator_reports_are_not_tried_again(house: House) -> None:
    held = {"clientId": house.tenant.login.client_id, "clientSecret": "cnry-wrong"}
    house.tenant.api.create(identity_secret(_TENANT, "wrong", held))
    house.tenant.sync("refused", identityRef={"name": "wrong"})
    house.tenant.until_reason("refused", "CredentialsRejected")
    for _ in range(3):
        found = [message for check, message, _ in house.troubles() if check == "identities"]
        assert [one.partition(": ")[0] for one in found] == [f"Secret {_TENANT}/wrong"]
        assert "the operator reports" in found[0]
    steps = [command for check, _, command in house.troubles() if check == "identities"]
    diagnosis = house.tenant.api.get("SecretSync", _TENANT, "refused")["status"]["diagnosis"]
    assert steps == [diagnosis["command"]]
    assert house.admin.new_token(house.tenant.login), "three failures would have locked it out"
    (failed,) = (one for one in house.troubles() if one[0] == "objects")
    assert failed[2] == f"keybearer explain secretsync {_TENANT}/refused"


def test_an_identity_is_not_locked_out_by_several_secrets_with_wrong_credentials(house: House) -> None:
    held = {"clientId": house.tenant.login.client_id, "clientSecret": "cnry-wrong"}
    for name in ("wrong-1", "wrong-2", "wrong-3"):
        house.tenant.api.create(identity_secret(_TENANT, name, held))
        synced = house.tenant.sync(f"by-{name}", identityRef={"name": name}, mode="Suspended")
        house.tenant.until_reason(synced, "Suspended")
    found = [one for one in house.doctor("--output=json").json if one["check"] == "identities"]
    assert [one["verdict"] for one in found] == ["trouble", "not checked", "not checked", "fine"], found
    assert house.admin.new_token(house.tenant.login), "three failures would have locked it out"


def test_identities_that_are_missing_or_not_whole_are_told_with_the_next_command(house: House) -> None:
    tenant = house.tenant
    tenant.sync("lost", identityRef={"name": "missing"})
    tenant.api.create(identity_secret(_TENANT, "half", {"clientId": "cnry-id"}))
    tenant.sync("broken", identityRef={"name": "half"})
    by_account = {"identityId": "x", "serviceAccountName": "nobody", "audience": "keybearer"}
    tenant.api.create(identity_secret(_TENANT, "by-account", by_account))
    tenant.sync("account", identityRef={"name": "by-account"})
    found = [one for one in house.troubles() if one[0] == "identities"]
    told = {message: command for _, message, command in found}
    assert any("missing doesn't exist" in one and "create secret" in told[one] for one in told)
    assert any("Found: clientId" in one for one in told)
    assert any("ServiceAccount nobody doesn't exist" in one for one in told)
    (right,) = (one for one in house.troubles() if one[0] == "rights")
    assert "may not create serviceaccounts/token in all namespaces" in right[1]
    assert "operator.allowServiceAccountTokens=true" in right[2]


def test_a_right_that_is_missing_is_named(house: House, plane: ControlPlane) -> None:
    where = f"--namespace={house.cluster.namespace}"
    plane.kubectl("delete", "rolebinding", "--selector=app.kubernetes.io/component=operator", where)

    def missing() -> list[dict[str, Any]]:
        answer = house.doctor("--output=json")
        return [one for one in answer.json if one["check"] == "rights" and one["verdict"] == "trouble"]

    (found,) = eventually(missing, awaited="a right that is missing")
    assert f"may not get, patch Lease {OPERATOR_LEASE}" in found["message"]


def _lists(house: House) -> bool:
    try:
        house.tenant.api.list("SecretSync")
    except RefusedError:  # the API server begins anew with a kind whose CRD changed
        return False
    return True


def test_a_crd_of_another_version_is_told(house: House, plane: ControlPlane) -> None:
    crd = house.tenant.api.send("GET", f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{_CRD}")
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "of another version"
    house.tenant.api.send(
        "PATCH",
        f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{_CRD}",
        {"spec": {"versions": crd["spec"]["versions"]}},
    )
    try:
        (found,) = (one for one in house.troubles() if one[0] == "crds")
    finally:
        install_crds(plane)
        eventually(lambda: _lists(house), awaited="a list of SecretSyncs")
    assert found[1] == "the CRD of SecretSync is that of another version"
    assert "keybearer crds | kubectl apply" in found[2]


def test_a_lease_that_nobody_holds_and_a_service_that_is_gone_are_told(house: House) -> None:
    house.operator.terminate()
    house.service.stop()
    found = {check: message for check, message, _ in house.troubles()}
    assert f"nobody holds Lease {house.cluster.namespace}/{OPERATOR_LEASE}" in found["leases"]
    assert "connection refused" in found["service"]
    house.service.start()


def test_a_lease_of_a_time_to_come_is_not_called_fine(house: House) -> None:
    house.operator.terminate()
    to_come = format_micro_time(datetime.now(UTC) + timedelta(hours=1))
    spec = {"holderIdentity": "somebody", "acquireTime": to_come, "renewTime": to_come}
    house.tenant.api.patch("Lease", house.cluster.namespace, OPERATOR_LEASE, {"spec": spec})
    try:
        answer = house.doctor("--output=json")
    finally:
        given_back = {"spec": {"holderIdentity": ""}}
        house.tenant.api.patch("Lease", house.cluster.namespace, OPERATOR_LEASE, given_back)
    (found,) = (one for one in answer.json if one["check"] == "leases")
    assert (answer.status, found["verdict"]) == (DENIED, "not checked"), found
    assert "which is still to come" in found["message"]


def test_who_may_see_little_is_told_so_and_nothing_is_called_fine_unseen(
    house: House, plane: ControlPlane
) -> None:
    little = plane.service_account_kubeconfig(_TENANT, "default")
    answer = house.doctor("--output=json", KUBECONFIG=str(little))
    assert answer.status == DENIED, answer.stdout
    verdicts = {one["check"]: one["verdict"] for one in reversed(answer.json)}
    assert verdicts["service"] == "fine"
    unseen = {"operator", "release", "rights", "leases", "objects", "crds"}
    assert {check for check, verdict in verdicts.items() if verdict == "not checked"} >= unseen
    nobody = house.doctor("--output=json", KEYBEARER_CLIENT_ID="", KEYBEARER_CLIENT_SECRET="")
    told = [one["message"] for one in nobody.json if one["check"] == "service"]
    assert (nobody.status, told) == (DENIED, ["nobody is logged in"])
