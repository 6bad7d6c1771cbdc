"""Who reads: credentials that are wrong, missing, malformed, corrected, revoked or shared."""

from __future__ import annotations

import pytest

from support.operator_fixtures import REMOTE_INSECURE_URL, SHARED_LABEL, SHARED_PATH, Installation, NewTenant
from support.secretsync_objects import identity_secret
from support.service_proxy import is_login, listing_of
from support.tenant import IDENTITY, Tenant
from tools.local.kube_api import Body

pytestmark = pytest.mark.integration


def _replace_identity(tenant: Tenant, data: dict[str, str]) -> None:
    """The identity Secret holds this, and nothing else."""
    encoded: Body = dict.fromkeys(tenant.api.get("Secret", tenant.namespace, IDENTITY).get("data") or {})
    encoded.update(identity_secret(tenant.namespace, IDENTITY, data)["data"])
    tenant.api.patch("Secret", tenant.namespace, IDENTITY, {"data": encoded})


def test_a_wrong_credential_is_told_and_a_corrected_one_acted_on_at_once(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    _replace_identity(tenant, {**tenant.login.as_secret(), "clientSecret": "cnry-wrong"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_reason("web", "CredentialsRejected", saying="correct the identity Secret")
    assert tenant.secret("web") is None

    _replace_identity(tenant, tenant.login.as_secret())

    tenant.until_data("web", {"KEY": "cnry-1"})
    tenant.until_ready("web")


def test_a_credential_that_turned_wrong_keeps_the_last_good_secret(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    before = tenant.secret("web")

    _replace_identity(tenant, {**tenant.login.as_secret(), "clientSecret": "cnry-wrong"})
    tenant.until_reason("web", "CredentialsRejected")
    assert tenant.secret("web") == before

    _replace_identity(tenant, tenant.login.as_secret())
    tenant.until_reason("web", "Synced")


def test_wrong_credentials_do_not_lock_the_identity_out(tenant: Tenant, installation: Installation) -> None:
    # Three failures within 30 s lock an identity for five minutes by default (wire.md section 1.2), so that the
    # right credentials would be refused as well. Many sources ask with these.
    _replace_identity(tenant, {**tenant.login.as_secret(), "clientSecret": "cnry-wrong"})
    folders = [f"/folder-{number}" for number in range(8)]
    for number, folder in enumerate(folders):
        tenant.project.folder(folder)
        tenant.project.store({"KEY": f"cnry-{number}"}, path=folder)
        tenant.sync(f"sync-{number}", source=tenant.source(secretPath=folder), refreshInterval="1h")
    for number in range(len(folders)):
        tenant.until_reason(f"sync-{number}", "CredentialsRejected")
    attempts = installation.proxy.requests(is_login(tenant.login.client_id))
    assert len(attempts) < 3

    _replace_identity(tenant, tenant.login.as_secret())

    for number in range(len(folders)):
        tenant.until_data(f"sync-{number}", {"KEY": f"cnry-{number}"})


def test_a_missing_identity_is_told_and_a_new_one_acted_on_at_once(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", identityRef={"name": "later"}, refreshInterval="1h")
    tenant.until_reason(
        "web", "IdentityNotFound", saying=f"{tenant.namespace}/later doesn't exist; create it"
    )

    tenant.api.create(identity_secret(tenant.namespace, "later", tenant.login.as_secret()))

    tenant.until_data("web", {"KEY": "cnry-1"})
    tenant.until_ready("web")


def test_a_deleted_identity_keeps_the_last_good_secret(tenant: Tenant) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    before = tenant.secret("web")

    tenant.api.delete("Secret", tenant.namespace, IDENTITY)

    tenant.until_reason("web", "IdentityNotFound")
    assert tenant.secret("web") == before


_MALFORMED: dict[str, tuple[dict[str, str], str]] = {
    "an empty Secret": ({}, "give exactly one of these sets of keys"),
    "half a credential": ({"clientId": "a"}, "Found: clientId"),
    "an empty value": ({"clientId": "a", "clientSecret": ""}, "clientSecret is empty"),
    "two credentials at once": (
        {"clientId": "a", "clientSecret": "cnry-b", "accessToken": "cnry-c"},
        "Found: accessToken, clientId, clientSecret",
    ),
    "a bundle that is none": (
        {"clientId": "a", "clientSecret": "cnry-b", "caBundle": "cnry-no-certificate"},
        "caBundle holds no PEM certificate",
    ),
}


@pytest.mark.parametrize(("data", "saying"), _MALFORMED.values(), ids=_MALFORMED.keys())
def test_a_malformed_identity_is_told(tenant: Tenant, data: dict[str, str], saying: str) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    before = tenant.secret("web")

    _replace_identity(tenant, data)

    tenant.until_reason("web", "IdentityInvalid", saying=saying)
    assert tenant.secret("web") == before


def test_a_service_that_is_not_on_the_list_is_never_asked(tenant: Tenant, installation: Installation) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    # The service itself, past the proxy: it would answer.
    _replace_identity(tenant, {**tenant.login.as_secret(), "url": installation.service.url})
    tenant.sync("web")

    told = tenant.until_reason("web", "UrlNotAllowed", saying="ask its administrator for --allow-service-url")

    assert installation.service.url not in str(told["status"])
    assert tenant.secret("web") is None


def test_a_service_beyond_loopback_is_never_asked_over_plain_http(tenant: Tenant) -> None:
    _replace_identity(tenant, {**tenant.login.as_secret(), "url": REMOTE_INSECURE_URL})
    tenant.sync("web")

    tenant.until_reason("web", "UrlNotAllowed", saying="plain http; use https")


def test_a_service_on_the_list_is_asked(new_tenant: NewTenant, installation: Installation) -> None:
    tenant = new_tenant(admin=installation.far.admin)
    tenant.project.store({"KEY": "cnry-far"})
    tenant.sync("web")

    tenant.until_data("web", {"KEY": "cnry-far"})


def test_a_supplied_token_is_used_as_it_is(tenant: Tenant, installation: Installation) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    token = installation.admin.new_token(tenant.login)
    _replace_identity(tenant, {"accessToken": token})
    start = installation.proxy.mark()
    tenant.sync("web")
    tenant.until_data("web", {"KEY": "cnry-1"})
    assert not installation.proxy.requests(is_login(tenant.login.client_id), since=start)

    installation.admin.revoke_token(token)
    tenant.ask("web")

    tenant.until_reason("web", "CredentialsRejected")
    assert tenant.data("web") == {"KEY": "cnry-1"}


def test_a_revoked_token_is_replaced_by_a_fresh_login(tenant: Tenant, installation: Installation) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    used = installation.proxy.requests(listing_of(tenant.project.id))[-1].token
    start = installation.proxy.mark()

    installation.admin.revoke_token(used)
    tenant.project.store({"KEY": "cnry-2"})
    tenant.ask("web")

    assert tenant.data("web") == {"KEY": "cnry-2"}
    tenant.until_ready("web")
    assert len(installation.proxy.requests(is_login(tenant.login.client_id), since=start)) == 1


def test_an_identity_without_a_role_in_the_project_is_told_so(
    tenant: Tenant, installation: Installation
) -> None:
    stranger = installation.admin.new_login()
    _replace_identity(tenant, stranger.as_secret())
    tenant.sync("web")

    told = tenant.until("web", lambda sync: bool(sync.get("status", {}).get("conditions")), "any condition")

    ready = told["status"]["conditions"][0]
    assert ready["reason"] in {"PermissionDenied", "SourceNotFound"}
    assert ready["status"] == "False"


def _shared_source(installation: Installation, path: str = SHARED_PATH) -> Body:
    return {"projectSlug": installation.shared.project.slug, "environment": "dev", "secretPath": path}


def test_the_shared_identity_reads_what_a_grant_names_for_namespaces_that_it_names(
    new_tenant: NewTenant, installation: Installation
) -> None:
    installation.shared.project.store({"KEY": "cnry-shared"}, path=SHARED_PATH)
    granted = new_tenant(labels=SHARED_LABEL)

    granted.sync("web", identityRef=None, source=_shared_source(installation))

    granted.until_data("web", {"KEY": "cnry-shared"})


def test_the_shared_identity_is_refused_to_other_namespaces(
    tenant: Tenant, installation: Installation
) -> None:
    installation.shared.project.store({"KEY": "cnry-shared"}, path=SHARED_PATH)

    tenant.sync("web", identityRef=None, source=_shared_source(installation))

    tenant.until_reason("web", "SharedIdentityRefused", saying="ask the operator's administrator for a grant")
    assert tenant.secret("web") is None


@pytest.mark.parametrize("path", ["/", "/private"])
def test_the_shared_identity_is_refused_for_other_paths(
    new_tenant: NewTenant, installation: Installation, path: str
) -> None:
    granted = new_tenant(labels=SHARED_LABEL)

    granted.sync("web", identityRef=None, source=_shared_source(installation, path))

    granted.until_reason("web", "SharedIdentityRefused")
    assert granted.secret("web") is None


def test_the_shared_identity_is_refused_for_a_source_in_bad_company(
    new_tenant: NewTenant, installation: Installation
) -> None:
    granted = new_tenant(labels=SHARED_LABEL)

    granted.sync(
        "web",
        identityRef=None,
        sources=[_shared_source(installation), _shared_source(installation, "/private")],
    )

    granted.until_reason("web", "SharedIdentityRefused")
    assert granted.secret("web") is None


def test_an_identity_that_another_sync_writes_is_followed_as_well(
    tenant: Tenant, installation: Installation
) -> None:
    # Credentials that are rotated in the service, and carried into the cluster like all secrets.
    tenant.project.folder("/identities")
    tenant.project.folder("/data")
    tenant.project.store({"KEY": "cnry-1"}, path="/data")
    stranger = installation.admin.new_login()
    tenant.project.store(stranger.as_secret(), path="/identities")
    tenant.sync("rotated", source=tenant.source(secretPath="/identities"), refreshInterval="1h")
    tenant.until_ready("rotated")
    data = tenant.source(secretPath="/data")
    tenant.sync("web", identityRef={"name": "rotated"}, source=data, refreshInterval="1h")
    tenant.until(
        "web", lambda sync: bool(sync.get("status", {}).get("conditions")), "a refusal of the stranger"
    )

    tenant.project.store(tenant.login.as_secret(), path="/identities")
    tenant.ask("rotated")

    tenant.until_data("web", {"KEY": "cnry-1"})
