"""What a SecretSync pushes, by names: held back, planned, removed though others', and told where it failed."""

from __future__ import annotations

import pytest

from support.operator_fixtures import Installation
from support.pushing_objects import PUSHING, Pushing, open_pushing
from support.secretsync_objects import condition, message_of, reason_of
from support.tenant import Tenant
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration


@pytest.fixture
def pushing(tenant: Tenant, installation: Installation) -> Pushing:
    return open_pushing(tenant, installation)


def test_a_source_whose_secrets_are_all_renamed_is_held_back_until_released(pushing: Pushing) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1"})
    pushing.connect()
    pushing.tenant.sync(PUSHING, **pushing.spec())
    pushing.until_succeeded()

    pushing.installation.admin.client.secrets.update(
        "ONE", project_id=pushing.tenant.project.id, environment="dev", new_secret_name="UNO"
    )

    held = pushing.tenant.until_reason(PUSHING, "Guarded", saying="1 of 1 names would be removed")
    assert held["status"]["plan"]["remove"] == ["ONE"]
    assert pushing.arrived() == {"ONE": "cnry-1"}
    pushing.tenant.ask(PUSHING, "release-guard")
    pushing.until_arrived({"UNO": "cnry-1"})


def test_names_that_go_one_by_one_are_held_back_like_all_at_once(pushing: Pushing) -> None:
    names = ["ONE", "TWO", "THREE", "FOUR"]
    pushing.tenant.project.store(dict.fromkeys(names, "cnry-1"))
    pushing.connect()
    pushing.tenant.sync(PUSHING, **pushing.spec())
    pushing.until_succeeded()
    for gone in ("ONE", "TWO"):
        names.remove(gone)
        pushing.tenant.project.remove([gone])
        pushing.until_arrived(dict.fromkeys(names, "cnry-1"))
        pushing.until_succeeded()

    pushing.tenant.project.remove(["THREE"])

    pushing.tenant.until_reason(PUSHING, "Guarded", saying="after 2 others within 24h")
    assert pushing.arrived().keys() == {"THREE", "FOUR"}
    pushing.tenant.ask(PUSHING, "release-guard")
    pushing.until_arrived({"FOUR": "cnry-1"})
    assert "removals" not in pushing.until_succeeded()["status"]["push"]


@pytest.mark.parametrize("mode", ["Apply", "Plan"])
def test_what_lets_the_target_pass_lets_nothing_pass_at_the_destination(pushing: Pushing, mode: str) -> None:
    """The status tells of the target first, and both would lose, or get, secrets of the same names."""
    tenant = pushing.tenant
    names = {"ONE": "cnry-1", "TWO": "cnry-2", "THREE": "cnry-3"}
    tenant.project.store(names)
    pushing.connect()
    pushing.connections.until_reason("store", "Connected")
    tenant.sync(PUSHING, **pushing.spec(target={"name": "local"}, mode=mode))
    request, after = "approve-plan", names
    if mode == "Apply":
        pushing.until_succeeded()
        tenant.project.remove(["ONE", "TWO"])
        request, after = "release-guard", {"THREE": "cnry-3"}
        tenant.until_reason(PUSHING, "Guarded", saying="keys would be removed")
    else:
        tenant.until_reason(PUSHING, "Planned", saying="keys of Secret local")

    told = tenant.ask(PUSHING, request)
    assert tenant.data("local") == after
    assert reason_of(told) == ("Guarded" if mode == "Apply" else "Planned")
    assert ("from the destination" if mode == "Apply" else "would create sync") in message_of(told)
    assert pushing.arrived() == (names if mode == "Apply" else {})
    tenant.ask(PUSHING, request)
    pushing.until_arrived(after)
    pushing.until_succeeded()


def test_an_object_without_a_status_is_guarded_from_its_first_push_on(pushing: Pushing) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1", "TWO": "cnry-2"})
    pushing.connect()
    pushing.tenant.sync(PUSHING, **pushing.spec())
    pushing.until_succeeded()
    pushing.tenant.edit(PUSHING, mode="Suspended")
    pushing.tenant.until(
        PUSHING,
        lambda sync: (condition(sync, "Reconciling") or {}).get("reason") == "Suspended",
        "a suspension",
    )
    # As a cluster is restored: the object with its UID, and nothing of its status.
    pushing.tenant.api.patch(
        "SecretSync",
        pushing.tenant.namespace,
        PUSHING,
        {"status": dict.fromkeys(("sync", "push", "conditions", "plan"))},
        subresource="status",
    )
    pushing.tenant.project.store({"OTHER": "cnry-3"})
    pushing.tenant.project.remove(["ONE", "TWO"])

    pushing.tenant.edit(PUSHING, mode="Apply")

    held = pushing.tenant.until_reason(PUSHING, "Guarded", saying="2 of 2 names would be removed")
    assert held["status"]["plan"]["remove"] == ["ONE", "TWO"]
    assert pushing.arrived().keys() == {"ONE", "TWO"}


def test_names_of_others_are_shown_and_removed_once_on_request(pushing: Pushing) -> None:
    pushing.connections.far_project.store({"THEIRS": "cnry-theirs", "ALSO": "cnry-theirs"})
    pushing.tenant.project.store({"ONE": "cnry-1"})
    pushing.connect()
    pushing.tenant.sync(PUSHING, **pushing.spec())
    shown = pushing.tenant.until_reason(PUSHING, "Synced", saying="status.push.foreign")
    assert shown["status"]["push"]["foreign"] == ["ALSO", "THEIRS"]
    assert shown["status"]["push"]["foreignTotal"] == 2
    assert pushing.arrived().keys() == {"ONE", "THEIRS", "ALSO"}

    pushing.tenant.ask(PUSHING, "remove-foreign")

    pushing.until_arrived({"ONE": "cnry-1"})
    pushing.tenant.until(
        PUSHING,
        lambda sync: (
            "foreign" not in sync["status"]["push"] and sync["status"]["sync"]["syncStatus"] == "succeeded"
        ),
        "an end of the list of others' names, and of the push",
    )
    # Once means once: what comes from elsewhere later stays.
    pushing.connections.far_project.store({"LATER": "cnry-theirs"})
    pushing.tenant.ask(PUSHING)
    pushing.tenant.until_reason(PUSHING, "Synced", saying="status.push.foreign")
    assert pushing.arrived().keys() == {"ONE", "LATER"}


def test_a_plan_names_what_would_change_after_the_sync_exists_and_is_carried_out_as_shown(
    pushing: Pushing,
) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1", "TWO": "cnry-2"})
    pushing.connect()
    pushing.tenant.sync(PUSHING, **pushing.spec())
    pushing.until_succeeded()
    pushing.tenant.edit(PUSHING, mode="Plan")
    pushing.tenant.until_reason(PUSHING, "Synced")
    pushing.tenant.project.store({"NEW": "cnry-3"})
    pushing.tenant.project.remove(["TWO"])

    def is_planned() -> bool:
        plan = pushing.tenant.get(PUSHING)["status"].get("plan", {})
        return (plan.get("add"), plan.get("remove")) == (["NEW"], ["TWO"])

    eventually(is_planned, awaited="a plan with names")
    assert pushing.arrived().keys() == {"ONE", "TWO"}

    pushing.tenant.ask(PUSHING, "approve-plan")

    pushing.until_arrived({"ONE": "cnry-1", "NEW": "cnry-3"})


def test_without_a_destination_a_removal_of_others_names_is_refused(pushing: Pushing) -> None:
    pushing.tenant.project.store({"ONE": "cnry-1"})
    pushing.tenant.sync(PUSHING)
    pushing.tenant.until_data(PUSHING, {"ONE": "cnry-1"})

    answered = pushing.tenant.ask(PUSHING, "remove-foreign")

    assert answered["status"]["lastHandledRequestedAt"]
    eventually(
        lambda: (
            "RequestRefused"
            in {one["reason"] for one in pushing.tenant.api.list("Event", pushing.tenant.namespace)}
        ),
        awaited="an Event about the refusal",
    )
