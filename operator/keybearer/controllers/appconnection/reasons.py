"""Reasons of an AppConnection's conditions: constants that people and programs look for."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Reason"]


class Reason(StrEnum):
    """Why a condition is as it is; those of the identity and of the service are the same as a SecretSync's."""

    CONNECTED = "Connected"
    """The service holds the connection as described, and the app took its credentials."""

    SPEC_INVALID = "SpecInvalid"
    """The spec can't be read, or breaks a rule that the CRD can't say."""
    UNKNOWN_APP = "UnknownApp"
    """The service has no such app, or the app has no such method."""
    CREDENTIALS_INVALID = "CredentialsInvalid"
    """Fields of the credentials are missing, unknown, or of a wrong form."""
    CREDENTIALS_NOT_FOUND = "CredentialsNotFound"
    """A Secret that the credentials refer to, or one of its keys, doesn't exist."""
    CONNECTION_CONFLICT = "ConnectionConflict"
    """The service has a connection with this name, and this object may not change it."""
    IMMUTABLE_FIELD = "ImmutableField"
    """The app, the method or the project was changed. The service can't do that."""
    CONNECTION_REFUSED = "ConnectionRefused"
    """The service refuses the connection, or the app refuses the credentials."""
    PROJECT_NOT_FOUND = "ProjectNotFound"
    """The project doesn't exist, or the identity can't see it."""
    IN_USE = "InUse"
    """The connection can't be deleted, because syncs still use it."""

    CLUSTER_UNAVAILABLE = "ClusterUnavailable"
    """The operator can't reach the API server, or the API server refuses for now. The operator tries again."""
    INTERNAL_ERROR = "InternalError"
    """A bug of Keybearer. The message has a reconcile id, under which the operator's log has the details."""
