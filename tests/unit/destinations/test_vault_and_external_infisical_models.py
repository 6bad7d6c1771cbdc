"""Credentials and configs of `hashicorp-vault` and `external-infisical`: what is taken, what is shown."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from keybearer.destinations.external_infisical import EXTERNAL_INFISICAL, ExternalInfisicalConfig
from keybearer.destinations.external_infisical import EXTERNAL_INFISICAL as EXTERNAL_APP
from keybearer.destinations.hashicorp_vault import HASHICORP_VAULT, VaultConfig
from keybearer.destinations.hashicorp_vault import HASHICORP_VAULT as VAULT_APP
from support.rows import each_row

TOKEN = {"instanceUrl": "https://vault.example.com", "namespace": "team/a", "accessToken": "cnry-token"}
ROLE = {"instanceUrl": "https://vault.example.com", "roleId": "role", "secretId": "cnry-secret"}
MACHINE = {
    "instanceUrl": "https://other.example.com:8443/",
    "machineIdentityClientId": "5f3c5d9e-6a52-4a9a-9a0e-0d5d6f1c2b3a",
    "machineIdentityClientSecret": "cnry-secret",
}
METHODS = {
    "a token": (VAULT_APP.app.methods["access-token"], TOKEN, {"accessToken"}),
    "a role": (VAULT_APP.app.methods["app-role"], ROLE, {"secretId"}),
    "a machine identity": (
        EXTERNAL_APP.app.methods["machine-identity"],
        MACHINE,
        {"machineIdentityClientSecret"},
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_all_but_the_secret_part_is_shown(name: str) -> None:
    method, given, secret = METHODS[name]
    fields = method.given.model_validate(given).model_dump(by_alias=True)
    expected = {key: value for key, value in given.items() if key not in secret}
    shown = {key: fields[key] for key in fields if key not in secret and fields[key] is not None}
    assert shown == expected
    assert method.shown == fields.keys() - secret


@pytest.mark.parametrize("name", METHODS)
def test_the_secret_part_is_in_no_repr(name: str) -> None:
    method, given, _ = METHODS[name]
    assert "cnry-" not in repr(method.given.model_validate(given))


@pytest.mark.parametrize("name", METHODS)
def test_space_around_credentials_is_dropped(name: str) -> None:
    method, given, _ = METHODS[name]
    spaced = {key: f" {value}\n" for key, value in given.items()}
    assert method.given.model_validate(spaced) == method.given.model_validate(given)


@pytest.mark.parametrize("name", METHODS)
def test_unknown_keys_are_refused(name: str) -> None:
    method, given, _ = METHODS[name]
    with pytest.raises(ValidationError):
        method.given.model_validate({**given, "extra": "x"})


@each_row(
    ("name", "field"),
    [(name, field) for name, (_, given, _) in METHODS.items() for field in given if field != "namespace"],
)
@each_row("value", [None, "", "  "], ids=["null", "empty", "blank"])
def test_what_is_needed_must_be_given(name: str, field: str, value: str | None) -> None:
    method, given, _ = METHODS[name]
    with pytest.raises(ValidationError):
        method.given.model_validate({**given, field: value})


@pytest.mark.parametrize("given", [None, "", "  ", "/"], ids=["null", "empty", "blank", "a slash"])
def test_an_empty_namespace_is_none(given: str | None) -> None:
    read = VAULT_APP.app.methods["access-token"].given.model_validate({**TOKEN, "namespace": given})
    assert not read.model_dump()["namespace"]


@each_row(
    "url",
    [
        "vault.example.com",
        "ftp://vault.example.com",
        "https://",
        "https://user:pass@vault.example.com",
        "https://vault.example.com?x=1",
        "https://vault.example.com/#top",
        "https://vault.example.com:0",
        "https://vault.example.com:99999",
        "https://vault.example.com/a b",
        "https://vault.example.com\\@evil.example",
        "https://" + "a" * 505,
    ],
)
@each_row("name", METHODS)
def test_only_a_plain_url_is_an_instance(name: str, url: str) -> None:
    method, given, _ = METHODS[name]
    with pytest.raises(ValidationError):
        method.given.model_validate({**given, "instanceUrl": url})


def test_a_client_id_is_a_uuid() -> None:
    with pytest.raises(ValidationError):
        EXTERNAL_APP.app.methods["machine-identity"].given.model_validate(
            {**MACHINE, "machineIdentityClientId": "somebody"}
        )


@pytest.mark.parametrize(
    ("given", "mount", "path"),
    [
        ({"mount": "secret", "path": "app"}, "secret", "app"),
        ({"mount": " /team/kv/ ", "path": " /a/b-c/d_e.f/ "}, "team/kv", "a/b-c/d_e.f"),
        ({"mount": "m" * 128, "path": "p" * 128}, "m" * 128, "p" * 128),
    ],
)
def test_slashes_around_mount_and_path_are_dropped(given: dict[str, str], mount: str, path: str) -> None:
    assert HASHICORP_VAULT.config.validate_python(given) == VaultConfig(mount=mount, path=path)


@each_row(
    "change",
    [
        {"mount": ""},
        {"mount": "/"},
        {"mount": "a//b"},
        {"mount": ".."},
        {"mount": "m" * 129},
        {"path": ""},
        {"path": "a//b"},
        {"path": "a/../b"},
        {"path": "."},
        {"path": "a b"},
        {"path": "ключ"},
        {"path": "p" * 129},
        {"mount": None},
        {"path": None},
        {"extra": "x"},
    ],
    ids=repr,
)
def test_a_place_in_vault_is_judged(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        HASHICORP_VAULT.config.validate_python({"mount": "secret", "path": "app", **change})


PLACE = {"projectId": "5f3c5d9e", "environment": "dev", "secretPath": "/app"}


def test_a_place_at_another_server_is_three_words() -> None:
    read = EXTERNAL_INFISICAL.config.validate_python({key: f" {value} " for key, value in PLACE.items()})
    assert read == ExternalInfisicalConfig(project_id="5f3c5d9e", environment="dev", secret_path="/app")


@each_row("field", [*PLACE, "extra"])
@each_row("value", ["", " ", "x" * 5000, 7], ids=["empty", "blank", "long", "a number"])
def test_a_place_at_another_server_is_judged(field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        EXTERNAL_INFISICAL.config.validate_python({**PLACE, field: value})
