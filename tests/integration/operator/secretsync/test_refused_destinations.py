"""Destinations that can't be had as described: what is told, what stays, and what heals it."""

from __future__ import annotations

import pytest

from support.operator_fixtures import Installation
from support.pushing_objects import PUSHING as _NAME
from support.pushing_objects import Pushing, open_pushing
from support.secretsync_objects import condition, message_of, reason_of
from support.tenant import Tenant
from tools.local.kube_api import Body
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_OTHER_STORE: Body = {
    "destination": "cloud-parameter-store",
    "destinationConfig": {"region": "eu-west-1", "path": "/a/"},
}


@pytest.fixture
def pushing(tenant: Tenant, installation: Installation) -> Pushing:
    opened = open_pushing(tenant, installation)
    tenant.project.store({"ONE": "cnry-1"})
    opened.connect()
    return opened


def _is_stalled(pushing: Pushing, reason: str, *saying: str) -> None:
    """It is told as a matter of a person, with all these words."""
    told = pushing.tenant.until_reason(_NAME, reason)
    stalled = condition(told, "Stalled")
    assert stalled is not None
    assert (stalled["status"], stalled["reason"]) == ("True", reason)
    for word in saying:
        assert word in message_of(told)


def test_a_selection_can_t_be_pushed_and_what_was_pushed_stays(pushing: Pushing) -> None:
    pushing.tenant.sync(_NAME, **pushing.spec(target={"name": "beside"}))
    pushing.until_succeeded()

    pushing.tenant.edit(_NAME, source={"keys": {"exclude": ["THREE"]}})
    pushing.tenant.project.store({"TWO": "cnry-2"})

    _is_stalled(pushing, "SourceNotPushable", "source has keys", "leave them out")
    pushing.tenant.until_data("beside", {"ONE": "cnry-1", "TWO": "cnry-2"})
    assert pushing.arrived() == {"ONE": "cnry-1"}
    pushing.tenant.edit(_NAME, source={"keys": None})
    pushing.until_arrived({"ONE": "cnry-1", "TWO": "cnry-2"})
    pushing.until_succeeded()


def test_a_sync_that_somebody_else_made_is_left_alone(pushing: Pushing) -> None:
    connection = pushing.connections.until_reason("store", "Connected")["status"]["id"]
    spec = pushing.spec()
    theirs: Body = {
        "name": "taken",
        "projectId": pushing.tenant.project.id,
        "connectionId": connection,
        "environment": "dev",
        "secretPath": "/",
        "isAutoSyncEnabled": False,
        "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
        "destinationConfig": spec["destinationConfig"],
    }
    pushing.installation.admin.send("POST", "/api/v1/secret-syncs/external-infisical", theirs)
    before = pushing.syncs()
    pushing.tenant.sync(_NAME, **spec, syncName="taken")

    _is_stalled(pushing, "SyncConflict", "a sync taken", "set syncName to another name")
    assert pushing.syncs() == before
    pushing.tenant.edit(_NAME, syncName="free")
    pushing.until_succeeded()
    assert sorted(one["name"] for one in pushing.syncs()) == ["free", "taken"]


def test_a_destination_can_t_be_changed_in_place(pushing: Pushing) -> None:
    pushing.tenant.sync(_NAME, **pushing.spec())
    pushing.until_succeeded()
    before = pushing.syncs()
    good = pushing.spec()["destinationConfig"]

    gone = dict.fromkeys(good)
    pushing.tenant.edit(
        _NAME,
        destination=_OTHER_STORE["destination"],
        destinationConfig={**gone, **_OTHER_STORE["destinationConfig"]},
    )

    _is_stalled(
        pushing, "ImmutableDestination", "to external-infisical", "delete this object and create another one"
    )
    assert [one["id"] for one in pushing.syncs()] == [one["id"] for one in before]
    assert pushing.arrived() == {"ONE": "cnry-1"}
    back = {**dict.fromkeys(_OTHER_STORE["destinationConfig"]), **good}
    pushing.tenant.edit(_NAME, destination=pushing.spec()["destination"], destinationConfig=back)
    pushing.until_succeeded()
    pushing.tenant.project.store({"ONE": "cnry-2"})
    pushing.until_arrived({"ONE": "cnry-2"})


def test_what_the_service_refuses_is_quoted(pushing: Pushing) -> None:
    pushing.connections.until_reason("store", "Connected")
    pushing.tenant.sync(_NAME, **pushing.spec(**_OTHER_STORE))

    _is_stalled(pushing, "SyncRefused", "the service refuses to create sync", "need a connection of App")
    assert pushing.syncs() == []
    good = pushing.spec()
    gone = dict.fromkeys(_OTHER_STORE["destinationConfig"])
    pushing.tenant.edit(
        _NAME, destination=good["destination"], destinationConfig={**gone, **good["destinationConfig"]}
    )
    pushing.until_arrived({"ONE": "cnry-1"})
    pushing.until_succeeded()


@pytest.mark.deep
def test_a_source_that_never_rests_is_pushed_less_often(pushing: Pushing) -> None:
    tenant = pushing.tenant
    tenant.sync(_NAME, **pushing.spec())
    pushing.until_succeeded()
    tenant.until_updates(_NAME)

    def is_told() -> bool:
        return reason_of(tenant.get(_NAME)) == "PushedTooOften"

    def change(number: int) -> None:
        """It arrives, or is told to wait."""
        value = {"ONE": f"cnry-{number}"}
        tenant.project.store(value)
        eventually(lambda: pushing.arrived() == value or is_told(), awaited="a push, or an end of the budget")

    changes = 0
    while not is_told():
        changes += 1
        assert changes < 60
        change(changes)

    told = tenant.until_reason(_NAME, "PushedTooOften", saying="find out what changes them")
    assert (condition(told, "BudgetUsed") or {})["status"] == "True"
    assert (condition(told, "Reconciling") or {})["status"] == "True"
    # It took along what had changed, and then all is well without anybody's doing.
    pushing.until_arrived({"ONE": f"cnry-{changes}"})
    pushing.until_succeeded()
