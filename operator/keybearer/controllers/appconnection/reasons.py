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
    """No connection can be made to this app, or not by this method."""
    CREDENTIALS_INVALID = "CredentialsInvalid"
    """Fields of the credentials are missing, unknown, or of a wrong form."""
    CREDENTIALS_NOT_FOUND = "CredentialsNotFound"
    """A Secret or one of its keys, which the credentials refer to, doesn't exist."""
    CONNECTION_CONFLICT = "ConnectionConflict"
    """The service has a connection of this name that isn't ours to change."""
    IMMUTABLE_FIELD = "ImmutableField"
    """App, method or project were changed, which the service can't do."""
    CONNECTION_REFUSED = "ConnectionRefused"
    """The service refuses it, or the app refused the credentials."""
    PROJECT_NOT_FOUND = "ProjectNotFound"
    """The project doesn't exist, or the identity can't see it."""
    IN_USE = "InUse"
    """The connection can't go: syncs still use it."""

    CLUSTER_UNAVAILABLE = "ClusterUnavailable"
    """The API server could not be asked or refuses for now; tried again."""
    INTERNAL_ERROR = "InternalError"
    """A fault of Keybearer; the operator's log has it under the reconcile id of the message."""
