"""The destination `cloud-parameter-store` against moto, behind a proxy that is as strict as the vendor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from keybearer.destinations import cloud_app
from keybearer.destinations import cloud_parameter_store as driver
from keybearer.destinations.cloud_credentials import AccessKeyCredentials
from keybearer.destinations.cloud_options import Region
from keybearer.destinations.cloud_parameter_store import CLOUD_PARAMETER_STORE
from keybearer.destinations.protocol import Change, Destination, Outgoing, Refused, Written
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteUnavailableError,
)
from keybearer.wire.key_schema import KeyNaming
from support.remotes.driving import change_of, read, run, run_strictly
from support.remotes.moto import CloudFixture, Fault, sign_without_the_body
from support.remotes.opened import opened
from support.remotes.pushing import Target
from support.remotes.way_out import WayOut, way_out

PATH = "/shop/web/"
Make = Callable[..., Destination]


@pytest.fixture
async def way(cloud: CloudFixture) -> AsyncIterator[WayOut]:
    async with way_out(cloud=cloud.proxy.url) as opened:
        yield opened


@pytest.fixture
def store(way: WayOut, cloud: CloudFixture) -> Make:
    """Return what makes a driver, as each run gets its own."""

    def make(
        path: str = PATH,
        *,
        region: Region = Region.EU_WEST_1,
        credentials: AccessKeyCredentials | None = None,
        **options: object,
    ) -> Destination:
        schema = options.get("keySchema")
        return opened(
            CLOUD_PARAMETER_STORE,
            {"region": region.value, "path": path},
            credentials or cloud.credentials,
            way.context,
            naming=KeyNaming.of(schema if isinstance(schema, str) else None, "dev"),
            **options,
        )

    return make


def values(count: int) -> dict[str, str]:
    return {f"KEY_{number:03}": f"cnry-{number}" for number in range(count)}


def below(path: str, held: dict[str, str]) -> dict[str, str]:
    return {f"{path}{name}": value for name, value in held.items()}


async def test_each_key_is_a_secure_string_below_the_path_with_one_call(
    store: Make, cloud: CloudFixture
) -> None:
    told = await run(store(), change_of({"ONE": "cnry-1", "TEXT": "cnry-ключ\n{{x}} "}))
    assert told == [Written("ONE", version="1"), Written("TEXT", version="1")]
    assert cloud.proxy.operations() == ["PutParameter", "PutParameter"]
    held = cloud.parameters()
    assert cloud.parameter_values() == {f"{PATH}ONE": "cnry-1", f"{PATH}TEXT": "cnry-ключ\n{{x}} "}
    assert {(one["type"], one["keyId"]) for one in held.values()} == {("SecureString", "alias/aws/ssm")}


async def test_what_is_there_is_read_in_pages_of_ten(store: Make, cloud: CloudFixture) -> None:
    for name, value in values(25).items():
        cloud.put_parameter(f"{PATH}{name}", value)
    cloud.put_parameter(f"{PATH}deeper/KEY", "cnry-deeper")
    cloud.put_parameter("/shop/KEY", "cnry-above")
    cloud.put_parameter(f"{PATH}FOREIGN", "cnry-plain", type="String")
    found = await read(store())
    assert {name: one.value for name, one in found.items()} == {**values(25), "FOREIGN": "cnry-plain"}
    assert {one.version for one in found.values()} == {"1"}
    assert cloud.proxy.operations() == ["GetParametersByPath"] * 3


async def test_a_version_is_the_same_whether_written_or_read(store: Make) -> None:
    await run(store(), change_of({"ONE": "cnry-1"}))
    told = await run(store(), change_of({"ONE": "cnry-2"}))
    assert told == [Written("ONE", version="2")]
    assert (await read(store()))["ONE"].version == "2"


async def test_removed_keys_are_deleted_ten_at_a_time(store: Make, cloud: CloudFixture) -> None:
    target = Target(store)
    await target.push(values(23))
    mark = len(cloud.proxy.calls)
    await target.push({}, trusts_ledger=True)
    assert cloud.proxy.operations(since=mark) == ["DeleteParameters"] * 3
    assert cloud.parameters() == {}
    assert len(target.removed) == 23


async def test_a_key_schema_extends_the_path(store: Make, cloud: CloudFixture) -> None:
    schema = "app/{{environment}}/x-{{secretKey}}"
    cloud.put_parameter(f"{PATH}app/dev/FOREIGN", "cnry-f")
    cloud.put_parameter(f"{PATH}ABOVE", "cnry-a")
    target = Target(lambda: store(keySchema=schema), KeyNaming.of(schema, "dev"))
    await target.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    await target.push({"ONE": "cnry-1"})
    assert set(await store(keySchema=schema).read(())) == {"app/dev/x-ONE", "app/dev/FOREIGN"}
    assert cloud.parameter_values() == {
        f"{PATH}app/dev/x-ONE": "cnry-1",
        f"{PATH}app/dev/FOREIGN": "cnry-f",
        f"{PATH}ABOVE": "cnry-a",
    }


async def test_the_root_is_a_path(store: Make, cloud: CloudFixture) -> None:
    target = Target(lambda: store("/"))
    cloud.put_parameter("/shop/KEY", "cnry-deeper")
    await target.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    await target.push({"ONE": "cnry-1"})
    assert cloud.parameter_values() == {"/ONE": "cnry-1", "/shop/KEY": "cnry-deeper"}


async def test_at_the_root_a_name_without_a_slash_is_the_same(store: Make, cloud: CloudFixture) -> None:
    cloud.put_parameter("BARE", "cnry-b")
    assert (await read(store("/")))["BARE"].value == "cnry-b"
    target = Target(lambda: store("/"))
    await target.push({"BARE": "cnry-b"})
    assert target.written == []
    await target.push({})
    assert cloud.parameters() == {}


async def test_regions_are_apart_and_the_governments_are_too(store: Make, cloud: CloudFixture) -> None:
    key = cloud.user("gov", "ssm:*", partition="aws-us-gov")
    gov = store(region=Region.US_GOV_EAST_1, credentials=key)
    await run(gov, change_of({"ONE": "cnry-1"}))
    assert cloud.parameter_values("us-gov-east-1") == {f"{PATH}ONE": "cnry-1"}
    assert cloud.parameters() == {}


def tagged(name: str, value: str, **metadata: str) -> Change:
    return Change((Outgoing(name, value, tuple(metadata.items())),), (), frozenset({name}))


async def test_tags_are_those_of_options_and_of_metadata(store: Make, cloud: CloudFixture) -> None:
    options: dict[str, Any] = {"tags": [{"key": "team", "value": "web"}], "syncSecretMetadataAsTags": True}
    await run(store(**options), tagged("ONE", "cnry-1", team="lost", owner="ann"))
    assert cloud.parameters()[f"{PATH}ONE"]["tags"] == {"team": "web", "owner": "ann"}
    assert cloud.proxy.operations() == ["PutParameter", "AddTagsToResource"]


async def test_tags_follow_and_those_of_the_cloud_stay(store: Make, cloud: CloudFixture) -> None:
    cloud.put_parameter(f"{PATH}ONE", "cnry-0", tags={"aws:cf": "stack", "old": "x", "team": "ops"})
    await run(store(tags=[{"key": "team", "value": "web"}]), tagged("ONE", "cnry-1", owner="ann"))
    assert cloud.parameters()[f"{PATH}ONE"]["tags"] == {"aws:cf": "stack", "team": "web"}
    assert cloud.proxy.operations() == [
        "PutParameter",
        "ListTagsForResource",
        "RemoveTagsFromResource",
        "AddTagsToResource",
    ]


async def test_tags_that_are_not_managed_stay_as_they_are(store: Make, cloud: CloudFixture) -> None:
    cloud.put_parameter(f"{PATH}ONE", "cnry-0", tags={"old": "x"})
    await run(store(), tagged("ONE", "cnry-1", owner="ann"))
    assert cloud.parameters()[f"{PATH}ONE"]["tags"] == {"old": "x"}
    assert cloud.proxy.operations() == ["PutParameter"]
    assert (await read(store()))["ONE"].extras is None


async def test_what_stands_beside_a_value_compares_with_what_should(store: Make, cloud: CloudFixture) -> None:
    options = {"tags": [{"key": "team", "value": "web"}], "keyId": "alias/shop"}
    outgoing = Outgoing("ONE", "cnry-1")
    await run(store(**options), Change((outgoing,), ()))
    found = await store(**options).read(["ONE"])
    assert (
        found["ONE"].extras
        == store(**options).extras_of(outgoing)
        == {"keyId": "alias/shop", "tag:team": "web"}
    )
    cloud.put_parameter(f"{PATH}ONE", "cnry-1", keyId="alias/shop", tags={"team": "ops"})
    changed = await store(**options).read(["ONE"])
    assert changed["ONE"].extras == {"keyId": "alias/shop", "tag:team": "ops"}


async def test_tags_are_asked_for_only_where_they_are_about_to_be_compared(
    store: Make, cloud: CloudFixture
) -> None:
    for name, value in values(4).items():
        cloud.put_parameter(f"{PATH}{name}", value)
    await store(tags=[]).read(["KEY_001", "ABSENT"])
    assert cloud.proxy.operations() == ["GetParametersByPath", "ListTagsForResource"]


async def test_another_key_of_encryption_shows_also_where_pages_are_many(
    store: Make, cloud: CloudFixture
) -> None:
    for name, value in values(12).items():
        cloud.put_parameter(
            f"{PATH}{name}", value, keyId="alias/shop" if name != "KEY_011" else "alias/other"
        )
    found = await read(store(keyId="alias/shop"))
    assert [name for name, one in found.items() if one.extras != {"keyId": "alias/shop"}] == ["KEY_011"]


async def test_a_key_that_is_told_by_its_whole_name_is_the_same(store: Make, cloud: CloudFixture) -> None:
    cloud.put_parameter(f"{PATH}ONE", "cnry-1", keyId="arn:aws:kms:eu-west-1:123456789012:key/1234-abcd")
    assert (await read(store(keyId="1234-abcd")))["ONE"].extras == {"keyId": "1234-abcd"}
    assert (await read(store(keyId="34-abcd")))["ONE"].extras != {"keyId": "34-abcd"}


async def test_what_rights_are_missing_is_told(store: Make, cloud: CloudFixture) -> None:
    blind = store(credentials=cloud.user("writer", "ssm:PutParameter"))
    with pytest.raises(
        RemoteDeniedError, match=r"may not list the parameters below /shop/web/ \(AccessDenied.*user/writer"
    ):
        await read(blind)


async def test_an_outage_between_deletions_leaves_the_rest_for_later(
    store: Make, cloud: CloudFixture
) -> None:
    target = Target(store)
    await target.push(values(12))
    cloud.proxy.answer_instead("DeleteParameters", None, times=-1, after=1)
    with pytest.raises(RemoteUnavailableError):
        await target.push({})
    assert len(target.removed) == 10
    cloud.proxy.get_well()
    await target.push({})
    assert cloud.parameters() == {}


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("WITH SPACE", "cnry-1", "a name takes letters, digits, dots"),
        ("ÄRGER", "cnry-1", "a name takes letters, digits, dots"),
    ],
    ids=["a space", "a letter of another script"],
)
async def test_what_the_store_refuses_is_told_without_the_value(
    store: Make, cloud: CloudFixture, name: str, value: str, told: str
) -> None:
    (refused,) = await run(store(), change_of({name: value}))
    assert isinstance(refused, Refused)
    assert refused.message.startswith(f"AWS refuses to write the parameter {PATH}{name}; {told}")
    assert "cnry" not in refused.message
    assert cloud.proxy.issues
    cloud.proxy.issues.clear()


async def test_names_of_aws_are_known_before_it_is_asked(store: Make) -> None:
    rules = store("/").traits.rules
    assert "must not begin with aws" in str(rules.refusal("AWS-key", "v"))
    assert "must not begin with ssm" in str(rules.refusal("ssmKey", "v"))
    assert store().traits.rules.refusal("aws-key", "v") is None


@pytest.mark.parametrize("name", ["a/b/c", "a.b_c-d", "x" * 1001, "0"])
async def test_names_that_parameters_take_are_kept_back_by_no_rule(store: Make, name: str) -> None:
    assert store().traits.rules.refusal(name, "v") is None


@pytest.mark.parametrize("name", ["", "a b", "a//b", "/a", "a/", "ä", "x" * 1002, "a\n"])
async def test_other_names_are_kept_back_by_a_rule(store: Make, name: str) -> None:
    assert store().traits.rules.refusal(name, "v") is not None


@pytest.mark.parametrize(
    ("size", "tier"),
    [(4096, None), (4097, "Intelligent-Tiering"), (8192, "Intelligent-Tiering")],
)
async def test_a_value_over_4096_bytes_is_of_the_tier_that_holds_it(
    store: Make, cloud: CloudFixture, size: int, tier: str | None
) -> None:
    value = "cnry-" + "x" * (size - 7) + "ä"
    assert len(value.encode()) == size
    await Target(store).push({"ONE": value, "TWO": "cnry-2"})
    assert cloud.parameter_values() == below(PATH, {"ONE": value, "TWO": "cnry-2"})
    puts = [call.body for call in cloud.proxy.calls if call.operation == "PutParameter"]
    assert [body.get("Tier") for body in puts] == [tier, None]


async def test_an_advanced_parameter_stays_one_when_its_value_shrinks(
    store: Make, cloud: CloudFixture
) -> None:
    told = (
        "This parameter uses the advanced-parameter tier. You can't downgrade a parameter from the "
        "advanced-parameter tier to the standard-parameter tier."
    )
    cloud.proxy.answer_instead("PutParameter", Fault(400, "ValidationException", told))
    await run(store(), change_of({"ONE": "cnry-1"}))
    assert [call.body.get("Tier") for call in cloud.proxy.calls] == [None, "Advanced"]
    assert cloud.parameter_values() == {f"{PATH}ONE": "cnry-1"}


async def test_names_of_the_cloud_itself_are_refused(store: Make) -> None:
    with pytest.raises(RemoteRefusedError, match="begins with neither aws nor ssm"):
        await run_strictly(store("/"), change_of({"aws-key": "cnry-1"}))


@pytest.mark.parametrize(
    ("code", "kind", "told"),
    [
        (
            "HierarchyTypeMismatchException",
            RemoteRefusedError,
            "there is one already that is no SecureString",
        ),
        ("InvalidKeyId", RemoteMissingError, "there is no such key of encryption"),
        ("ParameterLimitExceeded", RemoteRefusedError, "as many parameters as it may"),
        ("SomethingNew", RemoteRefusedError, "SomethingNew"),
    ],
)
async def test_refusals_are_told_apart(
    store: Make, cloud: CloudFixture, code: str, kind: type[Exception], told: str
) -> None:
    cloud.proxy.answer_instead("PutParameter", Fault(400, code, "not cnry-1"))
    with pytest.raises(kind, match=told) as caught:
        await run_strictly(store(), change_of({"ONE": "cnry-1"}))
    assert "cnry" not in str(caught.value)


async def test_a_driver_that_signs_wrongly_is_caught(
    store: Make, cloud: CloudFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cloud_app, "sign", sign_without_the_body)
    with pytest.raises(RemoteDeniedError):
        await run(store(), change_of(values(1)))
    assert cloud.parameters() == {}


async def test_a_driver_that_sends_what_the_vendor_does_not_know_is_caught(
    store: Make, cloud: CloudFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "_PAGE", 11)
    with pytest.raises(RemoteRefusedError):
        await read(store())
    monkeypatch.setattr(driver, "_DELETED_AT_ONCE", 11)
    with pytest.raises(RemoteRefusedError):
        await run(store(), change_of(None, *values(11)))
    assert len(cloud.proxy.issues) == 2
    cloud.proxy.issues.clear()
