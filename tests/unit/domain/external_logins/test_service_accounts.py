"""Service accounts are let in where the terms allow it, and tokens go to no cluster but their own."""

from __future__ import annotations

import pytest

from keybearer.domain.errors import InvalidError, UnauthenticatedError
from keybearer.domain.kubernetes_auth import KubernetesAuthChange
from keybearer.outbound.errors import (
    OutboundFailedError,
    OutboundRefusedError,
    OutboundUnreachableError,
    OutboundUntrustedError,
)
from keybearer.outbound.token_review import ReviewedToken, ReviewerUnboundError, ReviewerUnknownError
from keybearer.wire.token_reviews import UNBOUND_REVIEWER, UNREACHABLE_API, UNTRUSTED_API
from unit.domain.external_logins.house import HOST, REVIEWED, WEB, House, refused


@pytest.mark.parametrize(
    ("terms", "reviewed", "refusal"),
    [
        pytest.param({}, ReviewedToken(authenticated=True, username=WEB), None, id="all are allowed"),
        pytest.param(
            {"allowed_namespaces": "team-*, shop", "allowed_names": "we?", "allowed_audience": "kb"},
            ReviewedToken(authenticated=True, username=WEB, audiences=("kb",)),
            None,
            id="each is allowed",
        ),
        pytest.param(
            {},
            ReviewedToken(authenticated=False, username=WEB),
            (REVIEWED, "Kubernetes token not authenticated"),
            id="a token that is no good",
        ),
        pytest.param(
            {"allowed_namespaces": "other"},
            ReviewedToken(authenticated=True, username=WEB),
            (None, "Access denied: K8s namespace not allowed."),
            id="another namespace",
        ),
        pytest.param(
            {"allowed_names": "we"},
            ReviewedToken(authenticated=True, username=WEB),
            (None, "Access denied: K8s name not allowed."),
            id="another name",
        ),
        pytest.param(
            {"allowed_audience": "kb"},
            ReviewedToken(authenticated=True, username=WEB, audiences=("https://kubernetes.default.svc",)),
            (None, "Access denied: K8s audience not allowed."),
            id="another audience",
        ),
        *(
            pytest.param(
                {},
                ReviewedToken(authenticated=True, username=username),
                (None, "Access denied: the token belongs to no ServiceAccount."),
                id=f"no ServiceAccount: {username}",
            )
            for username in (
                "",
                "admin",
                "system:node:n",
                "system:serviceaccount:shop",
                "system:serviceaccount::web",
                "system:serviceaccount:shop:",
                "system:serviceaccount:shop:web:x",
            )
        ),
    ],
)
async def test_a_service_account_is_let_in_where_the_terms_allow_it(
    house: House, terms: dict[str, str], reviewed: ReviewedToken, refusal: tuple[str | None, str] | None
) -> None:
    await house.attach_kubernetes(**terms)
    house.reviews.says = reviewed
    if refusal is None:
        assert await house.owner(await house.kubernetes()) == house.identity_id
    else:
        assert await refused(house.kubernetes()) == (UnauthenticatedError, *refusal)


@pytest.mark.parametrize(
    "failure",
    [
        OutboundFailedError("the API server answers 500"),
        OutboundRefusedError("the host lies inside"),
        ReviewerUnknownError("who?"),
    ],
    ids=["an API server that fails", "not allowed", "an unknown reviewer"],
)
async def test_a_review_that_does_not_come_about_is_a_bad_request(house: House, failure: Exception) -> None:
    await house.attach_kubernetes(reviewer_token="cnry-reviewer")
    house.reviews.says = failure
    assert await refused(house.kubernetes()) == (
        InvalidError,
        REVIEWED,
        f"The token review failed: {failure}",
    )


@pytest.mark.parametrize(
    ("failure", "step"),
    [
        (OutboundUntrustedError("the host's certificate isn't trusted: self-signed"), UNTRUSTED_API),
        (OutboundUnreachableError("the host's name api can't be resolved"), UNREACHABLE_API),
        (ReviewerUnboundError("the reviewer may not create tokenreviews"), UNBOUND_REVIEWER),
    ],
    ids=["a certificate", "a name", "a right"],
)
async def test_a_review_that_finds_no_api_server_says_what_to_give(
    house: House, failure: Exception, step: str
) -> None:
    await house.attach_kubernetes(reviewer_token="cnry-reviewer")
    house.reviews.says = failure
    assert (await refused(house.kubernetes()))[2] == f"The token review failed: {failure}; {step}"


async def test_a_token_that_reviews_itself_and_is_not_known_is_not_authenticated(house: House) -> None:
    await house.attach_kubernetes()
    house.reviews.says = ReviewerUnknownError("401")
    kind, name, message = await refused(house.kubernetes())
    assert (kind, name) == (UnauthenticatedError, REVIEWED)
    assert message.startswith("Kubernetes token not authenticated: ")
    assert "no reviewer's token is set" in message
    assert "cnry" not in message


async def test_a_text_that_is_no_token_is_sent_nowhere(house: House) -> None:
    await house.attach_kubernetes()
    assert (await refused(house.kubernetes("cnry a\r\nb")))[1] == REVIEWED
    assert house.reviews.asked == []


async def test_the_reviewer_is_the_configured_one_or_the_token_itself(house: House) -> None:
    await house.attach_kubernetes(reviewer_token="cnry-reviewer", allowed_audience="kb")
    house.reviews.says = ReviewedToken(authenticated=True, username=WEB, audiences=("kb",))
    await house.kubernetes()
    await house.methods.change_kubernetes(
        house.admin, house.identity_id, KubernetesAuthChange(reviewer_token="")
    )
    await house.kubernetes()
    assert house.reviews.asked == [
        ("api.example.com", "kb", "cnry-reviewer"),
        ("api.example.com", "kb", "cnry-jwt"),
    ]


async def test_the_services_own_token_goes_to_its_own_cluster_and_nowhere_else(house: House) -> None:
    await house.attach_kubernetes()
    said: list[str] = []
    for host in (
        "https://kubernetes.default.svc",
        "https://kubernetes.default.svc:8443",
        "https://kubernetes.default.svc/api/v1/namespaces/a/services/b/proxy",
        HOST,
    ):
        auth = await house.methods.change_kubernetes(
            house.admin, house.identity_id, KubernetesAuthChange(host=host)
        )
        said.append(house.logins.reviewer_of(auth))
        await house.kubernetes()
    assert said == ["service-account", "login-token", "login-token", "login-token"]
    assert [(host, reviewer) for host, _, reviewer in house.reviews.asked] == [
        ("kubernetes.default.svc", "cnry-own-token"),
        ("kubernetes.default.svc", "cnry-jwt"),
        ("kubernetes.default.svc", "cnry-jwt"),
        ("api.example.com", "cnry-jwt"),
    ]


async def test_a_missing_own_token_is_told_without_a_value(house: House) -> None:
    await house.attach_kubernetes()
    change = KubernetesAuthChange(host="https://kubernetes.default.svc")
    await house.methods.change_kubernetes(house.admin, house.identity_id, change)
    (house.account / "token").unlink()
    kind, name, message = await refused(house.kubernetes())
    assert (kind, name) == (InvalidError, REVIEWED)
    assert "can't be read" in message


async def test_a_reviewers_token_is_not_taken_along_to_another_host(house: House) -> None:
    await house.attach_kubernetes(reviewer_token="cnry-reviewer")
    for change in (
        KubernetesAuthChange(host="https://evil.example.com"),
        KubernetesAuthChange(host="http://api.example.com"),
    ):
        kind, _, message = await refused(
            house.methods.change_kubernetes(house.admin, house.identity_id, change)
        )
        assert (kind, "tokenReviewerJwt again" in message) == (InvalidError, True)
    await house.methods.change_kubernetes(
        house.admin, house.identity_id, KubernetesAuthChange(host=f"{HOST}/", allowed_names="web")
    )
