"""What the audit log says of an operation.

A change is recorded by the unit that makes it, in one transaction with it:

    await unit.audit(audited(principal, EventType.CREATE_FOLDER, project.id, environment=..., folderPath=...))

Reading, and what was refused, goes through `domain.audit_trail`, since a reader's unit writes nothing.
"""

from __future__ import annotations

from enum import StrEnum

from keybearer.base.ids import ProjectId
from keybearer.base.origin import current_origin
from keybearer.domain.authorization import Principal
from keybearer.store.audit import AuditActor, AuditDetail, AuditEvent

__all__ = ["EventType", "audited"]

_MAX_NAMES = 50
"""Names of one event; a batch of a thousand would make a line of half a megabyte."""
_MAX_TEXT = 1024
"""Characters of a text, and of all names of one event together."""
_MAX_USER_AGENT = 255
_MAX_ADDRESS = 64
_MAX_ACTOR_NAME = 255


class EventType(StrEnum):
    """What happened, in the words of the published service where it has one."""

    GET_SECRETS = "get-secrets"
    GET_SECRET = "get-secret"
    CREATE_SECRET = "create-secret"
    CREATE_SECRETS = "create-secrets"
    UPDATE_SECRET = "update-secret"
    UPDATE_SECRETS = "update-secrets"
    DELETE_SECRET = "delete-secret"
    DELETE_SECRETS = "delete-secrets"
    MOVE_SECRETS = "move-secrets"
    DUPLICATE_SECRETS = "duplicate-secrets"
    CREATE_FOLDER = "create-folder"
    UPDATE_FOLDER = "update-folder"
    DELETE_FOLDER = "delete-folder"
    CREATE_SECRET_IMPORT = "create-secret-import"
    UPDATE_SECRET_IMPORT = "update-secret-import"
    DELETE_SECRET_IMPORT = "delete-secret-import"
    CREATE_ENVIRONMENT = "create-environment"
    UPDATE_ENVIRONMENT = "update-environment"
    DELETE_ENVIRONMENT = "delete-environment"
    CREATE_TAG = "create-tag"
    UPDATE_TAG = "update-tag"
    DELETE_TAG = "delete-tag"
    CREATE_PROJECT = "create-project"
    UPDATE_PROJECT = "update-project"
    DELETE_PROJECT = "delete-project"
    PUT_PROJECT_MEMBER = "put-project-member"
    REMOVE_PROJECT_MEMBER = "remove-project-member"
    CREATE_GRANT = "create-grant"
    UPDATE_GRANT = "update-grant"
    DELETE_GRANT = "delete-grant"
    CREATE_APP_CONNECTION = "create-app-connection"
    UPDATE_APP_CONNECTION = "update-app-connection"
    UPDATE_APP_CONNECTION_USE = "update-app-connection-use"
    DELETE_APP_CONNECTION = "delete-app-connection"
    ROTATE_APP_CONNECTION = "rotate-app-connection-credentials"
    CREATE_SECRET_SYNC = "create-secret-sync"
    UPDATE_SECRET_SYNC = "update-secret-sync"
    DELETE_SECRET_SYNC = "delete-secret-sync"
    REQUEST_SECRET_SYNC_JOB = "request-secret-sync-job"
    CREATE_CERTIFICATE_AUTHORITY = "create-certificate-authority"
    UPDATE_CERTIFICATE_AUTHORITY = "update-certificate-authority"
    DELETE_CERTIFICATE_AUTHORITY = "delete-certificate-authority"
    CERTIFY_CERTIFICATE_AUTHORITY = "generate-certificate-authority-certificate"
    RENEW_CERTIFICATE_AUTHORITY = "renew-certificate-authority"
    IMPORT_AUTHORITY_CERTIFICATE = "import-certificate-authority-cert"
    SIGN_INTERMEDIATE = "sign-intermediate"
    CREATE_CERTIFICATE_POLICY = "create-certificate-policy"
    UPDATE_CERTIFICATE_POLICY = "update-certificate-policy"
    UPDATE_CERTIFICATE_POLICY_BINDING = "update-certificate-policy-binding"
    DELETE_CERTIFICATE_POLICY = "delete-certificate-policy"
    CREATE_CERTIFICATE_PROFILE = "create-certificate-profile"
    UPDATE_CERTIFICATE_PROFILE = "update-certificate-profile"
    DELETE_CERTIFICATE_PROFILE = "delete-certificate-profile"
    REVEAL_ACME_BINDING = "reveal-certificate-profile-acme-eab-secret"
    CREATE_CERTIFICATE_APPLICATION = "create-certificate-application"
    UPDATE_CERTIFICATE_APPLICATION = "update-certificate-application"
    DELETE_CERTIFICATE_APPLICATION = "delete-certificate-application"
    ATTACH_CERTIFICATE_PROFILES = "attach-certificate-application-profiles"
    DETACH_CERTIFICATE_PROFILE = "detach-certificate-application-profile"
    SET_CERTIFICATE_ENROLLMENT = "set-certificate-application-enrollment"
    REMOVE_CERTIFICATE_ENROLLMENT = "remove-certificate-application-enrollment"
    REQUEST_CERTIFICATE = "request-certificate"
    ISSUE_CERTIFICATE = "issue-certificate"
    RENEW_CERTIFICATE = "renew-certificate"
    REFUSE_CERTIFICATE_RENEWAL = "refuse-certificate-renewal"
    FAIL_CERTIFICATE_REQUEST = "fail-certificate-request"
    CANCEL_CERTIFICATE_REQUEST = "cancel-certificate-request"
    GET_CERTIFICATE_PRIVATE_KEY = "get-certificate-private-key"
    UPDATE_CERTIFICATE = "update-certificate-config"
    REVOKE_CERTIFICATE = "revoke-certificate"
    DELETE_CERTIFICATE = "delete-certificate"
    IMPORT_CERTIFICATE = "import-certificate"
    CREATE_APPROVAL_POLICY = "create-approval-policy"
    UPDATE_APPROVAL_POLICY = "update-approval-policy"
    DELETE_APPROVAL_POLICY = "delete-approval-policy"
    APPROVE_CERTIFICATE_REQUEST = "approve-certificate-request"
    REJECT_CERTIFICATE_REQUEST = "reject-certificate-request"
    EXPIRE_CERTIFICATE_REQUEST = "expire-certificate-request"
    CREATE_PKI_SUBSCRIBER = "create-pki-subscriber"
    UPDATE_PKI_SUBSCRIBER = "update-pki-subscriber"
    DELETE_PKI_SUBSCRIBER = "delete-pki-subscriber"
    CREATE_ORGANIZATION = "create-organization"
    UPDATE_ORGANIZATION = "update-organization"
    CREATE_USER = "create-user"
    UPDATE_USER = "update-user"
    DELETE_USER = "delete-user"
    LOGIN_USER = "login-user"
    SELECT_ORGANIZATION = "select-organization"
    CREATE_IDENTITY = "create-identity"
    UPDATE_IDENTITY = "update-identity"
    DELETE_IDENTITY = "delete-identity"
    LOGIN_UNIVERSAL_AUTH = "login-identity-universal-auth"
    ADD_UNIVERSAL_AUTH = "add-identity-universal-auth"
    UPDATE_UNIVERSAL_AUTH = "update-identity-universal-auth"
    REVOKE_UNIVERSAL_AUTH = "revoke-identity-universal-auth"
    CREATE_CLIENT_SECRET = "create-identity-universal-auth-client-secret"
    REVOKE_CLIENT_SECRET = "revoke-identity-universal-auth-client-secret"
    CLEAR_LOCKOUTS = "clear-identity-auth-lockouts"
    LOGIN_KUBERNETES_AUTH = "login-identity-kubernetes-auth"
    ADD_KUBERNETES_AUTH = "add-identity-kubernetes-auth"
    UPDATE_KUBERNETES_AUTH = "update-identity-kubernetes-auth"
    REVOKE_KUBERNETES_AUTH = "revoke-identity-kubernetes-auth"
    LOGIN_LDAP_AUTH = "login-identity-ldap-auth"
    ADD_LDAP_AUTH = "add-identity-ldap-auth"
    UPDATE_LDAP_AUTH = "update-identity-ldap-auth"
    REVOKE_LDAP_AUTH = "revoke-identity-ldap-auth"
    RENEW_TOKEN = "renew-access-token"
    REVOKE_TOKEN = "revoke-access-token"
    ROTATE_ROOT_KEY = "rotate-root-key"
    ROTATE_DATA_KEY = "rotate-data-key"
    SYNC_SECRETS = "secret-sync-sync-secrets"
    IMPORT_SECRETS = "secret-sync-import-secrets"
    REMOVE_SECRETS = "secret-sync-remove-secrets"
    LOGIN_FAILED = "login-failed"
    INVITATION_REFUSED = "invitation-refused"
    ACCESS_DENIED = "access-denied"
    EVENTS_OMITTED = "audit-events-omitted"


def audited(
    by: Principal | AuditActor,
    event: EventType,
    project_id: ProjectId | None = None,
    /,
    **details: AuditDetail,
) -> AuditEvent:
    """Return the event, as it came with the present request.

    Args:
        by: who did it; an actor where there is no principal yet, at a login.
        event: what was done.
        project_id: the project it was done in.
        details: names, ids and paths in the wire's spelling, never a value; long lists are cut, and their
            length is told beside them.
    """
    origin = current_origin()
    actor = (
        AuditActor(by.kind, by.identity_id or None, by.name, by.organization_id)
        if isinstance(by, Principal)
        else by
    )
    return AuditEvent(
        event_type=event,
        actor=AuditActor(actor.kind, actor.id, actor.name[:_MAX_ACTOR_NAME], actor.organization_id),
        project_id=project_id,
        ip_address=None if origin.address is None else origin.address[:_MAX_ADDRESS],
        user_agent=origin.user_agent[:_MAX_USER_AGENT],
        request_id=origin.request_id,
        details=_bounded(details),
    )


def _bounded(details: dict[str, AuditDetail]) -> dict[str, AuditDetail]:
    bounded: dict[str, AuditDetail] = {}
    for name, detail in details.items():
        if isinstance(detail, list):
            kept = _first_of(detail)
            bounded[name] = kept
            if len(kept) < len(detail):
                bounded[f"{name}Total"] = len(detail)
        elif isinstance(detail, str):
            bounded[name] = detail[:_MAX_TEXT]
        else:
            bounded[name] = detail
    return bounded


def _first_of(names: list[str]) -> list[str]:
    kept = names[:_MAX_NAMES]
    while sum(map(len, kept)) > _MAX_TEXT:
        kept.pop()
    return kept
