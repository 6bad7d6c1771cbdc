"""The app `cloud` against moto: whose key it is, roles, keys that replace each other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import JsonValue

from keybearer.destinations.cloud_app import CLOUD, CloudService
from keybearer.destinations.cloud_credentials import AccessKeyCredentials, AssumeRoleCredentials
from keybearer.destinations.cloud_signing import Scope
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteError,
    RemoteRefusedError,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.destinations.session import AppContext, Session
from keybearer.wire.credentials import Credentials
from support.remotes.moto import THROTTLING, CloudCall, CloudFixture, Fault
from support.remotes.opened import check, renew, retire
from support.remotes.way_out import ORGANIZATION, WayOut, way_out

PARAMETERS = Scope("ssm", "eu-west-1")
UNKNOWN = Fault(403, "InvalidClientTokenId", "The security token included in the request is invalid")


@dataclass
class Now:
    """A clock that stands until it is moved."""

    instant: datetime

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return self.instant.timestamp()

    def boottime(self) -> float:
        return self.instant.timestamp()


@pytest.fixture
def now() -> Now:
    return Now(datetime.now(UTC))


@pytest.fixture
async def way(cloud: CloudFixture, now: Now) -> AsyncIterator[WayOut]:
    async with way_out(clock=now, cloud=cloud.proxy.url) as opened:
        yield opened


@pytest.fixture
def trusted(way: WayOut, cloud: CloudFixture) -> AppContext:
    """Return the context of a service that has a key of its own, which may assume roles and nothing else."""
    own = cloud.user("service", "sts:AssumeRole")
    return replace(way.context, own_credentials={"cloud": own})


@pytest.fixture
def role(cloud: CloudFixture) -> AssumeRoleCredentials:
    return AssumeRoleCredentials(role_arn=cloud.role("carrier", ORGANIZATION, "ssm:*"))


async def put(credentials: Credentials, context: AppContext) -> None:
    """Write a parameter in a session of its own, as each run has it."""
    service = CloudService(Session(CLOUD, credentials, context), PARAMETERS, "AmazonSSM.")
    body: dict[str, JsonValue] = {
        "Name": "/a/ONE",
        "Value": "cnry-1",
        "Type": "SecureString",
        "Overwrite": True,
    }
    await service.session.ask(service.call("PutParameter", body, "write", is_write=True))


async def test_a_key_that_works_is_taken(way: WayOut, cloud: CloudFixture) -> None:
    await check(CLOUD, cloud.credentials, way.context)
    assert [(call.operation, call.region) for call in cloud.proxy.calls] == [
        ("GetCallerIdentity", "us-east-1")
    ]


async def test_a_key_needs_no_rights_to_be_taken(way: WayOut, cloud: CloudFixture) -> None:
    await check(CLOUD, cloud.user("nobody", "ec2:Nothing"), way.context)


async def test_a_key_of_the_governments_partition_is_found(way: WayOut, cloud: CloudFixture) -> None:
    await check(CLOUD, cloud.user("gov", "ssm:*", partition="aws-us-gov"), way.context)
    assert [call.region for call in cloud.proxy.calls] == ["us-east-1", "us-gov-west-1"]


async def test_a_wrong_key_is_denied_in_the_clouds_own_words(way: WayOut, cloud: CloudFixture) -> None:
    unknown = AccessKeyCredentials(access_key_id="AKIAUNKNOWN", secret_access_key="cnry-secret")
    with pytest.raises(
        RemoteDeniedError, match=r"unknown there: it is wrong.* \(InvalidClientTokenId\): The security token"
    ):
        await check(CLOUD, unknown, way.context)
    wrong = AccessKeyCredentials(
        access_key_id=cloud.credentials.access_key_id, secret_access_key="cnry-secret"
    )
    with pytest.raises(
        RemoteDeniedError, match=r"may not tell whose key it is \(SignatureDoesNotMatch\)$"
    ) as caught:
        await check(CLOUD, wrong, way.context)
    assert "cnry" not in str(caught.value)


async def test_that_the_governments_partition_is_away_says_nothing_of_a_wrong_key(
    way: WayOut, cloud: CloudFixture
) -> None:
    cloud.proxy.answer_instead(lambda call: call.region == "us-gov-west-1", None, times=-1)
    wrong = AccessKeyCredentials(access_key_id="AKIAUNKNOWN", secret_access_key="cnry-secret")
    with pytest.raises(RemoteDeniedError):
        await check(CLOUD, wrong, way.context)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(None, RemoteUnavailableError), (Fault(500, "InternalFailure"), RemoteUnavailableError)],
    ids=["cut", "500"],
)
async def test_a_cloud_that_is_away_denies_nobody(
    way: WayOut, cloud: CloudFixture, fault: Fault | None, kind: type[Exception]
) -> None:
    cloud.proxy.answer_instead("GetCallerIdentity", fault, times=-1)
    with pytest.raises(kind):
        await check(CLOUD, cloud.credentials, way.context)


async def test_a_throttled_check_is_patient_and_not_for_ever(way: WayOut, cloud: CloudFixture) -> None:
    cloud.proxy.answer_instead("GetCallerIdentity", Fault(400, "Throttling"), times=2)
    await check(CLOUD, cloud.credentials, way.context)
    cloud.proxy.answer_instead("GetCallerIdentity", THROTTLING, times=-1)
    with pytest.raises(RemoteThrottledError):
        await check(CLOUD, cloud.credentials, way.context)


async def test_a_role_is_assumed_in_the_name_of_the_organization(
    trusted: AppContext, role: AssumeRoleCredentials, cloud: CloudFixture
) -> None:
    await check(CLOUD, role, trusted)
    assumed, identity = cloud.proxy.calls
    assert (assumed.operation, assumed.body["ExternalId"]) == ("AssumeRole", ORGANIZATION)
    assert assumed.access_key_id == trusted.own_credentials["cloud"].model_dump()["access_key_id"]
    assert identity.access_key_id != assumed.access_key_id


async def test_a_role_of_another_organization_is_denied(trusted: AppContext, cloud: CloudFixture) -> None:
    foreign = AssumeRoleCredentials(role_arn=cloud.role("foreign", "another organization", "ssm:*"))
    with pytest.raises(RemoteDeniedError, match=r"may not assume the role .* \(AccessDenied\).*user/service"):
        await check(CLOUD, foreign, trusted)


async def test_without_a_key_of_its_own_the_service_assumes_nothing(
    way: WayOut, role: AssumeRoleCredentials, cloud: CloudFixture
) -> None:
    with pytest.raises(RemoteRefusedError, match="--app-credentials cloud=FILE"):
        await check(CLOUD, role, way.context)
    assert cloud.proxy.calls == []


async def test_a_role_is_assumed_once_while_it_holds(
    trusted: AppContext, role: AssumeRoleCredentials, cloud: CloudFixture, now: Now
) -> None:
    await put(role, trusted)
    await put(role, trusted)
    assert cloud.proxy.operations() == ["AssumeRole", "PutParameter", "PutParameter"]
    now.instant += timedelta(hours=1)
    await put(role, trusted)
    assert cloud.proxy.operations()[3:] == ["AssumeRole", "PutParameter"]


async def test_roles_and_organizations_share_no_session(
    trusted: AppContext, role: AssumeRoleCredentials, cloud: CloudFixture
) -> None:
    await put(role, trusted)
    other = AssumeRoleCredentials(role_arn=cloud.role("other", ORGANIZATION, "ssm:*"))
    await put(other, trusted)
    with pytest.raises(RemoteDeniedError):
        await put(role, replace(trusted, organization_id="another"))


@pytest.mark.parametrize("code", ["ExpiredTokenException", "ExpiredToken"])
async def test_a_session_that_was_ended_is_begun_again(
    trusted: AppContext, role: AssumeRoleCredentials, cloud: CloudFixture, code: str
) -> None:
    await put(role, trusted)
    cloud.proxy.answer_instead("PutParameter", Fault(400, code))
    await put(role, trusted)
    assert cloud.proxy.operations()[2:] == ["PutParameter", "AssumeRole", "PutParameter"]
    cloud.proxy.answer_instead("PutParameter", Fault(400, code), times=-1)
    with pytest.raises(RemoteDeniedError):
        await put(role, trusted)


async def test_a_role_is_assumed_where_the_connection_says(
    trusted: AppContext, role: AssumeRoleCredentials, cloud: CloudFixture
) -> None:
    elsewhere = replace(trusted, endpoints={"cloud": "http://127.0.0.1:9"})
    named = role.model_copy(update={"sts_endpoint": cloud.proxy.url})
    await check(CLOUD, named, elsewhere)
    assert cloud.proxy.operations() == ["AssumeRole", "GetCallerIdentity"]


async def test_an_answer_without_a_session_is_none(
    trusted: AppContext, role: AssumeRoleCredentials, cloud: CloudFixture
) -> None:
    cloud.proxy.answer_instead("AssumeRole", Fault(200, "x"))
    with pytest.raises(RemoteUnavailableError, match="without an expiration"):
        await check(CLOUD, role, trusted)


def keys_of(cloud: CloudFixture, user: str = "keybearer") -> list[str]:
    keys: list[str] = cloud.moto.ask("keys", name=user, partition="aws")
    return keys


async def test_a_key_is_replaced_by_one_that_works(way: WayOut, cloud: CloudFixture) -> None:
    new = await renew(CLOUD, cloud.credentials, way.context)
    assert isinstance(new, AccessKeyCredentials)
    assert keys_of(cloud) == [cloud.credentials.access_key_id, new.access_key_id]
    await put(cloud.credentials, way.context)
    await put(new, way.context)
    await retire(CLOUD, cloud.credentials, new, way.context)
    assert keys_of(cloud) == [new.access_key_id]
    await retire(CLOUD, cloud.credentials, new, way.context)
    with pytest.raises(RemoteDeniedError):
        await check(CLOUD, cloud.credentials, way.context)


async def test_a_key_of_the_governments_partition_is_replaced_there(way: WayOut, cloud: CloudFixture) -> None:
    old = cloud.user("gov", "*", partition="aws-us-gov")
    new = await renew(CLOUD, old, way.context)
    assert isinstance(new, AccessKeyCredentials)
    await retire(CLOUD, old, new, way.context)
    assert cloud.moto.ask("keys", name="gov", partition="aws-us-gov") == [new.access_key_id]


async def test_a_new_key_is_waited_for_until_it_works_for_sure(way: WayOut, cloud: CloudFixture) -> None:
    old = cloud.credentials.access_key_id

    def new(call: CloudCall) -> bool:
        return call.operation == "GetCallerIdentity" and call.access_key_id != old

    cloud.proxy.answer_instead(new, UNKNOWN, times=2)
    cloud.proxy.answer_instead(new, UNKNOWN, times=1, after=1)
    await renew(CLOUD, cloud.credentials, way.context)
    asked = [call.status for call in cloud.proxy.calls if new(call)]
    assert asked == [403, 403, 200, 403, 200, 200]
    assert way.waits == [timedelta(seconds=3)] * 5


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (UNKNOWN, RemoteUnavailableError),
        (Fault(403, "AccessDenied"), RemoteDeniedError),
        (None, RemoteUnavailableError),
    ],
    ids=["never taken", "denied", "cut"],
)
async def test_a_new_key_that_never_works_is_deleted_again(
    way: WayOut, cloud: CloudFixture, fault: Fault | None, kind: type[RemoteError]
) -> None:
    old = cloud.credentials.access_key_id
    cloud.proxy.answer_instead(
        lambda call: call.operation == "GetCallerIdentity" and call.access_key_id != old, fault, times=-1
    )
    with pytest.raises(kind):
        await renew(CLOUD, cloud.credentials, way.context)
    assert keys_of(cloud) == [old]
    assert len(way.waits) <= 10


async def test_a_new_key_that_nobody_waits_for_any_more_is_deleted_again(
    way: WayOut, cloud: CloudFixture
) -> None:
    async def end(_: timedelta) -> None:
        raise asyncio.CancelledError

    way.on_wait = end
    with pytest.raises(asyncio.CancelledError):
        await renew(CLOUD, cloud.credentials, way.context)
    assert keys_of(cloud) == [cloud.credentials.access_key_id]


@pytest.mark.parametrize("fault", [None, Fault(500, "InternalFailure")], ids=["cut", "500"])
async def test_a_key_is_not_asked_for_twice_where_no_good_answer_came(
    way: WayOut, cloud: CloudFixture, fault: Fault | None
) -> None:
    cloud.proxy.answer_instead("CreateAccessKey", fault)
    with pytest.raises(RemoteUnavailableError):
        await renew(CLOUD, cloud.credentials, way.context)
    assert cloud.proxy.operations().count("CreateAccessKey") == 1


async def test_a_user_with_two_keys_is_told_to_delete_one(way: WayOut, cloud: CloudFixture) -> None:
    await renew(CLOUD, cloud.credentials, way.context)
    with pytest.raises(RemoteRefusedError, match="as many access keys as it may; delete one"):
        await renew(CLOUD, cloud.credentials, way.context)


async def test_a_key_that_may_not_make_others_is_told_so(way: WayOut, cloud: CloudFixture) -> None:
    with pytest.raises(
        RemoteDeniedError, match=r"may not create an access key \(AccessDenied\).*user/reader"
    ):
        await renew(CLOUD, cloud.user("reader", "ssm:*"), way.context)


async def test_an_old_key_is_deleted_once_the_new_one_is_known_everywhere(
    way: WayOut, cloud: CloudFixture
) -> None:
    new = await renew(CLOUD, cloud.credentials, way.context)
    cloud.proxy.answer_instead("DeleteAccessKey", UNKNOWN, times=2)
    cloud.proxy.answer_instead(
        lambda call: call.operation == "GetCallerIdentity" and call.region == "us-east-1", UNKNOWN
    )
    way.waits.clear()
    await retire(CLOUD, cloud.credentials, new, way.context)
    assert isinstance(new, AccessKeyCredentials)
    assert keys_of(cloud) == [new.access_key_id]
    assert way.waits == [timedelta(seconds=3)] * 3


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(UNKNOWN, RemoteUnavailableError), (Fault(403, "AccessDenied"), RemoteDeniedError)],
    ids=["never known", "denied"],
)
async def test_an_old_key_that_stays_is_told_of(
    way: WayOut, cloud: CloudFixture, fault: Fault, kind: type[RemoteError]
) -> None:
    new = await renew(CLOUD, cloud.credentials, way.context)
    cloud.proxy.answer_instead("DeleteAccessKey", fault, times=-1)
    with pytest.raises(kind):
        await retire(CLOUD, cloud.credentials, new, way.context)
    assert len(keys_of(cloud)) == 2


async def test_a_key_is_never_retired_in_favour_of_itself(way: WayOut, cloud: CloudFixture) -> None:
    await retire(CLOUD, cloud.credentials, cloud.credentials, way.context)
    assert keys_of(cloud) == [cloud.credentials.access_key_id]


async def test_a_role_has_nothing_to_rotate(trusted: AppContext, role: AssumeRoleCredentials) -> None:
    with pytest.raises(RemoteRefusedError):
        await renew(CLOUD, role, trusted)
    with pytest.raises(RemoteRefusedError):
        await retire(CLOUD, role, role, trusted)
