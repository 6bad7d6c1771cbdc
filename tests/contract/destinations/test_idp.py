"""The app `idp` against a copy of an identity provider's token endpoint, over TLS."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import ValidationError

from keybearer.destinations.idp import IDP, ClientCredentials
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteError,
    RemoteMissingError,
    RemoteUnavailableError,
)
from keybearer.outbound.trust import trust
from support.remotes.beside import tls_of
from support.remotes.identity_provider import IdentityProviderCopy
from support.remotes.opened import check
from support.remotes.serving import ATTEMPTS, served
from support.remotes.way_out import WayOut, way_out


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    return tls_of(tmp_path_factory.mktemp("provider"))


@pytest.fixture
async def idp(tls: tuple[ssl.SSLContext, Path]) -> AsyncIterator[IdentityProviderCopy]:
    copy = IdentityProviderCopy()
    async with served(copy, tls[0]):
        yield copy


@pytest.fixture
async def way(tls: tuple[ssl.SSLContext, Path]) -> AsyncIterator[WayOut]:
    async with way_out(trusted=trust(tls[1].read_text())) as opened:
        yield opened


async def judged(idp: IdentityProviderCopy, way: WayOut, **fields: str) -> None:
    given = ClientCredentials.model_validate({**idp.credentials(), **fields})
    await check(IDP, given, way.context)


async def test_credentials_that_give_a_token_are_right(idp: IdentityProviderCopy, way: WayOut) -> None:
    for _ in range(2):
        await judged(idp, way)
    # A token that was kept from before would prove nothing.
    assert idp.visits.lines() == ["POST /oauth/token"] * 2


@pytest.mark.parametrize(
    "wrong", [{"clientSecret": "cnry-wrong"}, {"audience": "https://other.example.com/"}]
)
async def test_what_the_provider_refuses_is_told_without_it(
    idp: IdentityProviderCopy, way: WayOut, wrong: dict[str, str]
) -> None:
    with pytest.raises(
        RemoteDeniedError, match=r"clientId, clientSecret and audience \(access_denied\)"
    ) as caught:
        await judged(idp, way, **wrong)
    assert "cnry-" not in str(caught.value)
    assert "other.example.com" not in str(caught.value)


async def test_another_refusal_of_the_form_means_the_credentials(
    idp: IdentityProviderCopy, way: WayOut
) -> None:
    refusal = {"error": "invalid_client", "error_description": "cnry-client-secret", "message": "cnry-client"}
    idp.visits.answer_instead("POST", "", lambda: web.json_response(refusal, status=400))
    with pytest.raises(RemoteDeniedError, match=r"audience \(invalid_client\)$"):
        await judged(idp, way)


@pytest.mark.parametrize(
    ("answer", "error", "told"),
    [
        (lambda: web.Response(status=404), RemoteMissingError, "is it the identity provider's?"),
        (lambda: web.Response(status=302, headers={"Location": "/"}), RemoteMissingError, "was moved"),
        (lambda: web.Response(status=503), RemoteUnavailableError, "the identity provider answers 503"),
        (lambda: web.Response(text="cnry-page"), RemoteUnavailableError, "something other than JSON"),
        (lambda: web.json_response({}), RemoteUnavailableError, "of type Bearer"),
        (lambda: web.json_response({"token_type": "mac"}), RemoteUnavailableError, "of type Bearer"),
        (None, RemoteUnavailableError, "no usable answer"),
    ],
)
async def test_what_is_no_provider_or_has_a_bad_day_is_told(
    idp: IdentityProviderCopy,
    way: WayOut,
    answer: Callable[[], web.Response] | None,
    error: type[RemoteError],
    told: str,
) -> None:
    idp.visits.answer_instead("POST", "", answer, times=ATTEMPTS)
    with pytest.raises(error) as caught:
        await judged(idp, way)
    assert told in str(caught.value)


async def test_throttling_is_waited_for(idp: IdentityProviderCopy, way: WayOut) -> None:
    busy = web.Response(status=429, headers={"retry-after": "2"})
    idp.visits.answer_instead("POST", "", lambda: busy)
    await judged(idp, way)
    assert [round(wait.total_seconds()) for wait in way.waits] == [2]


def test_fields_are_trimmed_and_the_secret_is_never_shown() -> None:
    fields: dict[str, Any] = {
        "domain": "tenant.example.com",
        "clientId": "c",
        "clientSecret": "cnry-s",
        "audience": "https://tenant.example.com/",
    }
    spaced = {name: f" {text}\n" for name, text in fields.items()}
    taken = ClientCredentials.model_validate(spaced)
    assert taken.written() == fields
    assert "cnry-" not in repr(taken)
    assert IDP.methods["client-credentials"].shown == fields.keys() - {"clientSecret"}
    for name in fields:
        for wrong in ("", " ", None, 1):
            with pytest.raises(ValidationError) as caught:
                ClientCredentials.model_validate({**fields, name: wrong})
            assert caught.value.errors()[0]["loc"] == (name,)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("domain", text) for text in ("https://a.example.com", "a/x", "a b", "a@b", "a:b", "a?b", ".a")),
        *(("audience", text) for text in ("tenant", "https:", "https://a b")),
    ],
)
def test_a_domain_is_a_host_and_an_audience_a_url(name: str, wrong: str) -> None:
    fields = {"domain": "a", "clientId": "c", "clientSecret": "cnry-s", "audience": "https://a/"}
    with pytest.raises(ValidationError) as caught:
        ClientCredentials.model_validate({**fields, name: wrong})
    assert caught.value.errors()[0]["loc"] == (name,)
