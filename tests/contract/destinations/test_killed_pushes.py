"""A push that is killed at one of its calls: another process ends with just the wanted names, and keeps foreign ones.

So it does if the source has lost the new names by then.

One destination of each shape: a call for each name, one that is write-only, one with batches, and a document.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from keybearer.base.clock import SystemClock
from keybearer.destinations.codehost import CODEHOST
from keybearer.destinations.codehost_app import PatCredentials
from keybearer.destinations.external_infisical import EXTERNAL_INFISICAL
from keybearer.destinations.gitlab import GITLAB, AccessTokenCredentials
from keybearer.destinations.hashicorp_vault import HASHICORP_VAULT
from support.killed_runs import Shape, killed_runs
from support.remotes.codehost import CodehostCopy
from support.remotes.gitlab import GitLabCopy
from support.remotes.other_service import OtherFolder
from support.remotes.serving import served
from support.remotes.vault import VaultPlace

pytestmark = pytest.mark.deep

# The names that are written, the last ones removed, and of four the values are other ones before.
SOURCE = {f"KEY_{number:02}": f"cnry-{number}" for number in range(60)}
BEFORE = {f"KEY_{number:02}": f"cnry-old-{number}" for number in range(4)} | {"STALE": "cnry-stale"}
FOREIGN = {"FOREIGN": "cnry-f"}


def _each(put: Callable[[str, str], None], held: Mapping[str, str]) -> None:
    for name, value in held.items():
        put(name, value)


@asynccontextmanager
async def _gitlab() -> AsyncIterator[Shape]:
    copy = GitLabCopy()
    copy.tokens = {"glpat-cnry": "api"}
    there = copy.project("acme/shop")
    given = {"accessToken": "glpat-cnry", "accessTokenType": "personal"}

    def kept() -> Callable[[], None]:
        held = list(there.variables)
        return lambda: there.variables.__setitem__(slice(None), held)

    async with served(copy):
        yield Shape(
            GITLAB,
            {"scope": "project", "projectId": "acme/shop"},
            AccessTokenCredentials.model_validate(given),
            there.values,
            lambda held: _each(there.put, held),
            kept,
            {"gitlab": copy.url},
        )


@asynccontextmanager
async def _codehost() -> AsyncIterator[Shape]:
    copy = CodehostCopy(SystemClock())
    copy.tokens = {"ghp_cnry": True}
    there = copy.repository("acme", "shop")

    def kept() -> Callable[[], None]:
        held = dict(there.secrets)

        def restore() -> None:
            there.secrets = dict(held)

        return restore

    async with served(copy):
        yield Shape(
            CODEHOST,
            {"scope": "repository", "owner": "acme", "repo": "shop"},
            PatCredentials(personal_access_token="ghp_cnry"),
            there.values,
            lambda held: _each(lambda name, value: copy.put(there, name, value), held),
            kept,
            {"codehost": copy.url},
        )


SHAPES: dict[str, Callable[[], AbstractAsyncContextManager[Shape]]] = {
    "a call for each name": _gitlab,
    "a call for each name, write-only": _codehost,
}


async def _kill_at_every_call(directory: Path, shape: Shape, *, calls: int) -> None:
    """Push sixty keys, and go on from each state that a kill may leave.

    Args:
        directory: for databases.
        shape: of the destination.
        calls: how many a push takes at least.
    """
    async with killed_runs(directory, shape) as runs:
        await runs.hold(BEFORE)
        await runs.push()
        shape.put(FOREIGN)
        await runs.hold(SOURCE)
        states = await runs.push()
        assert sum(len(left.moments) for left in states) >= 2 * calls + 1
        for left in states:
            writes = await runs.go_on(left)
            assert shape.values() == SOURCE | FOREIGN, left.moments
            assert all(1 <= writes[name] <= 2 for name in SOURCE), (left.moments, writes)
        *under_way, _ = states
        kept = {name: value for name, value in SOURCE.items() if name in BEFORE}
        # Of many calls for a name each, some: all tell the same.
        for left in under_way[:: max(1, len(under_way) // 20)]:
            await runs.go_on(left, without=SOURCE.keys() - kept.keys())
            assert shape.values() == kept | FOREIGN, left.moments


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_push_with_a_call_for_each_name_that_is_killed_is_gone_on_with(
    tmp_path: Path, shape: str
) -> None:
    async with SHAPES[shape]() as made:
        await _kill_at_every_call(tmp_path, made, calls=len(SOURCE) + 2)


async def test_a_push_to_a_document_that_is_killed_is_gone_on_with(
    tmp_path: Path, vault_place: VaultPlace
) -> None:
    def kept() -> Callable[[], None]:
        held = vault_place.values or {}
        return lambda: vault_place.put(held)

    shape = Shape(
        HASHICORP_VAULT,
        vault_place.config.model_dump(by_alias=True),
        vault_place.credentials,
        lambda: vault_place.values or {},
        lambda held: vault_place.put({**(vault_place.values or {}), **held}),
        kept,
    )
    await _kill_at_every_call(tmp_path, shape, calls=3)


async def test_a_push_in_batches_that_is_killed_is_gone_on_with(
    tmp_path: Path, other_folder: OtherFolder
) -> None:
    def kept() -> Callable[[], None]:
        held = dict(other_folder.values)

        def restore() -> None:
            for name in other_folder.values:
                other_folder.secrets.delete(name, path=other_folder.path)
            other_folder.put(**held)

        return restore

    shape = Shape(
        EXTERNAL_INFISICAL,
        other_folder.config.model_dump(by_alias=True),
        other_folder.credentials,
        lambda: other_folder.values,
        lambda held: other_folder.put(**held),
        kept,
    )
    await _kill_at_every_call(tmp_path, shape, calls=3)
