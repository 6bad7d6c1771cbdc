from __future__ import annotations

import subprocess
import sys

import keybearer
import keybearer.client
from keybearer import client


def test_the_client_package_exports_exactly_these_names() -> None:
    assert client.__all__ == [
        "NO_RETRIES",
        "AccessToken",
        "AllowedField",
        "AnswerTooLong",
        "AsyncEventStream",
        "AsyncKeybearer",
        "AsyncPools",
        "AuditActor",
        "AuditEvent",
        "AuditLog",
        "BadRequest",
        "ChangedPlace",
        "ChangedSecret",
        "ClientClosed",
        "ClientError",
        "ClientOptions",
        "ClientSecret",
        "CreatedClientSecret",
        "DecodeError",
        "Environment",
        "EventPlace",
        "EventStream",
        "EventType",
        "Folder",
        "Grant",
        "Identity",
        "IdentityMembership",
        "ImportBlock",
        "InvalidArgument",
        "Keybearer",
        "KubernetesAuth",
        "KubernetesAuthSettings",
        "LdapAuth",
        "LdapAuthSettings",
        "NewSecret",
        "NotFound",
        "NotModified",
        "Organization",
        "PermissionDenied",
        "Project",
        "ProjectEvent",
        "ProjectRole",
        "RateLimited",
        "RetryPolicy",
        "Secret",
        "SecretImport",
        "SecretListing",
        "SecretMetadata",
        "SecretTag",
        "SecretType",
        "ServerFailure",
        "ServiceError",
        "StreamEnded",
        "SuppliedToken",
        "Tag",
        "TransportError",
        "TrustedIp",
        "Unauthenticated",
        "UniversalAuth",
        "UniversalAuthSettings",
        "User",
        "UserAuth",
        "UserMembership",
        "ValidationFailed",
        "new_async_http",
        "new_http",
    ]
    assert all(hasattr(client, name) for name in client.__all__)


def test_the_package_itself_is_the_client() -> None:
    assert keybearer.AsyncKeybearer is client.AsyncKeybearer
    assert keybearer.Keybearer is client.Keybearer
    assert keybearer.__version__


def test_importing_the_package_loads_no_client() -> None:
    program = (
        "import sys, keybearer; print(sorted({'httpx', 'pydantic', 'keybearer.client'} & set(sys.modules)))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "[]"


def test_the_client_loads_no_part_of_the_service_and_none_of_the_cluster() -> None:
    program = (
        "import sys, keybearer.client; "
        "print([name for name in ('fastapi', 'sqlalchemy', 'kopf', 'kubernetes', 'cryptography', 'aiohttp') "
        "if name in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == "[]"
