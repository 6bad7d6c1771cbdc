"""The driver of `codehost` against a copy of the code host that opens what it is given."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import pytest
from aiohttp import web

from keybearer.domain.syncs.plan import PlanRefusedError
from keybearer.outbound.apps import codehost_api
from keybearer.outbound.destinations import bounds
from keybearer.outbound.destinations import codehost as driver
from keybearer.outbound.destinations.codehost import CodehostSecrets
from keybearer.outbound.remote import (
    RemoteAnswer,
    RemoteDeniedError,
    RemoteHttp,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteRequest,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.wire.connections.base import Credentials
from keybearer.wire.connections.codehost import InstallationCredentials, PatCredentials
from keybearer.wire.destinations.codehost import CODEHOST
from keybearer.wire.key_schema import KeyNaming
from support.remotes.codehost import (
    CodehostCopy,
    SecretsPlace,
    forbidden_for_a_while,
    too_many,
    used_up,
    warned,
)
from support.remotes.driving import change_of, given_to, run
from support.remotes.outages import WRITTEN_BEFORE, push_through_an_outage
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
        given = given_to(
            CODEHOST.config.validate_python(config or REPOSITORY),
            credentials or PatCredentials(personal_access_token=TOKEN),
            way.context,
        )
        return Target(lambda: CodehostSecrets(given))

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


@pytest.mark.parametrize("scope", SCOPES)
async def test_a_run_without_changes_writes_nothing(copy: CodehostCopy, target: Make, scope: str) -> None:
    config, path = SCOPES[scope]
    place(copy, config)
    pushed = target(config)
    await pushed.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    copy.visits.asked.clear()
    await pushed.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    assert copy.visits.lines() == [f"GET {path}"]


@pytest.mark.parametrize("scope", SCOPES)
async def test_one_changed_key_is_one_write(
    copy: CodehostCopy, time: VirtualTime, target: Make, scope: str
) -> None:
    config, path = SCOPES[scope]
    there = place(copy, config)
    pushed = target(config)
    await pushed.push({"ONE": "cnry-1", "TWO": "cnry-2", "THREE": "cnry-3"})
    await time.advance(5)
    copy.visits.asked.clear()
    await pushed.push({"ONE": "cnry-1", "TWO": "cnry-new", "THREE": "cnry-3"}, trusts_ledger=True)
    assert copy.visits.lines()[:2] == [f"GET {path}/public-key", f"PUT {path}/TWO"]
    assert copy.visits.writes() == [f"PUT {path}/TWO"]
    assert there.values() == {"ONE": "cnry-1", "TWO": "cnry-new", "THREE": "cnry-3"}


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


async def test_nothing_is_removed_where_deletion_is_off(repository: SecretsPlace, target: Make) -> None:
    pushed = target()
    await pushed.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    await pushed.push({"TWO": "cnry-2"}, removes_nothing=True)
    assert repository.values() == {"ONE": "cnry-1", "TWO": "cnry-2"}


async def test_names_that_the_key_schema_does_not_make_stay(
    copy: CodehostCopy, repository: SecretsPlace, target: Make
) -> None:
    copy.put(repository, "DEPLOY_KEY", "cnry-foreign")
    copy.put(repository, "KB_STALE", "cnry-stale")
    copy.put(repository, "KB_OTHERS", "cnry-others")
    pushed = target()
    pushed.own("KB_STALE")
    pushed.naming = KeyNaming.of("kb_{{secretKey}}", "prod")
    await pushed.push({"ONE": "cnry-1"})
    assert repository.values() == {
        "DEPLOY_KEY": "cnry-foreign",
        "KB_ONE": "cnry-1",
        "KB_OTHERS": "cnry-others",
    }


async def test_what_somebody_edits_at_the_host_is_written_again(
    copy: CodehostCopy, repository: SecretsPlace, time: VirtualTime, target: Make
) -> None:
    pushed = target()
    await pushed.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    await time.advance(60)
    copy.put(repository, "TWO", "cnry-by-hand")
    await pushed.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    assert pushed.written == ["TWO"]
    assert repository.values()["TWO"] == "cnry-2"


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


async def test_all_pages_are_read(copy: CodehostCopy, target: Make) -> None:
    there = copy.organization("acme")
    for number in range(250):
        copy.put(there, f"KEY_{number:03}", "cnry-v")
    found = await target(ORGANIZATION).make().read([])
    assert list(found) == sorted(there.secrets)
    assert [one.path.partition("?")[2] for one in copy.visits.asked] == [
        f"per_page=100&page={page}" for page in (1, 2, 3)
    ]
    assert all(present.value is None and present.version for present in found.values())


@pytest.mark.parametrize(
    ("answer", "wait"),
    [
        pytest.param(used_up, 1, id="used up"),
        pytest.param(forbidden_for_a_while, 7, id="forbidden for a while"),
        pytest.param(too_many, 3, id="too many"),
        pytest.param(warned, 1, id="warned"),
    ],
)
async def test_a_throttled_run_waits_and_goes_on(
    copy: CodehostCopy,
    repository: SecretsPlace,
    way: WayOut,
    target: Make,
    answer: Callable[[], web.Response],
    wait: int,
) -> None:
    copy.visits.answer_instead("PUT", "/ONE", answer, times=2)
    await target().push({"ONE": "cnry-1", "TWO": "cnry-2"})
    assert repository.values() == {"ONE": "cnry-1", "TWO": "cnry-2"}
    assert way.waits == [timedelta(seconds=wait)] * 2


async def test_a_run_that_is_throttled_for_ever_ends(
    copy: CodehostCopy, repository: SecretsPlace, target: Make
) -> None:
    copy.visits.answer_instead("PUT", "/TWO", forbidden_for_a_while, times=-1)
    pushed = target()
    with pytest.raises(RemoteThrottledError) as caught:
        await pushed.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    assert caught.value.is_retryable
    assert (pushed.written, repository.values()) == (["ONE"], {"ONE": "cnry-1"})


@pytest.mark.parametrize("token", ["ghp_cnry-wrong", READER])
async def test_wrong_credentials_are_told(repository: SecretsPlace, target: Make, token: str) -> None:
    wrong = target(credentials=PatCredentials(personal_access_token=token))
    with pytest.raises(RemoteDeniedError) as caught:
        await wrong.push({"ONE": "cnry-1"})
    assert not caught.value.is_retryable
    assert "cnry-" not in str(caught.value)
    expected = "not accessible by personal access token" if token == READER else "was revoked"
    assert expected in str(caught.value)
    assert repository.values() == {}


@pytest.mark.parametrize("answer", [None, lambda: web.Response(status=502, text="cnry-echo")])
async def test_an_outage_in_the_middle_leaves_what_was_written_and_the_next_run_does_the_rest(
    copy: CodehostCopy,
    repository: SecretsPlace,
    target: Make,
    answer: Callable[[], web.Response] | None,
) -> None:
    source = {f"KEY_{number}": f"cnry-{number}" for number in range(5)}
    copy.visits.answer_instead("PUT", "/KEY_", answer, after=WRITTEN_BEFORE)
    await push_through_an_outage(target(), repository.values, source, trusts_ledger=True)
    writes = [line.rpartition("/")[2] for line in copy.visits.writes()]
    assert all(writes.count(name) == 1 for name in ("KEY_0", "KEY_1", "KEY_2", "KEY_4"))


@pytest.mark.parametrize("name", ["1ST", "GITHUB_TOKEN", "github_token", "A-B", "A/B", "A B", "Ä", ".."])
async def test_names_that_the_host_refuses_are_told(
    repository: SecretsPlace, target: Make, name: str
) -> None:
    with pytest.raises(RemoteRefusedError, match="a name there ") as caught:
        await target().push({name: "cnry-1"})
    assert f"'{name.upper()}'" in str(caught.value)
    assert repository.values() == {}


async def test_a_name_that_is_refused_keeps_no_other_from_being_written(
    copy: CodehostCopy, repository: SecretsPlace, target: Make
) -> None:
    copy.put(repository, "STALE", "cnry-s")
    pushed = target()
    pushed.own("STALE")
    with pytest.raises(RemoteRefusedError, match=r"'1ST': a name there .*'A-B': a name there"):
        await pushed.push({"1ST": "cnry-1", "A-B": "cnry-2", "LAST": "cnry-3"})
    assert repository.values() == {"LAST": "cnry-3"}
    assert (pushed.written, pushed.removed) == (["LAST"], ["STALE"])


async def test_a_value_that_the_host_would_refuse_is_told_without_a_call(
    repository: SecretsPlace, target: Make
) -> None:
    with pytest.raises(RemoteRefusedError, match="48 KiB at most") as caught:
        await target().push({"LONG": "cnry-" * 20_000})
    assert "cnry" not in str(caught.value)
    assert repository.values() == {}


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
    with pytest.raises(RemoteMissingError, match="renamed or moved"):
        await target().push({"ONE": "cnry-1"})
    assert len(copy.visits.asked) == 1


async def test_a_name_that_is_gone_already_counts_as_removed(
    copy: CodehostCopy, repository: SecretsPlace, target: Make
) -> None:
    copy.put(repository, "LAST", "cnry-l")
    written = await run(target().make(), change_of(None, "GONE", "LAST"))
    assert [one.name for one in written if one.is_removed] == ["GONE", "LAST"]
    assert repository.values() == {}


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


async def test_a_list_without_end_is_no_list(
    copy: CodehostCopy, target: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "_PAGES_MAX", 5)
    endless = {"secrets": [{"name": "ONE", "updated_at": "2026-01-01T00:00:00Z"}]}
    copy.visits.answer_instead(
        "GET", "/secrets", lambda: web.json_response(endless, headers={"Link": '<x>; rel="next"'}), times=-1
    )
    with pytest.raises(RemoteUnavailableError, match="end of the secrets"):
        await target().make().read([])
    assert len(copy.visits.asked) == 5


async def test_more_names_than_memory_is_for_are_refused(
    copy: CodehostCopy, target: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = copy.organization("acme")
    for number in range(120):
        copy.put(there, f"KEY_{number}", "cnry-v")
    monkeypatch.setattr(bounds, "_NAMES_MAX", 120)
    assert len(await target(ORGANIZATION).make().read([])) == 120
    monkeypatch.setattr(bounds, "_NAMES_MAX", 119)
    with pytest.raises(RemoteRefusedError, match="more than 119 names"):
        await target(ORGANIZATION).make().read([])


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


class Spoiled(RemoteHttp):
    """A way out that shows what a wrong driver would see, or sends what it would send."""

    def __init__(self, right: RemoteHttp, drop: str = "", rename: tuple[str, str] | None = None) -> None:
        self._right = right
        self._drop = drop
        self._rename = rename

    async def send(self, request: RemoteRequest, **how: Any) -> RemoteAnswer:  # noqa: ANN401 - passed on
        if self._rename is not None:
            old, new = self._rename
            headers = {(new if name == old else name): value for name, value in request.headers.items()}
            request = dataclasses.replace(request, headers=headers)
        answer = await self._right.send(request, **how)
        left = {name: value for name, value in answer.headers.items() if name != self._drop}
        return RemoteAnswer(answer.status, left, answer.body)


def spoil(way: WayOut, **how: Any) -> None:  # noqa: ANN401 - passed on
    way.context = dataclasses.replace(way.context, http=Spoiled(way.context.http, **how))


async def test_a_driver_with_a_wrong_header_is_refused(
    way: WayOut, repository: SecretsPlace, target: Make
) -> None:
    spoil(way, rename=("Authorization", "PRIVATE-TOKEN"))
    with pytest.raises(RemoteDeniedError):
        await target().push({"ONE": "cnry-1"})
    assert repository.values() == {}


async def test_a_driver_that_skips_a_page_leaves_what_should_be_removed(
    copy: CodehostCopy, way: WayOut, target: Make
) -> None:
    there = copy.organization("acme")
    for number in range(120):
        copy.put(there, f"STALE_{number:03}", "cnry-v")
    spoil(way, drop="link")
    await target(ORGANIZATION).push({"ONE": "cnry-1"})
    assert len(there.secrets) > 1


async def test_a_driver_that_ignores_limits_fails_on_them(
    copy: CodehostCopy, repository: SecretsPlace, target: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codehost_api, "asks_to_wait", lambda _: False)
    copy.visits.answer_instead("PUT", "/ONE", forbidden_for_a_while)
    with pytest.raises(RemoteDeniedError):
        await target().push({"ONE": "cnry-1"})
    assert repository.values() == {}


async def test_a_driver_that_does_not_seal_is_refused(
    repository: SecretsPlace, target: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Open:
        def __init__(self, _: object) -> None:
            pass

        def encrypt(self, value: bytes) -> bytes:
            return value

    monkeypatch.setattr(driver, "SealedBox", Open)
    with pytest.raises(RemoteRefusedError, match="could not be decrypted"):
        await target().push({"ONE": "cnry-1"})
    assert repository.values() == {}
