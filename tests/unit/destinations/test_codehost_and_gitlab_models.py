"""Credentials and configs of `codehost` and `gitlab`: what is taken, what is shown, which places are the same."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pydantic import ValidationError

from keybearer.destinations.codehost import CODEHOST
from keybearer.destinations.codehost_app import CODEHOST_APP, OwnCredentials, PatCredentials
from keybearer.destinations.form import DestinationKind
from keybearer.destinations.gitlab import GITLAB
from keybearer.wire.credentials import Method
from support.rows import each_row

HOST = {"instanceType": "server", "host": "code.example.com"}
KEY = "-----BEGIN RSA PRIVATE KEY-----\ncnry-key\n-----END RSA PRIVATE KEY-----"
METHODS: dict[str, tuple[Method, dict[str, Any], dict[str, Any]]] = {
    "a personal access token": (
        CODEHOST_APP.methods["pat"],
        {"personalAccessToken": "ghp_cnry-token", **HOST},
        HOST,
    ),
    "an installation of the service's app": (
        CODEHOST_APP.methods["github-app"],
        {"installationId": "71", "code": "cnry-code", **HOST},
        HOST,
    ),
    "an installation of an own app": (
        CODEHOST_APP.methods["github-app"],
        {"installationId": "71", "gitHubAppId": "12", "privateKey": KEY, **HOST},
        HOST,
    ),
    "a login": (CODEHOST_APP.methods["oauth"], {"code": "cnry-code", **HOST}, HOST),
    "an access token of GitLab": (
        GITLAB.app.methods["access-token"],
        {
            "accessToken": "glpat-cnry-token",
            "accessTokenType": "project",
            "instanceUrl": "https://gitlab.example.com/code",
        },
        {"accessTokenType": "project", "instanceUrl": "https://gitlab.example.com/code"},
    ),
}


def wire(model: Any) -> dict[str, Any]:  # noqa: ANN401 - any model
    dumped: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


def fields_of(error: ValidationError) -> set[str]:
    """Return the fields that are wrong, without the tag of a union."""
    return {str(issue["loc"][-1]) for issue in error.errors(include_input=False, include_url=False)}


def refused(destination: DestinationKind, config: dict[str, Any]) -> set[str]:
    with pytest.raises(ValidationError) as caught:
        destination.config.validate_python(config)
    return fields_of(caught.value)


# Credentials.


@pytest.mark.parametrize("name", METHODS)
def test_what_was_said_of_the_place_is_shown_and_nothing_else(name: str) -> None:
    method, given, shown = METHODS[name]
    taken = method.given.model_validate(given)
    assert {name: value for name, value in wire(taken).items() if name in method.shown} == shown


@pytest.mark.parametrize("name", METHODS)
def test_the_secret_part_is_in_no_repr_and_no_error(name: str) -> None:
    method, given, _ = METHODS[name]
    assert "cnry-" not in repr(method.given.model_validate(given))
    with pytest.raises(ValidationError) as caught:
        method.given.model_validate({**given, "other": "cnry-other"})
    assert "cnry-" not in str(caught.value)


def test_what_is_kept_shows_no_secret_part_either() -> None:
    for name, kept in {
        "github-app": {"installationId": "1", "gitHubAppId": "2", "privateKey": KEY},
        "oauth": {"accessToken": "gho_cnry-token"},
    }.items():
        stored = CODEHOST_APP.methods[name].stored.model_validate(kept)
        assert wire(stored) == kept
        assert "cnry-" not in repr(stored)
    own = {"clientId": "client", "clientSecret": "cnry-secret", "gitHubAppId": "12", "privateKey": KEY}
    assert "cnry-" not in repr(OwnCredentials.model_validate(own))


@pytest.mark.parametrize("name", METHODS)
def test_space_around_credentials_is_dropped(name: str) -> None:
    method, given, _ = METHODS[name]
    closed = ("instanceType", "accessTokenType")
    spaced = {key: value if key in closed else f" {value}\n" for key, value in given.items()}
    assert method.given.model_validate(spaced) == method.given.model_validate(given)


@pytest.mark.parametrize("name", METHODS)
def test_unknown_keys_of_credentials_are_refused(name: str) -> None:
    method, given, _ = METHODS[name]
    with pytest.raises(ValidationError) as caught:
        method.given.model_validate({**given, "other": 1})
    assert fields_of(caught.value) == {"other"}


@pytest.mark.parametrize("name", METHODS)
def test_every_part_that_is_needed_has_to_be_given(name: str) -> None:
    method, given, _ = METHODS[name]
    for field in given.keys() - {"instanceType", "host", "instanceUrl", "code", "gitHubAppId", "privateKey"}:
        wrongs: list[dict[str, object]] = [{}, {field: ""}, {field: " "}, {field: 1}]
        for wrong in wrongs:
            rest = {key: value for key, value in given.items() if key != field}
            with pytest.raises(ValidationError) as caught:
                method.given.model_validate({**rest, **wrong})
            assert fields_of(caught.value) == {field}


@pytest.mark.parametrize("host", [None, "", " "])
def test_a_server_needs_a_host_and_the_cloud_none(host: str | None) -> None:
    given = {"personalAccessToken": "ghp_cnry-token", "host": host}
    for kind in ("cloud", None):
        taken = PatCredentials.model_validate({**given, "instanceType": kind})
        assert taken.host is None
    with pytest.raises(ValidationError, match="host is required for the instanceType server"):
        PatCredentials.model_validate({**given, "instanceType": "server"})


@pytest.mark.parametrize(
    ("host", "taken"),
    [
        ("code.example.com", "code.example.com"),
        ("code.example.com:8443", "code.example.com:8443"),
        ("https://code.example.com/", "https://code.example.com"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
        ("[::1]:3000", "[::1]:3000"),
        ("a" * 300, "a" * 300),
    ],
)
def test_a_host_is_taken_as_people_copy_it(host: str, taken: str) -> None:
    assert PatCredentials.model_validate({"personalAccessToken": "t", "host": host}).host == taken


@each_row(
    "host",
    [
        "a" * 301,
        "ftp://a",
        "a/b",
        "user@a",
        "a?b",
        "a#b",
        "a b",
        "a\nb",
        "https://",
        "a:b",
        "a:123456",
        "a%2f",
    ],
)
def test_what_is_more_than_a_host_is_refused(host: str) -> None:
    with pytest.raises(ValidationError) as caught:
        PatCredentials.model_validate({"personalAccessToken": "t", "host": host})
    assert fields_of(caught.value) == {"host"}


def test_a_key_needs_the_id_of_its_app() -> None:
    given = CODEHOST_APP.methods["github-app"].given
    with pytest.raises(ValidationError, match="gitHubAppId is required with a privateKey"):
        given.model_validate({"installationId": "71", "privateKey": KEY})
    assert wire(given.model_validate({"installationId": "71", "gitHubAppId": None, "code": "c"})) == {
        "installationId": "71",
        "code": "c",
    }


@pytest.mark.parametrize("token", ["a" * 1024, "!~"])
def test_a_token_has_characters_of_a_header(token: str) -> None:
    assert PatCredentials(personal_access_token=token).personal_access_token == token


@pytest.mark.parametrize("token", ["a" * 1025, "a b", "a\nb", "ä", "a\x00"])
def test_a_token_with_others_is_refused(token: str) -> None:
    with pytest.raises(ValidationError):
        PatCredentials(personal_access_token=token)
    with pytest.raises(ValidationError):
        GITLAB.app.methods["access-token"].given.model_validate(
            {"accessToken": token, "accessTokenType": "personal"}
        )


def test_gitlab_takes_tokens_of_people_and_projects_of_the_usual_instance_if_none_is_named() -> None:
    given = GITLAB.app.methods["access-token"].given
    for kind in ("personal", "project"):
        for url in ("", None):
            taken = {"accessToken": "t", "accessTokenType": kind, "instanceUrl": url}
            assert "instanceUrl" not in wire(given.model_validate(taken))
    for wrong in ({"accessTokenType": "group"}, {"instanceUrl": "gitlab.example.com"}):
        with pytest.raises(ValidationError) as caught:
            given.model_validate({"accessToken": "t", "accessTokenType": "personal", **wrong})
        assert fields_of(caught.value) == set(wrong)


# Where secrets go: the code host (interface.md 2.1).

ORGANIZATION = {"scope": "organization", "org": "a", "visibility": "all"}
REPOSITORY = {"scope": "repository", "owner": "a", "repo": "b"}
ENVIRONMENT = {"scope": "repository-environment", "owner": "a", "repo": "b", "env": "c"}


@pytest.mark.parametrize(
    "config",
    [
        ORGANIZATION,
        {**ORGANIZATION, "visibility": "private", "selectedRepositoryIds": []},
        {**ORGANIZATION, "visibility": "selected", "selectedRepositoryIds": [1, 2**53 - 1]},
        REPOSITORY,
        ENVIRONMENT,
    ],
)
def test_each_scope_is_taken_and_shown_as_given(config: dict[str, Any]) -> None:
    given = copy.deepcopy(config)
    assert wire(CODEHOST.config.validate_python(config)) == given
    assert config == given


@pytest.mark.parametrize("config", [ORGANIZATION, REPOSITORY, ENVIRONMENT])
def test_each_field_of_a_scope_is_required_and_not_empty(config: dict[str, Any]) -> None:
    for field in config.keys() - {"scope"}:
        rest = {key: value for key, value in config.items() if key != field}
        assert refused(CODEHOST, rest) == {field}
        for wrong in ("", 1, None, ["a"]):
            assert refused(CODEHOST, {**config, field: wrong}) == {field}


@pytest.mark.parametrize("config", [ORGANIZATION, REPOSITORY, ENVIRONMENT])
def test_no_scope_takes_a_field_of_another(config: dict[str, Any]) -> None:
    foreign = {"org": "a", "visibility": "all", "owner": "a", "repo": "b", "env": "c", "path": "/"}
    for field in foreign.keys() - config.keys():
        assert refused(CODEHOST, {**config, field: foreign[field]}) == {field}
    if config is not ORGANIZATION:
        assert refused(CODEHOST, {**config, "selectedRepositoryIds": []}) == {"selectedRepositoryIds"}


@pytest.mark.parametrize("scope", ["", "Organization", "env", 1])
def test_another_scope_is_refused(scope: object) -> None:
    for destination in (CODEHOST, GITLAB):
        with pytest.raises(ValidationError, match="scope"):
            destination.config.validate_python({**ORGANIZATION, "scope": scope})


@pytest.mark.parametrize("given", [{}, {"selectedRepositoryIds": None}, {"selectedRepositoryIds": []}])
def test_a_selection_needs_a_repository(given: dict[str, Any]) -> None:
    config = {**ORGANIZATION, "visibility": "selected", **given}
    with pytest.raises(ValidationError, match="Select at least 1 repository") as caught:
        CODEHOST.config.validate_python(config)
    assert fields_of(caught.value) == {"selectedRepositoryIds"}


@pytest.mark.parametrize("visibility", ["all", "private"])
def test_repositories_are_named_for_a_selection_only(visibility: str) -> None:
    config = {**ORGANIZATION, "visibility": visibility, "selectedRepositoryIds": [1]}
    assert refused(CODEHOST, config) == {"selectedRepositoryIds"}


@pytest.mark.parametrize("wrong", [-1, 2**53, 1.5, "1", True, None])
def test_a_repository_is_named_by_its_number(wrong: object) -> None:
    config = {**ORGANIZATION, "visibility": "selected", "selectedRepositoryIds": [1, wrong]}
    assert refused(CODEHOST, config) == {"1"}


def test_the_same_place_is_known_whatever_case_and_audience() -> None:
    def place(config: dict[str, Any]) -> object:
        return CODEHOST.place(CODEHOST.config.validate_python(config))

    selected = {**ORGANIZATION, "org": "A", "visibility": "selected", "selectedRepositoryIds": [1]}
    assert place(ORGANIZATION) == place(selected)
    assert place(REPOSITORY) == place({**REPOSITORY, "owner": "A"})
    assert place(REPOSITORY) != place({**REPOSITORY, "repo": "c"})
    assert place(ENVIRONMENT) != place({**ENVIRONMENT, "env": "d"})


# Where secrets go: GitLab.

PROJECT = {"scope": "project", "projectId": "a/b"}
GROUP = {"scope": "group", "groupId": "42"}
MARKS = ("shouldProtectSecrets", "shouldMaskSecrets", "shouldHideSecrets")


@pytest.mark.parametrize("config", [PROJECT, GROUP])
def test_variables_are_for_all_environments_and_without_marks_by_themselves(config: dict[str, Any]) -> None:
    expected = {**config, "targetEnvironment": "*", **dict.fromkeys(MARKS, False)}
    for absent in ({}, dict.fromkeys(("targetEnvironment", *MARKS)), {"targetEnvironment": ""}):
        assert wire(GITLAB.config.validate_python({**config, **absent})) == expected


def test_all_fields_are_shown_as_given() -> None:
    marks = {"targetEnvironment": "review/*", **dict.fromkeys(MARKS, True)}
    for config in ({**PROJECT, "projectName": "B", **marks}, {**GROUP, "groupName": "G", **marks}):
        assert wire(GITLAB.config.validate_python(config)) == config


@pytest.mark.parametrize("config", [PROJECT, GROUP])
def test_gitlab_needs_an_id_and_takes_no_other_field(config: dict[str, Any]) -> None:
    (field,) = config.keys() - {"scope"}
    for wrong in ("", 1, None):
        assert refused(GITLAB, {**config, field: wrong}) == {field}
    foreign = (GROUP if config is PROJECT else PROJECT).keys() - {"scope"}
    for other in (*foreign, "groupName" if config is PROJECT else "projectName", "teamId"):
        assert refused(GITLAB, {**config, other: "x"}) == {other}


@each_row("mark", MARKS)
@each_row("wrong", ["true", 1, 0, []])
def test_a_mark_is_a_boolean(mark: str, wrong: object) -> None:
    assert refused(GITLAB, {**PROJECT, mark: wrong}) == {mark}


def test_an_environment_scope_has_255_characters_at_most() -> None:
    GITLAB.config.validate_python({**PROJECT, "targetEnvironment": "e" * 255})
    assert refused(GITLAB, {**PROJECT, "targetEnvironment": "e" * 256}) == {"targetEnvironment"}


def test_the_same_variables_are_known_whatever_their_marks() -> None:
    def place(config: dict[str, Any]) -> object:
        return GITLAB.place(GITLAB.config.validate_python(config))

    assert place(PROJECT) == place({**PROJECT, "projectName": "B", **dict.fromkeys(MARKS, True)})
    assert place(PROJECT) != place({**PROJECT, "targetEnvironment": "prod"})
    assert place(GROUP) != place({**GROUP, "groupId": "43"})
