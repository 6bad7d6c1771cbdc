"""A service that is down, slow, throttling or not what it should be."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest

from support.operator_fixtures import FarService, Installation, NewTenant
from support.pushing_objects import PUSHING, open_pushing
from support.secretsync_objects import condition, message_of
from support.service_proxy import listing_of
from support.tenant import Tenant

pytestmark = pytest.mark.integration


@pytest.fixture
def far(installation: Installation) -> Iterator[FarService]:
    """Yield a service that may be stopped; it runs again afterwards."""
    yield installation.far
    installation.far.process.stop()
    installation.far.process.start()


def test_a_service_that_is_down_is_told_the_secret_stays_and_is_still_repaired(
    far: FarService, new_tenant: NewTenant
) -> None:
    tenant = new_tenant(admin=far.admin)
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web")
    tenant.until_ready("web")

    far.process.stop()
    tenant.ask("web")
    told = tenant.until_reason("web", "ServiceUnavailable", saying="the last good target stays")
    assert {one["type"] for one in told["status"]["conditions"]} == {"Ready", "Reconciling"}
    assert tenant.data("web") == {"KEY": "cnry-1"}

    forged = base64.b64encode(b"cnry-forged").decode()
    tenant.api.patch("Secret", tenant.namespace, "web", {"data": {"KEY": forged}})
    tenant.until_data("web", {"KEY": "cnry-1"})
    tenant.api.delete("Secret", tenant.namespace, "web")
    tenant.until_data("web", {"KEY": "cnry-1"})

    far.process.start()
    tenant.project.store({"KEY": "cnry-2"})
    tenant.until_data("web", {"KEY": "cnry-2"})
    assert condition(tenant.until_ready("web"), "Reconciling") is None


def test_a_new_sync_waits_for_a_service_that_is_down(far: FarService, new_tenant: NewTenant) -> None:
    tenant = new_tenant(admin=far.admin)
    tenant.project.store({"KEY": "cnry-1"})
    far.process.kill()
    tenant.sync("web")
    told = tenant.until_reason("web", "ServiceUnavailable", saying="can't be reached")
    assert tenant.secret("web") is None
    assert (condition(told, "Reconciling") or {})["status"] == "True"

    far.process.start()

    tenant.until_data("web", {"KEY": "cnry-1"})
    tenant.until_ready("web")


def test_an_import_whose_remote_stays_down_fails_and_nothing_is_pushed_until_it_is_asked_for_again(
    far: FarService, tenant: Tenant, installation: Installation
) -> None:
    pushing = open_pushing(tenant, installation)
    tenant.project.store({"KEY": "cnry-1"})
    pushing.connections.far_project.store({"FOUND": "cnry-found"})
    pushing.connect()
    tenant.sync(PUSHING, **pushing.spec(isAutoSyncEnabled=False))
    tenant.until_reason(PUSHING, "Synced", saying="nothing was pushed yet")

    far.process.stop()
    tenant.request(PUSHING, "import")
    tenant.until_reason(PUSHING, "Importing", saying="pushes wait for that")
    failed = tenant.until_reason(PUSHING, "ImportFailed", saying="failed", within=120)
    assert "keybearer.dev/request=import" in failed["status"]["diagnosis"]["command"]
    tenant.edit(PUSHING, isAutoSyncEnabled=True)
    tenant.until_reason(PUSHING, "ImportFailed", saying="nothing is pushed until a person asks")

    far.process.start()
    tenant.ask(PUSHING, "import")

    pushing.until_arrived({"KEY": "cnry-1", "FOUND": "cnry-found"})


def test_a_push_whose_remote_is_down_is_under_way_until_it_is_back(
    far: FarService, tenant: Tenant, installation: Installation
) -> None:
    pushing = open_pushing(tenant, installation)
    tenant.project.store({"KEY": "cnry-1"})
    pushing.connect()
    tenant.sync(PUSHING, **pushing.spec())
    pushing.until_succeeded()

    far.process.stop()
    tenant.project.store({"KEY": "cnry-2"})

    # The service tries again for half a minute before it tells of a failure.
    told = tenant.until_reason(PUSHING, "Pushing", saying="the service pushes to external-infisical")
    assert (condition(told, "Reconciling") or {})["status"] == "True"
    far.process.start()
    pushing.until_arrived({"KEY": "cnry-2"})
    pushing.until_succeeded()


def test_a_sync_that_was_deleted_while_its_source_was_read_does_not_come_back(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    with installation.proxy.holding(listing_of(tenant.project.id)) as hold:
        tenant.sync("web")
        hold.wait_caught()
        tenant.delete("web")
        tenant.until_gone("SecretSync", "web")
        hold.release()
        # The same reading serves another one, which ends later: what the first was to do is done by then.
        tenant.sync("later", target={"name": "other"})
        tenant.until_ready("later")

    tenant.ask("later")
    assert tenant.api.find("SecretSync", tenant.namespace, "web") is None
    assert tenant.secret("web") is None


def test_a_secret_whose_sync_was_deleted_while_its_source_was_read_does_not_come_back(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    tenant.project.store({"KEY": "cnry-2"})
    with installation.proxy.holding(listing_of(tenant.project.id)) as hold:
        tenant.request("web")
        hold.wait_caught()
        tenant.delete("web")
        tenant.until_gone("Secret", "web")
        hold.release()
        tenant.sync("later", target={"name": "other"})
        tenant.until_ready("later")

    tenant.ask("later")
    assert tenant.api.find("SecretSync", tenant.namespace, "web") is None
    assert tenant.secret("web") is None


def test_a_sync_that_was_edited_while_its_source_was_read_ends_as_edited(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"A": "cnry-1", "B": "cnry-2"})
    with installation.proxy.holding(listing_of(tenant.project.id)) as hold:
        tenant.sync("web", refreshInterval="1h", guard={"maxDeletions": 100})
        hold.wait_caught()
        tenant.edit("web", source={"keys": {"include": ["B"]}})
        hold.release()

        tenant.until_data("web", {"B": "cnry-2"})
        tenant.until_ready("web")


@pytest.mark.deep
def test_a_service_that_asks_to_slow_down_is_left_alone_until_then(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    listing = listing_of(tenant.project.id)
    refusal = {
        "reqId": "req-1",
        "statusCode": 429,
        "message": "Rate limit exceeded",
        "error": "RateLimitExceeded",
    }
    with installation.proxy.answering(listing, 429, refusal, {"Retry-After": "12"}):
        start = installation.proxy.mark()
        tenant.sync("web")
        tenant.until_reason("web", "ServiceThrottled", saying="it is asked again when it said")
        first = installation.proxy.requests(listing, since=start)[0]

    tenant.until_data("web", {"KEY": "cnry-1"})
    later = [one for one in installation.proxy.requests(listing, since=start) if one.status == 200]
    assert later[0].at - first.at >= 12


@pytest.mark.deep
def test_a_service_that_answers_too_slowly_to_end_a_run_is_told_and_got_over(
    tenant: Tenant, installation: Installation
) -> None:
    keys = [f"K{number}" for number in range(100)]
    tenant.project.store(dict.fromkeys(keys, "cnry-1"))
    items = [{"key": key, "version": 1} for key in keys]
    tenant.sync("web", refreshInterval="1h", source=tenant.source(keys={"items": items}))
    tenant.until_ready("web")
    before = tenant.secret("web")

    # Eight at once: each answer comes in time, and all of them together would take fifty seconds.
    with installation.proxy.slowing(lambda request: request.path.startswith("/api/v4/secrets/K"), 4):
        tenant.request("web")
        told = tenant.until_reason("web", "TimedOut", saying="reading the versions that keys.items pin")
        assert message_of(told).endswith(
            "takes longer than 40 s; it is tried again; the last good target stays"
        )
        assert (condition(told, "Reconciling") or {})["status"] == "True"
        assert tenant.secret("web") == before

    tenant.until_ready("web")
    assert tenant.secret("web") == before


_STRANGE = {
    "a redirect": (302, {}, {"Location": "http://127.0.0.1:1/"}, "ServiceRefused"),
    "an answer that is no listing": (200, {"hello": "world"}, {}, "ServiceRefused"),
    "an internal error": (
        500,
        {"statusCode": 500, "message": "oops", "error": "X"},
        {},
        "ServiceUnavailable",
    ),
    "a refusal of the request": (
        400,
        {"statusCode": 400, "message": "no", "error": "BadRequest"},
        {},
        "ServiceRefused",
    ),
    "a refusal of the reader": (
        403,
        {"statusCode": 403, "message": "You are not allowed", "error": "PermissionDenied"},
        {},
        "PermissionDenied",
    ),
}


@pytest.mark.parametrize(("status", "body", "headers", "reason"), _STRANGE.values(), ids=_STRANGE.keys())
def test_a_strange_answer_is_told_keeps_the_secret_and_is_got_over(
    tenant: Tenant,
    installation: Installation,
    status: int,
    body: dict[str, object],
    headers: dict[str, str],
    reason: str,
) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    before = tenant.secret("web")

    with installation.proxy.answering(listing_of(tenant.project.id), status, body, headers):
        tenant.ask("web")
        tenant.until_reason("web", reason)
        assert tenant.secret("web") == before

    tenant.ask("web")
    tenant.until_ready("web")
