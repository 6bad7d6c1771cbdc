"""The destination `azure-key-vault`, and its app, against a copy of Azure's login and of a vault."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web
from pydantic import ValidationError

from keybearer.destinations.azure_key_vault import AZURE_KEY_VAULT, ClientSecretCredentials
from keybearer.destinations.engine import table
from keybearer.destinations.protocol import Refused, Written
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteUnavailableError,
)
from keybearer.wire.key_schema import KeyNaming
from support.remotes.azure import AzureCopy, VaultSecret, refusal
from support.remotes.driving import change_of, run
from support.remotes.opened import check, opened
from support.remotes.pushing import Target
from support.remotes.serving import ATTEMPTS, served
from support.remotes.spoiling import spoil
from support.remotes.way_out import WayOut, way_out

TENANT = "11111111-2222-4333-8444-555555555555"
CLIENT = "66666666-7777-4888-8999-aaaaaaaaaaaa"
SECRET = "cnry-client~secret"

Make = Callable[..., Target]


@pytest.fixture
async def copy() -> AsyncIterator[AzureCopy]:
    azure = AzureCopy()
    azure.clients = {f"{TENANT}/{CLIENT}": SECRET}
    azure.rights = {f"{TENANT}/{CLIENT}"}
    async with served(azure):
        yield azure


@pytest.fixture
async def way(copy: AzureCopy) -> AsyncIterator[WayOut]:
    async with way_out() as opened:
        opened.context = dataclasses.replace(opened.context, endpoints={"azure-key-vault": copy.url})
        yield opened


def credentials(secret: str = SECRET) -> ClientSecretCredentials:
    return ClientSecretCredentials(tenant_id=TENANT, client_id=CLIENT, client_secret=secret)


@pytest.fixture
def target(copy: AzureCopy, way: WayOut) -> Make:
    """Return what makes a place to sync to, the vault of the copy unless another is named."""

    def make(
        naming: KeyNaming | None = None, url: str = "", given: ClientSecretCredentials | None = None
    ) -> Target:
        config, named = {"vaultBaseUrl": url or f"{copy.url}/"}, naming or KeyNaming("", "")
        return Target(
            lambda: opened(AZURE_KEY_VAULT, config, given or credentials(), way.context, naming=named), named
        )

    return make


def writes(copy: AzureCopy) -> list[str]:
    """Return what was asked that changes something, without logins."""
    return [line for line in copy.visits.writes() if "oauth2" not in line]


async def test_secrets_arrive_with_hyphens_for_underscores(copy: AzureCopy, target: Make) -> None:
    values = {"DB_PASSWORD": "cnry-1", "EMPTY": "", "lines-2": "cnry-ü $HOME\n${x}\n"}
    await target().push(values)
    assert copy.values() == {"DB-PASSWORD": "cnry-1", "EMPTY": "", "lines-2": values["lines-2"]}
    assert writes(copy) == ["PUT /secrets/DB-PASSWORD", "PUT /secrets/EMPTY", "PUT /secrets/lines-2"]


@pytest.mark.parametrize("schema", ["KB_{{secretKey}}", "{{secretKey}}_{{environment}}", "kb-{{secretKey}}"])
async def test_names_that_the_key_schema_does_not_make_stay_unread(
    copy: AzureCopy, target: Make, schema: str
) -> None:
    naming = KeyNaming.of(schema, "prod")
    stale = naming.name_of("STALE").replace("_", "-")
    copy.put("deploy", "cnry-foreign")
    copy.put(stale, "cnry-stale")
    others = naming.name_of("OTHERS").replace("_", "-")
    copy.put(others, "cnry-others")
    pushed = target(naming)
    pushed.own(naming.name_of("STALE"))
    await pushed.push({"THE_ONE": "cnry-1"})
    ours = naming.name_of("THE_ONE").replace("_", "-")
    assert copy.values() == {"deploy": "cnry-foreign", ours: "cnry-1", others: "cnry-others"}
    assert "GET /secrets/deploy" not in copy.visits.lines()
    await pushed.push({"THE_ONE": "cnry-1"})
    assert pushed.written == []
    # As an import finds it: by the name that the schema makes of a key.
    assert naming.name_of("OTHERS") in await pushed.make().read([])


async def test_values_come_back_by_the_names_of_the_source(copy: AzureCopy, target: Make) -> None:
    copy.put("db-password", "cnry-1")
    copy.put("Other-One", "cnry-2")
    found = await target().make().read(["DB_PASSWORD"])
    assert {name: one.value for name, one in found.items()} == {
        "DB_PASSWORD": "cnry-1",
        "Other-One": "cnry-2",
    }
    pushed = target()
    await pushed.push({"DB_PASSWORD": "cnry-1", "OTHER_ONE": "cnry-new"})
    assert copy.values() == {"db-password": "cnry-1", "Other-One": "cnry-new"}
    assert writes(copy) == ["PUT /secrets/Other-One"]


@pytest.mark.parametrize("trusts_ledger", [False, True])
async def test_names_that_are_the_same_for_the_vault_are_told(
    copy: AzureCopy, target: Make, *, trusts_ledger: bool
) -> None:
    with pytest.raises(RemoteRefusedError, match="'A-B' and 'A_B' are the same") as caught:
        await target().push({"A_B": "cnry-1", "A-B": "cnry-2", "C": "cnry-3"}, trusts_ledger=trusts_ledger)
    assert "cnry-" not in str(caught.value)
    assert copy.values() == {"C": "cnry-3"}


@pytest.mark.parametrize("trusts_ledger", [False, True])
async def test_a_key_that_is_renamed_to_the_same_for_the_vault_stays_there(
    copy: AzureCopy, target: Make, *, trusts_ledger: bool
) -> None:
    pushed = target()
    await pushed.push({"A_B": "cnry-1"})
    await pushed.push({"A-B": "cnry-1"}, trusts_ledger=trusts_ledger)
    assert copy.values() == {"A-B": "cnry-1"}
    assert not [line for line in writes(copy) if line.startswith("DELETE")]


@pytest.mark.parametrize("kind", ["is_enabled", "is_managed"])
async def test_disabled_secrets_and_those_of_certificates_are_left_alone(
    copy: AzureCopy, target: Make, kind: str
) -> None:
    copy.secrets["one"] = VaultSecret("ONE", ["cnry-off"], **{kind: kind == "is_managed"})
    pushed = target()
    assert await pushed.make().read([]) == {}
    with pytest.raises(RemoteRefusedError, match=r"'ONE' (is disabled|belongs to)"):
        await pushed.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    assert copy.values() == {"ONE": "cnry-off", "TWO": "cnry-2"}
    await pushed.push({"TWO": "cnry-2"})
    assert copy.values() == {"ONE": "cnry-off", "TWO": "cnry-2"}


async def test_a_secret_that_is_disabled_or_deleted_while_it_is_read_is_left_out(
    copy: AzureCopy, target: Make
) -> None:
    for name in ("GONE", "OFF", "ON"):
        copy.put(name, "cnry-1")
    gone, off = (
        refusal(404, "SecretNotFound", "-"),
        refusal(403, "Forbidden", "-", "SecretDisabled"),
    )
    copy.visits.answer_instead("GET", "/secrets/GONE", lambda: gone)
    copy.visits.answer_instead("GET", "/secrets/OFF", lambda: off)
    made = target().make()
    assert list(await made.read([])) == ["ON"]
    (told,) = await run(made, change_of({"OFF": "cnry-2"}))
    assert isinstance(told, Refused)
    assert "is disabled" in told.message


async def test_a_secret_that_may_not_be_shown_is_told(copy: AzureCopy, target: Make) -> None:
    copy.put("ONE", "cnry-1")
    copy.visits.answer_instead("GET", "/secrets/ONE", lambda: refusal(403, "Forbidden", "no get"))
    with pytest.raises(RemoteDeniedError, match=r"may not show the secret 'ONE'.*no get"):
        await target().make().read([])


@pytest.mark.parametrize("slowness", [0, 3])
async def test_a_name_that_was_deleted_is_recovered_and_used_again(
    copy: AzureCopy, way: WayOut, target: Make, slowness: int
) -> None:
    copy.slowness = slowness
    pushed = target()
    await pushed.push({"A_B": "cnry-1"})
    await pushed.push({})
    assert copy.deleted
    await pushed.push({"A_B": "cnry-2"})
    assert (copy.values(), copy.deleted) == ({"A-B": "cnry-2"}, {})
    assert "POST /deletedsecrets/A-B/recover" in writes(copy)
    # Only a vault that is still deleting or recovering is waited for: after the deletion, and after the recovery.
    assert {round(wait.total_seconds()) for wait in way.waits} == ({2} if slowness else set())
    assert len(way.waits) == 2 * slowness
    copy.slowness = 0
    await pushed.push({})
    assert copy.values() == {}


async def test_a_deletion_without_end_is_an_outage(copy: AzureCopy, target: Make) -> None:
    copy.slowness = 1000
    pushed = target()
    await pushed.push({"ONE": "cnry-1"})
    await pushed.push({})
    with pytest.raises(
        RemoteUnavailableError, match=r"can't write the secret 'ONE' of the vault \S+ yet: .* busy"
    ):
        await pushed.push({"ONE": "cnry-2"})


async def test_a_name_that_is_still_being_deleted_holds_up_no_other_sync(
    copy: AzureCopy, way: WayOut, target: Make
) -> None:
    copy.visits.answer_instead(
        "PUT", "/secrets/ONE", lambda: refusal(409, "Conflict", "-", "ObjectIsBeingDeleted"), times=-1
    )
    with pytest.raises(RemoteUnavailableError, match="yet: it was busy"):
        await target().push({"ONE": "cnry-1"})
    before = list(way.waits)
    await target().push({"TWO": "cnry-2"})
    assert (copy.values(), way.waits) == ({"TWO": "cnry-2"}, before)


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (403, RemoteDeniedError, "may not recover the deleted secret 'ONE'"),
        (404, RemoteUnavailableError, r"'ONE' can't be written to the vault \S+ yet"),
        (
            409,
            RemoteUnavailableError,
            r"can't recover the deleted secret 'ONE' of the vault \S+ yet: .* busy",
        ),
    ],
)
async def test_a_recovery_that_is_refused_is_told(
    copy: AzureCopy, target: Make, status: int, error: type[Exception], told: str
) -> None:
    copy.deleted["one"] = VaultSecret("ONE", ["cnry-1"])
    copy.visits.answer_instead(
        "POST", "recover", lambda: refusal(status, "Forbidden", "no recover"), times=-1
    )
    with pytest.raises(error, match=told):
        await target().push({"ONE": "cnry-2"})


async def test_a_name_that_is_gone_already_counts_as_removed(copy: AzureCopy, target: Make) -> None:
    copy.put("LAST", "cnry-l")
    written = await run(target().make(), change_of(None, "GONE", "LAST", "NOT/A/NAME"))
    assert written == [Written(name, is_removed=True) for name in ("GONE", "LAST", "NOT/A/NAME")]
    assert copy.values() == {}
    assert writes(copy) == ["DELETE /secrets/GONE", "DELETE /secrets/LAST"], "no other path is asked"


@pytest.mark.parametrize("host", ["http://elsewhere.test", "https://127.0.0.1", "http://[", "ftp://a:x"])
async def test_a_list_that_goes_on_elsewhere_is_read_from_the_vault_itself(
    copy: AzureCopy, target: Make, host: str
) -> None:
    for number in range(60):
        copy.put(f"KEY-{number}", "cnry-v")
    copy.link_host = host
    assert len(await target().make().read([])) == 60
    assert len([line for line in copy.visits.lines() if line == "GET /secrets"]) == 3


async def test_what_the_vault_says_of_a_write_is_never_told(copy: AzureCopy, target: Make) -> None:
    for status in (400, 403, 412):
        copy.visits.answer_instead("PUT", "", lambda: refusal(status, "Forbidden", "cnry-1", "cnry-1"))  # noqa: B023 - used at once
        with pytest.raises((RemoteRefusedError, RemoteDeniedError)) as caught:
            await target().push({"ONE": "cnry-1"})
        assert "cnry-" not in str(caught.value)


@pytest.mark.parametrize(
    "listed",
    [
        *([], {}, {"value": 1}, {"value": [1]}, {"value": [{"id": "https://a/b/c"}]}),
        pytest.param({"value": [{"id": "https://a/secrets/A.B"}]}, id="a name that no secret has"),
    ],
)
async def test_a_list_of_another_form_is_an_outage(copy: AzureCopy, target: Make, listed: object) -> None:
    copy.visits.answer_instead("GET", "", lambda: web.json_response(listed))
    with pytest.raises(RemoteUnavailableError):
        await target().make().read([])


async def test_a_secret_without_a_value_is_an_outage(copy: AzureCopy, target: Make) -> None:
    copy.put("ONE", "cnry-1")
    copy.visits.answer_instead("GET", "/secrets/ONE", lambda: web.json_response({}))
    with pytest.raises(RemoteUnavailableError, match="without value"):
        await target().make().read([])


async def test_a_list_without_end_is_no_list(
    copy: AzureCopy, target: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "_PAGES_MAX", 5)
    endless = {"value": [], "nextLink": f"{copy.url}/secrets?api-version=7.4"}
    copy.visits.answer_instead("GET", "", lambda: web.json_response(endless), times=-1)
    with pytest.raises(RemoteUnavailableError, match="no end to the list"):
        await target().make().read([])


@pytest.mark.parametrize(
    "url",
    [
        "https://vault.elsewhere.test",
        "https://vault.azure.net.elsewhere.test",
        "http://shop.vault.azure.net",
        "https://shop.vault.azure.net/path",
    ],
)
async def test_the_token_goes_to_vaults_of_azure_only(
    copy: AzureCopy, way: WayOut, target: Make, url: str
) -> None:
    way.context = dataclasses.replace(way.context, endpoints={})
    with pytest.raises(RemoteRefusedError, match="vaultBaseUrl must be"):
        await target(url=url).push({"ONE": "cnry-1"})
    assert copy.visits.asked == []


# The app.


async def test_a_client_secret_that_azure_takes_is_right(copy: AzureCopy, way: WayOut) -> None:
    for _ in range(2):
        await check(AZURE_KEY_VAULT, credentials(), way.context)
    assert copy.visits.lines() == [f"POST /{TENANT}/oauth2/v2.0/token"] * 2


async def test_a_client_secret_that_it_does_not_take_is_wrong(way: WayOut, target: Make) -> None:
    wrong = credentials("cnry-wrong")
    with pytest.raises(RemoteDeniedError, match=r"have expired \(invalid_client, AADSTS7000215\)$") as caught:
        await check(AZURE_KEY_VAULT, wrong, way.context)
    assert "cnry-" not in str(caught.value)
    with pytest.raises(RemoteDeniedError):
        await target(given=wrong).push({"ONE": "cnry-1"})


async def test_a_refusal_of_credentials_without_words_has_no_empty_brackets(
    copy: AzureCopy, way: WayOut
) -> None:
    copy.visits.answer_instead("POST", "oauth2", lambda: web.Response(status=401, text="<html>"))
    with pytest.raises(RemoteDeniedError, match=r"must not have expired$"):
        await check(AZURE_KEY_VAULT, credentials(), way.context)


async def test_credentials_that_may_not_use_the_vault_are_told(copy: AzureCopy, target: Make) -> None:
    copy.rights.clear()
    with pytest.raises(
        RemoteDeniedError, match=r"may not list the secrets of the vault \S+.*does not have permission"
    ):
        await target().push({"ONE": "cnry-1"})


async def test_a_token_that_is_withdrawn_is_got_anew_once(copy: AzureCopy, target: Make) -> None:
    pushed = target()
    await pushed.push({"ONE": "cnry-1"})
    copy.withdraw_tokens()
    await pushed.push({"ONE": "cnry-2"})
    assert copy.values() == {"ONE": "cnry-2"}
    copy.visits.answer_instead("GET", "", lambda: web.Response(status=401), times=-1)
    with pytest.raises(RemoteDeniedError, match="another tenant"):
        await pushed.push({"ONE": "cnry-3"})


async def test_what_the_vault_says_is_not_told_where_it_repeats_the_token(
    copy: AzureCopy, target: Make
) -> None:
    copy.visits.answer_instead("GET", "", lambda: refusal(403, "Forbidden", "eyJ.cnry-0 may not"))
    with pytest.raises(RemoteDeniedError) as caught:
        await target().push({"ONE": "cnry-3"})
    assert "cnry-" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (lambda: web.Response(status=404), RemoteMissingError),
        (lambda: web.Response(status=400, text="<html>"), RemoteDeniedError),
        (lambda: web.json_response([], status=400), RemoteDeniedError),
        (lambda: web.Response(status=302), RemoteMissingError),
        (lambda: web.Response(text="<html>"), RemoteUnavailableError),
        (lambda: web.json_response([]), RemoteUnavailableError),
        (lambda: web.json_response({"access_token": "t"}), RemoteUnavailableError),
        (None, RemoteUnavailableError),
    ],
)
async def test_what_is_no_login_of_azure_is_told(
    copy: AzureCopy, way: WayOut, answer: Callable[[], web.Response] | None, error: type[Exception]
) -> None:
    copy.visits.answer_instead("POST", "oauth2", answer, times=ATTEMPTS)
    with pytest.raises(error):
        await check(AZURE_KEY_VAULT, credentials(), way.context)


@pytest.mark.parametrize("field", ["tenantId", "clientId", "clientSecret"])
def test_every_part_of_the_credentials_is_needed_and_the_secret_never_shown(field: str) -> None:
    method = AZURE_KEY_VAULT.app.methods["client-secret"]
    given = {"tenantId": TENANT, "clientId": CLIENT, "clientSecret": SECRET}
    assert "cnry-" not in repr(method.given.model_validate(given))
    assert method.shown == {"tenantId", "clientId"}
    for wrong in ({}, {field: ""}, {field: " "}, {field: "x/y" if field != "clientSecret" else 1}):
        rest = {name: text for name, text in given.items() if name != field}
        with pytest.raises(ValidationError):
            method.given.model_validate({**rest, **wrong})


@pytest.mark.parametrize("wrong", [{}, {"vaultBaseUrl": "shop"}, {"vaultBaseUrl": "https://a?b"}])
def test_a_configuration_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AZURE_KEY_VAULT.config.validate_python(wrong)


def test_the_same_vault_is_known_however_it_is_written() -> None:
    def place(url: str) -> object:
        return AZURE_KEY_VAULT.place(AZURE_KEY_VAULT.config.validate_python({"vaultBaseUrl": url}))

    assert place("https://shop.vault.azure.net") == place("https://Shop.vault.azure.net/")
    assert place("https://shop.vault.azure.net") != place("https://shop2.vault.azure.net")


# What the copy is worth: drivers that are wrong fail on it.


async def test_a_driver_that_recovers_nothing_never_gets_a_name_back(
    copy: AzureCopy, way: WayOut, target: Make
) -> None:
    copy.deleted["one"] = VaultSecret("ONE", ["cnry-1"])
    spoil(
        way,
        request=lambda request: dataclasses.replace(
            request, url=request.url.replace("/deletedsecrets/ONE", "/deletedsecrets/OTHER")
        ),
    )
    with pytest.raises(RemoteUnavailableError):
        await target().push({"ONE": "cnry-2"})
