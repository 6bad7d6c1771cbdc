"""What a refusal or failure of the service means to people: a reason and a sentence, never a value. Pure."""

from __future__ import annotations

import shlex

from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of, mappings_of, text_of
from keybearer.client import (
    AnswerTooLong,
    ClientError,
    DecodeError,
    NotFound,
    PermissionDenied,
    RateLimited,
    ServerFailure,
    ServiceError,
    TransportError,
    Unauthenticated,
)
from keybearer.controllers.custom_resource import Turn
from keybearer.controllers.outcome import ReconcileError, WaitingError
from keybearer.controllers.remedy import AS_THE_MESSAGE_SAYS, Remedy
from keybearer.controllers.sources.query import SourceQuery
from keybearer.controllers.sources.session import SourceFailure
from keybearer.wire.token_reviews import UNBOUND_REVIEWER, UNREACHABLE_API, UNTRUSTED_API, binding_of_reviewer

__all__ = ["arose_at_login", "describe_failure", "describe_refusal", "knows_identity", "refuses_login"]

_LOGINS = "/api/v1/auth/"
_LOGINS_BY_ID = (f"{_LOGINS}kubernetes-auth/login", f"{_LOGINS}ldap-auth/login")
_OTHER_REFUSAL = "ForbiddenError"
"""The service's word for a 403 that no missing right is the reason of, such as a name that is taken."""
_REVIEW_FAILED = "KubernetesTokenReviewError"
"""The service's word for a token of a ServiceAccount that the API server doesn't vouch for."""
_UPDATE = "keybearer identities kubernetes-auth update IDENTITY_ID"
_EXPLAINED = ("bind", "connect")
"""Actions whose refusal names the command that gives the right."""
_OF_MEMBERS = frozenset(
    {
        *("secrets", "secret-folders", "secret-imports", "environments", "tags", "secret-syncs"),
        *("certificate-profiles", "certificate-applications", "certificates", "certificate-requests"),
    }
)
"""What a member of a project may do anything to; a test compares it with the roles of the service."""
_OF_ADMINS = frozenset({"grants", "audit-logs", "identity", "encryption-keys"})
"""What only an admin may even see."""


def describe_failure(
    url: str, query: SourceQuery, error: ClientError | ReconcileError, answer_max_bytes: int
) -> SourceFailure:
    """Return why a source can't be read, and what to do."""
    if isinstance(error, ReconcileError):
        return _described_already(error)
    if isinstance(error, (TransportError, ServerFailure, RateLimited)):
        return _describe_passing(url, error)
    if refuses_login(error):
        return _describe_login(url, error)
    remedy: Remedy | None = None
    match error:
        case PermissionDenied():
            reason, text = (
                "PermissionDenied",
                (f"the identity may not read {query}: {error.message}; grant it a role in the project"),
            )
            remedy = _remedy_of_denial(error, f"read {query}", query.project)
        case NotFound():
            reason, text = (
                "SourceNotFound",
                (
                    f"{query} doesn't exist, or the identity can't see it: {error.message}; correct project, "
                    "environment or secretPath"
                ),
            )
            remedy = _remedy_of_missing(error, query)
        case AnswerTooLong():
            reason, text = (
                "ServiceRefused",
                (
                    f"{query} holds more than the {answer_max_bytes // 1024**2} MiB that are read of one source; "
                    "split the folder, or select a narrower secretPath, or only some tags"
                ),
            )
        case DecodeError():
            reason, text = (
                "ServiceRefused",
                (f"what answers at {url} is not the secrets service: {error}; correct the url"),
            )
        case _:
            reason, text = "ServiceRefused", f"the service refuses to list {query}: {error}"
            remedy = _remedy_of_review(error)
    return SourceFailure(reason, text, passing=False, remedy=remedy)


def refuses_login(error: ClientError) -> bool:
    """Whether the service refuses the login: the credentials, or an identity that has no such method."""
    return isinstance(error, Unauthenticated) or (isinstance(error, NotFound) and _LOGINS in error.asked)


def knows_identity(error: ClientError) -> bool:
    """Whether the answer to a login shows that this service has the identity.

    Kubernetes auth and LDAP name the identity by its id, and a service without it answers 404 (wire.md section 1.2).
    """
    if not isinstance(error, ServiceError) or not error.asked.endswith(_LOGINS_BY_ID):
        return False
    return isinstance(error, Unauthenticated) or error.error == _REVIEW_FAILED


def arose_at_login(error: ClientError) -> bool:
    """Whether it arose when the identity logged in, whatever the reason: it says nothing of what was asked."""
    return isinstance(error, ServiceError) and _LOGINS in error.asked


def _describe_login(url: str, error: ClientError) -> SourceFailure:
    said = error.message if isinstance(error, ServiceError) else str(error)
    text = (
        f"the service at {url} refuses the credentials: {said}; correct the identity Secret, or the identity in the "
        "service"
    )
    return SourceFailure("CredentialsRejected", text, passing=False, remedy=_remedy_of_review(error))


def _remedy_of_review(error: ClientError) -> Remedy | None:
    """Return what is to be done where the review of a ServiceAccount token failed; None for other failures."""
    if not isinstance(error, ServiceError) or error.error != _REVIEW_FAILED:
        return None
    if UNTRUSTED_API in error.message:
        return Remedy(
            "Give the service the certificate of the API server's authority, and the reviewer's token again if one "
            "is set.",
            f"{_UPDATE} --ca-file CA_FILE --reviewer-token-file FILE",
            turn=Turn.SERVICE_ADMINISTRATOR,
        )
    if UNREACHABLE_API in error.message:
        return Remedy(
            "Correct the address of the API server, or let the service reach it. With another address, give the "
            "reviewer's token again if one is set.",
            f"{_UPDATE} --host HOST --reviewer-token-file FILE",
            turn=Turn.SERVICE_ADMINISTRATOR,
        )
    if UNBOUND_REVIEWER in error.message:
        return Remedy(
            "Let the ServiceAccount of the reviewer create TokenReviews: bind it to the ClusterRole "
            "system:auth-delegator.",
            binding_of_reviewer(error.message),
            turn=Turn.CLUSTER_ADMINISTRATOR,
        )
    if "reviewer" in error.message:
        return Remedy(
            "Give the service a reviewer's token that the API server accepts, or set embeddedService.tokenReviews of "
            "the chart.",
            f"{_UPDATE} --reviewer-token-file FILE",
            turn=Turn.SERVICE_ADMINISTRATOR,
        )
    if isinstance(error, Unauthenticated):
        return Remedy(
            "Compare the key audience of Secret {identity} with the audience and the host of the identity.",
            "keybearer identities kubernetes-auth show IDENTITY_ID",
            about="Secret {identity}, key audience",
        )
    return Remedy(AS_THE_MESSAGE_SAYS.step, turn=Turn.SERVICE_ADMINISTRATOR)


def _described_already(error: ReconcileError) -> SourceFailure:
    return SourceFailure(
        error.reason, error.message, passing=isinstance(error, WaitingError), remedy=error.remedy
    )


def _remedy_of_missing(error: NotFound, query: SourceQuery) -> Remedy:
    project, environment = shlex.quote(query.project), shlex.quote(query.environment)
    if error.message.startswith("Project "):
        field = "spec.source.projectSlug" if query.by_slug else "spec.source.projectId"
        step = f"Correct {field}, or give the identity a role in the project."
        return Remedy(step, "keybearer projects list", about=field)
    if error.message.startswith("Environment "):
        step, command = "Correct spec.source.environment.", f"keybearer environments list --project {project}"
        return Remedy(step, command, about="spec.source.environment")
    return Remedy(
        "Correct spec.source.secretPath, or create the folder.",
        f"keybearer folders list --project {project} --env {environment} --recursive",
        about="spec.source.secretPath",
    )


def _remedy_of_denial(error: PermissionDenied, what: str, project: str, *, least: str = "viewer") -> Remedy:
    """Return what is to be done about a missing right.

    Args:
        error: the denial.
        what: the identity may not do, as in "create connection x".
        project: where; a slug, an id, or a brace that `diagnosed` fills.
        least: the least role that whoever asks needs for the rest of its work.
    """
    denial = next((one for one in mappings_of(error.details) if "action" in one), {})
    where = project if project.startswith("{") else shlex.quote(project)
    if denial.get("inverted") is True:
        return Remedy(
            f"Remove the rule that denies the identity to {what}.",
            f"keybearer grants list --member CLIENT_ID_OR_NAME --project {where}",
            turn=Turn.SERVICE_ADMINISTRATOR,
        )
    role = max(
        least, _role_for(text_of(denial.get("action")), text_of(denial.get("subject"))), key=_ROLES.index
    )
    return Remedy(
        f"Give the identity a role that may {what}, such as {role}.",
        f"keybearer members set CLIENT_ID_OR_NAME --project {where} --role {role}",
        turn=Turn.SERVICE_ADMINISTRATOR,
    )


_ROLES = ("viewer", "member", "admin")


def _role_for(action: str, subject: str) -> str:
    """Return the least role of a project that may do something; the least of all where the service doesn't say."""
    if subject == "app-connections":
        # Whoever is to manage a connection has to look for it first: to see connections alone is of no use.
        return "member" if action == "connect" else "admin"
    if action in ("", "read", "read-value") and subject not in _OF_ADMINS:
        return "viewer"
    if subject in _OF_MEMBERS or (subject, action) == ("pki-subscribers", "issue"):
        return "member"
    return "admin"


def _describe_passing(url: str, error: TransportError | ServerFailure | RateLimited) -> SourceFailure:
    if isinstance(error, RateLimited):
        text = f"the service at {url} asks to slow down; it is asked again when it said"
        return SourceFailure("ServiceThrottled", text, passing=True, after=error.retry_after)
    if isinstance(error, TransportError) and error.is_untrusted:
        text = (
            f"{error}; put the certificate of its authority into caBundle of the identity Secret, or give it "
            "another certificate; it is tried again"
        )
        return SourceFailure("CertificateUntrusted", text, passing=True)
    if isinstance(error, ServerFailure):
        text = f"the service at {url} fails with status {error.status}: {error.message}; it is tried again"
    else:
        text = f"{error}; it is tried again"
    return SourceFailure("ServiceUnavailable", text, passing=True)


def describe_refusal(url: str, what: str, error: ClientError | ReconcileError) -> SourceFailure:
    """Return why the service didn't do something, and what to do; `what` as in "create connection x"."""
    if isinstance(error, ReconcileError):
        return _described_already(error)
    if isinstance(error, (TransportError, ServerFailure, RateLimited)):
        return _describe_passing(url, error)
    if refuses_login(error):
        return _describe_login(url, error)
    match error:
        case PermissionDenied() if error.error != _OTHER_REFUSAL:
            text, remedy = f"the identity may not {what}: {error.message}", _SAID_BY_THE_SERVICE
            if not _names_the_command(error.details):
                text += "; grant it a role that may"
                remedy = _remedy_of_denial(error, what, "{project}", least="member")
            return SourceFailure("PermissionDenied", text, passing=False, remedy=remedy)
        case DecodeError():
            text = f"what answers at {url} is not the secrets service: {error}; correct the url"
            return SourceFailure("ServiceRefused", text, passing=False)
        case ServiceError():
            text = f"the service refuses to {what}: {error.message}"
            return SourceFailure("ServiceRefused", text, passing=False, remedy=_remedy_of_review(error))
        case _:
            return SourceFailure(
                "ServiceRefused", f"the service can't be asked to {what}: {error}", passing=False
            )


_SAID_BY_THE_SERVICE = Remedy(AS_THE_MESSAGE_SAYS.step, turn=Turn.SERVICE_ADMINISTRATOR)
"""The service's own message names the command."""


def _names_the_command(details: JsonValue) -> bool:
    return any(mapping_of(one).get("action") in _EXPLAINED for one in list_of(details))
