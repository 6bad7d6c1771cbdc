"""keybearer.controllers.service_failures: a refusal for want of a right is told apart from others."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from keybearer.client import BadRequest, PermissionDenied, ServiceError, Unauthenticated
from keybearer.controllers.custom_resource import Turn
from keybearer.controllers.service_failures import describe_failure, describe_refusal
from keybearer.controllers.sources.query import SourceQuery
from keybearer.domain.authorization import Action, Subject, allows
from keybearer.wire.token_reviews import UNREACHABLE_API, UNTRUSTED_API
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
