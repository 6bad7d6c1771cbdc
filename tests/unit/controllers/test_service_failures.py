"""keybearer.controllers.service_failures: a refusal for want of a right is told apart from others."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from keybearer.client import BadRequest, NotFound, PermissionDenied, ServiceError, Unauthenticated
from keybearer.controllers.custom_resource import Turn
from keybearer.controllers.service_failures import describe_failure, describe_refusal, knows_identity
from keybearer.controllers.sources.query import SourceQuery
from keybearer.domain.authorization import Action, Subject, allows
from keybearer.wire.token_reviews import UNBOUND_REVIEWER, UNREACHABLE_API, UNTRUSTED_API
from support.rows import each_row


@pytest.mark.parametrize(
    ("word", "reason", "text"),
    [
        (
            "PermissionDenied",
            "PermissionDenied",
            "the identity may not change it: no; grant it a role that may",
        ),
        ("", "PermissionDenied", "the identity may not change it: no; grant it a role that may"),
        ("ForbiddenError", "ServiceRefused", "the service refuses to change it: no"),
    ],
    ids=["a right is missing", "no word for it", "something else, such as a name that is taken"],
)
def test_a_403_is_a_missing_right_unless_the_service_says_otherwise(
    word: str, reason: str, text: str
) -> None:
    told = describe_refusal(
        "https://secrets.example.com", "change it", PermissionDenied("no", status=403, error=word)
    )

    assert (told.reason, told.message, told.passing) == (reason, text, False)


@pytest.mark.parametrize("action", ["bind", "connect"])
def test_a_refusal_that_names_the_command_is_shown_as_it_is(action: str) -> None:
    refusal = PermissionDenied(
        "Only admins bind; an admin leaves that to members with: keybearer policies bind web",
        status=403,
        error="PermissionDenied",
        details=[{"action": action, "subject": "certificate-policies"}],
    )

    told = describe_refusal("https://secrets.example.com", "create profile web", refusal)

    assert told.reason == "PermissionDenied"
    assert told.message == (
        "the identity may not create profile web: Only admins bind; an admin leaves that to members with: "
        "keybearer policies bind web"
    )


@each_row("subject", list(Subject))
@each_row("action", list(Action))
def test_the_role_that_a_denial_asks_for_allows_what_was_denied(action: Action, subject: Subject) -> None:
    if not allows(["admin"], action, subject):
        return  # no role of a project allows it
    denial: JsonValue = [{"action": action.value, "subject": subject.value}]
    refusal = PermissionDenied("no", status=403, error="PermissionDenied", details=denial)

    remedy = describe_refusal("https://secrets.example.com", "change it", refusal).remedy

    assert remedy is not None
    if action in ("bind", "connect"):
        assert remedy.turn is Turn.SERVICE_ADMINISTRATOR
        return
    role = remedy.command.rpartition(" ")[2]
    assert remedy.command == f"keybearer members set CLIENT_ID_OR_NAME --project {{project}} --role {role}"
    assert allows([role], action, subject)
    assert role == "member" or not allows(["member"], action, subject) or subject == "app-connections"


def test_a_rule_that_denies_is_to_be_removed_for_a_role_would_not_help() -> None:
    denial: JsonValue = [{"action": "create", "subject": "secret-syncs", "inverted": True}]
    refusal = PermissionDenied("no", status=403, error="PermissionDenied", details=denial)

    remedy = describe_refusal("https://secrets.example.com", "create sync web", refusal).remedy

    assert remedy is not None
    assert remedy.step == "Remove the rule that denies the identity to create sync web."
    assert remedy.command == "keybearer grants list --member CLIENT_ID_OR_NAME --project {project}"


@pytest.mark.parametrize(
    ("kind", "status", "message", "step"),
    [
        pytest.param(
            Unauthenticated,
            401,
            "Kubernetes token not authenticated: no reviewer's token is set",
            "a reviewer's token",
            id="no reviewer",
        ),
        pytest.param(
            BadRequest,
            400,
            "The token review failed: the API server doesn't accept the reviewer's token",
            "a reviewer's token",
            id="a reviewer that is not known",
        ),
        pytest.param(
            BadRequest,
            400,
            f"The token review failed: the reviewer may not create tokenreviews; {UNBOUND_REVIEWER}",
            "bind it to the ClusterRole",
            id="a reviewer without the right",
        ),
        pytest.param(
            Unauthenticated,
            401,
            "Kubernetes token not authenticated",
            "the key audience",
            id="another audience",
        ),
        pytest.param(
            BadRequest,
            400,
            "The token review failed: the certificate of api:443 isn't trusted: self-signed certificate; "
            f"{UNTRUSTED_API}",
            "certificate of the API server's authority",
            id="a certificate that isn't trusted",
        ),
        pytest.param(
            BadRequest,
            400,
            f"The token review failed: the host's name api can't be resolved; {UNREACHABLE_API}",
            "Correct the address of the API server",
            id="an address that can't be reached",
        ),
        pytest.param(
            BadRequest,
            400,
            "The token review failed: the API server answers 500",
            "the message says",
            id="an API server that fails",
        ),
    ],
)
def test_a_failed_review_of_a_token_comes_with_its_own_remedy(
    kind: type[ServiceError], status: int, message: str, step: str
) -> None:
    error = kind(message, status=status, error="KubernetesTokenReviewError")
    query = SourceQuery("shop", by_slug=True, environment="dev", path="/")
    for failure in (
        describe_failure("https://secrets.example.com", query, error, 1024**2),
        describe_refusal("https://secrets.example.com", "change it", error),
    ):
        assert failure.remedy is not None
        assert step in failure.remedy.step


@pytest.mark.parametrize(
    ("who", "account", "name"),
    [
        ("the reviewer ServiceAccount kube-system/reviewer", "kube-system:reviewer", "kube-system-reviewer"),
        ("the reviewer", "NAMESPACE:SERVICE_ACCOUNT", "NAMESPACE-SERVICE_ACCOUNT"),
        ("the reviewer ServiceAccount a/b; reboot", "NAMESPACE:SERVICE_ACCOUNT", "NAMESPACE-SERVICE_ACCOUNT"),
    ],
    ids=["an account", "nobody", "another text"],
)
def test_a_reviewer_without_the_right_is_bound_by_the_command(who: str, account: str, name: str) -> None:
    message = f"The token review failed: {who} may not create tokenreviews; {UNBOUND_REVIEWER}"
    error = BadRequest(message, status=400, error="KubernetesTokenReviewError")

    remedy = describe_refusal("https://secrets.example.com", "log in", error).remedy

    assert remedy is not None
    assert remedy.turn is Turn.CLUSTER_ADMINISTRATOR
    assert remedy.command == (
        f"kubectl create clusterrolebinding keybearer-reviewer-{name} --clusterrole=system:auth-delegator "
        f"--serviceaccount={account}"
    )


_LOGIN = "POST /api/v1/auth/kubernetes-auth/login"


@pytest.mark.parametrize(
    ("error", "knows"),
    [
        (Unauthenticated("no", status=401, asked=_LOGIN), True),
        (BadRequest("no", status=400, error="KubernetesTokenReviewError", asked=_LOGIN), True),
        (BadRequest("no", status=400, asked=_LOGIN), False),
        (NotFound("no", status=404, asked=_LOGIN), False),
        (Unauthenticated("no", status=401, asked="POST /api/v1/auth/universal-auth/login"), False),
    ],
    ids=["refused", "a failed review", "another refusal", "unknown", "a client id"],
)
def test_a_service_that_judges_a_login_by_id_has_the_identity(error: ServiceError, *, knows: bool) -> None:
    assert knows_identity(error) is knows
