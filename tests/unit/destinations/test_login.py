"""How the answer to a login is read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from keybearer.destinations.app import Answers, App, Issued
from keybearer.destinations.login import log_in
from keybearer.destinations.remote import RemoteDeniedError, RemoteUnavailableError
from keybearer.destinations.session import Call, Session
from keybearer.wire.credentials import Credentials, Method
from support.remotes.way_out import WayOut, way_out
from support.scripted_server import Reply, ScriptedServer
from support.virtual_time import VirtualTime


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


@pytest.fixture
async def way(time: VirtualTime) -> AsyncIterator[WayOut]:
    async with way_out(clock=time) as opened:
        yield opened


async def login(way: WayOut, reply: Reply) -> Issued:
    async with ScriptedServer(reply) as server:
        app = App(
            name="acme",
            title="Acme",
            methods={"token": Method(Credentials)},
            root=lambda _: server.url,
            answers=Answers(who="Acme"),
        )
        call = Call(method="POST", path="/login", to="log in", holds_values=True)
        return await log_in(
            Session(app, Credentials(), way.context), call, token="auth.token", ends="auth.ends"
        )


def answer(ends: object) -> dict[str, Any]:
    return {"auth": {"token": "cnry-t", "ends": ends}}


@pytest.mark.parametrize(
    ("ends", "lasts"),
    [
        pytest.param(600, timedelta(minutes=10), id="seconds"),
        pytest.param(0.5, timedelta(seconds=0.5), id="a part of a second"),
        pytest.param(0, timedelta(hours=1), id="no end"),
        pytest.param(86_400, timedelta(hours=1), id="more seconds than a token is kept for"),
        pytest.param("2999-01-01T00:00:00Z", timedelta(hours=1), id="an instant that is far away"),
        pytest.param("2001-01-01T00:00:00+02:00", None, id="an instant that has passed"),
    ],
)
async def test_a_token_is_kept_until_its_end_and_an_hour_at_most(
    way: WayOut, time: VirtualTime, ends: object, lasts: timedelta | None
) -> None:
    issued = await login(way, Reply(body=answer(ends)))
    assert issued.parts == {"token": "cnry-t"}
    if lasts is None:
        assert issued.ends_at < time.now()
    else:
        assert issued.ends_at - time.now() == lasts


@pytest.mark.parametrize("ends", [None, True, "600", "2026-01-02T03:04:05", [], "cnry-t"])
async def test_an_end_of_another_form_is_an_outage(way: WayOut, ends: object) -> None:
    with pytest.raises(RemoteUnavailableError, match=r"doesn't say in auth\.ends") as caught:
        await login(way, Reply(body=answer(ends)))
    assert "cnry-" not in str(caught.value)


@pytest.mark.parametrize("body", [{}, [], {"auth": {"token": ""}}, {"auth": {"token": 1}}])
async def test_an_answer_without_a_token_is_an_outage(way: WayOut, body: object) -> None:
    with pytest.raises(RemoteUnavailableError, match="Acme answers without a token when asked to log in"):
        await login(way, Reply(body=body))


async def test_a_login_that_is_malformed_for_the_remote_has_wrong_credentials(way: WayOut) -> None:
    with pytest.raises(RemoteDeniedError, match="Acme doesn't take the credentials"):
        await login(way, Reply(400, {"message": "cnry-t"}))
