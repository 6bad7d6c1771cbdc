"""Typed client of the service interface, asynchronous and blocking.

    with Keybearer("https://keybearer.example.com", UniversalAuth(client_id, client_secret)) as client:
        for secret in client.secrets.list(project_id=project_id, environment="prod"):
            ...

Requests and answers are pure values (`operations`), the logic between them is a generator of steps (`auth`,
`exchange`), and the two clients differ only in how they take a step (`asynchronous`, `blocking`).
"""

from __future__ import annotations

from keybearer.client.actors import (
    AllowedField,
    AuditActor,
    AuditEvent,
    AuditLog,
    ClientSecret,
    CreatedClientSecret,
    Grant,
    Identity,
    IdentityMembership,
    KubernetesAuthSettings,
    LdapAuthSettings,
    Organization,
    ProjectRole,
    TrustedIp,
    UniversalAuthSettings,
    User,
    UserMembership,
)
from keybearer.client.asynchronous import AsyncKeybearer
from keybearer.client.blocking import Keybearer
from keybearer.client.credentials import KubernetesAuth, LdapAuth, SuppliedToken, UniversalAuth, UserAuth
from keybearer.client.errors import (
    AnswerTooLong,
    BadRequest,
    ClientClosed,
    ClientError,
    DecodeError,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    RateLimited,
    ServerFailure,
    ServiceError,
    StreamEnded,
    TransportError,
    Unauthenticated,
    ValidationFailed,
)
from keybearer.client.event_frames import ChangedPlace, ProjectEvent
from keybearer.client.events import AsyncEventStream, EventStream
from keybearer.client.models import (
    AccessToken,
    Environment,
    Folder,
    ImportBlock,
    NotModified,
    Project,
    Secret,
    SecretImport,
    SecretListing,
    SecretMetadata,
    SecretTag,
    SecretType,
    Tag,
)
from keybearer.client.operations.events import EventPlace
from keybearer.client.operations.secret_batches import ChangedSecret, NewSecret
from keybearer.client.options import ClientOptions
from keybearer.client.retries import NO_RETRIES, RetryPolicy
from keybearer.client.transport import AsyncPools, new_async_http, new_http
from keybearer.wire.events import EventType

__all__ = [
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
