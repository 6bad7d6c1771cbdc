"""What `keybearer doctor` takes for the rules of an operator, and where it sends no credentials."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from keybearer.cli.connecting import CurrentLogin
from keybearer.cli.doctor import logins
from keybearer.cli.doctor.findings import Verdict, View
from keybearer.cli.doctor.logins import Logins, renewal_of
from keybearer.cli.doctor.objects import check_objects
from keybearer.cli.installation import Operator, Workload, command_options
from keybearer.client import (
    BadRequest,
    NotFound,
    ServerFailure,
    ServiceError,
    SuppliedToken,
    Unauthenticated,
)
from keybearer.controllers.identity import USUAL_API_AUDIENCES, ServiceIdentity
from keybearer.kube.resources import DEPLOYMENTS, ObjectKey
from support.rows import each_row

if TYPE_CHECKING:
    from keybearer.cli.kubectl.cluster import Cluster
    from keybearer.kube.resources import JsonObject


_LOGIN = "POST /api/v1/auth/kubernetes-auth/login"


def _operator(*options: str) -> Operator:
    workload = Workload(
        resource=DEPLOYMENTS,
        key=ObjectKey("keybearer", "keybearer-operator"),
        release="keybearer",
        version="1",
        image="keybearer",
        account="keybearer-operator",
        wanted=1,
        available=1,
        arguments=options,
        mounts_token=True,
    )
    return Operator(workload, command_options(options))


def _view(operators: tuple[Operator, ...]) -> View:
    return View(
        cluster=cast("Cluster", None),  # nothing is asked
        operators=operators,
        operators_known=bool(operators),
        operator_namespace="keybearer",
        objects=(
            {"metadata": {"namespace": "b", "name": "one"}, "spec": {"identityRef": {"name": "identity"}}},
            {"metadata": {"namespace": "a", "name": "two"}, "spec": {"identityRef": {"name": "identity"}}},
            {"metadata": {"namespace": "a", "name": "three"}, "spec": {}},
        ),
        login=None,
        tries_logins=True,
        same_service=False,
    )


@each_row(
    ("given", "shown"),
    [
        pytest.param(
            "0a1b2c3d-0000-4000-8000-000000000000", "0a1b2c3d-0000-4000-8000-000000000000", id="an id"
        ),
        pytest.param("x; reboot", "IDENTITY_ID", id="another text"),
    ],
)
def test_only_an_id_of_a_secret_is_part_of_a_command(given: str, shown: str) -> None:
    identity = ServiceIdentity("https://service.example", "Kubernetes", {"identityId": given})
    expected = f"keybearer identities kubernetes-auth show {shown}"
    assert renewal_of(ObjectKey("a", "identity"), identity) == expected


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("0a1b2c3d-0000-4000-8000-000000000000", "0a1b2c3d-0000-4000-8000-000000000000"),
        ("cnry-secret-under-a-wrong-key", "CLIENT_ID_OR_NAME"),
    ],
)
def test_a_refused_client_secret_has_the_next_step_of_the_operator(given: str, shown: str) -> None:
    identity = ServiceIdentity("https://service.example", "UniversalAuth", {"clientId": given})
    step = renewal_of(ObjectKey("a", "identity"), identity)
    assert step == (
        f"keybearer identities client-secret create {shown} --manifest identity "
        "| kubectl -n a apply --server-side --force-conflicts -f -"
    )


_ID = "0a1b2c3d-0000-4000-8000-000000000000"
_BROKEN = "The token review failed: the API server doesn't accept the reviewer's token"


@pytest.mark.parametrize(
    ("refusal", "verdict", "told", "step"),
    [
        pytest.param(
            BadRequest(_BROKEN, status=400, error="KubernetesTokenReviewError", asked=_LOGIN),
            Verdict.TROUBLE,
            _BROKEN,
            f"keybearer identities kubernetes-auth update {_ID} --reviewer-token-file FILE",
            id="a reviewer's token that broke",
        ),
        pytest.param(
            Unauthenticated("Access denied: K8s name not allowed.", status=401, asked=_LOGIN),
            Verdict.TROUBLE,
            "K8s name not allowed",
            f"keybearer identities kubernetes-auth show {_ID}",
            id="rules that changed",
        ),
        pytest.param(
            NotFound("Kubernetes auth method not found", status=404, asked=_LOGIN),
            Verdict.NOT_CHECKED,
            "perhaps the operator uses a service at another address",
            "keybearer whoami",
            id="perhaps another service",
        ),
        pytest.param(
            ServerFailure("fault", status=500, asked=_LOGIN),
            Verdict.NOT_CHECKED,
            "fails with status 500",
            "keybearer doctor",
            id="a service that fails",
        ),
    ],
)
async def test_a_login_by_kubernetes_auth_that_is_refused_is_no_guess_about_addresses(
    monkeypatch: pytest.MonkeyPatch, refusal: ServiceError, verdict: Verdict, told: str, step: str
) -> None:
    """The operator is Ready with its access token of before, and works at another address than the person."""

    async def token(*_: object) -> str:
        return "cnry-jwt"

    def refuse(*_: object, **__: object) -> None:
        raise refusal

    monkeypatch.setattr(logins, "service_account_token", token)
    monkeypatch.setattr(logins, "log_in", refuse)
    login = CurrentLogin("http://127.0.0.1:1", SuppliedToken("cnry-token"), None, allow_insecure_http=False)
    cluster = cast("Cluster", SimpleNamespace(gateway=None))
    view = replace(_view(()), cluster=cluster, login=login, same_service=True)
    held = {"identityId": _ID, "serviceAccountName": "web", "audience": "kb"}
    identity = ServiceIdentity(login.url, "Kubernetes", held)

    found = await Logins(view).judge(ObjectKey("a", "identity"), identity, None, "none", all_ready=True)

    assert (found.verdict, found.command) == (verdict, step)
    assert told in found.message
    assert "tried again" not in found.message, "doctor tries once"
    assert ("Ready only until" in found.message) is (verdict is Verdict.TROUBLE)


def test_each_identity_secret_is_named_once_with_its_users() -> None:
    users = _view(()).identity_users()
    assert list(users) == [ObjectKey("a", "identity"), ObjectKey("b", "identity")]
    assert [len(one) for one in users.values()] == [1, 1]


def test_the_policy_of_an_operator_has_the_audiences_of_its_options() -> None:
    policy = _operator("--service-url=https://service.example", "--api-audience=https://api.example")
    assert policy.service_policy().api_audiences == {*USUAL_API_AUDIENCES, "https://api.example"}


async def test_objects_that_poll_for_want_of_a_right_are_named() -> None:
    def sync(name: str, why: str | None, *, ready: str = "True") -> dict[str, object]:
        condition = {"type": "Ready", "status": ready, "reason": "Any", "message": "any"}
        told = {"observedGeneration": 1, "conditions": [condition]}
        return {
            "kind": "SecretSync",
            "metadata": {"namespace": "shop", "name": name, "generation": 1},
            "spec": {},
            "status": told if why is None else {**told, "pollingReason": why},
        }

    objects = (
        sync("fine", None),
        sync("without-events", "EventsUnavailable"),
        sync("refused", "EventsDenied", ready="False"),
        sync("denied", "EventsDenied"),
    )
    view = replace(_view(()), objects=cast("tuple[JsonObject, ...]", objects))
    told = [one.message for one in [one async for one in check_objects(view)] if "polling" in one.message]
    assert told == [
        (
            "SecretSyncs that learn of changes by polling only: 1, such as shop/denied; the service denies events "
            "to their identities"
        )
    ]
