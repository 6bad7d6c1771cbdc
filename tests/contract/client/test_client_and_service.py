"""Both clients against a real service: what interface.md sections 4.8 and 4.9 promise, over HTTP."""

from __future__ import annotations

import asyncio

import pytest

from contract.client.house import Client, House, close, of
from keybearer.client import (
    AsyncKeybearer,
    BadRequest,
    ClientOptions,
    DecodeError,
    InvalidArgument,
    NotFound,
    NotModified,
    PermissionDenied,
    Secret,
    SecretListing,
    SecretMetadata,
    SuppliedToken,
    Unauthenticated,
    UniversalAuth,
    ValidationFailed,
)
from support.async_waiting import until
from tools.local.waiting import PATIENCE


async def test_a_secret_lives_from_create_to_delete(house: House, client: Client) -> None:
    value = 'cnry-\u00fcml\u00e4ut \U0001f511 "quoted"\nline'
    created = await of(
        client.secrets.create(
            "DB_URL",
            value,
            secret_comment="of the test",
            metadata=(SecretMetadata(key="team", value="a"),),
            skip_multiline_encoding=True,
            **house.place,
        )
    )
    assert (created.secret_key, created.secret_value, created.version) == ("DB_URL", value, 1)
    assert (created.secret_path, created.environment, created.workspace) == ("/", "dev", house.project.id)
    read = await of(client.secrets.get("DB_URL", **house.place))
    assert (read.secret_value, read.secret_comment) == (value, "of the test")
    assert read.id == created.id
    assert read.created_at.endswith("Z")
    updated = await of(
        client.secrets.update("DB_URL", secret_value="cnry-2", new_secret_name="DB_URI", **house.place)
    )
    assert (updated.secret_key, updated.version) == ("DB_URI", 2)
    assert (await of(client.secrets.get("DB_URI", version=1, **house.place))).secret_value == value
    deleted = await of(client.secrets.delete("DB_URI", **house.place))
    assert deleted.id == created.id
    for call in (client.secrets.get, client.secrets.delete):
        with pytest.raises(NotFound) as error:
            await of(call("DB_URI", **house.place))
        assert error.value.request_id
        assert error.value.error


async def test_a_list_is_sorted_and_recursion_finds_equal_keys_of_several_folders(
    house: House, client: Client
) -> None:
    await of(client.folders.create("deep", path="/app", **house.place))
    for key, path in (("B", "/"), ("A", "/"), ("A", "/app"), ("C", "/app/deep")):
        await of(client.secrets.create(key, f"cnry-{key}{path}", secret_path=path, **house.place))
    flat = await of(client.secrets.list(**house.place))
    assert [secret.secret_key for secret in flat] == ["A", "B"]
    whole = await of(client.secrets.list(recursive=True, **house.place))
    assert [(secret.secret_key, secret.secret_path) for secret in whole] == [
        ("A", "/"),
        ("A", "/app"),
        ("B", "/"),
        ("C", "/app/deep"),
    ]
    unique = await of(client.secrets.list(recursive=True, unique_keys=True, **house.place))
    assert [(secret.secret_key, secret.secret_path) for secret in unique] == [
        ("A", "/app"),
        ("B", "/"),
        ("C", "/app/deep"),
    ]


async def test_a_conditional_list_says_when_nothing_changed(house: House, client: Client) -> None:
    await of(client.secrets.create("A", "cnry-1", **house.place))
    first = await of(client.secrets.list_conditional(**house.place))
    assert isinstance(first, SecretListing)
    assert first.etag
    again = await of(client.secrets.list_conditional(etag=first.etag, **house.place))
    assert again == NotModified(first.etag)
    await of(client.secrets.update("A", secret_value="cnry-2", **house.place))
    changed = await of(client.secrets.list_conditional(etag=first.etag, **house.place))
    assert isinstance(changed, SecretListing)
    assert [(secret.secret_value, secret.version) for secret in changed.secrets] == [("cnry-2", 2)]
    assert changed.etag != first.etag


async def test_references_are_expanded_unless_told_otherwise(house: House, client: Client) -> None:
    await of(client.secrets.create("HOST", "cnry-host", **house.place))
    await of(client.secrets.create("URL", "https://${HOST}/", **house.place))
    assert (await of(client.secrets.get("URL", **house.place))).secret_value == "https://cnry-host/"
    plain = await of(client.secrets.get("URL", expand_secret_references=False, **house.place))
    assert plain.secret_value == "https://${HOST}/"


async def test_masked_values_are_marked_and_can_not_be_written_back(house: House, client: Client) -> None:
    await of(client.secrets.create("A", "cnry-1", **house.place))
    (masked,) = await of(client.secrets.list(view_secret_value=False, **house.place))
    assert masked.secret_value_hidden
    assert "cnry-" not in masked.secret_value
    with pytest.raises(InvalidArgument, match="mask"):
        await of(client.secrets.update("A", secret_value=masked.secret_value, **house.place))


async def test_listed_secrets_fill_the_environment(house: House, client: Client) -> None:
    env = {"A": "own", "B": ""}
    for key in ("A", "B", "C"):
        await of(client.secrets.create(key, f"cnry-{key}", **house.place))
    other = house.client(house.credentials, ClientOptions(process_env=env))
    await of(other.secrets.list(attach_to_process_env=True, **house.place))
    assert env == {"A": "own", "B": "cnry-B", "C": "cnry-C"}


async def test_names_that_need_encoding_stay_themselves(house: House, client: Client) -> None:
    for name in ("WITH SPACE", "100%", "q?a&c#d", "käse", "a+b", "%41"):
        await of(client.secrets.create(name, f"cnry-{name}", **house.place))
        assert (await of(client.secrets.get(name, **house.place))).secret_key == name


async def test_a_value_of_a_mebibyte_goes_there_and_back(house: House, client: Client) -> None:
    value = "cnry-" + "x" * (1024 * 1024 - 5)
    await of(client.secrets.create("BIG", value, **house.place))
    assert (await of(client.secrets.get("BIG", **house.place))).secret_value == value
    narrow = house.client(house.credentials, ClientOptions(max_response_bytes=1024 * 1024))
    with pytest.raises(DecodeError, match="longer than"):
        await of(narrow.secrets.get("BIG", **house.place))


async def test_projects_environments_and_folders_can_be_made_and_found(house: House, client: Client) -> None:
    admin = house.client(UniversalAuth(house.service.admin.client_id, house.service.admin.client_secret))
    project = await of(admin.projects.create("Made by a client", description="d"))
    assert {environment.slug for environment in project.environments} == {"dev", "staging", "prod"}
    assert (await of(admin.projects.get_by_slug(project.slug))).id == project.id
    assert (await of(admin.projects.get(project.id))).slug == project.slug
    assert project.id in {found.id for found in await of(admin.projects.list())}
    quality = await of(admin.environments.create("Quality", "qa", project_id=project.id))
    assert quality.slug == "qa"
    folder = await of(client.folders.create("app", **house.place))
    assert folder.path == "/app"
    renamed = await of(client.folders.update(folder.id, "web", **house.place))
    assert renamed.name == "web"
    assert [found.name for found in await of(client.folders.list(**house.place))] == ["web"]
    await of(client.folders.delete(folder.id, **house.place))
    assert await of(client.folders.list(**house.place)) == []


async def test_refusals_of_the_service_have_their_classes(house: House, client: Client) -> None:
    await of(client.secrets.create("A", "cnry-1", **house.place))
    with pytest.raises(BadRequest, match="already exists"):
        await of(client.secrets.create("A", "cnry-2", **house.place))
    with pytest.raises(ValidationFailed, match="colon or forward slash"):
        await of(client.secrets.create("A:B", "cnry-2", **house.place))
    with pytest.raises(NotFound):
        await of(client.secrets.create("A", "cnry-2", secret_path="/none", **house.place))
    with pytest.raises(NotFound):
        await of(client.projects.get_by_slug("no-such-project"))
    viewer = house.service.create_identity(roles={house.project.id: "viewer"})
    reader = house.client(UniversalAuth(viewer.client_id, viewer.client_secret))
    assert len(await of(reader.secrets.list(**house.place))) == 1
    with pytest.raises(PermissionDenied) as denied:
        await of(reader.secrets.create("B", "cnry-2", **house.place))
    assert denied.value.status == 403


async def test_wrong_credentials_are_refused(house: House) -> None:
    stranger = house.client(UniversalAuth(house.who.client_id, "cnry-wrong"))
    with pytest.raises(Unauthenticated, match="Invalid credentials"):
        await of(stranger.secrets.list(**house.place))
    forged = house.client(SuppliedToken("cnry-forged"))
    with pytest.raises(Unauthenticated):
        await of(forged.auth.check())


async def test_closing_revokes_what_was_logged_in_for_and_spares_what_was_supplied(house: House) -> None:
    first = house.client(house.credentials)
    await of(first.secrets.list(**house.place))
    own = first.auth.access_token
    assert own is not None
    second = house.client(SuppliedToken(own))
    await of(second.auth.check())
    await close(second)
    third = house.client()
    third.auth.set_access_token(own)
    await of(third.auth.check())
    await close(first)
    with pytest.raises(Unauthenticated):
        await of(third.auth.check())


async def test_a_token_is_renewed_revoked_and_got_anew(house: House) -> None:
    who = house.service.create_identity(roles={house.project.id: "viewer"}, accessTokenTTL=60)
    client = house.client()
    granted = await of(client.auth.universal_auth.login(who.client_id, who.client_secret))
    assert granted.expires_in > 0
    renewed = await of(client.auth.renew())
    await of(client.auth.check())
    await of(client.auth.revoke())
    for token in {granted.access_token, renewed.access_token}:
        dead = house.client(SuppliedToken(token))
        with pytest.raises(Unauthenticated):
            await of(dead.auth.check())


async def test_a_token_that_was_revoked_behind_our_back_is_replaced(house: House, client: Client) -> None:
    await of(client.secrets.list(**house.place))
    token = client.auth.access_token
    other = house.client(SuppliedToken(token or ""))
    await of(other.auth.revoke())
    assert await of(client.secrets.list(**house.place)) == []
    assert client.auth.access_token not in {None, token}


async def test_short_tokens_are_seen_to_without_a_call_failing(house: House) -> None:
    # Renewed, replaced at the longest life, or refused a little early for its end is cut to whole seconds.
    who = house.service.create_identity(
        roles={house.project.id: "viewer"}, accessTokenTTL=2, accessTokenMaxTTL=4
    )
    client = house.client(UniversalAuth(who.client_id, who.client_secret))

    async def has_logged_in_three_times() -> bool:
        assert await of(client.secrets.list(**house.place)) == []
        return client.session.wallet.attempts >= 3

    await until(has_logged_in_three_times, awaited="a third login")


async def test_many_calls_at_once_log_in_once(house: House) -> None:
    client = house.client(house.credentials)

    async def call() -> list[Secret]:
        if isinstance(client, AsyncKeybearer):
            return await client.secrets.list(**house.place)
        return await asyncio.to_thread(client.secrets.list, **house.place)

    assert await asyncio.gather(*(call() for _ in range(30))) == [[]] * 30
    assert client.session.wallet.attempts == 1


async def test_the_state_of_the_service_needs_no_token(house: House) -> None:
    nobody = house.client(options=ClientOptions(timeout=PATIENCE))
    assert await of(nobody.status.get()) == "Ok"
