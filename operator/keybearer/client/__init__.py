"""Typed client of the service interface, asynchronous and blocking.

    with Keybearer("https://keybearer.example.com", UniversalAuth(client_id, client_secret)) as client:
        for secret in client.secrets.list(project_id=project_id, environment="prod"):
            ...

Requests and answers are pure values (`operations`), the logic between them is a generator of steps (`auth`,
`exchange`), and the two clients differ only in how they take a step (`asynchronous`, `blocking`).

Names are looked up when first used, so that a program loads what it uses; `__init__.pyi` tells type checkers what
they are.
"""

from __future__ import annotations

from importlib import import_module

__all__ = [
    "NO_RETRIES",
    "AccessToken",
    "AllowedField",
    "AnswerTooLong",
    "AppConnection",
    "AppConnectionOption",
    "AppConnectionUse",
    "AsyncEventStream",
    "AsyncKeybearer",
    "AsyncPools",
    "AuditActor",
    "AuditEvent",
    "AuditLog",
    "AvailableAppConnection",
    "BadRequest",
    "ChangedPlace",
    "ChangedSecret",
    "ClientClosed",
    "ClientError",
    "ClientOptions",
    "ClientSecret",
    "ConnectionProject",
    "ConnectionRotation",
    "CreatedClientSecret",
    "DecodeError",
    "DestinationCheck",
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
    "RotationTerms",
    "RotationTime",
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
    "StreamEnded",
    "SuppliedToken",
    "SyncConnection",
    "SyncEnvironment",
    "SyncFolder",
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

_HOMES = {
    "keybearer.client.actors": (
        "AllowedField",
        "AuditActor",
        "AuditEvent",
        "AuditLog",
        "ClientSecret",
        "CreatedClientSecret",
        "Grant",
        "Identity",
        "IdentityMembership",
        "KubernetesAuthSettings",
        "LdapAuthSettings",
        "Organization",
        "ProjectRole",
        "TrustedIp",
        "UniversalAuthSettings",
        "User",
        "UserMembership",
    ),
    "keybearer.client.asynchronous": ("AsyncKeybearer",),
    "keybearer.client.blocking": ("Keybearer",),
    "keybearer.client.connections": (
        "AppConnection",
        "AppConnectionOption",
        "AppConnectionUse",
        "AvailableAppConnection",
        "ConnectionProject",
        "ConnectionRotation",
        "RotationTerms",
        "RotationTime",
    ),
    "keybearer.client.syncs": (
        "DestinationCheck",
        "SecretSync",
        "SecretSyncOption",
        "SyncConnection",
        "SyncEnvironment",
        "SyncFolder",
    ),
    "keybearer.client.credentials": (
        "KubernetesAuth",
        "LdapAuth",
        "SuppliedToken",
        "UniversalAuth",
        "UserAuth",
    ),
    "keybearer.client.errors": (
        "AnswerTooLong",
        "BadRequest",
        "ClientClosed",
        "ClientError",
        "DecodeError",
        "InvalidArgument",
        "NotFound",
        "PermissionDenied",
        "RateLimited",
        "ServerFailure",
        "ServiceError",
        "StreamEnded",
        "TransportError",
        "Unauthenticated",
        "ValidationFailed",
    ),
    "keybearer.client.event_frames": (
        "ChangedPlace",
        "ProjectEvent",
    ),
    "keybearer.client.events": (
        "AsyncEventStream",
        "EventStream",
    ),
    "keybearer.client.models": (
        "AccessToken",
        "Environment",
        "Folder",
        "ImportBlock",
        "NotModified",
        "Project",
        "Secret",
        "SecretImport",
        "SecretListing",
        "SecretMetadata",
        "SecretTag",
        "SecretType",
        "Tag",
    ),
    "keybearer.client.operations.events": ("EventPlace",),
    "keybearer.client.operations.secret_batches": (
        "ChangedSecret",
        "NewSecret",
    ),
    "keybearer.client.options": ("ClientOptions",),
    "keybearer.client.retries": (
        "NO_RETRIES",
        "RetryPolicy",
    ),
    "keybearer.client.transport": (
        "AsyncPools",
        "new_async_http",
        "new_http",
    ),
    "keybearer.wire.events": ("EventType",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(home), name)
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
