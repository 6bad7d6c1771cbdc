from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from keybearer.client import AsyncKeybearer
from keybearer.controllers.identity import IdentityMethod, ServiceIdentity
from keybearer.controllers.outcome import ReconcileError, StalledError, WaitingError
from keybearer.controllers.service_session import ANSWER_MAX_BYTES
from keybearer.controllers.sessions import SessionOpener
from keybearer.kube.errors import ForbiddenError, InvalidError, KubeError, NotFoundError, UnavailableError
from keybearer.kube.gateway import ServiceAccountToken
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.hand_clock import HandClock

_URL = "https://keybearer.example.com"
_ACCOUNT = {"identityId": "cnry-id", "serviceAccountName": "web", "audience": "keybearer"}


class Cluster(FakeGateway):
    """Mints tokens, or refuses to."""

    def __init__(self) -> None:
        super().__init__()
        self.refusal: KubeError | None = None
        self.asked: list[tuple[str, str, str, timedelta]] = []

    async def token_request(
        self, namespace: str, service_account: str, *, audience: str, lifetime: timedelta
    ) -> ServiceAccountToken:
        self.asked.append((namespace, service_account, audience, lifetime))
        if self.refusal is not None:
            raise self.refusal
        return ServiceAccountToken("cnry-jwt", datetime(2026, 3, 1, tzinfo=UTC))


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
async def opener(cluster: Cluster) -> AsyncIterator[SessionOpener]:
    opener = SessionOpener(HandClock(), cluster, SteadyChance())
    yield opener
    await opener.close()


def identity(method: IdentityMethod, **credentials: str) -> ServiceIdentity:
    return ServiceIdentity(_URL, method, credentials, namespace="team-a" if method == "Kubernetes" else "")


@pytest.mark.parametrize(
    "one",
    [
        identity("UniversalAuth", clientId="cnry-id", clientSecret="cnry-secret"),
        identity("Ldap", identityId="cnry-id", username="cnry-user", password="cnry-password"),
        identity("AccessToken", accessToken="cnry-token"),
        identity("Kubernetes", **_ACCOUNT),
    ],
    ids=lambda one: one.method,
)
async def test_each_method_opens_a_session_without_a_request(
    opener: SessionOpener, cluster: Cluster, one: ServiceIdentity
) -> None:
    session = opener.open("id", one)

    assert session.id == "id"
    assert isinstance(session._client, AsyncKeybearer)
    assert session._client._options.max_response_bytes == ANSWER_MAX_BYTES
    assert cluster.asked == []
    await session.close()


@pytest.mark.parametrize(
    ("one", "says"),
    [
        pytest.param(
            identity("AccessToken", accessToken="Bearer cnry-token"),
            "without the word Bearer",
            id="a header as token",
        ),
        pytest.param(
            identity("AccessToken", accessToken="cnry token\r\nX: y"),
            "no token has",
            id="a token that ends a header",
        ),
        pytest.param(
            replace(
                identity("AccessToken", accessToken="cnry-token"), ca_pem=b"-----BEGIN CERTIFICATE-----\ncnry"
            ),
            "can't be read",
            id="a bundle that only looks like one",
        ),
    ],
)
async def test_an_identity_of_which_no_client_can_be_made_stalls(
    opener: SessionOpener, one: ServiceIdentity, says: str
) -> None:
    with pytest.raises(StalledError) as refused:
        opener.open("id", one)

    assert refused.value.reason == "IdentityInvalid"
    assert says in refused.value.message
    assert "cnry" not in refused.value.message


async def test_a_service_account_token_is_minted_for_the_audience_in_the_own_namespace(
    opener: SessionOpener, cluster: Cluster
) -> None:
    source = opener._token_source(identity("Kubernetes", **_ACCOUNT))

    assert await source() == "cnry-jwt"
    assert cluster.asked == [("team-a", "web", "keybearer", timedelta(minutes=10))]


@pytest.mark.parametrize(
    ("refusal", "kind", "says"),
    [
        pytest.param(NotFoundError("gone"), StalledError, "create the ServiceAccount", id="no such account"),
        pytest.param(ForbiddenError("no"), StalledError, "operator.allowServiceAccountTokens", id="no right"),
        pytest.param(InvalidError("no"), StalledError, "correct serviceAccountName", id="no name"),
        pytest.param(UnavailableError("no answer"), WaitingError, "no answer", id="no answer"),
    ],
)
async def test_a_token_that_can_not_be_had_is_told_with_its_remedy(
    opener: SessionOpener, cluster: Cluster, refusal: KubeError, kind: type[ReconcileError], says: str
) -> None:
    cluster.refusal = refusal
    with pytest.raises(kind, match=says):
        await opener._token_source(identity("Kubernetes", **_ACCOUNT))()
