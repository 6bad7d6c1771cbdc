"""Answers are read leniently where published servers are, and never quoted where they can't be read."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.reading import Answer, answers
from keybearer.client.credentials import UniversalAuth
from keybearer.client.errors import DecodeError
from keybearer.client.messages import Response
from keybearer.client.models import (
    AccessToken,
    ImportBlock,
    NotModified,
    Secret,
    SecretListing,
    SecretMetadata,
)
from keybearer.client.operation import Operation
from keybearer.client.operations.app_connection_writes import CreateAppConnection
from keybearer.client.operations.app_connections import (
    GetAppConnectionUsage,
    ListAppConnectionOptions,
    ListAppConnections,
    ListAvailableAppConnections,
)
from keybearer.client.operations.audit_logs import ListAuditLogs
from keybearer.client.operations.certificate_applications import ListApplicationProfiles
from keybearer.client.operations.certificate_authorities import (
    ListCertificateAuthorities,
    ListInternalAuthorities,
)
from keybearer.client.operations.certificate_issuing import IssueCertificate
from keybearer.client.operations.certificate_policies import CreateCertificatePolicy
from keybearer.client.operations.certificate_profiles import DeleteCertificateProfile, GetCertificateProfile
from keybearer.client.operations.certificate_requests import (
    GetCertificateRequest,
    SearchCertificateRequests,
)
from keybearer.client.operations.certificate_subscribers import (
    GetLatestBundleOfSubscriber,
    IssueForSubscriber,
)
from keybearer.client.operations.certificates import GetCertificate, GetCertificateBundle
from keybearer.client.operations.folders import CreateFolder, ListFolders
from keybearer.client.operations.identities import CreateIdentity, ListIdentities
from keybearer.client.operations.kubernetes_auth import GetKubernetesAuth
from keybearer.client.operations.ldap_auth import GetLdapAuth
from keybearer.client.operations.memberships import ListUserMemberships, PutIdentityMembership
from keybearer.client.operations.projects import GetProject, GetProjectBySlug, ListProjects
from keybearer.client.operations.secret_batches import ChangedSecret, UpdateSecrets
from keybearer.client.operations.secret_reads import GetSecret, ListSecrets, ListSecretsConditionally
from keybearer.client.operations.secret_syncs import (
    CheckDestination,
    CreateSecretSync,
    ListSecretSyncOptions,
    ListSecretSyncs,
)
from keybearer.client.operations.status import GetStatus
from keybearer.client.operations.tokens import SelectOrganization
from keybearer.client.operations.universal_auth import (
    AttachUniversalAuth,
    CreateClientSecret,
    RevokeClientSecret,
)
from keybearer.interface import environments, grants, imports, tags
from support.rows import each_row
from unit.client.harness import called, secret_body

LIST = ListSecrets(project_id="p-1", environment="dev")
OPERATIONS: dict[str, Operation[Any]] = {
    "list_secrets": LIST,
    "get_secret": GetSecret("A", project_id="p-1", environment="dev"),
    "login_universal_auth": UniversalAuth("id", "cnry-secret"),
    "get_project_by_slug": GetProjectBySlug("shop-x1"),
    "create_environment": called(environments.CREATE)("Quality", "qa", project_id="p-1"),
    "create_folder": CreateFolder("app", project_id="p-1", environment="dev"),
    "list_folders": ListFolders(project_id="p-1", environment="dev"),
    "get_status": GetStatus(),
    "create_identity": CreateIdentity("ci", organization_id="o-1"),
    "list_identities": ListIdentities(),
    "attach_universal_auth": AttachUniversalAuth("i-1"),
    "get_kubernetes_auth": GetKubernetesAuth("i-1"),
    "get_ldap_auth": GetLdapAuth("i-1"),
    "create_client_secret": CreateClientSecret("i-1"),
    "revoke_client_secret": RevokeClientSecret("i-1", "s-1"),
    "put_identity_membership": PutIdentityMembership("i-1", project_id="p-1", roles=("viewer",)),
    "list_user_memberships": ListUserMemberships(project_id="p-1"),
    "create_import": called(imports.CREATE)("dev", "/shared", project_id="p-1", environment="dev"),
    "list_tags": called(tags.LIST)(project_id="p-1"),
    "select_organization": SelectOrganization("o-1"),
    "list_audit_logs": ListAuditLogs(),
    "create_app_connection": CreateAppConnection("c", app="idp", method="client-credentials", credentials={}),
    "list_app_connections": ListAppConnections(),
    "list_available_app_connections": ListAvailableAppConnections(app="codehost"),
    "list_app_connection_options": ListAppConnectionOptions(),
    "get_app_connection_usage": GetAppConnectionUsage("c-1", app="idp"),
    "create_secret_sync": CreateSecretSync(
        "s",
        destination="codehost",
        project_id="p-1",
        connection_id="c-1",
        environment="dev",
        destination_config={},
    ),
    "list_secret_syncs": ListSecretSyncs(project_id="p-1"),
    "list_secret_sync_options": ListSecretSyncOptions(),
    "check_destination": CheckDestination(destination="codehost", destination_config={}, project_id="p-1"),
    "issue_certificate": IssueCertificate("f-1"),
    "search_certificate_requests": SearchCertificateRequests(),
    "get_certificate_request": GetCertificateRequest("r-1"),
    "get_certificate": GetCertificate("c-1"),
    "get_certificate_bundle": GetCertificateBundle("c-1"),
    "get_certificate_profile": GetCertificateProfile("f-1"),
    "delete_certificate_profile": DeleteCertificateProfile("f-1"),
    "list_certificate_authorities": ListCertificateAuthorities(),
    "list_internal_authorities": ListInternalAuthorities(),
    "create_certificate_policy": CreateCertificatePolicy("web"),
    "list_application_profiles": ListApplicationProfiles("a-1"),
    "issue_for_subscriber": IssueForSubscriber("web", project_id="p-1"),
    "latest_bundle_of_subscriber": GetLatestBundleOfSubscriber("web", project_id="p-1"),
    "list_grants": called(grants.LIST)(project_id="p-1"),
    "update_secrets": UpdateSecrets((ChangedSecret("A", "cnry-a"),), project_id="p-1", environment="dev"),
}


def ok(body: object, status: int = 200, **headers: str) -> Response:
    return Response(status, headers, orjson.dumps(body))


@each_row("answer", answers(), ids=lambda answer: answer.name)
def test_what_published_servers_answer_is_read(answer: Answer) -> None:
    read = OPERATIONS[answer.operation].read(ok(answer.body))
    expected = answer.reads if isinstance(answer.reads, list) else [answer.reads]
    found = read if isinstance(read, list) else [read]
    assert len(found) == len(expected)
    for one, wanted in zip(found, expected, strict=True):
        plain = (
            orjson.loads(orjson.dumps(asdict(one)))
            if is_dataclass(one) and not isinstance(one, type)
            else one
        )
        if isinstance(wanted, dict):
            assert {key: plain[key] for key in wanted} == wanted
        else:
            assert plain == wanted


def test_the_envelopes_of_projects_are_opened() -> None:
    project = {"id": "p-1", "slug": "shop"}
    assert GetProject("p-1").read(ok({"project": project})).id == "p-1"
    assert [found.slug for found in ListProjects().read(ok({"projects": [project]}))] == ["shop"]


def test_a_listing_keeps_everything_apart_and_in_order() -> None:
    body = {
        "secrets": [secret_body("B", version=7, updatedAt="2026-01-01T00:00:00.000Z"), secret_body("A")],
        "imports": [
            {"secretPath": "/one", "environment": "prod", "folderId": "f-1", "secrets": [secret_body("B")]},
            {"secretPath": "/two", "environment": "dev", "secrets": []},
        ],
    }
    listing = ListSecretsConditionally(project_id="p-1", environment="dev").read(ok(body, etag='"t1"'))
    assert isinstance(listing, SecretListing)
    assert listing.etag == '"t1"'
    assert [(found.secret_key, found.version, found.secret_path) for found in listing.secrets] == [
        ("B", 7, "/"),
        ("A", 1, "/"),
    ]
    assert listing.secrets[0].updated_at == "2026-01-01T00:00:00.000Z"
    assert [(block.secret_path, block.environment, block.folder_id) for block in listing.imports] == [
        ("/one", "prod", "f-1"),
        ("/two", "dev", None),
    ]
    imported = listing.imports[0].secrets[0]
    assert (imported.secret_path, imported.environment, imported.workspace) == ("/one", "prod", "p-1")


def test_304_means_not_modified_and_keeps_the_tag() -> None:
    operation = ListSecretsConditionally(project_id="p-1", environment="dev", etag='"t1"')
    assert operation.read(Response(304, {"etag": '"t1"'}, b"")) == NotModified('"t1"')
    assert operation.read(Response(304, {}, b"")) == NotModified('"t1"')


def test_equal_keys_of_several_folders_are_all_kept_in_order_of_path() -> None:
    body = {"secrets": [secret_body("A", secretPath="/z"), secret_body("A", secretPath="/b")]}
    read = ListSecrets(project_id="p-1", environment="dev", recursive=True).read(ok(body))
    assert [found.secret_path for found in read] == ["/b", "/z"]


def test_unique_keys_keep_the_last_of_equals_as_the_service_orders_them() -> None:
    body = {"secrets": [secret_body("A", secretPath="/z"), secret_body("A", secretPath="/b")]}
    read = ListSecrets(project_id="p-1", environment="dev", recursive=True, unique_keys=True).read(ok(body))
    assert [found.secret_path for found in read] == ["/b"]


ENVIRONMENT = {"id": "e-1", "name": "Quality", "slug": "qa", "position": 4}


@each_row(
    "body",
    [
        pytest.param(ENVIRONMENT, id="bare"),
        pytest.param({"environment": ENVIRONMENT}, id="wrapped"),
    ],
)
def test_an_environment_by_its_slug_is_read_in_both_forms(body: dict[str, Any]) -> None:
    read = called(environments.GET_BY_SLUG)("qa", project_id="p-1").read(ok(body))
    assert read == environments.EnvironmentDetails(id="e-1", name="Quality", slug="qa", position=4)


def test_an_answer_in_neither_form_is_told_without_its_content() -> None:
    with pytest.raises(DecodeError, match=r"slug: Field required.*environment: Field required") as told:
        called(environments.GET_BY_SLUG)("qa", project_id="p-1").read(ok({"id": "cnry-id"}))
    assert "cnry-id" not in str(told.value)


KEYS = st.sampled_from("ABCD")
SECRETS = st.lists(
    st.builds(
        lambda key, path: Secret(id="i", secret_key=key, secret_value="cnry-v", secret_path=path), KEYS, KEYS
    )
).map(tuple)
BLOCKS = st.lists(
    st.builds(
        lambda path, secrets: ImportBlock(secret_path=path, environment="dev", secrets=secrets), KEYS, SECRETS
    )
).map(tuple)


@given(SECRETS, BLOCKS)
def test_merging_is_sorted_loses_no_key_and_lets_direct_secrets_win(
    direct: tuple[Secret, ...], blocks: tuple[ImportBlock, ...]
) -> None:
    listing = SecretListing(etag=None, secrets=direct, imports=blocks)
    merged = listing.merged()
    keys = [found.secret_key for found in merged]
    everything = [*direct, *(secret for block in blocks for secret in block.secrets)]
    assert keys == sorted(keys)
    assert set(keys) == {secret.secret_key for secret in everything}
    for key in {secret.secret_key for secret in direct}:
        assert [found for found in merged if found.secret_key == key] == sorted(
            (secret for secret in direct if secret.secret_key == key), key=lambda secret: secret.secret_path
        )
    unique = listing.merged(unique_keys=True)
    assert [found.secret_key for found in unique] == sorted(set(keys))


@each_row(
    ("body", "said"),
    [
        pytest.param(b"", "Invalid JSON", id="nothing"),
        pytest.param(b"<html>cnry-page</html>", "Invalid JSON", id="a page"),
        pytest.param(b'{"secrets": [{"secretValue": "cnry-v"', "Invalid JSON", id="half an answer"),
        pytest.param(b'"cnry-text"', "body", id="a text"),
        pytest.param(b"[" * 5000, "Invalid JSON", id="a very deep answer"),
        pytest.param(b"{}", "secrets: ", id="no secrets"),
        pytest.param(b'{"secrets": null}', "secrets: ", id="null for secrets"),
        pytest.param(b'{"secrets": [{"id": "1", "secretValue": "cnry-v"}]}', "secretKey", id="no key"),
        pytest.param(b'{"secrets": [{"id": "1", "secretKey": "A"}]}', "secretValue", id="no value"),
        pytest.param(
            b'{"secrets": [{"id": "1", "secretKey": "A", "secretValue": {"x": "cnry-v"}}]}',
            "secretValue",
            id="a value that is an object",
        ),
        pytest.param(
            b'{"secrets": [{"id": "1", "secretKey": "A", "secretValue": "cnry-v", "version": "cnry-x"}]}',
            "version",
            id="a version that is no number",
        ),
    ],
)
def test_an_answer_that_is_none_is_refused_without_quoting_it(body: bytes, said: str) -> None:
    with pytest.raises(DecodeError, match=said) as refused:
        LIST.read(Response(200, {}, body))
    error: BaseException | None = refused.value
    assert error is not None
    assert error.__cause__ is None
    assert error.__context__ is None
    assert "cnry-" not in str(error)


@pytest.mark.parametrize(
    "token", ["", "a b", "a\r\nX-Evil: 1", "käse"], ids=["empty", "space", "line break", "umlaut"]
)
def test_a_token_that_fits_in_no_header_is_refused(token: str) -> None:
    with pytest.raises(DecodeError, match="accessToken"):
        UniversalAuth("id", "cnry-secret").read(
            ok({"accessToken": token, "expiresIn": 1, "accessTokenMaxTTL": 1})
        )


def test_reprs_show_no_values() -> None:
    secret = Secret(
        id="1",
        secret_key="A",
        secret_value="cnry-v",
        secret_comment="cnry-c",
        secret_reminder_note="cnry-n",
        secret_metadata=(SecretMetadata(key="k", value="cnry-m"),),
    )
    listing = SecretListing(
        etag="t",
        secrets=(secret,),
        imports=(ImportBlock(secret_path="/", environment="dev", secrets=(secret,)),),
    )
    assert "cnry-" not in f"{secret} {listing} {AccessToken(access_token='cnry-t')}"
    assert "'A'" in repr(secret)
