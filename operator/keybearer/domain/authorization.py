"""Who may do what: roles, their rules, and the one question `allows`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from keybearer.base.ids import IdentityId, OrganizationId, ProjectId
from keybearer.domain.errors import Denial, ForbiddenError

__all__ = [
    "NEEDS_READ",
    "ONLY_SUBJECT",
    "Action",
    "ActorKind",
    "OrganizationRole",
    "Principal",
    "ProjectRole",
    "Subject",
    "Where",
    "allows",
    "denied",
    "organization_allows",
    "require_organization",
]


class OrganizationRole(StrEnum):
    """What an identity is in its organization. An admin is admin of every project as well."""

    ADMIN = "admin"
    MEMBER = "member"
    NO_ACCESS = "no-access"


class ProjectRole(StrEnum):
    """What an identity is in a project."""

    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"
    NO_ACCESS = "no-access"


class Action(StrEnum):
    """What is done; the words stand in the refusal."""

    READ = "read"
    READ_VALUE = "read-value"
    CREATE = "create"
    EDIT = "edit"
    DELETE = "delete"
    ISSUE = "issue"
    RENEW = "renew"
    REVOKE = "revoke"
    READ_PRIVATE_KEY = "read-private-key"
    APPROVE = "approve"
    CONNECT = "connect"
    BIND = "bind"


class Subject(StrEnum):
    """What it is done to; the words stand in the refusal."""

    SECRETS = "secrets"
    FOLDERS = "secret-folders"
    IMPORTS = "secret-imports"
    ENVIRONMENTS = "environments"
    TAGS = "tags"
    PROJECT = "workspace"
    MEMBERS = "member"
    GRANTS = "grants"
    AUDIT_LOGS = "audit-logs"
    IDENTITIES = "identity"
    ENCRYPTION_KEYS = "encryption-keys"
    APP_CONNECTIONS = "app-connections"
    SECRET_SYNCS = "secret-syncs"
    CERTIFICATE_AUTHORITIES = "certificate-authorities"
    CERTIFICATE_POLICIES = "certificate-policies"
    CERTIFICATE_PROFILES = "certificate-profiles"
    CERTIFICATE_APPLICATIONS = "certificate-applications"
    CERTIFICATES = "certificates"
    CERTIFICATE_REQUESTS = "certificate-requests"
    CERTIFICATE_APPROVALS = "certificate-approvals"
    PKI_SUBSCRIBERS = "pki-subscribers"


class ActorKind(StrEnum):
    """What kind of actor a token stands for."""

    MACHINE = "machine"
    USER = "user"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: a machine identity or a user whose token was checked. `identity_id` names either."""

    identity_id: IdentityId
    organization_id: OrganizationId
    organization_role: str
    permission_revision: int
    token_id: str
    kind: ActorKind = ActorKind.MACHINE
    name: str = ""


@dataclass(frozen=True, slots=True)
class Where:
    """The part of a project a question is about; rules of roles hold everywhere, grants need the place."""

    environment: str
    path: str


ONLY_SUBJECT = {Action.READ_VALUE: Subject.SECRETS, Action.CONNECT: Subject.APP_CONNECTIONS}
"""Actions of grants that are done to one subject alone."""
NEEDS_READ = frozenset(ONLY_SUBJECT)
"""Actions that nobody may do who may not read the subject."""
_READ = frozenset({Action.READ})
_READ_VALUES = frozenset({Action.READ, Action.READ_VALUE})
_MANAGE = frozenset({Action.READ, Action.CREATE, Action.EDIT, Action.DELETE})
_MANAGE_VALUES = _MANAGE | {Action.READ_VALUE}  # only secrets have values
_CONNECT = _READ | {Action.CONNECT}  # a sync over it acts with its credentials, which nobody can read
_MANAGE_CONNECTIONS = _MANAGE | _CONNECT
_USE_CERTIFICATES: dict[Subject, frozenset[Action]] = {
    Subject.CERTIFICATE_PROFILES: _MANAGE,
    Subject.CERTIFICATE_APPLICATIONS: _MANAGE,
    Subject.CERTIFICATES: _MANAGE | {Action.ISSUE, Action.RENEW, Action.REVOKE, Action.READ_PRIVATE_KEY},
    Subject.CERTIFICATE_REQUESTS: _MANAGE,
}
_GOVERN_CERTIFICATES: dict[Subject, frozenset[Action]] = {
    Subject.CERTIFICATE_AUTHORITIES: _MANAGE,
    Subject.CERTIFICATE_POLICIES: _MANAGE | {Action.BIND},  # have a profile issue by it
    Subject.CERTIFICATE_APPROVALS: _MANAGE | {Action.APPROVE},
    # What is issued for one is held against no policy: it is what its subscriber says.
    Subject.PKI_SUBSCRIBERS: _MANAGE | {Action.ISSUE},
}
_RULES: dict[ProjectRole, dict[Subject, frozenset[Action]]] = {
    ProjectRole.ADMIN: {
        **dict.fromkeys(Subject, _MANAGE),
        Subject.SECRETS: _MANAGE_VALUES,
        Subject.APP_CONNECTIONS: _MANAGE_CONNECTIONS,
        **_USE_CERTIFICATES,
        **_GOVERN_CERTIFICATES,
    },
    ProjectRole.MEMBER: {
        Subject.SECRETS: _MANAGE_VALUES,
        Subject.FOLDERS: _MANAGE,
        Subject.IMPORTS: _MANAGE,
        Subject.ENVIRONMENTS: _MANAGE,
        Subject.TAGS: _MANAGE,
        Subject.PROJECT: _READ,
        Subject.MEMBERS: _READ,
        Subject.APP_CONNECTIONS: _CONNECT,
        Subject.SECRET_SYNCS: _MANAGE,
        **_USE_CERTIFICATES,
        # Who changes these decides what everybody else may be issued.
        **dict.fromkeys(_GOVERN_CERTIFICATES, _READ),
        Subject.PKI_SUBSCRIBERS: _READ | {Action.ISSUE},
    },
    ProjectRole.VIEWER: {
        Subject.SECRETS: _READ_VALUES,
        Subject.FOLDERS: _READ,
        Subject.IMPORTS: _READ,
        Subject.ENVIRONMENTS: _READ,
        Subject.TAGS: _READ,
        Subject.PROJECT: _READ,
        Subject.MEMBERS: _READ,
        Subject.APP_CONNECTIONS: _READ,
        Subject.SECRET_SYNCS: _READ,
        **dict.fromkeys((*_USE_CERTIFICATES, *_GOVERN_CERTIFICATES), _READ),
    },
    ProjectRole.NO_ACCESS: {},
}
_KNOWN_ROLES = frozenset(ProjectRole)
_ORGANIZATION_RULES: dict[OrganizationRole, dict[Subject, frozenset[Action]]] = {
    OrganizationRole.ADMIN: {**dict.fromkeys(Subject, _MANAGE), Subject.APP_CONNECTIONS: _MANAGE_CONNECTIONS},
    OrganizationRole.MEMBER: {
        Subject.PROJECT: frozenset({Action.READ, Action.CREATE}),
        Subject.APP_CONNECTIONS: _READ,  # seen, to know what leads where; nobody sees what is secret of it
    },
    OrganizationRole.NO_ACCESS: {},
}


def allows(roles: Iterable[str], action: Action, subject: Subject) -> bool:
    """Return whether any of the project roles allows it; a role that is not known allows nothing."""
    return any(
        action in _RULES[ProjectRole(role)].get(subject, frozenset())
        for role in roles
        if role in _KNOWN_ROLES
    )


def require_organization(principal: Principal, action: Action, subject: Subject) -> None:
    """Let pass what the principal's role in the organization allows.

    Raises:
        ForbiddenError: the role doesn't allow it.
    """
    if not organization_allows(principal, action, subject):
        raise denied(action, subject)


def organization_allows(principal: Principal, action: Action, subject: Subject) -> bool:
    """Return whether the principal's role in the organization allows it; one that is not known allows nothing."""
    rules = (
        _ORGANIZATION_RULES[OrganizationRole(principal.organization_role)]
        if principal.organization_role in frozenset(OrganizationRole)
        else {}
    )
    return action in rules.get(subject, frozenset())


def denied(
    action: Action,
    subject: Subject,
    where: Where | None = None,
    *,
    inverted: bool = False,
    project_id: ProjectId | None = None,
) -> ForbiddenError:
    """Return the refusal (wire.md section 8.2); `inverted` where a rule denies it, instead of none allowing it."""
    place = (None, None) if where is None else (where.environment, where.path)
    return ForbiddenError(
        f"You are not allowed to {action} on {subject}",
        denial=Denial(action, subject, place[0], place[1], inverted, project_id),
    )
