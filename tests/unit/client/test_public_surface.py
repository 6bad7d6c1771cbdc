from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import keybearer
import keybearer.client
from keybearer import client
from tools.local.waiting import PATIENCE_SECONDS


def test_the_client_package_exports_exactly_these_names() -> None:
    assert client.__all__ == [
        "NO_RETRIES",
        "AccessToken",
        "AcmeAuthority",
        "AcmeBinding",
        "AcmeConfiguration",
        "AcmeEnrollment",
        "AlgorithmRule",
        "AllowedField",
        "AllowedUse",
        "AltName",
        "AnswerTooLong",
        "ApiEnrollment",
        "AppConnection",
        "AppConnectionOption",
        "AppConnectionUse",
        "Application",
        "ApplicationEnrollment",
        "ApplicationPage",
        "ApplicationProfile",
        "ApprovalPolicy",
        "ApprovalRequest",
        "ApprovalRequestPage",
        "ApprovalVote",
        "AsyncEventStream",
        "AsyncKeybearer",
        "AsyncPools",
        "AuditActor",
        "AuditEvent",
        "AuditLog",
        "AuthorityCertificate",
        "AuthorityConfiguration",
        "AvailableAppConnection",
        "BadRequest",
        "BasicConstraints",
        "CancelledCertificateRequest",
        "Certificate",
        "CertificateAttributes",
        "CertificateAuthority",
        "CertificateBundle",
        "CertificateIssuance",
        "CertificateMetadata",
        "CertificatePage",
        "CertificatePolicy",
        "CertificatePolicyPage",
        "CertificateProfile",
        "CertificateProfilePage",
        "CertificateRequest",
        "CertificateRequestPage",
        "CertificateRequestState",
        "ChangedPlace",
        "ChangedSecret",
        "ClientClosed",
        "ClientError",
        "ClientOptions",
        "ClientSecret",
        "ConnectionProject",
        "ConnectionRotation",
        "ConstraintRule",
        "CreatedClientSecret",
        "DecodeError",
        "DestinationCheck",
        "Environment",
        "EstEnrollment",
        "EventPlace",
        "EventStream",
        "EventType",
        "Folder",
        "Grant",
        "Identity",
        "IdentityMembership",
        "ImportBlock",
        "ImportedCertificate",
        "InternalAuthority",
        "InvalidArgument",
        "IssuedCertificate",
        "Keybearer",
        "KubernetesAuth",
        "KubernetesAuthSettings",
        "LatestBundle",
        "LdapAuth",
        "LdapAuthSettings",
        "NameRule",
        "NewSecret",
        "NotFound",
        "NotModified",
        "Organization",
        "PermissionDenied",
        "PolicyBinding",
        "ProfileAuthority",
        "ProfileDefaults",
        "ProfileExternalConfigs",
        "ProfilePolicy",
        "Project",
        "ProjectEvent",
        "ProjectRole",
        "RateLimited",
        "RenewedCertificate",
        "RequestedCertificate",
        "RetryPolicy",
        "RevocationList",
        "RevokedCertificate",
        "RotationTerms",
        "RotationTime",
        "ScepEnrollment",
        "Secret",
        "SecretImport",
        "SecretListing",
        "SecretMetadata",
        "SecretSync",
        "SecretSyncOption",
        "SecretTag",
        "SecretType",
        "ServerFailure",
        "ServiceError",
        "StoppingSync",
        "StreamEnded",
        "Subscriber",
        "SubscriberBundle",
        "SubscriberCertificate",
        "SuppliedToken",
        "SyncConnection",
        "SyncEnvironment",
        "SyncFolder",
        "SyncOwner",
        "SyncedSecret",
        "Tag",
        "TransportError",
        "TrustedIp",
        "Unauthenticated",
        "UniversalAuth",
        "UniversalAuthSettings",
        "UsageRule",
        "User",
        "UserAuth",
        "UserMembership",
        "ValidationFailed",
        "ValidityRule",
        "new_async_http",
        "new_http",
    ]
    assert all(hasattr(client, name) for name in client.__all__)


def test_type_checkers_are_told_the_same_names_from_the_same_modules() -> None:
    stub = ast.parse(Path(client.__file__).with_suffix(".pyi").read_text())
    told = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module is not None
        for alias in node.names
        if alias.asname == alias.name
    }
    assigned = next(node for node in stub.body if isinstance(node, ast.Assign))
    assert ast.literal_eval(assigned.value) == client.__all__
    assert sorted(told) == sorted(client.__all__)
    for name, module in told.items():
        assert getattr(client, name) is getattr(import_module(module), name)
    assert set(client.__all__) <= set(dir(client))


def test_a_name_that_the_client_package_has_not_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="no attribute 'AsyncKeyBearer'"):
        client.AsyncKeyBearer  # type: ignore[attr-defined] # noqa: B018 - the look-up is the test


def test_the_package_itself_is_the_client() -> None:
    assert keybearer.AsyncKeybearer is client.AsyncKeybearer
    assert keybearer.Keybearer is client.Keybearer
    assert keybearer.__version__


def loaded_by(program: str) -> set[str]:
    """Return the modules that a program has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_no_client() -> None:
    assert loaded_by("import keybearer") & {"httpx", "pydantic", "keybearer.client"} == set()


def test_importing_the_client_package_loads_nothing_of_it_yet() -> None:
    loaded = loaded_by("import keybearer.client")
    assert loaded & {"asyncio", "httpx", "pydantic"} == set()
    assert {name for name in loaded if name.startswith("keybearer.client.")} == set()


def test_the_client_loads_no_part_of_the_service_and_none_of_the_cluster() -> None:
    loaded = loaded_by("from keybearer.client import *")
    assert loaded & {"fastapi", "sqlalchemy", "kopf", "kubernetes", "cryptography", "aiohttp"} == set()


OPERATOR = "import keybearer.controllers.service_session, keybearer.controllers.sessions"
"""What of the operator uses the client."""


def test_the_operator_loads_no_group_before_it_uses_one() -> None:
    loaded = loaded_by(OPERATOR)
    assert {name for name in loaded if name.startswith("keybearer.client.groups")} == set()
    assert "keybearer.client.blocking" not in loaded
    ours = {name for name in loaded if name.startswith("keybearer.wire.")}
    needed = ("auth", "base", "bodies", "events", "limits", "secret_type", "token_reviews")
    assert ours == {f"keybearer.wire.{name}" for name in needed}


def test_a_group_is_loaded_when_it_is_used_and_no_other_with_it() -> None:
    used = f"{OPERATOR}\nfrom keybearer.client import AsyncKeybearer\nAsyncKeybearer('http://127.0.0.1:1').secrets"
    loaded = loaded_by(used)
    groups = {name for name in loaded if name.startswith("keybearer.client.groups.")}
    assert groups == {"keybearer.client.groups.secrets"}
    assert (
        loaded & {"keybearer.client.actors", "keybearer.wire.projects", "keybearer.wire.identities"} == set()
    )


def test_a_group_stays_the_same_once_it_is_made() -> None:
    with client.Keybearer("http://127.0.0.1:1") as asked:
        assert asked.secrets is asked.secrets
        assert asked.events is asked.events
