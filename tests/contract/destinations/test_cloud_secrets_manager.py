"""The destination `cloud-secrets-manager` against moto, behind a proxy that is as strict as the vendor."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest

from keybearer.destinations import cloud_app
from keybearer.destinations import cloud_secrets_manager as driver
from keybearer.destinations.cloud_credentials import AccessKeyCredentials
from keybearer.destinations.cloud_secrets_manager import CLOUD_SECRETS_MANAGER
from keybearer.destinations.engine.document import DocumentDestination
from keybearer.destinations.engine.table import TableDestination
from keybearer.destinations.protocol import (
    Change,
    Destination,
    ForeignContentError,
    Outgoing,
    Refused,
    Written,
)
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteRefusedError,
    RemoteUnavailableError,
)
from keybearer.wire.key_schema import KeyNaming
from support.remotes.driving import change_of, read, run, run_strictly
from support.remotes.moto import CloudFixture, Fault, sign_without_the_body
from support.remotes.opened import opened
from support.remotes.pushing import Target
from support.remotes.way_out import WayOut, way_out

SCHEMA = "shop-{{secretKey}}"
NAMING = KeyNaming.of(SCHEMA, "dev")
ALL = "shop/all"
Make = Callable[..., Destination]


@pytest.fixture
async def way(cloud: CloudFixture) -> AsyncIterator[WayOut]:
    async with way_out(cloud=cloud.proxy.url) as opened:
        yield opened


@pytest.fixture
def make(way: WayOut, cloud: CloudFixture) -> Make:
    """Return what makes a driver, as each run gets its own."""

    def made(
        secret_name: str | None = None, *, credentials: AccessKeyCredentials | None = None, **options: object
    ) -> Destination:
        mapping = {"mappingBehavior": "one-to-one"}
        if secret_name is not None:
            mapping = {"mappingBehavior": "many-to-one", "secretName": secret_name}
        schema = options.get("keySchema")
        return opened(
            CLOUD_SECRETS_MANAGER,
            {"region": "eu-west-1", **mapping},
            credentials or cloud.credentials,
            way.context,
            naming=KeyNaming.of(schema if isinstance(schema, str) else None, "dev"),
            **options,
        )

    return made


@pytest.fixture
def one(make: Make) -> Make:
    """Return what makes a driver of a secret for each key, named by the schema."""
    return lambda **options: make(**{"keySchema": SCHEMA, **options})


@pytest.fixture
def many(make: Make) -> Make:
    """Return what makes a driver of one secret for all keys."""
    return lambda **options: make(ALL, **options)


def values(count: int) -> dict[str, str]:
    return {f"KEY_{number:03}": f"cnry-{number}" for number in range(count)}


def named(held: dict[str, str]) -> dict[str, str]:
    return {f"shop-{key}": value for key, value in held.items()}


def test_each_mapping_has_its_driver(one: Make, many: Make) -> None:
    assert isinstance(one(), TableDestination)
    assert isinstance(many(), DocumentDestination)
    assert one().traits.skips_empty
    assert not one().traits.is_one_object
    assert many().traits.is_one_object
    assert not many().traits.skips_empty


async def test_each_key_is_a_secret(one: Make, cloud: CloudFixture) -> None:
    told = await run(one(), change_of({"shop-ONE": "cnry-1", "shop-TEXT": "cnry-ключ\n{{x}} "}))
    assert cloud.secret_values() == {"shop-ONE": "cnry-1", "shop-TEXT": "cnry-ключ\n{{x}} "}
    held = cloud.secrets()
    assert {secret["keyId"] for secret in held.values()} == {"alias/aws/secretsmanager"}
    assert told == [Written(name, version=held[name]["version"]) for name in ("shop-ONE", "shop-TEXT")]


async def test_after_a_look_each_new_key_is_one_call(one: Make, cloud: CloudFixture) -> None:
    target = Target(one, NAMING)
    await target.push(values(3))
    assert cloud.proxy.operations() == ["ListSecrets"] + ["CreateSecret"] * 3


async def test_values_are_read_twenty_at_a_time_and_only_those_of_the_schema(
    one: Make, cloud: CloudFixture
) -> None:
    for name, value in named(values(45)).items():
        cloud.put_secret(name, value)
    cloud.put_secret("shop-BINARY", binary="AAEC")
    cloud.put_secret("other", "cnry-other")
    found = await read(one())
    assert {name: present.value for name, present in found.items()} == {
        **named(values(45)),
        "shop-BINARY": None,
    }
    assert cloud.proxy.operations() == ["ListSecrets", *["BatchGetSecretValue"] * 3]
    held = cloud.secrets()
    assert all(present.version == held[name]["version"] for name, present in found.items())


async def test_values_of_names_that_the_schema_does_not_make_are_not_asked_for(
    one: Make, cloud: CloudFixture
) -> None:
    cloud.put_secret("shop-ONE-x", "cnry-1")
    cloud.put_secret("shop-OTHER", "cnry-other")
    found = await read(one(keySchema="shop-{{secretKey}}-x"))
    assert {name: present.value for name, present in found.items()} == {
        "shop-ONE-x": "cnry-1",
        "shop-OTHER": None,
    }


async def test_names_are_read_in_pages_of_a_hundred(one: Make, cloud: CloudFixture) -> None:
    for name, value in named(values(120)).items():
        cloud.put_secret(name, value)
    assert {name: present.value for name, present in (await read(one())).items()} == named(values(120))
    assert cloud.proxy.operations().count("ListSecrets") == 2


async def test_what_another_service_of_the_cloud_keeps_is_not_seen(make: Make, cloud: CloudFixture) -> None:
    cloud.put_secret("rds!db", "cnry-rds", tags={"aws:secretsmanager:owningService": "rds"})
    cloud.put_secret("other", "cnry-other")
    assert set(await read(make())) == {"other"}


async def test_removed_keys_are_deleted_after_the_clouds_recovery_window_and_foreign_names_stay(
    one: Make, cloud: CloudFixture
) -> None:
    cloud.put_secret("other", "cnry-other")
    target = Target(one, NAMING)
    await target.push(values(3))
    await target.push(values(1))
    assert {name for name, secret in cloud.secrets().items() if secret["isToBeDeleted"]} == {
        "shop-KEY_001",
        "shop-KEY_002",
    }
    assert {name for name, secret in cloud.secrets().items() if not secret["isToBeDeleted"]} == {
        "shop-KEY_000",
        "other",
    }
    assert [call.body for call in cloud.proxy.calls if call.operation == "DeleteSecret"] == [
        {"SecretId": f"shop-KEY_00{number}"} for number in (1, 2)
    ]
    await target.push(values(3))
    assert cloud.secret_values() == {**named(values(3)), "other": "cnry-other"}


async def test_what_is_gone_already_counts_as_removed(one: Make, cloud: CloudFixture) -> None:
    cloud.proxy.answer_instead("DeleteSecret", Fault(400, "ResourceNotFoundException"))
    assert await run(one(), change_of(None, "shop-GONE")) == [Written("shop-GONE", is_removed=True)]


@pytest.mark.parametrize("looks", [True, False], ids=["after a look", "without a look"])
async def test_a_secret_that_is_to_be_deleted_is_restored(
    one: Make, cloud: CloudFixture, *, looks: bool
) -> None:
    cloud.put_secret("shop-ONE", "cnry-0")
    cloud.schedule_deletion("shop-ONE")
    store = one()
    if looks:
        assert await read(store) == {}
        # moto says that it exists; the cloud says what is the matter.
        told = (
            "You can't create this secret because a secret with this name is already scheduled for deletion."
        )
        cloud.proxy.answer_instead("CreateSecret", Fault(400, "InvalidRequestException", told))
    await run(store, change_of({"shop-ONE": "cnry-1"}))
    assert cloud.secret_values() == {"shop-ONE": "cnry-1"}
    assert cloud.proxy.operations()[-2:] == ["RestoreSecret", "UpdateSecret"]


async def test_a_name_that_is_not_free_yet_is_worth_another_try(one: Make, cloud: CloudFixture) -> None:
    told = Fault(400, "InvalidRequestException", "already scheduled for deletion")
    cloud.proxy.answer_instead("CreateSecret", told, times=-1)
    with pytest.raises(RemoteUnavailableError, match="shop-ONE is still being deleted") as caught:
        await run(one(), change_of({"shop-ONE": "cnry-1"}))
    assert caught.value.is_retryable


async def test_a_secret_that_somebody_made_meanwhile_is_written(one: Make, cloud: CloudFixture) -> None:
    store = one()
    assert await read(store) == {}
    cloud.put_secret("shop-ONE", "cnry-0")
    await run(store, change_of({"shop-ONE": "cnry-1"}))
    assert cloud.secret_values() == {"shop-ONE": "cnry-1"}


async def test_a_wrong_state_of_another_kind_is_a_refusal(one: Make, cloud: CloudFixture) -> None:
    cloud.proxy.answer_instead(
        "UpdateSecret", Fault(400, "InvalidRequestException", "it is managed by cnry-1")
    )
    with pytest.raises(
        RemoteRefusedError, match=r"refuses to write the secret shop-ONE \(InvalidRequestException\)$"
    ):
        await run_strictly(one(), change_of({"shop-ONE": "cnry-1"}))


def tagged(name: str, value: str, **metadata: str) -> Change:
    return Change((Outgoing(name, value, tuple(metadata.items())),), (), frozenset({name}))


async def test_a_new_secret_has_its_tags_and_its_key_at_once(one: Make, cloud: CloudFixture) -> None:
    options: dict[str, Any] = {"tags": [{"key": "team", "value": "web"}], "syncSecretMetadataAsTags": True}
    store = one(**options, keyId="alias/shop")
    await read(store)
    await run(store, tagged("shop-ONE", "cnry-1", team="lost", owner="ann"))
    held = cloud.secrets()["shop-ONE"]
    assert (held["tags"], held["keyId"]) == ({"team": "web", "owner": "ann"}, "alias/shop")
    assert cloud.proxy.operations() == ["ListSecrets", "CreateSecret"]


@pytest.mark.parametrize("looks", [True, False], ids=["after a look", "without a look"])
async def test_tags_follow_and_those_of_the_cloud_stay(
    one: Make, cloud: CloudFixture, *, looks: bool
) -> None:
    cloud.put_secret(
        "shop-ONE", "cnry-0", tags={"aws:cf": "stack", "old": "x", "team": "ops"}, keyId="alias/old"
    )
    store = one(tags=[{"key": "team", "value": "web"}], keyId="alias/shop")
    if looks:
        await read(store)
    await run(store, tagged("shop-ONE", "cnry-1", owner="ann"))
    held = cloud.secrets()["shop-ONE"]
    assert (held["tags"], held["keyId"]) == ({"aws:cf": "stack", "team": "web"}, "alias/shop")
    assert cloud.proxy.operations().count("DescribeSecret") == (0 if looks else 1)


async def test_tags_that_are_not_managed_stay_as_they_are(one: Make, cloud: CloudFixture) -> None:
    cloud.put_secret("shop-ONE", "cnry-0", tags={"old": "x"})
    await run(one(), tagged("shop-ONE", "cnry-1", owner="ann"))
    assert cloud.secrets()["shop-ONE"]["tags"] == {"old": "x"}
    assert cloud.proxy.operations() == ["UpdateSecret"]
    assert (await read(one()))["shop-ONE"].extras is None


@pytest.mark.parametrize("mapping", ["one", "many"])
async def test_what_stands_beside_a_value_compares_with_what_should(
    one: Make, many: Make, cloud: CloudFixture, mapping: str
) -> None:
    options = {"tags": [{"key": "team", "value": "web"}], "keyId": "alias/shop"}
    store = one(**options) if mapping == "one" else many(**options)
    name = "shop-ONE" if mapping == "one" else "ONE"
    outgoing = Outgoing(name, "cnry-1")
    await run(store, Change((outgoing,), (), frozenset({name})))
    found = (await read(store))[name]
    assert found.extras == store.extras_of(outgoing) == {"keyId": "alias/shop", "tag:team": "web"}
    cloud.moto.ask("untag_secrets", region="eu-west-1")
    assert (await read(store))[name].extras == {"keyId": "alias/shop"}


async def test_the_key_schema_names_the_one_secret(make: Make, cloud: CloudFixture) -> None:
    await run(make(ALL, keySchema="dev-{{secretKey}}-x"), change_of({"ONE": "cnry-1"}))
    assert json.loads(cloud.secret_values()[f"dev-{ALL}-x"]) == {"ONE": "cnry-1"}


async def test_an_object_without_keys_is_deleted(many: Make, cloud: CloudFixture) -> None:
    target = Target(many)
    cloud.put_secret("other", "cnry-other")
    await target.push(values(2))
    await target.push({})
    assert cloud.secret_values() == {"other": "cnry-other"}
    assert target.removed == ["KEY_000", "KEY_001"]


async def test_values_that_are_no_texts_are_shown_as_json(many: Make, cloud: CloudFixture) -> None:
    cloud.put_secret(ALL, '{"ONE": "cnry-1", "NUMBER": 7, "FLAG": true, "DEEP": {"a": [1]}, "NOTHING": null}')
    assert {name: present.value for name, present in (await read(many())).items()} == {
        "ONE": "cnry-1",
        "NUMBER": "7",
        "FLAG": "true",
        "DEEP": '{"a":[1]}',
        "NOTHING": "null",
    }


@pytest.mark.parametrize(
    "held", [{"value": "cnry-plain"}, {"value": "[1]"}, {"value": '"cnry-x"'}, {"binary": "AAEC"}], ids=str
)
async def test_what_is_no_object_can_not_be_imported_and_is_overwritten_only_on_request(
    many: Make, cloud: CloudFixture, held: dict[str, str]
) -> None:
    cloud.put_secret(ALL, **held)
    with pytest.raises(ForeignContentError) as caught:
        await read(many())
    assert str(caught.value) == (
        "Failed to import secrets. Invalid format for Many-To-One mapping behavior: requires key/value configuration."
    )
    before = cloud.secrets()[ALL]
    with pytest.raises(ForeignContentError):
        await run(many(), change_of({"ONE": "cnry-1"}))
    assert cloud.secrets()[ALL] == before
    await run(many(), replace(change_of({"ONE": "cnry-1"}), replaces_foreign=True))
    assert json.loads(cloud.secret_values()[ALL]) == {"ONE": "cnry-1"}


async def test_what_others_keep_in_the_object_stays_as_it_was(many: Make, cloud: CloudFixture) -> None:
    cloud.put_secret(ALL, '{"NUMBER": 7, "DEEP": {"a": [1]}, "NOTHING": null, "TEXT": "cnry-x"}')
    target = Target(many)
    others = {"NUMBER": 7, "DEEP": {"a": [1]}, "NOTHING": None, "TEXT": "cnry-x"}
    await target.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    assert json.loads(cloud.secret_values()[ALL]) == {"ONE": "cnry-1", "TWO": "cnry-2", **others}
    await target.push({"ONE": "cnry-1"}, trusts_ledger=True)
    assert json.loads(cloud.secret_values()[ALL]) == {"ONE": "cnry-1", **others}
    await target.push({})
    assert json.loads(cloud.secret_values()[ALL]) == others


@pytest.mark.parametrize("looks", [True, False], ids=["after a look", "without a look"])
async def test_the_one_secret_is_restored_as_well(many: Make, cloud: CloudFixture, *, looks: bool) -> None:
    cloud.put_secret(ALL, '{"OLD": "cnry-0"}')
    cloud.schedule_deletion(ALL)
    store = many()
    if looks:
        assert await read(store) == {}
    await run(store, change_of({"ONE": "cnry-1"}))
    assert json.loads(cloud.secret_values()[ALL]) == {"ONE": "cnry-1"}


async def test_wrong_credentials_are_denied(one: Make, many: Make, cloud: CloudFixture) -> None:
    wrong = AccessKeyCredentials(
        access_key_id=cloud.credentials.access_key_id, secret_access_key="cnry-wrong"
    )
    reader = cloud.user("reader", "secretsmanager:List*")
    for store in (one(credentials=wrong), one(credentials=reader), many(credentials=reader)):
        with pytest.raises(RemoteDeniedError) as caught:
            await run(store, change_of({"shop-ONE": "cnry-1"}))
        assert "cnry" not in str(caught.value)
    with pytest.raises(
        RemoteDeniedError, match=r"may not read the secret shop/all \(AccessDenied.*user/reader"
    ):
        await read(many(credentials=reader))
    assert cloud.secrets() == {}


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("shop-WITH SPACE", "cnry-1", "a name takes letters, digits and"),
        ("shop-ÄRGER", "cnry-1", "a name takes letters, digits and"),
    ],
    ids=["a space", "a letter of another script"],
)
async def test_what_the_manager_refuses_is_told_without_the_value(
    one: Make, cloud: CloudFixture, name: str, value: str, told: str
) -> None:
    (refused,) = await run(one(), change_of({name: value}))
    assert isinstance(refused, Refused)
    assert told in refused.message
    assert name in refused.message
    assert "cnry" not in refused.message
    assert cloud.proxy.issues
    cloud.proxy.issues.clear()


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("a b", "v", "letters, digits and"),
        ("ä", "v", "letters, digits and"),
        ("n" * 513, "v", "513 characters"),
        ("n", "v" * 65_537, "65,537 bytes"),
        ("n/_+=.@-1" + "n" * 503, "ä" * 32_768, None),
    ],
    ids=["a space", "another script", "a long name", "a long value", "the most that is taken"],
)
def test_names_and_values_are_judged_before_aws_is_asked(
    one: Make, name: str, value: str, told: str | None
) -> None:
    refusal = one().traits.rules.refusal(name, value)
    assert refusal is None if told is None else told in str(refusal)


async def test_tags_of_the_one_secret_are_set_right_where_its_keys_are_right_already(
    many: Make, cloud: CloudFixture
) -> None:
    await run(many(), change_of(values(2)))
    tagged = many(tags=[{"key": "team", "value": "web"}])
    await run(tagged, change_of(values(2)))
    assert cloud.secrets()[ALL]["tags"] == {"team": "web"}
    mark = len(cloud.proxy.calls)
    await run(tagged, change_of(values(2)))
    assert set(cloud.proxy.operations(since=mark)) == {"GetSecretValue", "DescribeSecret"}


async def test_an_object_that_a_secret_can_not_hold_is_refused_before_it_is_sent(
    many: Make, cloud: CloudFixture
) -> None:
    fits = {"LONG": "x" * (65_536 - len('{"LONG":""}'))}
    await run(many(), change_of(fits))
    assert json.loads(cloud.secret_values()[ALL]) == fits
    with pytest.raises(RemoteRefusedError, match="65,537 bytes, and AWS takes 64 KiB") as caught:
        await run(many(), change_of({"LONG": f"{fits['LONG']}x"}))
    assert "xxx" not in str(caught.value)
    assert json.loads(cloud.secret_values()[ALL]) == fits


async def test_whole_numbers_of_others_stay_exact_in_the_one_secret(many: Make, cloud: CloudFixture) -> None:
    cloud.put_secret(ALL, '{"LARGE": 123456789012345678901234567890}')
    await run(many(), change_of({"ONE": "cnry-1"}))
    assert json.loads(cloud.secret_values()[ALL]) == {
        "LARGE": 123456789012345678901234567890,
        "ONE": "cnry-1",
    }


async def test_a_driver_that_signs_wrongly_is_caught(
    one: Make, many: Make, cloud: CloudFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cloud_app, "sign", sign_without_the_body)
    for store in (one(), many()):
        with pytest.raises(RemoteDeniedError):
            await run(store, change_of(values(1)))
    assert cloud.secrets() == {}


async def test_a_driver_that_asks_for_too_many_values_is_caught(
    one: Make, cloud: CloudFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in named(values(21)).items():
        cloud.put_secret(name, value)
    monkeypatch.setattr(driver, "_VALUES_AT_ONCE", 21)
    with pytest.raises(RemoteRefusedError):
        await read(one())
    assert cloud.proxy.issues
    cloud.proxy.issues.clear()
