"""The parameters of operations and logins, as the interface names them and gives their defaults (4.8 and 4.9)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from keybearer.client import Keybearer, LdapAuth, UniversalAuth
from keybearer.client.operations.secret_reads import GetSecret, ListSecrets
from keybearer.client.operations.secret_writes import CreateSecret, DeleteSecret, UpdateSecret

REQUIRED = inspect.Parameter.empty
PLACE = {"project_id": REQUIRED, "environment": REQUIRED, "secret_path": "/"}
OPERATIONS: dict[str, tuple[Callable[..., object], dict[str, object]]] = {
    "list": (
        ListSecrets,
        {**PLACE, "include_imports": True, "recursive": False, "attach_to_process_env": False},
    ),
    "get": (GetSecret, {**PLACE, "secret_name": REQUIRED, "include_imports": True}),
    "create": (
        CreateSecret,
        {
            **PLACE,
            "secret_name": REQUIRED,
            "secret_value": REQUIRED,
            "secret_comment": None,
            "skip_multiline_encoding": None,
        },
    ),
    "update": (
        UpdateSecret,
        {
            **PLACE,
            "secret_name": REQUIRED,
            "secret_value": None,
            "new_secret_name": None,
            "skip_multiline_encoding": None,
        },
    ),
    "delete": (DeleteSecret, {**PLACE, "secret_name": REQUIRED}),
}
FURTHER: dict[str, dict[str, object]] = {
    "list": {
        "expand_secret_references": True,
        "view_secret_value": True,
        "set_secrets_as_environment_variables": False,
    },
    "get": {"expand_secret_references": True, "type": "shared"},
    "create": {
        "metadata": (),
        "secret_comment": None,
        "secret_reminder_note": None,
        "secret_reminder_repeat_days": None,
        "skip_multiline_encoding": None,
    },
    "update": {"secret_value": None, "new_secret_name": None, "new_metadata": None},
}


def defaults(operation: Callable[..., Any]) -> dict[str, Any]:
    return {name: given.default for name, given in inspect.signature(operation).parameters.items()}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_has_the_parameters_of_the_interface_with_their_defaults(name: str) -> None:
    operation, expected = OPERATIONS[name]
    found = defaults(operation)
    assert {parameter: found.get(parameter, "missing") for parameter in expected} == expected
    others = {parameter for parameter in found if parameter not in expected}
    assert all(found[parameter] is not REQUIRED for parameter in others), "nothing else is required"


@pytest.mark.parametrize("name", FURTHER)
def test_an_operation_has_the_parameters_that_other_libraries_add(name: str) -> None:
    found = defaults(OPERATIONS[name][0])
    assert {parameter: found.get(parameter, "missing") for parameter in FURTHER[name]} == FURTHER[name]


def test_logins_take_what_the_interface_names() -> None:
    assert list(defaults(UniversalAuth))[:2] == ["client_id", "client_secret"]
    assert list(defaults(LdapAuth))[:3] == ["identity_id", "username", "password"]
    client = Keybearer("http://127.0.0.1:1")
    assert list(defaults(client.auth.set_access_token)) == ["access_token"]
    client.close()
