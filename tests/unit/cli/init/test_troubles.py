"""keybearer.cli.init.troubles: what can't work is told at once, each with its option."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.init.answers import Answers, AuthMethod, FirstSecret
from keybearer.cli.init.troubles import Troubles, invalid_options

GOOD = Answers(
    project="web-shop",
    environment="dev",
    path="/db/prod",
    namespace="shop",
    name="web.shop",
    identity="Keybearer of the shop",
    identity_secret="keybearer-identity",
    method=AuthMethod.KUBERNETES,
    audience="keybearer",
    service_account="keybearer-identity",
    kubernetes_host="https://10.0.0.1:6443",
    kubernetes_ca="-----BEGIN CERTIFICATE-----\n",
    reviewer_token="cnry.cnry.cnry",
    first_secret=FirstSecret("DB_HOST", "cnry"),
)


def told(answers: Answers) -> list[str]:
    return [str(one) for one in invalid_options(answers)]


def test_nothing_is_said_about_options_that_can_be_used() -> None:
    assert told(GOOD) == []
    assert told(replace(GOOD, path="/", kubernetes_host=None, kubernetes_ca=None, reviewer_token=None)) == []


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (replace(GOOD, project="abc"), "--project: must have at least 5 characters"),
        (replace(GOOD, project="a" * 37), "--project: must have at most 36 characters"),
        (replace(GOOD, project="web_shop"), "--project: can only contain letters, numbers, and hyphens"),
        (replace(GOOD, project="Web-Shop"), "--project: must be written as the service stores it: web-shop"),
        (replace(GOOD, environment="e" * 65), "--env: must have at most 64 characters"),
        (replace(GOOD, path="/a b"), "--path: Invalid folder name"),
        (replace(GOOD, identity="i" * 65), "--identity: must have at most 64 characters"),
        (
            replace(GOOD, namespace="a.b"),
            "--namespace: must have only lower-case letters, digits and hyphens",
        ),
        (replace(GOOD, namespace="n" * 64), "--namespace: must have at most 63 characters"),
        (replace(GOOD, name="Web"), "--name: must have only lower-case letters, digits, dots and hyphens"),
        (replace(GOOD, identity_secret="-"), "--identity-secret: must have only"),
        (replace(GOOD, identity_secret=GOOD.name), "--identity-secret: must differ from --name"),
        (replace(GOOD, service_account="A"), "--service-account: must have only"),
        (replace(GOOD, audience=" "), "--audience: must not be empty"),
        (replace(GOOD, kubernetes_host="10.0.0.1"), "--kubernetes-host: must be an address"),
        (replace(GOOD, kubernetes_ca="no"), "--kubernetes-ca-file: must hold certificates in PEM"),
        (replace(GOOD, reviewer_token=""), "--reviewer-token-file: must hold a single token"),
        (replace(GOOD, reviewer_token="cnry a"), "--reviewer-token-file: must hold a single token"),
        (
            replace(GOOD, first_secret=FirstSecret("a=b", "cnry")),
            "--first-secret: the name must have no colon",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_an_option_that_can_not_be_used_is_named(answers: Answers, expected: str) -> None:
    (only,) = told(answers)
    assert only.startswith(expected)
    assert "cnry" not in only


def test_options_of_kubernetes_auth_count_only_for_it() -> None:
    answers = replace(GOOD, method=AuthMethod.CLIENT_SECRET, service_account="A", audience="")
    assert told(answers) == []


def test_all_troubles_come_in_one_error_with_their_next_steps() -> None:
    troubles = Troubles()
    troubles.require_none()
    troubles.add(CommandError("the first", ExitStatus.DENIED, "Ask."))
    assert str(troubles.together()) == "the first"
    with troubles.collected():
        _fail()
    with pytest.raises(CommandError, match=r"the first\n    Ask\.\n  - the second") as found:
        troubles.require_none()
    assert found.value.status is ExitStatus.DENIED


def _fail() -> None:
    raise CommandError("the second", ExitStatus.USAGE)
