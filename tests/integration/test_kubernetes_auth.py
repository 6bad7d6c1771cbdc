"""Kubernetes auth of the service against a real API server: its tokens, its reviews, its rights."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.canary import Canary
from support.service_fixtures import Credentials, Service, ServiceProcess, start_service
from tools.chart.rendering import only, render
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.errors import KubectlError
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_LOGIN = "/api/v1/auth/kubernetes-auth/login"
_AUDIENCE = "keybearer.test"
_REVIEW_ERROR = "KubernetesTokenReviewError"
_REVIEWERS = {"embeddedService": {"tokenReviews": {"enabled": True}}}


@dataclass(frozen=True)
class Cluster:
    """A namespace with ServiceAccounts: `web` logs in, `reviewer` has the rights of the chart's service."""

    plane: ControlPlane
    namespace: str

    def token(self, account: str = "web", audience: str = "") -> str:
        flags = [f"--audience={audience}"] if audience else []
        return self.plane.kubectl("create", "token", account, f"--namespace={self.namespace}", *flags).strip()

    def config(self, **changes: object) -> dict[str, object]:
        """What an identity is configured with: reviews by `reviewer`, for our audience."""
        return {
            "kubernetesHost": self.plane.server_url,
            "caCert": self.plane.ca_pem.decode(),
            "tokenReviewerJwt": self.token("reviewer"),
            "allowedAudience": _AUDIENCE,
            **changes,
        }


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[Cluster]:
    name = f"kubernetes-auth-{secrets.token_hex(4)}"
    control_plane.kubectl("create", "namespace", name)
    for account in ("web", "reviewer", "other"):
        control_plane.kubectl("create", "serviceaccount", account, f"--namespace={name}")
    role = only(render(_REVIEWERS), "ClusterRole", "-service")
    control_plane.kubectl("apply", "--filename=-", input=role.as_yaml())
    control_plane.kubectl(
        "create",
        "clusterrolebinding",
        name,
        f"--clusterrole={role.name}",
        f"--serviceaccount={name}:reviewer",
    )
    who = f"--as=system:serviceaccount:{name}:reviewer"
    eventually(lambda: _may(control_plane, "create", "tokenreviews", who), awaited="the right to review")
    yield Cluster(control_plane, name)
    control_plane.kubectl("delete", "clusterrolebinding", name)
    control_plane.kubectl("delete", "namespace", name, "--wait=false")


def _may(plane: ControlPlane, verb: str, what: str, who: str) -> bool:
    try:
        plane.kubectl("auth", "can-i", verb, what, who, "--all-namespaces", "--quiet")
    except KubectlError:
        return False
    return True


@pytest.fixture(scope="module")
def listing_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    """A service that may call loopback, where the API server is."""
    running = start_service(tmp_path_factory.mktemp("listing") / "data", "--allow-outbound", "127.0.0.0/8")
    yield running
    running.stop()


@pytest.fixture
def watched(listing_service: ServiceProcess, canary: Canary) -> ServiceProcess:
    canary.watch("log of keybearer serve", listing_service.log.read_text)
    return listing_service


def configured(service: Service, config: dict[str, object]) -> Credentials:
    """An identity with this Kubernetes auth."""
    identity = service.create_identity()
    path = f"/api/v1/auth/kubernetes-auth/identities/{identity.identity_id}"
    service.admin_client().json("POST", path, json=config)
    return identity


def login(service: Service, identity: Credentials, jwt: str, status: int) -> dict[str, Any]:
    body = {"identityId": identity.identity_id, "jwt": jwt}
    answer = service.client().json("POST", _LOGIN, status=status, json=body)
    assert jwt not in str(answer)
    return answer


def test_a_token_for_the_audience_logs_in_and_what_it_gets_works(
    watched: ServiceProcess, cluster: Cluster
) -> None:
    identity = configured(
        watched, cluster.config(allowedNamespaces="kubernetes-auth-*", allowedNames="api, web")
    )
    answer = login(watched, identity, cluster.token(audience=_AUDIENCE), 200)
    assert set(answer) == {"accessToken", "expiresIn", "accessTokenMaxTTL", "tokenType"}
    assert watched.client(answer["accessToken"]).post("/api/v1/auth/checkAuth").status_code == 200


@pytest.mark.parametrize(
    ("changes", "account", "audience", "error", "message"),
    [
        pytest.param(
            {}, "web", "elsewhere", _REVIEW_ERROR, "Kubernetes token not authenticated", id="another audience"
        ),
        pytest.param(
            {},
            "web",
            "",
            _REVIEW_ERROR,
            "Kubernetes token not authenticated",
            id="the API server's own audience",
        ),
        pytest.param(
            {"allowedNamespaces": "shop"},
            "web",
            _AUDIENCE,
            "UnauthorizedError",
            "Access denied: K8s namespace not allowed.",
            id="another namespace",
        ),
        pytest.param(
            {"allowedNames": "web"},
            "other",
            _AUDIENCE,
            "UnauthorizedError",
            "Access denied: K8s name not allowed.",
            id="another name",
        ),
    ],
)
def test_a_token_that_is_not_allowed_is_refused(
    watched: ServiceProcess,
    cluster: Cluster,
    changes: dict[str, object],
    account: str,
    audience: str,
    error: str,
    message: str,
) -> None:
    identity = configured(watched, cluster.config(**changes))
    answer = login(watched, identity, cluster.token(account, audience), 401)
    assert (answer["error"], answer["message"]) == (error, message)


@pytest.mark.deep
def test_a_token_of_a_deleted_account_is_refused(watched: ServiceProcess, cluster: Cluster) -> None:
    identity = configured(watched, cluster.config())
    where = f"--namespace={cluster.namespace}"
    cluster.plane.kubectl("create", "serviceaccount", "leaving", where)
    token = cluster.token("leaving", _AUDIENCE)
    login(watched, identity, token, 200)
    cluster.plane.kubectl("delete", "serviceaccount", "leaving", where)
    body = {"identityId": identity.identity_id, "jwt": token}
    eventually(
        # The API server keeps an authenticated token for ten seconds.
        lambda: watched.client().post(_LOGIN, json=body).status_code == 401,
        awaited="an end of the deleted account's token",
    )
    assert login(watched, identity, token, 401)["error"] == _REVIEW_ERROR


@pytest.mark.parametrize("jwt", ["cnry-nonsense", "a.b.c", "cnry a b"])
def test_what_is_no_token_is_refused(watched: ServiceProcess, cluster: Cluster, jwt: str) -> None:
    answer = login(watched, configured(watched, cluster.config()), jwt, 401)
    assert (answer["error"], answer["message"]) == (_REVIEW_ERROR, "Kubernetes token not authenticated")


def test_a_changed_signature_is_refused(watched: ServiceProcess, cluster: Cluster) -> None:
    head, payload, signature = cluster.token(audience=_AUDIENCE).split(".")
    forged = f"{head}.{payload}.{signature[::-1]}"
    assert login(watched, configured(watched, cluster.config()), forged, 401)["error"] == _REVIEW_ERROR


def test_a_reviewer_without_the_right_is_told(watched: ServiceProcess, cluster: Cluster) -> None:
    identity = configured(watched, cluster.config(tokenReviewerJwt=cluster.token("other")))
    answer = login(watched, identity, cluster.token(audience=_AUDIENCE), 400)
    assert answer["error"] == _REVIEW_ERROR
    assert "system:auth-delegator" in answer["message"]


def test_a_reviewer_that_is_not_known_is_told(watched: ServiceProcess, cluster: Cluster) -> None:
    identity = configured(watched, cluster.config(tokenReviewerJwt="cnry-reviewer"))
    answer = login(watched, identity, cluster.token(audience=_AUDIENCE), 400)
    assert answer["error"] == _REVIEW_ERROR
    assert "doesn't accept the reviewer's token" in answer["message"]


def test_without_a_reviewer_a_token_asks_for_itself(watched: ServiceProcess, cluster: Cluster) -> None:
    identity = configured(watched, cluster.config(tokenReviewerJwt=None, allowedAudience=""))
    login(watched, identity, cluster.token("reviewer"), 200)
    assert login(watched, identity, cluster.token("web"), 400)["error"] == _REVIEW_ERROR
    # A token for another audience is nobody's to the API server.
    refusal = login(watched, identity, cluster.token("reviewer", _AUDIENCE), 401)
    assert "no reviewer's token is set" in refusal["message"]


def test_an_api_server_that_another_ca_vouches_for_is_not_asked(
    watched: ServiceProcess, cluster: Cluster
) -> None:
    identity = configured(watched, cluster.config(caCert=""))
    answer = login(watched, identity, cluster.token(audience=_AUDIENCE), 400)
    assert answer["error"] == _REVIEW_ERROR


def test_an_api_server_outside_the_gate_is_not_asked(
    tmp_path: Path, cluster: Cluster, canary: Canary
) -> None:
    service = start_service(tmp_path / "data")
    try:
        canary.watch("log of keybearer serve", service.log.read_text)
        identity = configured(service, cluster.config())
        answer = login(service, identity, cluster.token(audience=_AUDIENCE), 400)
        assert answer["error"] == _REVIEW_ERROR
        assert "--allow-outbound" in answer["message"]
    finally:
        service.stop()


def test_the_service_reviews_as_its_own_account_where_the_chart_lets_it(
    tmp_path: Path, cluster: Cluster
) -> None:
    mounted = tmp_path / "serviceaccount"
    mounted.mkdir()
    (mounted / "token").write_text(cluster.token("reviewer"))
    (mounted / "ca.crt").write_bytes(cluster.plane.ca_pem)
    service = start_service(
        tmp_path / "data",
        f"--service-account-dir={mounted}",
        f"--service-account-api={cluster.plane.server_url}",
    )
    try:
        identity = configured(
            service, {"kubernetesHost": cluster.plane.server_url, "allowedAudience": _AUDIENCE}
        )
        path = f"/api/v1/auth/kubernetes-auth/identities/{identity.identity_id}"
        shown = service.admin_client().json("GET", path)["identityKubernetesAuth"]
        assert shown["tokenReviewer"] == "service-account"
        login(service, identity, cluster.token(audience=_AUDIENCE), 200)
        # The kubelet renews the token; the service reads it anew.
        (mounted / "token").write_text(cluster.token("other"))
        assert login(service, identity, cluster.token(audience=_AUDIENCE), 400)["error"] == _REVIEW_ERROR
    finally:
        service.stop()


def test_the_services_account_may_review_tokens_and_nothing_else(cluster: Cluster) -> None:
    who = f"--as=system:serviceaccount:{cluster.namespace}:reviewer"
    assert _may(cluster.plane, "create", "tokenreviews", who)
    for verb, what in (
        ("get", "secrets"),
        ("list", "secrets"),
        ("create", "serviceaccounts/token"),
        ("create", "subjectaccessreviews"),
        ("get", "nodes"),
    ):
        assert not _may(cluster.plane, verb, what, who), (verb, what)
