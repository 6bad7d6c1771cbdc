"""The destination `gitlab`, and its app, against a copy of GitLab."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web

from keybearer.destinations.engine import table
from keybearer.destinations.gitlab import GITLAB, AccessTokenCredentials
from keybearer.destinations.protocol import Refused
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteUnavailableError,
)
from support.remotes.driving import change_of, run
from support.remotes.gitlab import GitLabCopy, VariablesPlace
from support.remotes.opened import check, opened
from support.remotes.pushing import Target
from support.remotes.serving import ATTEMPTS, served
from support.remotes.spoiling import spoil
from support.remotes.way_out import WayOut, way_out

TOKEN = "glpat-cnry-admin"
READER = "glpat-cnry-reader"
PROJECT = {"scope": "project", "projectId": "acme/shop", "projectName": "Shop"}
GROUP = {"scope": "group", "groupId": "42"}
SCOPES = {
    "a project": (PROJECT, "/api/v4/projects/acme%2Fshop/variables"),
    "a group": (GROUP, "/api/v4/groups/42/variables"),
}


@pytest.fixture
async def copy() -> AsyncIterator[GitLabCopy]:
    instance = GitLabCopy()
    instance.tokens = {TOKEN: "api", READER: "read_api"}
    async with served(instance):
        yield instance


@pytest.fixture
async def way(copy: GitLabCopy) -> AsyncIterator[WayOut]:
    async with way_out(gitlab=copy.url) as opened:
        yield opened


@pytest.fixture
def project(copy: GitLabCopy) -> VariablesPlace:
    return copy.project("acme/shop")


Make = Callable[..., Target]


def credentials(token: str = TOKEN, **fields: str) -> AccessTokenCredentials:
    return AccessTokenCredentials.model_validate(
        {"accessToken": token, "accessTokenType": "personal", **fields}
    )


@pytest.fixture
def target(way: WayOut) -> Make:
    """Return what makes a place to sync to, a project unless another is named."""

    def make(
        config: dict[str, Any] | None = None, given: AccessTokenCredentials | None = None, **fields: object
    ) -> Target:
        wanted = {**(config or PROJECT), **fields}
        return Target(lambda: opened(GITLAB, wanted, given or credentials(), way.context))

    return make


def place(copy: GitLabCopy, config: dict[str, Any]) -> VariablesPlace:
    return (
        copy.project(config["projectId"]) if config["scope"] == "project" else copy.group(config["groupId"])
    )


@pytest.mark.parametrize("scope", SCOPES)
async def test_secrets_arrive_as_they_are(copy: GitLabCopy, target: Make, scope: str) -> None:
    config, path = SCOPES[scope]
    there = place(copy, config)
    values = {"one": "cnry-1", "EMPTY": "", "LINES": "cnry-ü $HOME\n${x}\n"}
    await target(config).push(values)
    assert there.values() == values
    # Names that a listing doesn't show are created at once; what stands in a value is never expanded.
    assert copy.visits.writes() == [f"POST {path}"] * 3
    assert all(one.raw and not one.protected and not one.masked for one in there.variables)


@pytest.mark.parametrize("scope", SCOPES)
async def test_one_changed_key_is_one_write(copy: GitLabCopy, target: Make, scope: str) -> None:
    config, path = SCOPES[scope]
    there = place(copy, config)
    pushed = target(config)
    await pushed.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    copy.visits.asked.clear()
    await pushed.push({"ONE": "cnry-1", "TWO": "cnry-new"}, trusts_ledger=True)
    # Of a group it has to be known that the variable is there: an update could meet another scope's.
    first = [] if config is PROJECT else [f"POST {path}"]
    assert copy.visits.lines() == [*first, f"PUT {path}/TWO"]
    assert there.values() == {"ONE": "cnry-1", "TWO": "cnry-new"}
    copy.visits.asked.clear()
    await pushed.push({"ONE": "cnry-1", "TWO": "cnry-newer"})
    assert copy.visits.writes() == [f"PUT {path}/TWO"]


@pytest.mark.parametrize("trusts_ledger", [False, True])
@pytest.mark.parametrize("scope", SCOPES)
async def test_a_new_key_overwrites_none_of_another_environment(
    copy: GitLabCopy, target: Make, scope: str, *, trusts_ledger: bool
) -> None:
    config, _ = SCOPES[scope]
    there = place(copy, config)
    there.put("ONE", "cnry-prod", environment_scope="prod")
    await target(config).push({"ONE": "cnry-all"}, trusts_ledger=trusts_ledger)
    assert (there.values("prod"), there.values()) == ({"ONE": "cnry-prod"}, {"ONE": "cnry-all"})


async def test_an_update_that_gitlab_makes_in_another_environment_is_told(
    copy: GitLabCopy, target: Make
) -> None:
    group = copy.group("42")
    group.put("ONE", "cnry-prod", environment_scope="prod")
    group.put("ONE", "cnry-all")
    made = target(GROUP).make()
    await made.read([])
    group.variables.pop()
    (told,) = await run(made, change_of({"ONE": "cnry-new"}))
    assert isinstance(told, Refused)
    assert "another environment scope" in told.message


@pytest.mark.parametrize("scope", SCOPES)
async def test_variables_of_other_environments_stay(copy: GitLabCopy, target: Make, scope: str) -> None:
    config, _ = SCOPES[scope]
    there = place(copy, config)
    for environment in ("*", "staging", "review/*"):
        there.put("ONE", f"cnry-{environment}", environment_scope=environment)
    there.put("STALE", "cnry-stale", environment_scope="review/*")
    there.put("STALE", "cnry-kept", environment_scope="staging")
    there.put("ELSEWHERE", "cnry-kept", environment_scope="staging")
    pushed = target(config, targetEnvironment="review/*")
    pushed.own("STALE")
    await pushed.push({"ONE": "cnry-new", "TWO": "cnry-2"})
    assert pushed.removed == ["STALE"]
    assert there.values("review/*") == {"ONE": "cnry-new", "TWO": "cnry-2"}
    assert there.values("staging") == {"ONE": "cnry-staging", "STALE": "cnry-kept", "ELSEWHERE": "cnry-kept"}
    assert there.values("*") == {"ONE": "cnry-*"}


async def test_a_gitlab_without_environments_of_groups_is_told(copy: GitLabCopy, target: Make) -> None:
    copy.is_free = True
    copy.group("42")
    with pytest.raises(RemoteRefusedError, match="no such scopes for groups"):
        await target(GROUP, targetEnvironment="prod").push({"ONE": "cnry-1"})


async def test_a_token_that_may_only_read_is_told(project: VariablesPlace, target: Make) -> None:
    project.put("STALE", "cnry-s")
    with pytest.raises(RemoteDeniedError, match="needs the scope api"):
        await target(given=credentials(READER)).push({"ONE": "cnry-1"}, removes_nothing=True)
    pushed = target(given=credentials(READER))
    pushed.own("STALE")
    with pytest.raises(RemoteDeniedError, match="higher privileges"):
        await pushed.push({})
    assert project.values() == {"STALE": "cnry-s"}


async def test_what_gitlab_says_of_a_write_is_never_told(
    copy: GitLabCopy, project: VariablesPlace, target: Make
) -> None:
    for status, body in [
        (400, {"message": {"value": ["cnry-1 is bad"]}}),
        (400, {"message": "cnry-1"}),
        (403, {"message": "cnry-1"}),
        (422, {"error_description": "cnry-1"}),
    ]:
        copy.visits.answer_instead("POST", "", lambda: web.json_response(body, status=status))  # noqa: B023 - used at once
        with pytest.raises((RemoteRefusedError, RemoteDeniedError)) as caught:
            await target().push({"ONE": "cnry-1"})
        assert "cnry-" not in str(caught.value)
    assert project.values() == {}


@pytest.mark.parametrize("value", ["", "cnry-12", "cnry- 1234", "cnry-1\n2345", "cnry-1234\n"])
@pytest.mark.parametrize("mark", ["shouldMaskSecrets", "shouldHideSecrets"])
async def test_a_value_that_can_not_be_masked_is_told_before_it_is_sent(
    copy: GitLabCopy, project: VariablesPlace, target: Make, mark: str, value: str
) -> None:
    with pytest.raises(
        RemoteRefusedError, match=r"'ONE': a value must be one line of 8 characters"
    ) as caught:
        await target(**{mark: True}).push({"ONE": value})
    assert "cnry-" not in str(caught.value)
    assert (copy.visits.writes(), project.values()) == ([], {})


@pytest.mark.parametrize("scope", SCOPES)
async def test_variables_are_marked_as_the_configuration_says(
    copy: GitLabCopy, target: Make, scope: str
) -> None:
    config, _ = SCOPES[scope]
    there = place(copy, config)
    # Characters that could be masked in a value only if nothing in it is expanded.
    source = {"ONE": "cnry-$ü!{}-1", "TWO": "cnry-(2345)"}
    await target(config, shouldMaskSecrets=True, shouldProtectSecrets=True).push(source)
    assert {(one.masked, one.protected, one.hidden) for one in there.variables} == {(True, True, False)}
    await target(config, shouldMaskSecrets=True).push({"ONE": "cnry-$other", "TWO": "cnry-(other)"})
    assert {(one.masked, one.protected, one.hidden) for one in there.variables} == {(True, False, False)}


async def test_hidden_variables_are_known_from_the_ledger_alone(
    copy: GitLabCopy, project: VariablesPlace, target: Make
) -> None:
    pushed = target(shouldHideSecrets=True)
    assert not pushed.make().traits.has_readable_values
    source = {"ONE": "cnry-12345", "TWO": "cnry-23456"}
    await pushed.push(source)
    assert all(one.hidden and one.masked for one in project.variables)
    copy.visits.asked.clear()
    await pushed.push(source)
    assert copy.visits.writes() == []
    await pushed.push({**source, "TWO": "cnry-changed"})
    assert pushed.written == ["TWO"]
    assert project.values() == {"ONE": "cnry-12345", "TWO": "cnry-changed"}
    assert all(one.hidden and one.masked for one in project.variables)


async def test_a_variable_that_was_there_and_shows_its_value_is_hidden_as_well(
    project: VariablesPlace, target: Make
) -> None:
    project.put("ONE", "cnry-visible", masked=True)
    await target(shouldHideSecrets=True).push({"ONE": "cnry-12345"})
    (one,) = project.variables
    assert (one.value, one.hidden, one.masked) == ("cnry-12345", True, True)


async def test_marks_that_somebody_changes_are_seen(project: VariablesPlace, target: Make) -> None:
    project.put("ONE", "cnry-12345", masked=True)
    project.put("TWO", "cnry-12345", protected=True)
    made = target(shouldMaskSecrets=True).make()
    found = await made.read([])
    (outgoing,) = change_of({"ONE": "cnry-12345"}).put
    assert found["ONE"].extras == made.extras_of(outgoing)
    assert found["TWO"].extras != made.extras_of(outgoing)


async def test_a_variable_that_is_created_or_deleted_meanwhile_is_written_all_the_same(
    copy: GitLabCopy, project: VariablesPlace, target: Make
) -> None:
    made = target().make()
    project.put("TWO", "cnry-there")
    await made.read([])
    project.put("ONE", "cnry-faster")
    project.variables = [one for one in project.variables if one.key != "TWO"]
    copy.visits.asked.clear()
    await run(made, change_of({"ONE": "cnry-1", "TWO": "cnry-2"}))
    assert project.values() == {"ONE": "cnry-1", "TWO": "cnry-2"}
    assert [line.partition(" ")[0] for line in copy.visits.lines()] == ["POST", "PUT", "PUT", "POST"]


async def test_a_variable_that_comes_and_goes_is_an_outage(
    copy: GitLabCopy, project: VariablesPlace, target: Make
) -> None:
    gone = {"message": "404 Variable Not Found"}
    taken = {"message": {"key": ["(ONE) has already been taken"]}}
    copy.visits.answer_instead("PUT", "", lambda: web.json_response(gone, status=404), times=-1)
    copy.visits.answer_instead("POST", "", lambda: web.json_response(taken, status=400), times=-1)
    with pytest.raises(RemoteUnavailableError, match="others create and delete"):
        await target().push({"ONE": "cnry-1"})
    assert len(copy.visits.writes()) == 3
    assert project.values() == {}


@pytest.mark.parametrize("scope", SCOPES)
async def test_a_place_that_is_not_there_is_told(target: Make, scope: str) -> None:
    config, _ = SCOPES[scope]
    for trusts_ledger in (False, True):
        with pytest.raises(RemoteMissingError, match="no such place"):
            await target(config).push({"ONE": "cnry-1"}, trusts_ledger=trusts_ledger)
    with pytest.raises(RemoteMissingError):
        await run(target(config).make(), change_of(None, "GONE"))


async def test_a_project_that_was_moved_is_told_and_its_new_place_not_followed(
    copy: GitLabCopy, target: Make
) -> None:
    moved = web.Response(status=301, headers={"Location": "/api/v4/projects/7/variables"})
    copy.visits.answer_instead("GET", "", lambda: moved)
    with pytest.raises(RemoteMissingError, match="was moved"):
        await target().push({"ONE": "cnry-1"})
    assert len(copy.visits.asked) == 1


@pytest.mark.parametrize("listed", [{}, [1], [{"key": 1}], [{}]])
async def test_a_list_of_another_form_is_an_outage(copy: GitLabCopy, target: Make, listed: object) -> None:
    copy.visits.answer_instead("GET", "", lambda: web.json_response(listed))
    with pytest.raises(RemoteUnavailableError):
        await target().make().read([])


async def test_a_list_without_end_is_no_list(
    copy: GitLabCopy, target: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "_PAGES_MAX", 5)
    endless = [{"key": "ONE", "value": ""}]
    copy.visits.answer_instead(
        "GET", "", lambda: web.json_response(endless, headers={"x-next-page": "2"}), times=-1
    )
    with pytest.raises(RemoteUnavailableError, match="no end to the list of the project"):
        await target().make().read([])
    assert len(copy.visits.asked) == 5


@pytest.mark.parametrize("step", [".", ".."])
async def test_no_name_of_a_configuration_steps_out_of_its_place(
    copy: GitLabCopy, target: Make, step: str
) -> None:
    with pytest.raises(RemoteRefusedError):
        await target({**GROUP, "groupId": step}).push({"ONE": "cnry-1"})
    assert copy.visits.asked == []


async def test_an_instance_below_a_path_is_asked_there(
    copy: GitLabCopy, project: VariablesPlace, target: Make
) -> None:
    below = credentials(instanceUrl=f"{copy.url}/code/")
    await target(given=below).push({"ONE": "cnry-1"})
    assert project.values() == {"ONE": "cnry-1"}
    assert all(line.partition(" ")[2].startswith("/code/api/v4/") for line in copy.visits.lines())


# The app.


@pytest.mark.parametrize("kind", ["personal", "project"])
async def test_a_token_that_gitlab_takes_is_right(copy: GitLabCopy, way: WayOut, kind: str) -> None:
    await check(GITLAB, credentials(accessTokenType=kind), way.context)
    assert copy.visits.lines() == ["GET /api/v4/user"]


async def test_a_token_that_gitlab_does_not_take_is_wrong(way: WayOut) -> None:
    with pytest.raises(RemoteDeniedError) as caught:
        await check(GITLAB, credentials("glpat-cnry-wrong"), way.context)
    assert str(caught.value).endswith("was revoked: 401 Unauthorized")


async def test_what_gitlab_says_is_not_told_where_it_repeats_the_token(copy: GitLabCopy, way: WayOut) -> None:
    echo = {"message": f"the token {TOKEN} may not"}
    copy.visits.answer_instead("GET", "/user", lambda: web.json_response(echo, status=403))
    with pytest.raises(RemoteDeniedError) as caught:
        await check(GITLAB, credentials(), way.context)
    assert "cnry-" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda: web.Response(status=404), RemoteMissingError),
        (lambda: web.Response(text="<html>"), RemoteUnavailableError),
        (lambda: web.json_response({"login": "octocat"}), RemoteUnavailableError),
        (lambda: web.json_response([]), RemoteUnavailableError),
        (lambda: web.Response(status=302), RemoteMissingError),
        (lambda: web.Response(status=500), RemoteUnavailableError),
        (None, RemoteUnavailableError),
    ],
)
async def test_what_is_no_gitlab_is_told(
    copy: GitLabCopy, way: WayOut, answer: Callable[[], web.Response] | None, error: type[Exception]
) -> None:
    copy.visits.answer_instead("GET", "/user", answer, times=ATTEMPTS)
    with pytest.raises(error):
        await check(GITLAB, credentials(), way.context)


# What the copy is worth: drivers that are wrong fail on it.


async def test_a_driver_that_names_no_environment_meets_a_conflict(
    way: WayOut, project: VariablesPlace, target: Make
) -> None:
    project.put("ONE", "cnry-all")
    project.put("ONE", "cnry-prod", environment_scope="prod")
    spoil(way, request=lambda request: dataclasses.replace(request, url=request.url.partition("?")[0]))
    with pytest.raises(RemoteRefusedError):
        await target(targetEnvironment="prod").push({"ONE": "cnry-1"}, trusts_ledger=True)
    assert project.values("prod") == {"ONE": "cnry-prod"}
