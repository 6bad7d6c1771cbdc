"""The parameters of operations and logins, as the interface names them and gives their defaults (4.8 and 4.9)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from keybearer.client import Keybearer, LdapAuth, UniversalAuth
from keybearer.client.certificates import CertificateAttributes, CertificateMetadata
from keybearer.client.operations.certificate_issuing import IssueCertificate
from keybearer.client.operations.certificate_profiles import DeleteCertificateProfile
from keybearer.client.operations.certificate_requests import SearchCertificateRequests
from keybearer.client.operations.certificate_subscribers import (
    GetLatestBundleOfSubscriber,
    IssueForSubscriber,
)
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


CERTIFICATES: dict[str, tuple[Callable[..., object], dict[str, object]]] = {
    "issue (4.5)": (
        IssueCertificate,
        {
            "profile_id": REQUIRED,
            "application_id": None,
            "csr": None,
            "attributes": None,
            "remove_roots_from_chain": False,
            "metadata": (),
        },
    ),
    "metadata (4.5)": (CertificateMetadata, {"key": REQUIRED, "value": ""}),
    "attributes (4.5)": (
        CertificateAttributes,
        dict.fromkeys(
            (
                *("common_name", "organization", "organizational_unit", "country", "state", "locality"),
                *("domain_components", "key_usages", "extended_key_usages", "alt_names"),
                *("ttl", "not_before", "not_after"),
            )
        ),
    ),
    "search (4.6)": (
        SearchCertificateRequests,
        {
            "offset": 0,
            "limit": 20,
            "search": None,
            "from_date": None,
            "to_date": None,
            "profile_ids": (),
            "application_id": None,
            "sort_by": None,
            "metadata": (),
            "status": None,
            "sort_order": None,
        },
    ),
    "delete (4.7)": (DeleteCertificateProfile, {"profile_id": REQUIRED}),
    "issue for a subscriber (4.10)": (
        IssueForSubscriber,
        {"subscriber_name": REQUIRED, "project_id": REQUIRED},
    ),
    "latest bundle of a subscriber (4.10)": (
        GetLatestBundleOfSubscriber,
        {"subscriber_name": REQUIRED, "project_id": REQUIRED},
    ),
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


@pytest.mark.parametrize("name", CERTIFICATES)
def test_certificates_have_the_parameters_of_the_interface_and_none_more_required(name: str) -> None:
    operation, expected = CERTIFICATES[name]
    found = defaults(operation)
    assert {parameter: found.get(parameter, "missing") for parameter in expected} == expected
    assert all(found[parameter] is not REQUIRED for parameter in found if parameter not in expected)


def test_logins_take_what_the_interface_names() -> None:
    assert list(defaults(UniversalAuth))[:2] == ["client_id", "client_secret"]
    assert list(defaults(LdapAuth))[:3] == ["identity_id", "username", "password"]
    client = Keybearer("http://127.0.0.1:1")
    assert list(defaults(client.auth.set_access_token)) == ["access_token"]
    client.close()
