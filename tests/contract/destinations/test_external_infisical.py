"""The destination `external-infisical` against another service of this API."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from keybearer.base.runs import in_runs
from keybearer.destinations.engine import table
from keybearer.destinations.external_infisical import EXTERNAL_INFISICAL
from keybearer.destinations.protocol import Destination, Refused, Written
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteMissingError,
    RemoteUnavailableError,
)
from support.remotes.driving import change_of, read, run
from support.remotes.opened import check, opened
from support.remotes.other_service import OtherFolder
from support.remotes.way_out import WayOut
from support.service_proxy import Matches, ServiceRequest

Folder = Callable[[], Destination]


@pytest.fixture
def folder(way: WayOut, other_folder: OtherFolder) -> Folder:
    """Return what makes a driver, as each run gets its own."""
    return lambda: opened(EXTERNAL_INFISICAL, other_folder.config, other_folder.credentials, way.context)


def nth(number: int, *methods: str) -> Matches:
    """Requests to batches from the number-th on, counted from 0."""
    seen = itertools.count()
    return lambda request: _is_batch(request, *methods) and next(seen) >= number


def _is_batch(request: ServiceRequest, *methods: str) -> bool:
    return request.path.endswith(("/batch", "/batch/raw")) and request.method in methods


async def test_a_change_of_one_key_is_one_request(folder: Folder, other_folder: OtherFolder) -> None:
    await run(folder(), change_of({"ONE": "cnry-1", "TWO": "cnry-2"}))
    mark = other_folder.proxy.mark()
    assert await run(folder(), change_of({"TWO": "cnry-3"})) == [Written("TWO", version="2")]
    assert len(other_folder.proxy.requests(since=mark)) == 1
    assert other_folder.values == {"ONE": "cnry-1", "TWO": "cnry-3"}
    found = await read(folder())
    assert (found["ONE"].version, found["TWO"].version) == ("1", "2")


async def test_a_change_without_keys_sends_nothing(folder: Folder, other_folder: OtherFolder) -> None:
    mark = other_folder.proxy.mark()
    assert await run(folder(), change_of()) == []
    assert other_folder.proxy.requests(since=mark) == []


async def test_a_name_that_is_gone_already_counts_as_removed(
    folder: Folder, other_folder: OtherFolder
) -> None:
    other_folder.put(ONE="cnry-1", TWO="cnry-2")
    written = await run(folder(), change_of(None, "ONE", "NEVER", "TWO"))
    assert written == [Written(name, is_removed=True) for name in ("ONE", "NEVER", "TWO")]
    assert other_folder.values == {}
    assert [one.name for one in await run(folder(), change_of(None, "NEVER"))] == ["NEVER"]


async def test_secrets_above_below_and_imported_are_not_read(
    folder: Folder, other_folder: OtherFolder
) -> None:
    other_folder.put(OWN="cnry-o", REFERS="cnry-${OWN}")
    other_folder.secrets.create("ABOVE", "cnry-a")
    other_folder.secrets.folder("/app/below")
    other_folder.secrets.create("BELOW", "cnry-b", path="/app/below")
    other_folder.secrets.create("PROD", "cnry-p", environment="prod")
    body = {
        "projectId": other_folder.secrets.project.id,
        "environment": "dev",
        "path": "/app",
        "import": {"environment": "prod", "path": "/"},
    }
    other_folder.secrets.client.json("POST", "/api/v2/secret-imports", json=body)
    found = await read(folder())
    assert {name: present.value for name, present in found.items()} == {
        "OWN": "cnry-o",
        "REFERS": "cnry-${OWN}",
    }


async def test_many_secrets_travel_in_batches(folder: Folder, other_folder: OtherFolder) -> None:
    values = {f"KEY_{number:03}": f"cnry-{number}" for number in range(230)}
    mark = other_folder.proxy.mark()
    assert len(await run(folder(), change_of(values))) == 230
    assert other_folder.changes(since=mark) == ["PATCH"] * 3
    assert {name: present.value for name, present in (await read(folder())).items()} == values
    mark = other_folder.proxy.mark()
    assert len(await run(folder(), change_of(None, *values))) == 230
    assert other_folder.changes(since=mark) == ["DELETE"] * 3
    assert other_folder.values == {}


async def test_a_batch_is_bounded_in_bytes(folder: Folder, other_folder: OtherFolder) -> None:
    values = {f"LONG_{number}": f"cnry-{number}" + "x" * 300_000 for number in range(4)}
    mark = other_folder.proxy.mark()
    assert len(await run(folder(), change_of(values))) == 4
    assert other_folder.changes(since=mark) == ["PATCH"] * 4
    assert other_folder.values == values


async def test_a_refused_name_keeps_no_other_from_being_written(
    folder: Folder, other_folder: OtherFolder
) -> None:
    values = {f"KEY_{number}": f"cnry-{number}" for number in range(7)}
    other_folder.put(OLD="cnry-old")
    told = await run(folder(), change_of({**values, "with:colon": "cnry-c", "with/slash": "cnry-s"}, "OLD"))
    refused = {one.name: one.message for one in told if isinstance(one, Refused)}
    assert refused.keys() == {"with:colon", "with/slash"}
    assert "the server refuses to write the secret 'with:colon'" in refused["with:colon"]
    assert "cnry-" not in str(refused)
    assert {one.name for one in told if isinstance(one, Written)} == {*values, "OLD"}
    assert other_folder.values == values


@pytest.mark.parametrize("end", ["", "/", "/api", "/api/"])
async def test_credentials_that_work_pass_with_any_form_of_the_url(
    way: WayOut, other_folder: OtherFolder, end: str
) -> None:
    given = other_folder.credentials
    await check(
        EXTERNAL_INFISICAL, given.model_copy(update={"instance_url": given.instance_url + end}), way.context
    )


async def test_a_wrong_client_secret_is_denied(way: WayOut, other_folder: OtherFolder) -> None:
    wrong = other_folder.credentials.model_copy(update={"machine_identity_client_secret": "cnry-wrong"})
    with pytest.raises(RemoteDeniedError, match="doesn't take the credentials") as caught:
        await check(EXTERNAL_INFISICAL, wrong, way.context)
    assert "cnry-" not in str(caught.value)
    with pytest.raises(RemoteDeniedError):
        await read(opened(EXTERNAL_INFISICAL, other_folder.config, wrong, way.context))


async def test_a_place_that_is_not_there_is_missing(way: WayOut, other_folder: OtherFolder) -> None:
    nowhere = other_folder.config.model_copy(update={"secret_path": "/nowhere"})
    absent = opened(EXTERNAL_INFISICAL, nowhere, other_folder.credentials, way.context)
    with pytest.raises(RemoteMissingError):
        await run(absent, change_of({"ONE": "cnry-1"}))
    # A folder that went away took its secrets along.
    assert [one.name for one in await run(absent, change_of(None, "ONE"))] == ["ONE"]


async def test_a_project_of_others_is_denied(way: WayOut, other_folder: OtherFolder) -> None:
    theirs = other_folder.service.create_project(name="theirs")
    config = other_folder.config.model_copy(update={"project_id": theirs.id})
    absent = opened(EXTERNAL_INFISICAL, config, other_folder.credentials, way.context)
    with pytest.raises((RemoteDeniedError, RemoteMissingError)):
        await read(absent)
    with pytest.raises((RemoteDeniedError, RemoteMissingError)):
        await run(absent, change_of({"ONE": "cnry-1"}))


async def test_who_may_only_read_is_denied_by_the_write(way: WayOut, other_folder: OtherFolder) -> None:
    service, project = other_folder.service, other_folder.secrets.project
    viewer = service.create_identity(roles={project.id: "viewer"})
    credentials = other_folder.credentials.model_copy(
        update={
            "machine_identity_client_id": viewer.client_id,
            "machine_identity_client_secret": viewer.client_secret,
        }
    )
    place = opened(EXTERNAL_INFISICAL, other_folder.config, credentials, way.context)
    assert await read(place) == {}
    with pytest.raises(RemoteDeniedError, match="PermissionDenied"):
        await run(place, change_of({"ONE": "cnry-1"}))


async def test_one_login_serves_many_runs_until_its_token_is_refused(
    folder: Folder, other_folder: OtherFolder
) -> None:
    def logins() -> list[ServiceRequest]:
        return other_folder.proxy.requests(lambda request: request.path.endswith("/login"))

    await read(folder())
    await read(folder())
    assert len(logins()) == 1
    token = other_folder.proxy.requests()[-1].token
    other_folder.service.client().json("POST", "/api/v1/auth/token/revoke", json={"accessToken": token})
    assert await run(folder(), change_of({"ONE": "cnry-1"})) == [Written("ONE", version="1")]
    assert len(logins()) == 2


async def test_a_server_with_the_older_routes_alone_is_served(
    folder: Folder, other_folder: OtherFolder
) -> None:
    unknown = {"message": "Route not found", "error": "Not Found", "statusCode": 404}
    with other_folder.proxy.answering(lambda request: request.path.startswith("/api/v4/"), 404, unknown):
        assert await run(folder(), change_of({"ONE": "cnry-1", "TWO": "cnry-2"})) == [
            Written("ONE", version="1"),
            Written("TWO", version="1"),
        ]
        assert {name: one.value for name, one in (await read(folder())).items()} == other_folder.values
        assert [one.name for one in await run(folder(), change_of(None, "ONE"))] == ["ONE"]
    assert other_folder.values == {"TWO": "cnry-2"}


async def test_hidden_values_are_no_values(folder: Folder, other_folder: OtherFolder) -> None:
    hidden = {"secretKey": "ONE", "secretValue": "<hidden>", "type": "shared", "secretValueHidden": True}
    with (
        other_folder.proxy.answering(lambda request: request.method == "GET", 200, {"secrets": [hidden]}),
        pytest.raises(RemoteDeniedError, match="may not see the values"),
    ):
        await read(folder())


async def test_a_change_that_waits_for_approval_is_none(folder: Folder, other_folder: OtherFolder) -> None:
    with (
        other_folder.proxy.answering(nth(0, "PATCH", "DELETE"), 200, {"approval": {"id": "1"}}),
        pytest.raises(RemoteDeniedError, match="approval"),
    ):
        await run(folder(), change_of({"ONE": "cnry-1", "TWO": "cnry-2"}))


@pytest.mark.parametrize(
    "content",
    [[], {"secrets": None}, {"secrets": [{"secretValue": "cnry-1"}]}, {"secrets": [{"secretKey": "ONE"}]}],
    ids=["a list", "no secrets", "no key", "no value"],
)
async def test_an_answer_of_another_form_is_no_answer(
    folder: Folder, other_folder: OtherFolder, content: object
) -> None:
    with (
        other_folder.proxy.answering(lambda request: request.method == "GET", 200, content),
        pytest.raises(RemoteUnavailableError),
    ):
        await read(folder())


# Destinations that are broken: the tests above would not let them pass.


async def test_an_engine_that_skips_a_batch_is_caught(
    folder: Folder, other_folder: OtherFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = in_runs
    monkeypatch.setattr(
        table, "in_runs", lambda *given, **bounds: itertools.islice(whole(*given, **bounds), 1)
    )
    values = {f"KEY_{number:03}": "cnry-v" for number in range(101)}
    assert len(await run(folder(), change_of(values))) == 100
    assert other_folder.values != values
