"""`keybearer init --auth kubernetes`: no trap is left between operator, service and API server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.canary import Canary
from support.command_line import Answer, CommandLine
from support.outlets import Outlets
from support.preloaded import PRELOADED
from support.secretsync_objects import decoded, namespace
from support.service_reviews import install_with_reviews, mount_account
from tools.chart.rendering import Json, render
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi
from tools.local.marks import find_mark
from tools.local.operator_cluster import OperatorCluster
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin

pytestmark = pytest.mark.integration

FAILED, USAGE, REFUSED = 1, 2, 7
_WHERE = "init-by-account"
_RELEASE = "keybearer-init"


@dataclass(frozen=True)
class House:
    """A release whose programs run as processes of ours, and somebody who sets up a namespace that it serves."""

    plane: ControlPlane
    api: KubeApi
    admin: ServiceAdmin
    line: CommandLine

    def init(self, *more: str, identity: str = "web") -> Answer:
        flags = ["--project=init-by-account", "--env=dev", f"--namespace={_WHERE}", "--name=web"]
        flags += ["--auth=kubernetes", f"--identity={identity}", f"--kubernetes-host={self.plane.server_url}"]
        secret = "--first-secret=GREETING=-"
        answer = self.line.here("init", *flags, secret, "--yes", *more, stdin="cnry-greeting")
        assert find_mark(answer.stdout + answer.stderr) is None
        return answer

    def install(self, **operator: Json) -> None:
        """The release has these values of the operator, and its rights follow."""
        values = _values(**operator)
        rendered = render(values, namespace=_RELEASE)
        wanted = [one for one in rendered if one.kind in ("Deployment", "StatefulSet", "Role", "RoleBinding")]
        self.plane.kubectl("apply", "--filename=-", input="---\n".join(one.as_yaml() for one in wanted))


def _values(**operator: Json) -> Mapping[str, Json]:
    return {
        "operator": {"namespaces": [_WHERE], "clusterId": "one", **operator},
        "embeddedService": {"tokenReviews": {"enabled": True}},
    }


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[OperatorCluster]:
    values = _values(allowServiceAccountTokens=True)
    with KubeApi(control_plane.admin_kubeconfig) as api:
        api.create(namespace(_WHERE))
        installed = install_with_reviews(control_plane, api, values, where=_RELEASE)
        yield installed
        api.delete("Namespace", "", _WHERE)
        api.delete("Namespace", "", _RELEASE)


@pytest.fixture
def house(
    control_plane: ControlPlane, cluster: OperatorCluster, tmp_path: Path, canary: Canary
) -> Iterator[House]:
    account = mount_account(control_plane, _values(), tmp_path, where=_RELEASE)
    with (
        RestartableService(tmp_path, flags=account.flags, launch=PRELOADED) as service,
        ServiceAdmin(service) as admin,
    ):
        operator_flags = [f"--service-url={service.url}", "--api-audience=https://kubernetes.default.svc"]
        operator = OperatorProcess(
            cluster.kubeconfig,
            tmp_path,
            [*operator_flags, f"--namespace={_WHERE}", *cluster.lease_flags()],
            launch=PRELOADED,
        )
        operator.start()
        outlets = Outlets.from_now(cluster.api, [operator], [service])
        outlets.namespaces.append(_WHERE)
        line = CommandLine(
            tmp_path,
            {
                "KUBECONFIG": str(control_plane.admin_kubeconfig),
                "KEYBEARER_URL": service.url,
                "KEYBEARER_CLIENT_ID": admin.login.client_id,
                "KEYBEARER_CLIENT_SECRET": admin.login.client_secret,
            },
        )
        try:
            yield House(control_plane, cluster.api, admin, line)
            outlets.show_to(canary, {admin.login.client_secret, account.token})
        finally:
            cluster.api.delete_all("SecretSync", _WHERE)
            operator.terminate()
            # No garbage collector runs here: the Secret would still be the former SecretSync's.
            cluster.api.delete_all("Secret", _WHERE)


def test_a_secret_arrives_without_a_stored_secret_and_the_second_time_nothing_changes(house: House) -> None:
    house.install(allowServiceAccountTokens=True)
    first = house.init("--output=json")
    assert first.status == 0, first.stdout + first.stderr
    assert decoded(house.api.get("Secret", _WHERE, "web")) == {"GREETING": "cnry-greeting"}

    (identity,) = (one for one in house.admin.client.identities.list() if one.name == "web")
    auth = house.admin.client.identities.kubernetes_auth.get(identity.id)
    assert (auth.allowed_namespaces, auth.allowed_names) == (_WHERE, "keybearer-identity")
    held = decoded(house.api.get("Secret", _WHERE, "keybearer-identity"))
    assert held == {
        "identityId": identity.id,
        "serviceAccountName": "keybearer-identity",
        "audience": auth.allowed_audience,
    }
    assert auth.allowed_audience == "keybearer"
    members = house.admin.client.memberships.list_identities(
        project_id=house.admin.client.projects.get_by_slug("init-by-account").id
    )
    (member,) = (one for one in members if one.identity_id == identity.id)
    assert [role.role for role in member.roles] == ["viewer"]

    second = house.init("--output=json")
    assert (second.status, second.json["changes"]) == (0, []), second.stderr

    # Attached as a stranger would, open to all and for any audience: only that is set right.
    house.admin.client.identities.kubernetes_auth.update(
        identity.id, allowed_audience="elsewhere", allowed_namespaces="*"
    )
    third = house.init("--output=json")
    assert (third.status, third.json["ready"]) == (0, True), third.stderr
    assert [one.partition(": ")[2] for one in third.json["changes"]] == [
        f"change its Kubernetes auth: allowed namespaces * -> {_WHERE}",
        "change its Kubernetes auth: audience elsewhere -> keybearer",
    ]


def test_an_operator_that_may_not_create_tokens_is_told_before_anything_is_made(house: House) -> None:
    house.install()
    answer = house.init(identity="not-made")
    assert answer.status == REFUSED
    assert "may not create tokens of ServiceAccounts" in answer.stderr
    assert "operator.allowServiceAccountTokens=true" in answer.stderr
    assert "not-made" not in {one.name for one in house.admin.client.identities.list()}


def test_an_audience_of_the_api_server_is_refused_before_anything_is_made(house: House) -> None:
    house.install(allowServiceAccountTokens=True)
    answer = house.init("--audience=https://kubernetes.default.svc", "--identity-secret=other", identity="no")
    assert (answer.status, "choose an audience of the service" in answer.stderr) == (REFUSED, True)
    assert "no" not in {one.name for one in house.admin.client.identities.list()}


def test_a_namespace_that_the_operator_does_not_serve_is_told(house: House) -> None:
    house.install(allowServiceAccountTokens=True)
    answer = house.line.here("init", "--project=elsewhere", "--env=dev", "--namespace=elsewhere", "--yes")
    assert (answer.status, f"it serves only {_WHERE}" in answer.stderr) == (REFUSED, True)


def test_a_reviewers_token_that_does_not_work_is_told_though_the_operator_is_still_logged_in(
    house: House, tmp_path: Path
) -> None:
    house.install(allowServiceAccountTokens=True)
    assert house.init().status == 0
    reviewer = tmp_path / "reviewer"
    reviewer.write_text("abc")
    answer = house.init(f"--reviewer-token-file={reviewer}")
    assert (answer.status, "doesn't accept the reviewer's token" in answer.stderr) == (FAILED, True)
    assert "kubectl create clusterrolebinding" in answer.stderr
    assert "  keybearer identities kubernetes-auth update " in answer.stderr
    reviewer.write_text(house.plane.kubectl("create", "token", "default", f"--namespace={_WHERE}"))
    answer = house.init(f"--reviewer-token-file={reviewer}")
    assert (answer.status, "may not create tokenreviews" in answer.stderr) == (FAILED, True)
    bound = f"--clusterrole=system:auth-delegator --serviceaccount={_WHERE}:default"
    assert (
        f"Bind it: kubectl create clusterrolebinding keybearer-reviewer-{_WHERE}-default {bound}"
        in answer.stderr
    )
    assert "The reviewer's token ends on" in answer.stderr


def test_a_missing_reviewer_is_named(house: House) -> None:
    house.install(allowServiceAccountTokens=True)
    where = [f"--namespace={_RELEASE}", "--selector=app.kubernetes.io/component=service"]
    for kind in ("deployment", "statefulset"):
        house.plane.kubectl("delete", kind, *where)
    answer = house.init(identity="unreviewed")
    assert (answer.status, "--reviewer-token-file is missing" in answer.stderr) == (USAGE, True)
    assert "kubectl create clusterrolebinding" in answer.stderr
    house.install()
    house.plane.kubectl("delete", "deployment,statefulset", *where)
    for more in ((), ("--dry-run",)):
        answer = house.init("--audience=https://kubernetes.default.svc", *more, identity="unreviewed")
        assert answer.status != 0
        for told in ("--reviewer-token-file is missing", "may not create tokens", "choose an audience"):
            assert told in answer.stderr
    assert "unreviewed" not in {one.name for one in house.admin.client.identities.list()}
