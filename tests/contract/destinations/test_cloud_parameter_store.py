"""The destination `cloud-parameter-store` against moto, behind a proxy that is as strict as the vendor."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from keybearer.destinations import bounds, cloud_app, listing
from keybearer.destinations import cloud_parameter_store as driver
from keybearer.destinations.cloud_credentials import AccessKeyCredentials
from keybearer.destinations.cloud_options import Region
from keybearer.destinations.cloud_parameter_store import CLOUD_PARAMETER_STORE
from keybearer.destinations.protocol import Change, Destination, Outgoing, Refused, Written
from keybearer.destinations.remote import (
    Limits,
    RemoteDeniedError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.wire.key_schema import KeyNaming
from support.remotes.driving import change_of, read, run, run_strictly
from support.remotes.moto import THROTTLING, CloudFixture, Fault, sign_without_the_body
from support.remotes.opened import opened
from support.remotes.pushing import Target
from support.remotes.spoiling import spoil
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


async def test_a_run_without_changes_writes_nothing(store: Make, cloud: CloudFixture) -> None:
    target = Target(store)
    await target.push(values(12))
    mark = len(cloud.proxy.calls)
    await target.push(values(12))
    await target.push(values(12), trusts_ledger=True)
    assert cloud.proxy.operations(since=mark) == ["GetParametersByPath"] * 2


async def test_a_changed_key_is_one_call(store: Make, cloud: CloudFixture) -> None:
    target = Target(store)
    await target.push(values(12))
    mark = len(cloud.proxy.calls)
    await target.push({**values(12), "KEY_005": "cnry-new"}, trusts_ledger=True)
    assert cloud.proxy.operations(since=mark) == ["PutParameter"]
    assert cloud.parameter_values() == below(PATH, {**values(12), "KEY_005": "cnry-new"})


async def test_what_somebody_changed_by_hand_is_written_again(store: Make, cloud: CloudFixture) -> None:
    target = Target(store)
    await target.push(values(3))
    cloud.put_parameter(f"{PATH}KEY_001", "cnry-by-hand")
    await target.push(values(3))
    assert target.written == ["KEY_001"]
    assert cloud.parameter_values() == below(PATH, values(3))


async def test_removed_keys_are_deleted_ten_at_a_time(store: Make, cloud: CloudFixture) -> None:
    target = Target(store)
    await target.push(values(23))
    mark = len(cloud.proxy.calls)
    await target.push({}, trusts_ledger=True)
    assert cloud.proxy.operations(since=mark) == ["DeleteParameters"] * 3
    assert cloud.parameters() == {}
    assert len(target.removed) == 23


async def test_what_is_gone_already_counts_as_removed(store: Make) -> None:
    assert await run(store(), change_of(None, "GONE")) == [Written("GONE", is_removed=True)]


async def test_nothing_is_removed_unasked(store: Make, cloud: CloudFixture) -> None:
    target = Target(store)
    await target.push(values(2))
    await target.push({"OTHER": "cnry-o"}, removes_nothing=True)
    assert target.removed == []
    assert cloud.parameter_values() == below(PATH, {**values(2), "OTHER": "cnry-o"})


async def test_an_emptied_value_removes_its_parameter(store: Make, cloud: CloudFixture) -> None:
    target = Target(store)
    await target.push({"ONE": "cnry-1", "TWO": "cnry-2"})
    await target.push({"ONE": "cnry-1", "TWO": "", "NEVER": ""})
    assert cloud.parameter_values() == {f"{PATH}ONE": "cnry-1"}


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


async def test_a_throttled_run_goes_on(store: Make, way: WayOut, cloud: CloudFixture) -> None:
    cloud.proxy.answer_instead("PutParameter", THROTTLING, times=3, after=1)
    cloud.proxy.answer_instead("GetParametersByPath", Fault(400, "TooManyUpdates"), times=2)
    target = Target(store)
    await target.push(values(3))
    assert cloud.parameter_values() == below(PATH, values(3))
    assert [round(wait.total_seconds()) for wait in way.waits] == [1] * 5


async def test_one_that_is_throttled_for_ever_is_given_up(store: Make, cloud: CloudFixture) -> None:
    cloud.proxy.answer_instead("PutParameter", THROTTLING, times=-1, after=1)
    told: list[Written | Refused] = []
    with pytest.raises(RemoteThrottledError) as caught:
        await run(store(), change_of(values(3)), told)
    assert caught.value.is_retryable
    assert [one.name for one in told] == ["KEY_000"]
    assert cloud.proxy.operations() == ["PutParameter"] * 12


async def test_wrong_credentials_are_denied(store: Make, cloud: CloudFixture) -> None:
    good = cloud.credentials
    wrong = {
        "another secret": AccessKeyCredentials(
            access_key_id=good.access_key_id, secret_access_key="cnry-wrong"
        ),
        "an unknown id": AccessKeyCredentials(
            access_key_id="AKIAUNKNOWN", secret_access_key=good.secret_access_key
        ),
        "no rights": cloud.user("reader", "ssm:Get*"),
    }
    for credentials in wrong.values():
        with pytest.raises(RemoteDeniedError) as caught:
            await run(store(credentials=credentials), change_of({"ONE": "cnry-1"}))
        assert "cnry" not in str(caught.value)
        assert credentials.secret_access_key not in str(caught.value)
    assert cloud.parameters() == {}


async def test_what_rights_are_missing_is_told(store: Make, cloud: CloudFixture) -> None:
    blind = store(credentials=cloud.user("writer", "ssm:PutParameter"))
    with pytest.raises(
        RemoteDeniedError, match=r"may not list the parameters below /shop/web/ \(AccessDenied.*user/writer"
    ):
        await read(blind)


@pytest.mark.parametrize(
    "fault", [None, Fault(500, "InternalServerError"), Fault(503, "")], ids=["cut", "500", "503"]
)
async def test_what_arrived_before_an_outage_counts(
    store: Make, cloud: CloudFixture, fault: Fault | None
) -> None:
    cloud.proxy.answer_instead("PutParameter", fault, times=-1, after=2)
    target = Target(store)
    with pytest.raises(RemoteUnavailableError):
        await target.push(values(5))
    assert target.written == ["KEY_000", "KEY_001"]
    cloud.proxy.get_well()
    mark = len(cloud.proxy.calls)
    await target.push(values(5))
    assert target.written == ["KEY_002", "KEY_003", "KEY_004"]
    assert len(cloud.proxy.operations(since=mark)) == 4


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


async def test_a_refused_name_keeps_no_other_from_being_written(store: Make, cloud: CloudFixture) -> None:
    target = Target(store)
    await target.push({"GONE": "cnry-0"})
    with pytest.raises(RemoteRefusedError) as caught:
        await target.push({"A B": "cnry-1", "GOOD": "cnry-2", "C D": "cnry-3", "LAST": "cnry-4"})
    told = str(caught.value)
    assert "'A B': a name there takes letters, digits" in told
    assert "'C D': a name there takes letters, digits" in told
    assert (target.written, target.removed) == (["GOOD", "LAST"], ["GONE"])
    assert cloud.parameter_values() == below(PATH, {"GOOD": "cnry-2", "LAST": "cnry-4"})


async def test_what_aws_refuses_keeps_no_other_from_being_written(store: Make, cloud: CloudFixture) -> None:
    cloud.proxy.answer_instead("PutParameter", Fault(400, "ParameterLimitExceeded"), times=1, after=1)
    target = Target(store)
    with pytest.raises(RemoteRefusedError, match=r"'KEY_001': .*as many parameters as it may"):
        await target.push(values(3))
    assert target.written == ["KEY_000", "KEY_002"]


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


async def test_a_value_over_8192_bytes_is_refused_before_anything_is_asked(
    store: Make, cloud: CloudFixture
) -> None:
    target = Target(store)
    with pytest.raises(RemoteRefusedError, match="8,193 bytes, and the destination takes 8 KiB") as caught:
        await target.push({"ONE": "cnry-" + "x" * 8188, "TWO": "cnry-2"})
    assert "cnry" not in str(caught.value)
    assert cloud.parameter_values() == below(PATH, {"TWO": "cnry-2"})


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


async def test_a_place_with_too_much_in_it_is_not_read(
    store: Make, cloud: CloudFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in values(12).items():
        cloud.put_parameter(f"{PATH}{name}", value)
    monkeypatch.setattr(bounds, "_NAMES_MAX", 12)
    assert len(await read(store())) == 12
    monkeypatch.setattr(bounds, "_NAMES_MAX", 11)
    with pytest.raises(RemoteRefusedError, match="holds more than 11 names"):
        await read(store())
    monkeypatch.setattr(bounds, "_NAMES_MAX", 1000)
    monkeypatch.setattr(bounds, "_BYTES_MAX", 12 * len(PATH))
    with pytest.raises(RemoteRefusedError, match="choose a place"):
        await read(store())


async def test_a_driver_that_skips_a_page_is_caught(
    store: Make, cloud: CloudFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Target(store)
    await target.push(values(12))
    monkeypatch.setattr(listing, "text_or_none", lambda *_: None)
    await target.push(values(11))
    assert target.written
    assert cloud.parameter_values() != below(PATH, values(11))


async def test_a_driver_that_ignores_throttling_is_caught(
    store: Make, way: WayOut, cloud: CloudFixture
) -> None:
    spoil(way, limits=Limits(is_throttled=lambda _: False))
    cloud.proxy.answer_instead("PutParameter", THROTTLING)
    with pytest.raises(RemoteThrottledError):
        await run(store(), change_of(values(1)))
    assert cloud.parameters() == {}


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
