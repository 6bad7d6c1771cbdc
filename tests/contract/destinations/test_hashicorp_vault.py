"""The destination `hashicorp-vault` against a real server, with both versions of its key-value engine."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from keybearer.destinations import bounds
from keybearer.destinations.hashicorp_vault import (
    HASHICORP_VAULT,
    AccessTokenCredentials,
    AppRoleCredentials,
    VaultConfig,
)
from keybearer.destinations.protocol import Destination, Refused, Written
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteRequest,
    RemoteUnavailableError,
)
from keybearer.destinations.session import Session
from support.remotes.driving import change_of, read, run
from support.remotes.limits import VAULT, VAULT_BARE, Standing
from support.remotes.opened import check, opened
from support.remotes.spoiling import spoil
from support.remotes.vault import VERSION_1, VERSION_2, VaultPlace
from support.remotes.way_out import WayOut
from support.service_proxy import Matches, ServiceRequest

Secret = Callable[[], Destination]

only_version_2 = pytest.mark.parametrize("vault_place", [VERSION_2], indirect=True, ids=["version 2"])
only_version_1 = pytest.mark.parametrize("vault_place", [VERSION_1], indirect=True, ids=["version 1"])
MINUTE, NOW = timedelta(minutes=1), datetime.now(UTC)
FOREIGN = {"text": "cnry-f", "number": 123456789, "flag": True, "tree": {"a": [1, None]}}


@pytest.fixture
def secret(way: WayOut, vault_place: VaultPlace) -> Secret:
    """Return what makes a driver, as each run gets its own."""
    return lambda: opened(HASHICORP_VAULT, vault_place.config, vault_place.credentials, way.context)


def many(count: int) -> dict[str, str]:
    """Return that many keys."""
    return {f"KEY_{number:04}": f"cnry-{number}" for number in range(count)}


def unlimited(place: VaultPlace) -> str:
    """Return where the server takes any number of strings."""
    if not place.server.unlimited_url:
        pytest.skip("the server of KEYBEARER_TEST_VAULT has one listener")
    return place.server.unlimited_url


def is_write(request: ServiceRequest) -> bool:
    """Requests that change the secret."""
    return request.method != "GET" and "login" not in request.path


def before_writes(count: int, happen: Callable[[int], None]) -> Matches:
    """Requests of none: but let something happen before the first writes go on to the server."""
    left = itertools.count()

    def matches(request: ServiceRequest) -> bool:
        if is_write(request) and (number := next(left)) < count:
            happen(number)
        return False

    return matches


async def test_a_changed_key_is_one_write_and_leaves_all_others_as_they_were(
    secret: Secret, vault_place: VaultPlace
) -> None:
    vault_place.put({**FOREIGN, "ONE": "cnry-1"})
    mark = vault_place.proxy.mark()
    assert await run(secret(), change_of({"ONE": "cnry-2"})) == [Written("ONE")]
    assert vault_place.writes(since=mark) == ["POST"]
    assert vault_place.values == {**FOREIGN, "ONE": "cnry-2"}


async def test_removing_the_last_key_leaves_nothing(secret: Secret, vault_place: VaultPlace) -> None:
    vault_place.put({"ONE": "cnry-1"})
    assert await run(secret(), change_of(None, "ONE")) == [Written("ONE", is_removed=True)]
    assert vault_place.values == ({} if vault_place.is_versioned else None)
    assert await read(secret()) == {}
    await run(secret(), change_of({"TWO": "cnry-2"}))
    assert vault_place.values == {"TWO": "cnry-2"}


async def test_values_that_are_no_text_are_shown_as_json(secret: Secret, vault_place: VaultPlace) -> None:
    vault_place.put({**FOREIGN, "none": None})
    assert {name: present.value for name, present in (await read(secret())).items()} == {
        "text": "cnry-f",
        "number": "123456789",
        "flag": "true",
        "tree": '{"a":[1,null]}',
        "none": "null",
    }


@only_version_1
async def test_a_whole_number_of_others_stays_what_it_is_at_any_size(
    secret: Secret, vault_place: VaultPlace
) -> None:
    # Version 2 of the engine itself gives such a number back rounded.
    vault_place.put({"number": 12345678901234567890123})
    await run(secret(), change_of({"ONE": "cnry-1"}))
    assert vault_place.values == {"number": 12345678901234567890123, "ONE": "cnry-1"}


@only_version_2
async def test_more_keys_than_one_request_may_hold_are_written_in_pieces(
    secret: Secret, vault_place: VaultPlace
) -> None:
    values = many(1600)
    mark = vault_place.proxy.mark()
    assert await run(secret(), change_of(values)) == [Written(name) for name in values]
    assert vault_place.writes(since=mark) == ["POST", "PATCH", "PATCH", "PATCH"]
    assert vault_place.values == values
    mark = vault_place.proxy.mark()
    assert len(await run(secret(), change_of(values | {"KEY_0007": "cnry-new"}, "ABSENT"))) == 1601
    assert vault_place.writes(since=mark) == ["PATCH"]
    assert vault_place.values == values | {"KEY_0007": "cnry-new"}


@only_version_2
async def test_pieces_leave_what_others_keep_and_remove_what_goes(
    secret: Secret, vault_place: VaultPlace
) -> None:
    old = {f"OLD_{number:04}": "cnry-o" for number in range(500)}
    vault_place.put({**FOREIGN, **old})
    mark = vault_place.proxy.mark()
    told = await run(secret(), change_of(many(500), *old))
    assert vault_place.writes(since=mark) == ["PATCH", "PATCH", "PATCH"]
    assert told == [*map(Written, many(500)), *(Written(name, is_removed=True) for name in old)]
    assert vault_place.values == FOREIGN | many(500)


@only_version_2
async def test_what_somebody_else_writes_between_two_pieces_is_kept(
    secret: Secret, vault_place: VaultPlace
) -> None:
    def theirs(number: int) -> None:
        if number == 1:
            vault_place.put({**(vault_place.values or {}), "THEIRS": "cnry-t", "KEY_0001": "cnry-other"})

    with vault_place.proxy.answering(before_writes(3, theirs), 500, None):
        told = await run(secret(), change_of(many(1000)))
    assert {one.name for one in told} == many(1000).keys()
    assert len(told) == 1000
    assert vault_place.values == many(1000) | {"THEIRS": "cnry-t"}


@only_version_2
async def test_a_secret_that_is_deleted_between_two_pieces_is_made_again(
    secret: Secret, vault_place: VaultPlace
) -> None:
    path = f"{vault_place.config.mount}/metadata/{vault_place.config.path}"

    def gone(number: int) -> None:
        if number == 1:
            vault_place.server.call("DELETE", path, status=204)

    with vault_place.proxy.answering(before_writes(3, gone), 500, None):
        await run(secret(), change_of(many(1000)))
    assert vault_place.values == many(1000)


@only_version_2
async def test_an_outage_between_two_pieces_leaves_the_rest_to_the_next_run(
    secret: Secret, vault_place: VaultPlace
) -> None:
    written: list[Written | Refused] = []
    writes = itertools.count()
    with (
        vault_place.proxy.answering(lambda request: is_write(request) and next(writes) >= 2, 502, {}),
        pytest.raises(RemoteUnavailableError, match="502"),
    ):
        await run(secret(), change_of(many(1600)), written)
    assert [one.name for one in written] == [*many(800)]
    assert vault_place.values == many(800)
    mark = vault_place.proxy.mark()
    assert len(await run(secret(), change_of(many(1600)))) == 1600
    assert vault_place.writes(since=mark) == ["PATCH", "PATCH"]
    assert vault_place.values == many(1600)


def without_patch(place: VaultPlace, url: str, way: WayOut) -> Destination:
    """Return a driver whose token may do all but patch, at a listener of the server."""
    policy = f'path "{place.path}" {{ capabilities = ["create", "read", "update"] }}'
    token = AccessTokenCredentials(instance_url=url, access_token=place.server.token(policy))
    return opened(HASHICORP_VAULT, place.config, token, way.context)


@only_version_2
async def test_who_may_not_patch_is_told_so_when_the_whole_is_too_much(
    vault_place: VaultPlace, way: WayOut
) -> None:
    place = without_patch(vault_place, vault_place.proxy.url, way)
    # As much as the server takes at once: more than the driver sends of itself.
    vault_place.put(many(450))
    mark = vault_place.proxy.mark()
    await run(place, change_of(many(451)))
    assert vault_place.writes(since=mark) == ["PATCH", "POST"]
    assert vault_place.values == many(451)
    with pytest.raises(RemoteRefusedError, match=r"1,000 keys of .* grant the capability patch") as caught:
        await run(place, change_of(many(1000)))
    assert "cnry-" not in str(caught.value)
    assert vault_place.values == many(451)


@only_version_2
async def test_who_may_not_patch_writes_the_whole_where_the_server_takes_it(
    vault_place: VaultPlace, way: WayOut
) -> None:
    place = without_patch(vault_place, unlimited(vault_place), way)
    vault_place.put({"THEIRS": "cnry-t"})
    assert len(await run(place, change_of(many(1600)))) == 1600
    assert vault_place.values == many(1600) | {"THEIRS": "cnry-t"}


@only_version_2
@pytest.mark.parametrize(
    "told",
    [
        "refused JSON input due to high complexity: exceeded maximum number of strings",
        "failed to parse JSON input: JSON object exceeds allowed entry count",
    ],
)
async def test_a_server_that_takes_less_at_once_gets_smaller_pieces(
    secret: Secret, vault_place: VaultPlace, told: str
) -> None:
    refused = itertools.count()
    with vault_place.proxy.answering(
        lambda request: is_write(request) and next(refused) < 2, 400, {"errors": [told]}
    ):
        assert len(await run(secret(), change_of(many(400)))) == 400
    assert vault_place.writes() == ["POST", "POST", "POST", "PATCH", "PATCH", "PATCH"]
    assert vault_place.values == many(400)


@only_version_2
async def test_a_server_that_takes_next_to_nothing_ends_the_run(
    secret: Secret, vault_place: VaultPlace
) -> None:
    told = {"errors": ["exceeded maximum number of strings cnry-1"]}
    with (
        vault_place.proxy.answering(is_write, 400, told),
        pytest.raises(RemoteRefusedError, match="fewer than the 25 keys") as caught,
    ):
        await run(secret(), change_of(many(400)))
    assert "cnry-" not in str(caught.value)


@only_version_1
async def test_version_1_takes_more_where_the_listener_does(vault_place: VaultPlace, way: WayOut) -> None:
    token = vault_place.token.model_copy(update={"instance_url": unlimited(vault_place)})
    await run(opened(HASHICORP_VAULT, vault_place.config, token, way.context), change_of(many(1600)))
    assert vault_place.values == many(1600)


async def test_a_refusal_that_repeats_a_value_is_not_shown(secret: Secret, vault_place: VaultPlace) -> None:
    told = {"errors": ["error converting input cnry-1 for field data", "invalid character 'c'"]}
    with (
        vault_place.proxy.answering(is_write, 400, told),
        pytest.raises(RemoteRefusedError, match=r"^Vault refuses to write [a-z0-9/]+$"),
    ):
        await run(secret(), change_of({"ONE": "cnry-1"}))


@only_version_2
@pytest.mark.parametrize("how", ["delete", "destroy", "metadata"])
async def test_a_secret_whose_last_version_was_deleted_can_be_written_again(
    secret: Secret, vault_place: VaultPlace, how: str
) -> None:
    vault_place.put({"OLD": "cnry-o"})
    vault_place.put({"OLD": "cnry-p"})
    mount, path = vault_place.config.mount, vault_place.config.path
    if how == "destroy":
        vault_place.server.call("PUT", f"{mount}/destroy/{path}", {"versions": [2]}, status=204)
    else:
        vault_place.server.call("DELETE", f"{mount}/{'data' if how == 'delete' else how}/{path}", status=204)
    assert await read(secret()) == {}
    await run(secret(), change_of({"ONE": "cnry-1"}))
    assert vault_place.values == {"ONE": "cnry-1"}


@only_version_2
async def test_what_somebody_else_writes_meanwhile_is_kept(secret: Secret, vault_place: VaultPlace) -> None:
    vault_place.put({"THEIRS": "cnry-1", "OURS": "cnry-1"})
    theirs = before_writes(
        1, lambda _: vault_place.put({"THEIRS": "cnry-2", "OURS": "cnry-1", "MORE": "cnry-3"})
    )
    with vault_place.proxy.answering(theirs, 500, None):
        assert await run(secret(), change_of({"OURS": "cnry-9"})) == [Written("OURS")]
    assert vault_place.values == {"THEIRS": "cnry-2", "OURS": "cnry-9", "MORE": "cnry-3"}


@only_version_2
async def test_a_first_version_of_somebody_else_is_kept(secret: Secret, vault_place: VaultPlace) -> None:
    with vault_place.proxy.answering(
        before_writes(1, lambda _: vault_place.put({"THEIRS": "cnry-2"})), 500, None
    ):
        await run(secret(), change_of({"OURS": "cnry-9"}))
    assert vault_place.values == {"THEIRS": "cnry-2", "OURS": "cnry-9"}


@only_version_2
async def test_one_who_never_stops_writing_ends_the_run(secret: Secret, vault_place: VaultPlace) -> None:
    written: list[Written | Refused] = []
    endless = before_writes(99, lambda number: vault_place.put({"THEIRS": f"cnry-{number}"}))
    with (
        vault_place.proxy.answering(endless, 500, None),
        pytest.raises(RemoteUnavailableError, match="changed again"),
    ):
        await run(secret(), change_of({"OURS": "cnry-9"}), written)
    assert written == []
    assert vault_place.values == {"THEIRS": "cnry-4"}


@only_version_2
async def test_an_engine_that_asks_for_check_and_set_is_served(
    secret: Secret, vault_place: VaultPlace
) -> None:
    mount, path = vault_place.config.mount, vault_place.config.path
    vault_place.server.call("POST", f"{mount}/metadata/{path}", {"cas_required": True}, status=204)
    await run(secret(), change_of({"ONE": "cnry-1"}))
    await run(secret(), change_of({"TWO": "cnry-2"}))
    assert vault_place.values == {"ONE": "cnry-1", "TWO": "cnry-2"}


@contextmanager
def quota(place: VaultPlace) -> Iterator[Callable[[], None]]:
    """Let the server answer 429 to all but the first request of a minute, until what is yielded is called."""
    path = f"sys/quotas/rate-limit/{place.config.path.replace('/', '-')}"
    body = {"path": f"{place.config.mount}/", "rate": 1, "interval": "60s"}
    place.server.call("POST", path, body, status=204)

    def lift() -> None:
        place.server.call("DELETE", path, status=204)

    try:
        yield lift
    finally:
        place.server.call("DELETE", path, status=204)


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_an_engine_that_was_just_mounted_is_waited_for_a_moment(
    secret: Secret, vault_place: VaultPlace, method: str
) -> None:
    told = (
        "Upgrading from non-versioned to versioned data. This backend will be unavailable for a brief period"
    )
    at_secret: Matches = lambda request: (  # noqa: E731 - one use
        request.method == method and request.path.endswith(vault_place.config.path)
    )
    with (
        vault_place.proxy.answering(at_secret, 400, {"errors": [told]}),
        pytest.raises(RemoteUnavailableError, match="yet: it was busy"),
    ):
        await run(secret(), change_of({"ONE": "cnry-1"}))


async def test_credentials_that_work_pass(way: WayOut, vault_place: VaultPlace) -> None:
    await check(HASHICORP_VAULT, vault_place.credentials, way.context)
    await check(HASHICORP_VAULT, vault_place.token, way.context)


@pytest.mark.parametrize("field", ["role_id", "secret_id"])
async def test_a_wrong_role_is_denied(way: WayOut, vault_place: VaultPlace, field: str) -> None:
    wrong = vault_place.credentials.model_copy(update={field: "cnry-wrong"})
    with pytest.raises(RemoteDeniedError) as caught:
        await check(HASHICORP_VAULT, wrong, way.context)
    assert "cnry-" not in str(caught.value)
    with pytest.raises(RemoteDeniedError):
        await read(opened(HASHICORP_VAULT, vault_place.config, wrong, way.context))


def _logins(place: VaultPlace) -> int:
    return len(place.proxy.requests(lambda request: request.path.endswith("/login")))


async def test_one_login_serves_many_runs_until_its_token_is_refused(
    secret: Secret, vault_place: VaultPlace, way: WayOut
) -> None:
    await read(secret())
    await read(secret())
    assert _logins(vault_place) == 1
    kept = await Session(HASHICORP_VAULT.app, vault_place.credentials, way.context).token()
    assert _logins(vault_place) == 1
    vault_place.server.call("POST", "auth/token/revoke", {"token": kept["token"]}, status=204)
    await run(secret(), change_of({"ONE": "cnry-1"}))
    assert _logins(vault_place) == 2
    assert vault_place.values == {"ONE": "cnry-1"}


async def test_who_may_only_read_is_denied_by_the_write(way: WayOut, vault_place: VaultPlace) -> None:
    policy = f'path "{vault_place.path}" {{ capabilities = ["read"] }}'
    role_id, secret_id = vault_place.server.role(policy)
    reader = AppRoleCredentials(instance_url=vault_place.proxy.url, role_id=role_id, secret_id=secret_id)
    place = opened(HASHICORP_VAULT, vault_place.config, reader, way.context)
    assert await read(place) == {}
    with pytest.raises(RemoteDeniedError, match="policies") as caught:
        await run(place, change_of({"ONE": "cnry-1"}))
    assert "cnry-" not in str(caught.value)
    assert _logins(vault_place) == 1


@pytest.mark.parametrize(
    ("mount", "error", "text"),
    [
        ("nowhere", RemoteDeniedError, "shows no secrets engine at nowhere"),
        ("team", RemoteDeniedError, "shows no secrets engine at team"),
        ("team/engine/app", RemoteMissingError, "no secrets engine at team/engine/app"),
        ("cubbyhole", RemoteRefusedError, "type cubbyhole"),
    ],
)
@only_version_2
async def test_a_mount_must_be_a_key_value_engine(
    way: WayOut, vault_place: VaultPlace, mount: str, error: type[Exception], text: str
) -> None:
    engine, server = vault_place.config.mount, vault_place.server
    root = AccessTokenCredentials(instance_url=server.url, access_token=server.root.headers["X-Vault-Token"])
    config = VaultConfig(mount=mount.replace("team/engine", engine), path="app")
    with pytest.raises(error, match=text.replace("team/engine", engine)):
        await read(opened(HASHICORP_VAULT, config, root, way.context))


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (413, "http: request body too large"),
        # Of raft's storage: max_entry_size.
        (500, "put failed due to value being too large; got 2003984 bytes, max: 1048576 bytes"),
    ],
)
async def test_a_secret_too_large_for_the_server_is_refused_for_good(
    secret: Secret, vault_place: VaultPlace, status: int, told: str
) -> None:
    with (
        vault_place.proxy.answering(is_write, status, {"errors": [f"{told} cnry-1"]}),
        pytest.raises(RemoteRefusedError, match="larger than the server takes") as caught,
    ):
        await run(secret(), change_of({"ONE": "cnry-1"}))
    assert str(status) in str(caught.value)
    assert "cnry-" not in str(caught.value)


async def test_a_secret_is_not_made_larger_than_can_be_read_back(
    secret: Secret, vault_place: VaultPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "_NAMES_MAX", 20)
    full = many(20)
    vault_place.put(full)
    assert len(await read(secret())) == 20
    with pytest.raises(RemoteRefusedError, match="more than 20 names"):
        await run(secret(), change_of({"ONE": "cnry-1"}))
    assert vault_place.values == full
    await run(secret(), change_of({"ONE": "cnry-1"}, "KEY_0000"))
    del full["KEY_0000"]
    assert vault_place.values == full | {"ONE": "cnry-1"}


@pytest.mark.parametrize("content", [[], {}, {"data": []}, "text"], ids=repr)
async def test_an_answer_of_another_form_is_no_answer(
    secret: Secret, vault_place: VaultPlace, content: object
) -> None:
    of_secret: Matches = lambda request: request.path.endswith(vault_place.config.path)  # noqa: E731 - one use
    with (
        vault_place.proxy.answering(of_secret, 200, content),
        pytest.raises(RemoteUnavailableError),
    ):
        await read(secret())


# Drivers that are broken: the tests above would not let them pass.


@only_version_2
async def test_a_driver_that_writes_without_check_and_set_is_caught(
    secret: Secret, vault_place: VaultPlace, way: WayOut
) -> None:
    def careless(request: RemoteRequest) -> RemoteRequest:
        if not request.content or "/data/" not in request.url:
            return request
        body = {"data": json.loads(request.content)["data"]}
        return RemoteRequest(request.method, request.url, request.headers, json.dumps(body).encode())

    spoil(way, request=careless)
    with vault_place.proxy.answering(
        before_writes(1, lambda _: vault_place.put({"THEIRS": "cnry-2"})), 500, None
    ):
        await run(secret(), change_of({"OURS": "cnry-9"}))
    assert vault_place.values == {"OURS": "cnry-9"}


async def test_a_limit_is_told_by_the_server_as_the_tests_of_the_pace_have_it(
    vault_place: VaultPlace,
) -> None:
    server = vault_place.server
    with quota(vault_place):
        kept, bare = (server.root.get(f"/v1/{vault_place.path}") for _ in range(2))
        assert (kept.status_code, bare.status_code) == (404, VAULT_BARE.status)
        assert told(bare.headers) == told(VAULT_BARE.refusal(MINUTE, NOW).headers) == {}
    server.call("POST", "sys/quotas/config", {"enable_rate_limit_response_headers": True}, status=204)
    try:
        with quota(vault_place):
            kept, refused = (server.root.get(f"/v1/{vault_place.path}") for _ in range(2))
    finally:
        server.call("POST", "sys/quotas/config", {"enable_rate_limit_response_headers": False}, status=204)
    assert (kept.status_code, refused.status_code) == (404, VAULT.status)
    ours = VAULT.refusal(MINUTE, NOW, limit=1)
    assert told(refused.headers).keys() == told(ours.headers).keys()
    # Seconds from now, not an instant.
    assert 0 < int(refused.headers["x-ratelimit-reset"]) <= 60
    assert refused.headers["retry-after"] == refused.headers["x-ratelimit-reset"]
    assert told(kept.headers).keys() == VAULT.told_always(Standing(1, 0, NOW + MINUTE, NOW)).keys()
    assert refused.json().keys() == json.loads(ours.text or "").keys()


def told(headers: Mapping[str, str]) -> dict[str, str]:
    """Return what the headers say of limits."""
    return {
        name.lower(): text
        for name, text in headers.items()
        if "ratelimit" in name.lower() or name.lower() == "retry-after"
    }
