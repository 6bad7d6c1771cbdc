"""Requests are values: each operation makes the one that the published clients make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from golden.reading import Exchange, clients
from keybearer.client.credentials import UniversalAuth
from keybearer.client.errors import InvalidArgument
from keybearer.client.messages import fill, query_of
from keybearer.client.models import SecretMetadata, SecretType
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.folders import CreateFolder, DeleteFolder, ListFolders, UpdateFolder
from keybearer.client.operations.projects import CreateProject, GetProjectBySlug
from keybearer.client.operations.secret_reads import GetSecret, ListSecrets, ListSecretsConditionally
from keybearer.client.operations.secret_writes import CreateSecret, DeleteSecret, UpdateSecret
from keybearer.client.operations.status import GetStatus
from keybearer.client.operations.tokens import CheckToken, KubernetesLogin, LdapAuth, RenewToken, RevokeToken
from keybearer.interface import environments
from support.rows import each_row
from unit.client.harness import called

PLACE: dict[str, Any] = {"project_id": "{projectId}", "environment": "dev"}


def _from_body(exchange: Exchange) -> dict[str, Any]:
    assert isinstance(exchange.request.body, dict)
    return exchange.request.body


OURS: dict[str, Callable[[Exchange], Operation[Any]]] = {
    "login_universal_auth": lambda _: UniversalAuth("{clientId}", "{clientSecret}"),
    "renew": lambda _: RenewToken("{token}"),
    "revoke": lambda _: RevokeToken("{token}"),
    "check": lambda _: CheckToken(),
    "get_status": lambda _: GetStatus(),
    "get_project_by_slug": lambda _: GetProjectBySlug("{projectSlug}"),
    "list_secrets": lambda _: ListSecrets(**PLACE),
    "get_secret": lambda _: GetSecret("RUBY_KEY", **PLACE),
    "create_secret": lambda _: CreateSecret(
        "RUBY_KEY", "cnry-ruby-1", secret_comment="of the test", skip_multiline_encoding=False, **PLACE
    ),
    "update_secret": lambda _: UpdateSecret(
        "RUBY_KEY",
        secret_value="cnry-ruby-2",
        new_secret_name="RUBY_KEY_2",
        skip_multiline_encoding=True,
        **PLACE,
    ),
    "delete_secret": lambda _: DeleteSecret("RUBY_KEY_2", **PLACE),
    "create_folder": lambda _: CreateFolder("app", **PLACE),
    "update_folder": lambda _: UpdateFolder("{folderId}", "web", **PLACE),
    "delete_folder": lambda _: DeleteFolder("{folderId}", **PLACE),
}
SAME = [
    pytest.param(exchange, id=f"{client.client} {exchange.name}")
    for client in clients()
    for exchange in client.exchanges
    if exchange.ours
]


@each_row("exchange", SAME)
def test_our_request_holds_all_that_the_published_client_sends(exchange: Exchange) -> None:
    operation = OURS[exchange.ours](exchange)
    request = operation.request()
    assert request.method == exchange.request.method
    assert request.path.replace("%7B", "{").replace("%7D", "}") == exchange.request.path
    assert dict(request.query).items() >= exchange.request.query.items()
    if exchange.request.body is not None:
        assert request.body is not None
        assert orjson.loads(request.body).items() >= _from_body(exchange).items()
    # Renewal and revocation name the token in the body; published clients send it in the header as well.
    assert operation.authenticated is (exchange.request.bearer and exchange.ours not in {"renew", "revoke"})


def test_each_operation_of_the_golden_files_is_compared() -> None:
    assert {exchange.ours for client in clients() for exchange in client.exchanges if exchange.ours} == set(
        OURS
    )


@pytest.mark.parametrize(
    ("operation", "method", "path", "body"),
    [
        pytest.param(
            LdapAuth("0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b", "ada", "cnry-pw"),
            "POST",
            "/api/v1/auth/ldap-auth/login",
            {"identityId": "0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b", "username": "ada", "password": "cnry-pw"},
            id="LDAP login",
        ),
        pytest.param(
            KubernetesLogin("0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b", "cnry-jwt", "acme"),
            "POST",
            "/api/v1/auth/kubernetes-auth/login",
            {
                "identityId": "0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b",
                "jwt": "cnry-jwt",
                "organizationSlug": "acme",
            },
            id="Kubernetes login in an organization",
        ),
        pytest.param(
            CreateProject("Shop", slug="shop-1", description="d"),
            "POST",
            "/api/v1/projects",
            {
                "projectName": "Shop",
                "projectDescription": "d",
                "slug": "shop-1",
                "type": "secret-manager",
                "shouldCreateDefaultEnvs": True,
                "hasDeleteProtection": False,
            },
            id="new project",
        ),
        pytest.param(
            called(environments.CREATE)("Quality", "qa", project_id="p-1", position=2),
            "POST",
            "/api/v1/projects/p-1/environments",
            {"name": "Quality", "slug": "qa", "position": 2},
            id="new environment",
        ),
    ],
)
def test_a_request_is_built_as_the_interface_says(
    operation: Operation[Any], method: str, path: str, body: dict[str, object]
) -> None:
    request = operation.request()
    assert (request.method, request.path) == (method, path)
    assert request.body is not None
    assert orjson.loads(request.body) == body


def test_a_create_sends_all_that_is_given() -> None:
    body = CreateSecret(
        "N",
        "cnry-v",
        secret_path="/a",
        secret_comment="c",
        skip_multiline_encoding=True,
        metadata=(SecretMetadata(key="k", value="v"),),
        tag_ids=("t-1",),
        secret_reminder_note="n",
        secret_reminder_repeat_days=7,
        type=SecretType.PERSONAL,
        **PLACE,
    ).request()
    assert orjson.loads(body.body or b"") == {
        "projectId": "{projectId}",
        "environment": "dev",
        "secretPath": "/a",
        "type": "personal",
        "secretValue": "cnry-v",
        "secretComment": "c",
        "skipMultilineEncoding": True,
        "tagIds": ["t-1"],
        "secretMetadata": [{"key": "k", "value": "v", "isEncrypted": False}],
        "secretReminderNote": "n",
        "secretReminderRepeatDays": 7,
    }


def test_an_update_leaves_out_what_is_not_given() -> None:
    body = UpdateSecret("N", secret_value="", **PLACE).request().body
    assert orjson.loads(body or b"") == {
        "projectId": "{projectId}",
        "environment": "dev",
        "secretPath": "/",
        "type": "shared",
        "secretValue": "",
    }


def test_an_update_sends_empty_tags_and_metadata_to_clear_them() -> None:
    body = UpdateSecret("N", secret_value="cnry-v", tag_ids=(), new_metadata=(), **PLACE).request().body
    sent = orjson.loads(body or b"")
    assert (sent["tagIds"], sent["secretMetadata"]) == ([], [])


def test_a_list_sends_every_flag() -> None:
    request = ListSecrets(
        include_imports=False,
        recursive=True,
        expand_secret_references=False,
        view_secret_value=False,
        tag_slugs=("red", "blue"),
        secret_path="/a b",
        **PLACE,
    ).request()
    assert dict(request.query) == {
        "projectId": "{projectId}",
        "environment": "dev",
        "secretPath": "/a b",
        "includeImports": "false",
        "recursive": "true",
        "expandSecretReferences": "false",
        "viewSecretValue": "false",
        "tagSlugs": "red,blue",
    }


def test_a_get_names_version_and_type() -> None:
    query = dict(GetSecret("N", version=3, type=SecretType.PERSONAL, **PLACE).request().query)
    assert (query["version"], query["type"]) == ("3", "personal")
    assert "version" not in dict(GetSecret("N", **PLACE).request().query)


def test_a_conditional_list_sends_the_tag_as_it_came() -> None:
    request = ListSecretsConditionally(etag='W/"abc"', **PLACE).request()
    assert request.headers == (("If-None-Match", 'W/"abc"'),)
    assert ListSecretsConditionally(**PLACE).request().headers == ()
    assert request.query == ListSecrets(**PLACE).request().query


def test_folders_are_listed_with_the_path_in_the_query() -> None:
    request = ListFolders(path="/a", recursive=True, **PLACE).request()
    assert dict(request.query) == {
        "projectId": "{projectId}",
        "environment": "dev",
        "path": "/a",
        "recursive": "true",
    }


@each_row(
    ("make", "said"),
    [
        pytest.param(
            lambda: UpdateSecret("N", **PLACE), "secret_value or new_secret_name", id="empty update"
        ),
        pytest.param(
            lambda: UpdateSecret("N", secret_comment="c", **PLACE),
            "secret_value or new_secret_name",
            id="update of a comment alone",
        ),
        pytest.param(
            lambda: UpdateSecret("N", new_secret_name="", **PLACE), "can't be empty", id="rename to nothing"
        ),
        pytest.param(
            lambda: CreateSecret("N", "<hidden-by-infisical>", **PLACE), "mask", id="mask written by a create"
        ),
        pytest.param(
            lambda: UpdateSecret("N", secret_value="<hidden-by-infisical>", **PLACE),
            "mask",
            id="mask written by an update",
        ),
        pytest.param(lambda: GetSecret("", **PLACE).request(), "path", id="secret without a name"),
        pytest.param(lambda: GetSecret("..", **PLACE).request(), "path", id="name that climbs"),
        pytest.param(lambda: GetSecret("\ud800", **PLACE).request(), "UTF-8", id="name that is no text"),
        pytest.param(
            lambda: ListSecrets(project_id="p", environment="\ud800").request(),
            "UTF-8",
            id="slug that is no text",
        ),
        pytest.param(
            lambda: CreateSecret("N", "cnry-\ud800", **PLACE).request(), "UTF-8", id="value that is no text"
        ),
        pytest.param(
            lambda: CreateSecret("N", "cnry-v", secret_reminder_repeat_days=400, **PLACE).request(),
            "365",
            id="reminder beyond a year",
        ),
        pytest.param(
            lambda: ListSecretsConditionally(etag="a\r\nX-Evil: 1", **PLACE).request(),
            "etag",
            id="tag with a line break",
        ),
        pytest.param(
            lambda: CreateSecret("N", "cnry-v", project_id="p", environment="").request(),
            "environment",
            id="no environment",
        ),
    ],
)
def test_a_call_that_makes_no_sense_is_refused_before_it_is_sent(
    make: Callable[[], object], said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said) as refused:
        make()
    assert "cnry" not in _whole_story(refused.value)


def test_argument_errors_are_value_errors_too() -> None:
    with pytest.raises(ValueError, match="secret_value"):
        UpdateSecret("N", **PLACE)


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text not in {".", ".."})
)
def test_any_name_stays_one_segment_of_the_path(name: str) -> None:
    path = fill("/api/v4/secrets/{}", name)
    assert path.isascii()
    assert path.count("/") == 4
    assert not set(path) & set("?# \r\n")


def test_parameters_become_texts() -> None:
    given_parameters = {"a": True, "b": False, "c": 3, "d": None, "e": ("x", "y"), "f": (), "g": ""}
    assert query_of(given_parameters) == (("a", "true"), ("b", "false"), ("c", "3"), ("e", "x,y"), ("g", ""))


@pytest.mark.parametrize(
    "operation",
    [
        CreateSecret("N", "cnry-v", secret_comment="cnry-c", secret_reminder_note="cnry-n", **PLACE),
        UpdateSecret("N", secret_value="cnry-v", **PLACE),
        UniversalAuth("id", "cnry-secret"),
        LdapAuth("0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b", "u", "cnry-pw"),
        KubernetesLogin("0b5c1d2e-3f40-4a51-8b62-7c8d9e0f1a2b", "cnry-jwt"),
        RenewToken("cnry-token"),
        RevokeToken("cnry-token"),
        CreateSecret("N", "cnry-v", metadata=(SecretMetadata(key="k", value="cnry-m"),), **PLACE),
    ],
    ids=lambda operation: type(operation).__name__,
)
def test_a_repr_shows_no_value_and_confidential_texts_are_known(operation: Operation[Any]) -> None:
    assert "cnry-" not in repr(operation)
    assert "cnry-" not in repr(operation.request())
    assert all(text.startswith("cnry-") for text in operation.confidential())
    assert operation.confidential()


def test_only_writes_of_data_are_never_repeated_once_sent() -> None:
    writes: tuple[type[Operation[Any]], ...] = (
        *(CreateSecret, UpdateSecret, DeleteSecret),
        *(CreateFolder, UpdateFolder, DeleteFolder),
        CreateProject,
    )
    assert all(kind.repeat is Repeat.UNSENT_ONLY for kind in writes)
    reads: tuple[type[Operation[Any]], ...] = (
        *(ListSecrets, ListSecretsConditionally, GetSecret),
        *(ListFolders, GetProjectBySlug, GetStatus),
    )
    assert all(kind.repeat is Repeat.FREELY for kind in reads)


def _whole_story(error: BaseException) -> str:
    parts: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        parts.append(f"{cause!r} {cause}")
        cause = cause.__cause__ or cause.__context__
    return " ".join(parts)
