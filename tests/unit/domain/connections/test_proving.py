"""What is asked of a remote about credentials, and what becomes of its answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from keybearer.base.clock import SystemClock
from keybearer.base.ids import OrganizationId
from keybearer.destinations.app import App
from keybearer.destinations.catalogue import CATALOGUE
from keybearer.destinations.codehost_app import LoginCredentials, OAuthCredentials
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.destinations.session import Session
from keybearer.domain.connections import proving as module
from keybearer.domain.connections.credentials import kept_form, shown_form
from keybearer.domain.connections.proving import Proving
from keybearer.domain.errors import InvalidError
from keybearer.domain.outbound import OutboundSettings, outbound_of
from keybearer.wire.credentials import Credentials

ORGANIZATION = OrganizationId("5f3c5d9e-6a52-4a9a-9a0e-0d5d6f1c2b3a")


@dataclass
class Plain:
    """An app that keeps what it is given."""

    fails: RemoteError | None = None
    hangs: bool = False
    asked: list[tuple[str, Credentials]] = field(default_factory=list)

    async def check(self, session: Session) -> None:
        self.asked.append(("check", session.credentials))
        if self.hangs:
            await asyncio.Event().wait()
        if self.fails is not None:
            raise self.fails


class Exchanging(Plain):
    """An app that exchanges a code for a token."""

    async def exchange(self, session: Session) -> Credentials:
        self.asked.append(("exchange", session.credentials))
        return LoginCredentials(access_token="cnry-token")


@dataclass
class Slow:
    """An app whose remote answers when it is let."""

    is_slow: bool = True
    at_once: int = 0
    most_at_once: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    answers: asyncio.Event = field(default_factory=asyncio.Event)

    async def check(self, _: Session) -> None:
        self.at_once += 1
        self.most_at_once = max(self.at_once, self.most_at_once)
        if self.at_once == 8:
            self.asked.set()
        if self.is_slow:
            await self.answers.wait()
        self.at_once -= 1


def codehost() -> App:
    model = CATALOGUE.app("codehost")
    assert model is not None
    return model


def proving() -> Proving:
    return Proving(outbound_of(OutboundSettings(), SystemClock()).remotes)


def asked_as(app: Plain | Slow) -> App:
    """Return the app of the code host, asked in another way."""
    exchange = app.exchange if isinstance(app, Exchanging) else None
    return replace(codehost(), check=app.check, exchange=exchange)


GIVEN = OAuthCredentials(code="cnry-code")


async def test_what_is_exchanged_once_is_checked_and_kept() -> None:
    app = Exchanging()
    kept = await proving().proven(asked_as(app), ORGANIZATION, GIVEN)
    assert kept == LoginCredentials(access_token="cnry-token")
    assert [(step, credentials) for step, credentials in app.asked] == [
        ("exchange", GIVEN),
        ("check", kept),
    ]
    assert kept_form(kept) == {"accessToken": "cnry-token"}
    assert shown_form(codehost().methods["oauth"], kept_form(kept)) == {}


async def test_what_is_kept_as_it_is_given_is_checked() -> None:
    app = Plain()
    assert await proving().proven(asked_as(app), ORGANIZATION, GIVEN) == GIVEN
    assert [step for step, _ in app.asked] == ["check"]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RemoteDeniedError("the host says 401"), "verify credentials: the host says 401"),
        (RemoteMissingError("no such mount"), "no such mount"),
        (RemoteRefusedError("the host may not be called"), "the host may not be called"),
        (RemoteThrottledError("it kept asking"), "it kept asking; try again later"),
        (
            RemoteUnavailableError("it answers 503"),
            "it answers 503; see whether the host is right and can be reached from the service, or try again later",
        ),
    ],
)
async def test_a_refusal_says_what_to_do(error: RemoteError, told: str) -> None:
    with pytest.raises(InvalidError) as caught:
        await proving().proven(asked_as(Plain(error)), ORGANIZATION, GIVEN)
    assert str(caught.value) == f"Unable to validate connection: {told}"


async def test_a_long_text_of_a_remote_is_cut() -> None:
    with pytest.raises(InvalidError) as caught:
        await proving().proven(asked_as(Plain(RemoteRefusedError("x" * 100_000))), ORGANIZATION, GIVEN)
    assert len(str(caught.value)) < 1200


async def test_a_remote_that_takes_too_long_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DEADLINE_SECONDS", 0.05)
    with pytest.raises(InvalidError, match="took too long"):
        await proving().proven(asked_as(Plain(hangs=True)), ORGANIZATION, GIVEN)


async def test_slow_remotes_of_one_organization_leave_places_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = Slow()
    asking, asked = proving(), asked_as(app)
    others = OrganizationId("6f3c5d9e-6a52-4a9a-9a0e-0d5d6f1c2b3a")
    async with asyncio.TaskGroup() as group:
        tried = [group.create_task(asking.proven(asked, ORGANIZATION, GIVEN)) for _ in range(40)]
        await app.asked.wait()
        assert app.at_once == 8
        monkeypatch.setattr(module, "_DEADLINE_SECONDS", 0.05)
        with pytest.raises(InvalidError, match="too many other credentials are being tried; try again later"):
            await asking.proven(asked, ORGANIZATION, GIVEN)
        app.is_slow = False
        assert await asking.proven(asked, others, GIVEN) == GIVEN
        app.answers.set()
        await asyncio.wait(tried)
    assert app.most_at_once == 9
