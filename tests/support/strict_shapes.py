"""What each route answers as the interface documents tell it: exact types, required fields, no unknown ones.

Written down from the documents and apart from the service's own models on purpose: all they have in common is the
documents. The shapes of what a project holds are in `strict_contents`, those of who may do what in
`strict_administration`; here are errors, and which route has which shape.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue

from support import strict_administration as administration
from support import strict_certificates as certificates
from support import strict_connections as connections
from support import strict_contents as contents
from support import strict_syncs as syncs
from support.strict_contents import SECRET_LIST
from support.strict_kinds import Id, Shape, listed, only, shape

__all__ = ["ERRORS", "ROUTES", "SECRET_LIST", "Shape", "shape_of"]

# --- interface.md 7; what wire.md 8.2 adds has the fields of a 401
_ISSUE = shape("issue", {"code": Id, "path": list[str | int], "message": Id})


def _error(status: int, message: object = str, *, details: bool = False) -> Shape:
    always = {
        "reqId": Annotated[str, Field(pattern="^req-[A-Za-z0-9_-]+$")],
        "statusCode": Literal[status],
        "message": message,
        "error": Id,
    }
    return shape(f"error {status}", always, {"details": JsonValue} if details else None)


ERRORS: Mapping[int, Shape] = {
    400: _error(400, details=True),
    401: _error(401),
    403: _error(403, details=True),
    404: _error(404),
    422: _error(422, listed(_ISSUE, at_least=1)),
    **{status: _error(status) for status in (413, 429, 500, 503, 504)},
}

# --- interface.md 9: the version of the document, and a local server
_OPENAPI = shape(
    "OpenAPI document",
    {
        "openapi": Annotated[str, Field(pattern=r"^3\.")],
        "info": shape("info", {"title": Id, "description": Id, "version": Literal["0.0.1"]}),
        "servers": listed(shape("server", {"url": Literal["http://localhost:8080"], "description": Id})),
        "paths": dict[str, Any],
        "components": dict[str, Any],
    },
)

_ANY = "GET|POST|PATCH|DELETE"
_PKI = "/api/v1/cert-manager"
# Method, path, shape: the first that matches. `*` is one part of a path, `**` any number.
ROUTES: tuple[tuple[str, str, Shape], ...] = (
    ("GET", "/api/status", administration.MESSAGE),
    ("GET", "/api/docs/json", _OPENAPI),
    # Secrets
    ("GET", "/api/v3/secrets/raw", SECRET_LIST),
    ("GET", "/api/v4/secrets", SECRET_LIST),
    ("POST|PATCH|DELETE", "/api/v3/secrets/batch/raw", contents.SECRETS),
    ("POST|PATCH|DELETE", "/api/v4/secrets/batch", contents.SECRETS),
    ("POST", "/api/v4/secrets/duplicate", contents.SECRETS),
    ("POST", "/api/v3/secrets/move", contents.MOVED),
    ("POST", "/api/v4/secrets/move", contents.MOVED),
    ("GET", "/api/v4/secrets/*/secret-reference-tree", contents.REFERENCE_TREE),
    ("GET", "/api/v1/secret/*/secret-versions", contents.VERSIONS),
    ("GET", "/api/v*/secrets/**", contents.ONE_SECRET),
    ("POST|PATCH|DELETE", "/api/v3/secrets/raw/*", contents.ONE_SECRET),
    ("POST|PATCH|DELETE", "/api/v4/secrets/*", contents.ONE_SECRET),
    # Folders, and what they import
    ("GET", "/api/v*/folders", contents.FOLDERS),
    ("PATCH", "/api/v*/folders/batch", contents.FOLDERS),
    ("GET", "/api/v*/folders/*", contents.FOUND_FOLDER),
    ("GET", "/api/v1/folders/*/*/**", contents.ONE_FOLDER),
    ("POST", "/api/v*/folders", contents.ONE_FOLDER),
    ("PATCH", "/api/v*/folders/*", contents.ONE_FOLDER),
    ("DELETE", "/api/v*/folders/*", contents.ONE_LISTED_FOLDER),
    ("GET", "/api/v*/secret-imports", contents.IMPORTS),
    ("GET", "/api/v*/secret-imports/*", contents.PLACED_IMPORT),
    ("POST", "/api/v*/secret-imports", contents.ONE_IMPORT),
    ("PATCH|DELETE", "/api/v*/secret-imports/*", contents.ONE_IMPORT),
    # Projects, environments, tags
    ("POST", "/api/v1/projects", only("project", contents.PROJECT)),
    ("POST", "/api/v2/workspace", only("project", contents.PROJECT)),
    ("GET", "/api/v1/projects", only("projects", listed(contents.PROJECT))),
    ("GET", "/api/v1/workspace", only("workspaces", listed(contents.PROJECT))),
    ("GET", "/api/v1/projects/slug/*", contents.PROJECT),
    ("GET", "/api/v1/workspace/slug/*", contents.PROJECT),
    ("GET|PATCH|DELETE", "/api/v2/workspace/*", contents.PROJECT),
    ("GET", "/api/v1/workspace/environments/*", only("environment", contents.ENVIRONMENT)),
    ("GET|PATCH|DELETE", "/api/v1/projects/*", only("project", contents.PROJECT)),
    ("GET|PATCH|DELETE", "/api/v1/workspace/*", only("workspace", contents.PROJECT)),
    ("GET", "/api/v1/projects/*/environments/slug/*", contents.ENVIRONMENT),
    ("GET", "/api/v1/projects/*/environments/*", only("environment", contents.ENVIRONMENT)),
    ("POST|PATCH|DELETE", "/api/v1/projects/*/environments/**", contents.PROJECT_ENVIRONMENT),
    ("POST|PATCH|DELETE", "/api/v1/workspace/*/environments/**", contents.WORKSPACE_ENVIRONMENT),
    ("GET", "/api/v1/projects/*/tags", only("tags", listed(contents.TAG))),
    ("GET", "/api/v1/workspace/*/tags", only("workspaceTags", listed(contents.TAG))),
    (_ANY, "/api/v1/projects/*/tags/**", contents.ONE_TAG),
    (_ANY, "/api/v1/workspace/*/tags/**", only("workspaceTag", contents.TAG)),
    # Who is a member of a project, and grants
    ("GET", "/api/v1/projects/*/memberships/identities", administration.IDENTITY_MEMBERSHIPS),
    (
        "POST|PATCH|DELETE",
        "/api/v1/projects/*/memberships/identities/*",
        administration.ONE_IDENTITY_MEMBERSHIP,
    ),
    ("GET", "/api/v2/workspace/identity-memberships/*", administration.FOUND_IDENTITY_MEMBERSHIP),
    ("GET", "/api/v2/workspace/*/identity-memberships/*", administration.FOUND_IDENTITY_MEMBERSHIP),
    ("PATCH", "/api/v2/workspace/*/identity-memberships/*", administration.ROLES_OF_MEMBERSHIP),
    ("POST|DELETE", "/api/v2/workspace/*/identity-memberships/*", administration.ONE_IDENTITY_MEMBERSHIP),
    ("GET|POST|DELETE", "/api/v1/projects/*/memberships", administration.USER_MEMBERSHIPS),
    ("POST", "/api/v1/workspace/*/memberships/details", administration.ONE_USER_MEMBERSHIP),
    ("PATCH", "/api/v1/workspace/*/memberships/*", administration.ROLES_OF_MEMBERSHIP),
    ("GET", "/api/v1/projects/*/user/*/membership", administration.ONE_USER_MEMBERSHIP),
    ("GET", "/api/v1/workspace/*/memberships", administration.USER_MEMBERSHIPS),
    ("POST|DELETE", "/api/v2/workspace/*/memberships", administration.USER_MEMBERSHIPS),
    ("GET|PATCH|DELETE", "/api/v1/projects/*/memberships/*", administration.ONE_USER_MEMBERSHIP),
    ("GET", "/api/v1/projects/*/grants", administration.GRANTS),
    ("POST", "/api/v1/projects/*/grants", administration.ONE_GRANT),
    ("GET|PATCH|DELETE", "/api/v1/projects/*/grants/*", administration.ONE_GRANT),
    # Logins and tokens
    ("POST", "/api/v3/auth/login", administration.USER_TOKEN),
    ("POST", "/api/v3/auth/select-organization", administration.SELECTED),
    ("POST", "/api/v1/auth/*/login", administration.TOKEN),
    ("POST", "/api/v1/auth/token/renew", administration.TOKEN),
    ("POST", "/api/v1/auth/token/revoke", administration.MESSAGE),
    ("POST", "/api/v1/auth/checkAuth", administration.MESSAGE),
    # Identities and their auth methods
    ("GET", "/api/v1/identities", administration.IDENTITIES),
    ("POST", "/api/v1/identities", administration.ONE_IDENTITY),
    ("GET", "/api/v1/identities/details", administration.OWN_DETAILS),
    ("GET", "/api/v1/identities/*", administration.FOUND_IDENTITY),
    ("PATCH|DELETE", "/api/v1/identities/*", administration.ONE_IDENTITY),
    ("POST", "/api/v1/auth/*/identities/*/clear-lockouts", administration.CLEARED),
    (_ANY, "/api/v1/auth/universal-auth/identities/*", administration.UNIVERSAL_AUTH),
    (_ANY, "/api/v1/auth/kubernetes-auth/identities/*", administration.KUBERNETES_AUTH),
    (_ANY, "/api/v1/auth/ldap-auth/identities/*", administration.LDAP_AUTH),
    ("GET", "/api/v1/auth/universal-auth/identities/*/client-secrets", administration.CLIENT_SECRETS),
    ("POST", "/api/v1/auth/universal-auth/identities/*/client-secrets", administration.NEW_CLIENT_SECRET),
    ("GET", "/api/v1/auth/universal-auth/identities/*/client-secrets/*", administration.ONE_CLIENT_SECRET),
    (
        "POST",
        "/api/v1/auth/universal-auth/identities/*/client-secrets/*/revoke",
        administration.ONE_CLIENT_SECRET,
    ),
    # Secret syncs
    ("GET", "/api/v1/secret-syncs", syncs.SYNCS),
    ("GET", "/api/v1/secret-syncs/options", syncs.SYNC_OPTIONS),
    ("GET", "/api/v1/secret-syncs/*", syncs.SYNCS),
    ("POST", "/api/v1/secret-syncs/*/check-destination", syncs.CHECKED),
    ("GET", "/api/v1/secret-syncs/*/*/secrets", syncs.SYNCED_SECRETS),
    ("GET|PATCH", "/api/v1/secret-syncs/*/*/owner", syncs.SYNC_OWNER),
    (_ANY, "/api/v1/secret-syncs/*/**", syncs.ONE_SYNC),
    # Users, organizations, the audit log, the instance
    ("GET", "/api/v1/user", administration.ONE_USER),
    ("GET", "/api/v2/users/me", administration.ONE_USER),
    ("POST", "/api/v1/user/password", administration.MESSAGE),
    ("GET", "/api/v1/users", administration.USERS),
    ("POST", "/api/v1/users", administration.ONE_USER),
    ("GET|PATCH|DELETE", "/api/v1/users/*", administration.ONE_USER),
    ("GET", "/api/v1/sub-organizations", administration.SUB_ORGANIZATIONS),
    ("GET", "/api/v1/organization", administration.ORGANIZATIONS),
    ("GET", "/api/v1/organization/audit-logs", administration.AUDIT_LOGS),
    ("GET", "/api/v1/organization/*", administration.ONE_ORGANIZATION),
    ("POST", "/api/v1/admin/bootstrap", administration.BOOTSTRAPPED),
    ("GET", "/api/v1/admin/keys", administration.KEYS),
    ("POST", "/api/v1/admin/keys/rotate-root", administration.ROTATED_ROOT),
    ("POST", "/api/v1/admin/keys/rotate-data", administration.ROTATED_DATA),
    # App connections
    ("GET", "/api/v1/app-connections", connections.CONNECTIONS),
    ("GET", "/api/v1/app-connections/options", connections.CONNECTION_OPTIONS),
    ("GET", "/api/v1/app-connections/*/available", connections.AVAILABLE_CONNECTIONS),
    ("GET", "/api/v1/app-connections/*/*/usage", connections.CONNECTION_USAGE),
    ("GET", "/api/v1/app-connections/*/*/allowed-use", connections.ALLOWED_USE),
    ("PATCH", "/api/v1/app-connections/*/*/allowed-use", connections.CHANGED_ALLOWED_USE),
    ("GET", "/api/v1/app-connections/idp", connections.IDP_CONNECTIONS),
    (_ANY, "/api/v1/app-connections/idp/**", connections.ONE_IDP_CONNECTION),
    ("GET", "/api/v1/app-connections/auth0", connections.PUBLISHED_IDP_CONNECTIONS),
    (_ANY, "/api/v1/app-connections/auth0/**", connections.PUBLISHED_ONE_IDP_CONNECTION),
    ("GET", "/api/v1/app-connections/*", connections.CONNECTIONS),
    (_ANY, "/api/v1/app-connections/*/**", connections.ONE_CONNECTION),
    # Certificates: requests and what came of them
    ("POST", f"{_PKI}/certificates", certificates.ISSUED),
    ("GET", f"{_PKI}/certificates", certificates.CERTIFICATES),
    ("POST", f"{_PKI}/certificates/import-certificate", certificates.IMPORTED),
    ("GET", f"{_PKI}/certificates/certificate-requests", certificates.REQUESTS),
    ("POST", f"{_PKI}/certificates/certificate-requests/search", certificates.REQUESTS),
    ("GET", f"{_PKI}/certificates/certificate-requests/*", certificates.REQUEST_DETAIL),
    ("POST", f"{_PKI}/certificates/certificate-requests/*/cancel", certificates.CANCELLED),
    ("GET|DELETE", f"{_PKI}/certificates/*", certificates.ONE_CERTIFICATE),
    ("GET", f"{_PKI}/certificates/*/bundle", certificates.BUNDLE),
    ("GET", f"{_PKI}/certificates/*/certificate", certificates.CERTIFICATE_TEXT),
    ("POST", f"{_PKI}/certificates/*/renew", certificates.RENEWED),
    ("PATCH", f"{_PKI}/certificates/*/config", certificates.CERTIFICATE_CONFIG),
    ("POST", f"{_PKI}/certificates/*/revoke", certificates.REVOKED),
    ("POST", f"{_PKI}/ca/internal/*/certificates/*/revoke", certificates.REVOKED),
    # Approval
    ("GET", f"{_PKI}/approval-policies", certificates.APPROVAL_POLICIES),
    (_ANY, f"{_PKI}/approval-policies/**", certificates.ONE_APPROVAL_POLICY),
    ("GET", f"{_PKI}/approval-requests", certificates.APPROVAL_REQUESTS),
    ("GET|POST", f"{_PKI}/approval-requests/*/**", certificates.ONE_APPROVAL_REQUEST),
    # Profiles, policies, applications
    ("GET", f"{_PKI}/certificate-profiles", certificates.PROFILES),
    ("GET", f"{_PKI}/certificate-profiles/slug/*", certificates.ONE_PROFILE),
    ("GET", f"{_PKI}/certificate-profiles/*/certificates", certificates.CERTIFICATES),
    (
        "GET",
        f"{_PKI}/certificate-profiles/*/certificates/latest-active-bundle",
        certificates.LATEST_BUNDLE,
    ),
    ("GET", f"{_PKI}/certificate-profiles/*/acme/eab-secret/reveal", certificates.EAB_SECRET),
    ("GET", f"{_PKI}/certificate-profiles/*", certificates.PROFILE_DETAIL),
    ("POST|PATCH|DELETE", f"{_PKI}/certificate-profiles/**", certificates.ONE_PROFILE),
    ("GET", f"{_PKI}/certificate-policies", certificates.POLICIES),
    (_ANY, f"{_PKI}/certificate-policies/*/binding", certificates.POLICY_BINDING),
    (_ANY, f"{_PKI}/certificate-policies/**", certificates.ONE_POLICY),
    ("GET", f"{_PKI}/applications", certificates.APPLICATIONS),
    ("GET|POST", f"{_PKI}/applications/*/profiles", certificates.ATTACHED_PROFILES),
    ("DELETE", f"{_PKI}/applications/*/profiles/*", certificates.DETACHED),
    ("GET", f"{_PKI}/applications/*/profiles/*/enrollment", certificates.APPLICATION_ENROLLMENT),
    ("PUT|DELETE", f"{_PKI}/applications/*/profiles/*/enrollment/*", certificates.ENROLLMENT),
    (_ANY, f"{_PKI}/applications/**", certificates.ONE_APPLICATION),
    # Authorities
    ("GET", f"{_PKI}/ca", certificates.AUTHORITIES),
    ("GET", f"{_PKI}/ca/acme", certificates.ACME_AUTHORITIES),
    ("POST", f"{_PKI}/ca/acme", certificates.ACME_AUTHORITY),
    ("GET|PATCH|DELETE", f"{_PKI}/ca/acme/*", certificates.ACME_AUTHORITY),
    ("GET", f"{_PKI}/ca/internal", certificates.INTERNAL_AUTHORITIES),
    ("GET|POST", f"{_PKI}/ca/internal/*/certificate", certificates.GENERATED_AUTHORITY_CERTIFICATE),
    ("GET", f"{_PKI}/ca/internal/*/certificate/*", certificates.AUTHORITY_CERTIFICATE_DETAIL),
    ("GET", f"{_PKI}/ca/internal/*/ca-certificates", certificates.AUTHORITY_CERTIFICATES),
    ("GET", f"{_PKI}/ca/internal/*/csr", certificates.AUTHORITY_CSR),
    ("POST", f"{_PKI}/ca/internal/*/sign-intermediate", certificates.SIGNED_INTERMEDIATE),
    ("POST", f"{_PKI}/ca/internal/*/import-certificate", certificates.IMPORTED_AUTHORITY_CERTIFICATE),
    ("POST", f"{_PKI}/ca/internal/*/renew", certificates.AUTHORITY_CERTIFICATE),
    ("GET", f"{_PKI}/ca/internal/*/crls", certificates.CRLS),
    ("POST", f"{_PKI}/ca/internal", certificates.AUTHORITY),
    ("GET|PATCH|DELETE", f"{_PKI}/ca/internal/*", certificates.AUTHORITY),
    # Subscribers
    ("POST", "/api/v1/pki/subscribers/*/issue-certificate", certificates.SUBSCRIBER_ISSUED),
    ("POST", "/api/v1/pki/subscribers/*/sign-certificate", certificates.SUBSCRIBER_SIGNED),
    ("POST", "/api/v1/pki/subscribers/*/order-certificate", certificates.SUBSCRIBER_ORDERED),
    ("GET", "/api/v1/pki/subscribers/*/latest-certificate-bundle", certificates.SUBSCRIBER_BUNDLE),
    (_ANY, "/api/v1/pki/subscribers/**", certificates.SUBSCRIBER),
    ("GET", "/api/v1/projects/*/pki-subscribers", certificates.SUBSCRIBERS),
)


def shape_of(method: str, path: str) -> Shape | None:
    """Return what a good answer of the route looks like; nothing for a route that no line speaks of."""
    for methods, pattern, found in _COMPILED:
        if method in methods and pattern.fullmatch(path):
            return found
    return None


def _pattern(text: str) -> re.Pattern[str]:
    parts = {"/**": "(?:/.*)?", "*": "[^/]+"}
    written = re.split(r"(/\*\*|\*)", text)
    return re.compile("".join(parts.get(part) or re.escape(part) for part in written))


_COMPILED = [(methods.split("|"), _pattern(path), found) for methods, path, found in ROUTES]
