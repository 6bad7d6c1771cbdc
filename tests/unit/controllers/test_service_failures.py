"""keybearer.controllers.service_failures: a refusal for want of a right is told apart from others."""

from __future__ import annotations

import pytest

from keybearer.client import PermissionDenied
from keybearer.controllers.service_failures import describe_refusal


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
