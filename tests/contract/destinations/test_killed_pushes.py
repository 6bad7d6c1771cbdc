"""A push that is killed at one of its calls: the next one ends with exactly the wanted names and keeps foreign ones.

One destination of each shape: a table of calls, one that is write-only, one with batches, and a document.
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime, timedelta
from functools import partial

import pytest

from keybearer.destinations.codehost import CODEHOST
from keybearer.destinations.codehost_app import PatCredentials
from keybearer.destinations.external_infisical import EXTERNAL_INFISICAL
from keybearer.destinations.gitlab import GITLAB, AccessTokenCredentials
from keybearer.destinations.hashicorp_vault import HASHICORP_VAULT
from keybearer.destinations.protocol import Destination
from keybearer.destinations.remote import NO_LIMITS, Http, Limits, RemoteAnswer, RemoteRequest
from support.remotes.codehost import CodehostCopy
from support.remotes.gitlab import GitLabCopy
from support.remotes.opened import opened
from support.remotes.other_service import OtherFolder
from support.remotes.pushing import Target
from support.remotes.serving import served
from support.remotes.vault import VERSION_2, VaultPlace
from support.remotes.way_out import WayOut, way_out
from support.virtual_time import VirtualTime

pytestmark = pytest.mark.deep

SOURCE = {f"KEY_{number:02}": f"cnry-{number}" for number in range(60)}
BEFORE = {f"KEY_{number:02}": f"cnry-old-{number}" for number in range(4)} | {"STALE": "cnry-stale"}


class KilledError(BaseException):
    """The process is gone; nothing in it catches this."""


class _Killing(Http):
    """A way out whose process is killed at one call."""

    def __init__(self, right: Http) -> None:
        self._right = right
        self.at, self.is_sent = -1, False
        self.calls = 0

    def now(self) -> datetime:
        return self._right.now()

    async def pause(self, wait: timedelta) -> None:
        await self._right.pause(wait)

    async def send(
        self, request: RemoteRequest, *, limits: Limits = NO_LIMITS, place: str = ""
    ) -> RemoteAnswer:
        self.calls += 1
        if self.calls == self.at and not self.is_sent:
            raise KilledError
        answer = await self._right.send(request, limits=limits, place=place)
        if self.calls == self.at:
            raise KilledError
        return answer


@dataclasses.dataclass
class Scene:
    """A destination, and what a person sees there.

    Attributes:
        values: what it holds.
        put: writes as somebody else.
        empty: has it hold nothing.
        way: what it is asked through.
        open: returns it, anew for each run.
    """

    way: WayOut
    open: Callable[[], Destination]
    values: Callable[[], Mapping[str, object]]
    put: Callable[[Mapping[str, str]], None]
    empty: Callable[[], None]


def _each(put: Callable[[str, str], None], held: Mapping[str, str]) -> None:
    for name, value in held.items():
        put(name, value)


@asynccontextmanager
async def _gitlab() -> AsyncIterator[Scene]:
    copy = GitLabCopy()
    copy.tokens = {"glpat-cnry": "api"}
    there = copy.project("acme/shop")
    given = {"accessToken": "glpat-cnry", "accessTokenType": "personal"}
    credentials = AccessTokenCredentials.model_validate(given)
    config = {"scope": "project", "projectId": "acme/shop"}
    async with served(copy), way_out(gitlab=copy.url) as way:
        yield Scene(
            way,
            lambda: opened(GITLAB, config, credentials, way.context),
            there.values,
            lambda held: _each(there.put, held),
            lambda: there.variables.clear(),  # noqa: PLW0108 - the list is another one after each write
        )


@asynccontextmanager
async def _codehost() -> AsyncIterator[Scene]:
    time = VirtualTime()
    copy = CodehostCopy(time)
    copy.tokens = {"ghp_cnry": True}
    there = copy.repository("acme", "shop")
    config = {"scope": "repository", "owner": "acme", "repo": "shop"}
    async with served(copy), way_out(clock=time, codehost=copy.url) as way:

        def open_anew() -> Destination:
            # A minute has passed since the former attempt, so that its writes don't count any more.
            way.waits.append(timedelta(minutes=1))
            return opened(CODEHOST, config, PatCredentials(personal_access_token="ghp_cnry"), way.context)

        yield Scene(
            way,
            open_anew,
            there.values,
            lambda held: _each(partial(copy.put, there), held),
            there.secrets.clear,
        )


SCENES: dict[str, tuple[Callable[[], AbstractAsyncContextManager[Scene]], int]] = {
    # Not at every call: one of them takes a push of sixty names.
    "a table": (_gitlab, 5),
    "a table that is write-only": (_codehost, 15),
}


async def _kill_at_every_call(scene: Scene, step: int = 1) -> None:
    """Push, kill, and push again, for each call of a push, before it is sent and without its answer."""
    right = scene.way.context.http
    killing = _Killing(right)
    scene.way.context = dataclasses.replace(scene.way.context, http=killing)

    async def prepared() -> Target:
        killing.at = -1
        scene.empty()
        scene.put({"FOREIGN": "cnry-f"})
        target = Target(scene.open)
        await target.push(BEFORE)
        killing.calls = 0
        return target

    async def push(target: Target) -> list[str]:
        await target.push(SOURCE)
        return target.written

    await push(await prepared())
    calls = killing.calls
    for is_sent in (False, True):
        for at in range(1, calls + 1, step):
            target = await prepared()
            killing.at, killing.is_sent = at, is_sent
            with pytest.raises(KilledError):
                await push(target)
            first = list(target.written)
            killing.at = -1
            second = await push(target)
            held = {name.upper(): value for name, value in scene.values().items()}
            assert held == {**SOURCE, "FOREIGN": "cnry-f"}, (at, is_sent)
            # Written at most twice: by both attempts, or once more where no answer came.
            told = [*first, *second]
            assert max(told.count(name) for name in SOURCE) <= 2, (at, is_sent)


@pytest.mark.parametrize("shape", SCENES)
async def test_a_push_to_a_table_that_is_killed_at_a_call_is_gone_on_with(shape: str) -> None:
    made, step = SCENES[shape]
    async with made() as scene:
        await _kill_at_every_call(scene, step)


@pytest.mark.parametrize("vault_place", [VERSION_2], indirect=True)
async def test_a_push_to_a_document_that_is_killed_at_a_call_is_gone_on_with(
    vault_place: VaultPlace,
) -> None:
    async with way_out() as way:
        await _kill_at_every_call(
            Scene(
                way,
                lambda: opened(HASHICORP_VAULT, vault_place.config, vault_place.credentials, way.context),
                lambda: vault_place.values or {},
                lambda held: vault_place.put(dict(held)),
                lambda: None,
            )
        )


async def test_a_push_in_batches_that_is_killed_at_a_call_is_gone_on_with(
    other_folder: OtherFolder,
) -> None:
    def empty() -> None:
        for name in other_folder.values:
            other_folder.secrets.delete(name, path=other_folder.path)

    async with way_out() as way:
        await _kill_at_every_call(
            Scene(
                way,
                lambda: opened(
                    EXTERNAL_INFISICAL, other_folder.config, other_folder.credentials, way.context
                ),
                lambda: other_folder.values,
                lambda held: other_folder.put(**held),
                empty,
            )
        )
