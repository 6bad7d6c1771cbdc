"""Changes that arrive by events: real operator, API server and service, with an interval that hides polling."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.operator_fixtures import FarService, Installation, NewTenant
from support.secretsync_objects import identity_secret
from support.service_proxy import ServiceRequest, about_project, is_subscription, listing_of
from support.tenant import Tenant
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_NO_EVENTS = {
    "reqId": "req-test",
    "statusCode": 400,
    "message": "Event subscriptions are not available on your current plan",
    "error": "BadRequest",
}


def subscriptions_of(tenant: Tenant, installation: Installation, start: int) -> list[ServiceRequest]:
    """Attempts of who reads the project: streams of tenants that are about to go are tried again as well."""
    about = about_project(tenant.project.id)
    tokens = {one.token for one in installation.proxy.requests(about, since=start)}
    tried = installation.proxy.requests(is_subscription, since=start)
    return [one for one in tried if one.token in tokens]


@pytest.fixture
def far(installation: Installation) -> Iterator[FarService]:
    """Yield a service that may be stopped; it runs again afterwards."""
    yield installation.far
    installation.far.process.stop()
    installation.far.process.start()


def test_a_changed_value_arrives_without_waiting_for_the_interval(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_data("web", {"KEY": "cnry-1"})
    tenant.until_updates("web")

    tenant.project.store({"KEY": "cnry-2", "MORE": "cnry-3"})
    tenant.until_data("web", {"KEY": "cnry-2", "MORE": "cnry-3"})
    tenant.project.remove(["MORE"])
    tenant.until_data("web", {"KEY": "cnry-2"})


def test_a_value_arrives_through_an_import_and_through_a_reference(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.folder("/common")
    tenant.project.store({"BASE": "cnry-base-1"}, path="/common")
    tenant.project.store({"WHOLE": "cnry-${dev.common.BASE}"}, path="/", environment="prod")
    place = {"projectId": tenant.project.id, "environment": "dev", "path": "/"}
    installation.admin.send(
        "POST", "/api/v2/secret-imports", {**place, "import": {"environment": "dev", "path": "/common"}}
    )
    tenant.sync("importer", refreshInterval="1h")
    tenant.sync("referrer", refreshInterval="1h", source=tenant.source(environment="prod"))
    tenant.until_data("importer", {"BASE": "cnry-base-1"})
    tenant.until_data("referrer", {"WHOLE": "cnry-cnry-base-1"})
    tenant.until_updates("importer")

    tenant.project.store({"BASE": "cnry-base-2"}, path="/common")
    tenant.until_data("importer", {"BASE": "cnry-base-2"})
    tenant.until_data("referrer", {"WHOLE": "cnry-cnry-base-2"})


def test_after_a_restart_of_the_service_what_changed_meanwhile_is_found(
    far: FarService, new_tenant: NewTenant
) -> None:
    tenant = new_tenant(admin=far.admin)
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    tenant.until_updates("web")

    far.process.kill()
    far.process.start()
    tenant.project.store({"KEY": "cnry-2"})
    tenant.until_data("web", {"KEY": "cnry-2"})
    tenant.project.store({"KEY": "cnry-3"})
    tenant.until_data("web", {"KEY": "cnry-3"})
    tenant.until_updates("web")


def test_a_revoked_token_costs_a_login_and_no_event(tenant: Tenant, installation: Installation) -> None:
    start = installation.proxy.mark()
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    tenant.until_updates("web")
    used = {
        request.token for request in installation.proxy.requests(listing_of(tenant.project.id), since=start)
    }
    for token in used:
        installation.admin.revoke_token(token)
    tenant.project.store({"KEY": "cnry-2"})
    tenant.until_data("web", {"KEY": "cnry-2"})
    tenant.project.store({"KEY": "cnry-3"})
    tenant.until_data("web", {"KEY": "cnry-3"})


def test_a_lost_role_is_told_without_waiting_for_the_interval_and_so_is_its_return(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_data("web", {"KEY": "cnry-1"})
    tenant.until_updates("web")

    memberships, who = installation.admin.client.memberships, tenant.login.identity_id
    memberships.put_identity(who, project_id=tenant.project.id, roles=("no-access",))
    lost = tenant.until_reason("web", "PermissionDenied")["status"]
    assert (lost["updates"], lost["pollingReason"]) == ("Polling", "EventsDenied")
    assert tenant.data("web") == {"KEY": "cnry-1"}, "the last good target stays"

    tenant.project.store({"KEY": "cnry-2"})
    memberships.put_identity(who, project_id=tenant.project.id, roles=("viewer",))
    tenant.until_data("web", {"KEY": "cnry-2"})
    regained = tenant.until_updates("web")["status"]
    assert "pollingReason" not in regained
    tenant.project.store({"KEY": "cnry-3"})
    tenant.until_data("web", {"KEY": "cnry-3"})


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(400, _NO_EVENTS, id="a plan without events", marks=pytest.mark.deep),
        pytest.param(404, {"message": "Route POST not found"}, id="a service that has no such route"),
        pytest.param(
            429, {"message": "Too many active connections"}, id="too many streams", marks=pytest.mark.deep
        ),
        pytest.param(200, {"message": "Ok"}, id="an answer that is no stream", marks=pytest.mark.deep),
    ],
)
def test_without_a_stream_changes_arrive_by_polling(
    tenant: Tenant, installation: Installation, status: int, body: object
) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    start = installation.proxy.mark()
    with installation.proxy.answering(is_subscription, status, body):
        tenant.sync("web", refreshInterval="10s")
        tenant.until_ready("web")
        tenant.until_updates("web", "Polling")
        tenant.project.store({"KEY": "cnry-2"})
        tenant.until_data("web", {"KEY": "cnry-2"})
        refused = subscriptions_of(tenant, installation, start)
        assert 1 <= len([one for one in refused if one.status == status]) <= 3


def test_an_identity_that_may_read_single_folders_listens_to_these(
    tenant: Tenant, installation: Installation
) -> None:
    project = tenant.project
    login = installation.admin.new_login(project.id, role="no-access")
    tenant.api.create(identity_secret(tenant.namespace, "narrow", login.as_secret()))
    start = installation.proxy.mark()
    for path in ("/one", "/two", "/three"):
        project.folder(path)
        project.store({"KEY": "cnry-1"}, path=path)
        grant = {
            "identityId": login.identity_id,
            "subjects": ["secrets", "secret-folders"],
            "actions": ["read", "read-value"],
            "environment": "dev",
            "secretPath": path,
        }
        installation.admin.send("POST", f"/api/v1/projects/{project.id}/grants", grant)
        tenant.sync(
            path.strip("/"),
            identityRef={"name": "narrow"},
            source=tenant.source(secretPath=path),
            refreshInterval="1h",
        )
    for name in ("one", "two", "three"):
        tenant.until_ready(name)
        tenant.until_updates(name)

    project.store({"KEY": "cnry-2"}, path="/three")
    tenant.until_data("three", {"KEY": "cnry-2"})
    denied = [one for one in subscriptions_of(tenant, installation, start) if one.status == 403]
    assert len(denied) == 1


def test_the_metrics_tell_of_streams_and_events(tenant: Tenant, installation: Installation) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_updates("web")
    before = installation.operator.metric("keybearer_events_total")
    tenant.project.store({"KEY": "cnry-2"})
    tenant.until_data("web", {"KEY": "cnry-2"})
    eventually(
        lambda: installation.operator.metric("keybearer_events_total") > before, awaited="a counted event"
    )
    assert installation.operator.metric("keybearer_event_streams") >= 1
