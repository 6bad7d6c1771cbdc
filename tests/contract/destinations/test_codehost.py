"""The destination `codehost` against a copy of the code host that opens what it is given."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from keybearer.destinations import codehost as driver
from keybearer.destinations.codehost import CODEHOST
from keybearer.destinations.codehost_app import InstallationCredentials, PatCredentials
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.domain.syncs.plan import PlanRefusedError
from keybearer.wire.credentials import Credentials
from support.remotes.codehost import (
    CodehostCopy,
    SecretsPlace,
)
from support.remotes.driving import change_of, run
from support.remotes.opened import opened
from support.remotes.pushing import Target
from support.remotes.serving import served
from support.remotes.way_out import WayOut, way_out
from support.virtual_time import VirtualTime

TOKEN = "ghp_cnry-admin"
READER = "ghp_cnry-reader"
ORGANIZATION = {"scope": "organization", "org": "acme", "visibility": "private"}
REPOSITORY = {"scope": "repository", "owner": "acme", "repo": "shop"}
ENVIRONMENT = {"scope": "repository-environment", "owner": "acme", "repo": "shop", "env": "prod/eu"}
SCOPES = {
    "an organization": (ORGANIZATION, "/orgs/acme/actions/secrets"),
    "a repository": (REPOSITORY, "/repos/acme/shop/actions/secrets"),
    "an environment": (ENVIRONMENT, "/repos/acme/shop/environments/prod%2Feu/secrets"),
}


@pytest.fixture
def time() -> VirtualTime:
    return VirtualTime()


@pytest.fixture
async def copy(time: VirtualTime) -> AsyncIterator[CodehostCopy]:
    host = CodehostCopy(time)
    host.tokens = {TOKEN: True, READER: False}
    async with served(host):
        yield host


@pytest.fixture
async def way(time: VirtualTime, copy: CodehostCopy) -> AsyncIterator[WayOut]:
    async with way_out(clock=time, codehost=copy.url) as opened:
        yield opened


@pytest.fixture
def repository(copy: CodehostCopy) -> SecretsPlace:
    return copy.repository("acme", "shop")


Make = Callable[..., Target]


@pytest.fixture
def target(way: WayOut) -> Make:
    """Return what makes a place to sync to, a repository unless another is named."""

    def make(config: dict[str, Any] | None = None, credentials: Credentials | None = None) -> Target:
        given = credentials or PatCredentials(personal_access_token=TOKEN)
        return Target(lambda: opened(CODEHOST, config or REPOSITORY, given, way.context))

    return make


def place(copy: CodehostCopy, config: dict[str, Any]) -> SecretsPlace:
    if config["scope"] == "organization":
        return copy.organization(config["org"])
    return copy.repository(config["owner"], config["repo"], config.get("env"))


@pytest.mark.parametrize("scope", SCOPES)
async def test_secrets_arrive_sealed_and_in_upper_case(copy: CodehostCopy, target: Make, scope: str) -> None:
    config, path = SCOPES[scope]
    there = place(copy, config)
    await target(config).push({"one": "cnry-1", "EMPTY": "", "Lines": "cnry-ü\n${x}\n"})
    assert there.values() == {"ONE": "cnry-1", "EMPTY": "", "LINES": "cnry-ü\n${x}\n"}
    assert copy.visits.writes() == [f"PUT {path}/{name}" for name in ("ONE", "EMPTY", "LINES")]
    assert all("X-GitHub-Api-Version" in one.headers for one in copy.visits.asked)


async def test_the_public_key_is_asked_for_once_in_a_run(
    copy: CodehostCopy, repository: SecretsPlace, target: Make
) -> None:
    await target().push({f"KEY_{number}": "cnry-v" for number in range(20)})
    assert sum(line.endswith("/public-key") for line in copy.visits.lines()) == 1
    assert len(repository.secrets) == 20


@pytest.mark.parametrize("scope", SCOPES)
async def test_a_removed_key_is_removed(copy: CodehostCopy, target: Make, scope: str) -> None:
    config, path = SCOPES[scope]
    there = place(copy, config)
    pushed = target(config)
    await pushed.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    copy.visits.asked.clear()
    await pushed.push({"TWO": "cnry-2"})
    assert (pushed.removed, there.values()) == (["ONE"], {"TWO": "cnry-2"})
    assert copy.visits.writes() == [f"DELETE {path}/ONE"]


async def test_two_keys_of_one_name_are_refused_before_anything_is_written(
    copy: CodehostCopy, repository: SecretsPlace, target: Make
) -> None:
    with pytest.raises(RemoteRefusedError, match="upper and lower case"):
        await target().push({"one": "cnry-1", "ONE": "cnry-2"})
    assert (copy.visits.writes(), repository.values()) == ([], {})


@pytest.mark.parametrize(("config", "most"), [(ORGANIZATION, 1000), (REPOSITORY, 100), (ENVIRONMENT, 100)])
async def test_more_names_than_the_host_takes_are_refused_before_anything_is_written(
    copy: CodehostCopy, target: Make, config: dict[str, Any], most: int
) -> None:
    there = place(copy, config)
    assert target(config).make().traits.names_max == there.names_max == most
    with pytest.raises(PlanRefusedError, match=f"takes {most} secrets at most"):
        await target(config).push({f"KEY_{number}": "" for number in range(most + 1)})
    assert copy.visits.writes() == []


async def test_writes_keep_the_pace_of_the_secondary_limit(copy: CodehostCopy, target: Make) -> None:
    there = copy.organization("acme")
    pushed = target(ORGANIZATION)
    with pytest.raises(RemoteThrottledError) as caught:
        await pushed.push({f"KEY_{number:03}": "cnry-v" for number in range(100)})
    assert (len(there.secrets), len(pushed.written)) == (80, 80)
    assert caught.value.wait == timedelta(seconds=30)


@pytest.mark.parametrize("token", ["ghp_cnry-wrong", READER])
async def test_wrong_credentials_are_told(repository: SecretsPlace, target: Make, token: str) -> None:
    wrong = target(credentials=PatCredentials(personal_access_token=token))
    with pytest.raises(RemoteDeniedError) as caught:
        await wrong.push({"ONE": "cnry-1"})
    assert not caught.value.is_retryable
    assert "cnry-" not in str(caught.value)
    expected = "not accessible by personal access token" if token == READER else "were revoked"
    assert expected in str(caught.value)
    assert repository.values() == {}


async def test_what_the_host_says_of_a_secret_it_refuses_is_told(
    copy: CodehostCopy, repository: SecretsPlace, target: Make
) -> None:
    refusal = {"message": "Secret value must be less than 48 KB"}
    copy.visits.answer_instead("PUT", "/LONG", lambda: web.json_response(refusal, status=422))
    with pytest.raises(RemoteRefusedError, match="must be less than 48 KB") as caught:
        await target().push({"LONG": "cnry-1", "SHORT": "cnry-2"})
    assert "'LONG' of the repository 'acme/shop'" in str(caught.value)
    assert repository.values() == {"SHORT": "cnry-2"}


async def test_a_place_that_is_full_of_others_names_refuses(
    copy: CodehostCopy, repository: SecretsPlace, target: Make
) -> None:
    for number in range(100):
        copy.put(repository, f"FOREIGN_{number}", "cnry-f")
    with pytest.raises(RemoteRefusedError, match="more than 100 secrets"):
        await target().push({"ONE": "cnry-1"}, removes_nothing=True)


@pytest.mark.parametrize("scope", SCOPES)
async def test_a_place_that_is_not_there_is_told(target: Make, scope: str) -> None:
    config, _ = SCOPES[scope]
    with pytest.raises(RemoteMissingError, match="acme"):
        await target(config).push({"ONE": "cnry-1"})
    with pytest.raises(RemoteMissingError, match="acme"):
        await target(config).push({"ONE": "cnry-1"}, trusts_ledger=True)


async def test_a_renamed_repository_is_told_and_its_new_place_not_followed(
    copy: CodehostCopy, target: Make
) -> None:
    moved = web.Response(status=301, headers={"Location": "/repositories/1/actions/secrets"})
    copy.visits.answer_instead("GET", "/secrets", lambda: moved)
    with pytest.raises(RemoteMissingError, match="was moved"):
        await target().push({"ONE": "cnry-1"})
    assert len(copy.visits.asked) == 1


async def test_nothing_counts_as_removed_where_the_place_can_not_be_seen(target: Make) -> None:
    with pytest.raises(RemoteMissingError):
        await run(target().make(), change_of(None, "GONE"))


async def test_who_may_use_a_secret_of_an_organization_is_sent_along(
    copy: CodehostCopy, target: Make
) -> None:
    there = copy.organization("acme")
    await target({**ORGANIZATION, "visibility": "selected", "selectedRepositoryIds": [7, 9]}).push(
        {"ONE": ""}
    )
    await target({**ORGANIZATION, "visibility": "all", "selectedRepositoryIds": []}).push(
        {"ONE": "", "TWO": ""}, removes_nothing=True
    )
    held = {name: (one.visibility, one.repository_ids) for name, one in there.secrets.items()}
    assert held == {"ONE": ("all", ()), "TWO": ("all", ())}
    await target({**ORGANIZATION, "visibility": "selected", "selectedRepositoryIds": [7, 9]}).push(
        {"THREE": ""}, removes_nothing=True
    )
    assert (there.secrets["THREE"].visibility, there.secrets["THREE"].repository_ids) == ("selected", (7, 9))


@pytest.mark.parametrize("step", [".", ".."])
async def test_no_name_of_a_configuration_steps_out_of_its_place(
    copy: CodehostCopy, target: Make, step: str
) -> None:
    with pytest.raises(RemoteRefusedError):
        await target({**REPOSITORY, "repo": step}).push({"ONE": "cnry-1"})
    assert copy.visits.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        lambda: web.Response(text="<html>"),
        lambda: web.json_response([]),
        lambda: web.json_response({"key_id": "1", "key": "no base64"}),
        lambda: web.json_response({"key_id": "1", "key": "c2hvcnQ="}),
        lambda: web.json_response({"key_id": "1", "key": base64.b64encode(bytes(32)).decode()}),
        lambda: web.json_response({"key_id": 1, "key": None}),
    ],
)
async def test_a_public_key_that_can_not_be_used_is_an_outage(
    copy: CodehostCopy, repository: SecretsPlace, target: Make, answer: Callable[[], web.Response]
) -> None:
    copy.visits.answer_instead("GET", "public-key", answer)
    with pytest.raises(RemoteUnavailableError):
        await target().push({"ONE": "cnry-1"})
    assert repository.values() == {}


@pytest.mark.parametrize("listed", [{}, {"secrets": {}}, {"secrets": ["A"]}, {"secrets": [{"name": 1}]}, []])
async def test_a_list_of_another_form_is_an_outage(copy: CodehostCopy, target: Make, listed: object) -> None:
    copy.visits.answer_instead("GET", "/secrets", lambda: web.json_response(listed))
    with pytest.raises(RemoteUnavailableError):
        await target().make().read([])


async def test_an_installation_gets_one_token_for_many_runs_and_another_when_it_ends(
    copy: CodehostCopy, repository: SecretsPlace, time: VirtualTime, target: Make
) -> None:
    key = copy.app("12", "99")
    installed = target(
        credentials=InstallationCredentials(installation_id="99", git_hub_app_id="12", private_key=key)
    )
    tokens = "POST /app/installations/99/access_tokens"
    for number in range(3):
        await installed.push({"ONE": f"cnry-{number}"})
    assert copy.visits.lines("POST") == [tokens]
    await time.advance(3590)
    await installed.push({"ONE": "cnry-later"})
    assert copy.visits.lines("POST") == [tokens] * 2
    copy.end_installation_tokens()
    await installed.push({"ONE": "cnry-last"})
    assert copy.visits.lines("POST") == [tokens] * 3
    assert repository.values() == {"ONE": "cnry-last"}


async def test_a_server_of_ones_own_is_asked_below_its_path(
    copy: CodehostCopy, repository: SecretsPlace, target: Make
) -> None:
    credentials = PatCredentials.model_validate(
        {"personalAccessToken": TOKEN, "instanceType": "server", "host": copy.url}
    )
    await target(credentials=credentials).push({"ONE": "cnry-1"})
    assert repository.values() == {"ONE": "cnry-1"}
    assert all(line.partition(" ")[2].startswith("/api/v3/repos/") for line in copy.visits.lines())


# What the copy is worth: drivers that are wrong fail on it.


async def test_a_driver_that_does_not_seal_is_refused(
    repository: SecretsPlace, target: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "sealed", lambda value, _: base64.b64encode(value.encode()).decode())
    with pytest.raises(RemoteRefusedError, match="could not be decrypted"):
        await target().push({"ONE": "cnry-1"})
    assert repository.values() == {}
