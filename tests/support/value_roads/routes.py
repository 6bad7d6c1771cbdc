"""Where each route stands in the table of roads: it gives values, it leads to them, or it does neither."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

__all__ = ["TABLE", "WALKED", "Placing"]


class Placing(StrEnum):
    """What a route has to do with the values of secrets; each is proved by a test as its text says."""

    GIVES = "its answer holds values: a road asks it, and gets one for the admin"
    LEADS = "what it changes may lead to values: a road asks it, and the admin may"
    PUSHES = "a sync carries values away, or brings them: a road to destinations asks it"
    DESCRIBES = "answers names, ids and settings of what is in projects, never values"
    IDENTIFIES = "says who somebody is, and gives rights that a direct read has as well"
    CONNECTS = "keeps credentials of other systems, and never shows what is secret of them"
    TELLS = "tells how syncs stand, by names and states"
    CERTIFIES = "is about certificates: no secret of a folder is read, no text is searched for references"


WALKED = (Placing.GIVES, Placing.LEADS, Placing.PUSHES)
"""Placings whose routes are asked by roads; of the others, what reads is asked by the admin and shows no value."""

_PLACED: Mapping[Placing, str] = {
    Placing.GIVES: """
    GET /api/v3/secrets/raw
    GET /api/v4/secrets
    GET /api/v4/secrets/id/{secret_id}
    GET /api/v3/secrets/raw/id/{secret_id}
    GET DELETE /api/v3/secrets/raw/{secret_name}
    GET DELETE /api/v4/secrets/{secret_name}
    POST /api/v4/secrets/duplicate
    GET /api/v4/secrets/{secret_name}/secret-reference-tree
    GET /api/v1/secret/{secret_id}/secret-versions
    DELETE /api/v4/secrets/batch
    DELETE /api/v3/secrets/batch/raw
    """,
    Placing.LEADS: """
    POST /api/v1/auth/universal-auth/login
    POST PATCH /api/v3/secrets/raw/{secret_name}
    POST PATCH /api/v4/secrets/{secret_name}
    POST /api/v4/secrets/move
    POST /api/v3/secrets/move
    POST PATCH /api/v4/secrets/batch
    POST PATCH /api/v3/secrets/batch/raw
    PATCH /api/v2/folders/batch
    PATCH /api/v1/folders/batch
    PATCH /api/v2/folders/{folder_id}
    PATCH /api/v1/folders/{folder_id}
    POST /api/v2/secret-imports
    POST /api/v1/secret-imports
    PATCH DELETE /api/v2/secret-imports/{import_id}
    PATCH DELETE /api/v1/secret-imports/{import_id}
    POST /api/v1/projects/{project_id}/environments
    POST /api/v1/workspace/{project_id}/environments
    PATCH DELETE /api/v1/projects/{project_id}/environments/{environment_id}
    PATCH DELETE /api/v1/workspace/{project_id}/environments/{environment_id}
    POST /api/v1/projects
    POST /api/v2/workspace
    PATCH /api/v1/projects/{project_id}
    PATCH /api/v1/workspace/{project_id}
    PATCH POST /api/v1/projects/{project_id}/memberships/identities/{identity_id}
    PATCH POST /api/v2/workspace/{project_id}/identity-memberships/{identity_id}
    POST /api/v1/identities
    PATCH /api/v1/identities/{identity_id}
    POST /api/v1/auth/universal-auth/identities/{identity_id}
    POST /api/v1/auth/universal-auth/identities/{identity_id}/client-secrets
    POST /api/v1/events/subscribe/project-events
    POST /api/v1/projects/{project_id}/grants
    PATCH DELETE /api/v1/projects/{project_id}/grants/{grant_id}
    """,
    Placing.PUSHES: """
    PATCH /api/v1/secret-syncs/{destination}/{sync_id}/owner
    POST /api/v1/secret-syncs/{destination}/{sync_id}/sync-secrets
    POST /api/v1/secret-syncs/{destination}/{sync_id}/import-secrets
    POST /api/v1/secret-syncs/cloud-parameter-store
    PATCH /api/v1/secret-syncs/cloud-parameter-store/{sync_id}
    POST /api/v1/secret-syncs/cloud-secrets-manager
    PATCH /api/v1/secret-syncs/cloud-secrets-manager/{sync_id}
    POST /api/v1/secret-syncs/codehost
    PATCH /api/v1/secret-syncs/codehost/{sync_id}
    POST /api/v1/secret-syncs/gcp-secret-manager
    PATCH /api/v1/secret-syncs/gcp-secret-manager/{sync_id}
    POST /api/v1/secret-syncs/azure-key-vault
    PATCH /api/v1/secret-syncs/azure-key-vault/{sync_id}
    POST /api/v1/secret-syncs/hashicorp-vault
    PATCH /api/v1/secret-syncs/hashicorp-vault/{sync_id}
    POST /api/v1/secret-syncs/gitlab
    PATCH /api/v1/secret-syncs/gitlab/{sync_id}
    POST /api/v1/secret-syncs/external-infisical
    PATCH /api/v1/secret-syncs/external-infisical/{sync_id}
    """,
    Placing.DESCRIBES: """
    GET /api/status
    POST GET /api/v2/folders
    POST GET /api/v1/folders
    GET /api/v1/folders/{project_id}/{environment}/{path:path}
    GET /api/v2/folders/{folder_id}
    GET /api/v1/folders/{folder_id}
    DELETE /api/v1/folders/{id_or_name}
    DELETE /api/v2/folders/{id_or_name}
    GET /api/v2/secret-imports
    GET /api/v1/secret-imports
    GET /api/v2/secret-imports/{import_id}
    GET /api/v1/secret-imports/{import_id}
    GET POST PATCH DELETE /api/v3/secrets/raw/{secret_name:path}
    GET POST PATCH DELETE /api/v4/secrets/{secret_name:path}
    GET /api/v1/workspace/environments/{environment_id}
    GET /api/v1/projects/{project_id}/environments/slug/{slug}
    GET /api/v1/projects/{project_id}/environments/{environment_id}
    POST GET /api/v1/workspace/{project_id}/tags
    POST GET /api/v1/projects/{project_id}/tags
    GET /api/v1/workspace/{project_id}/tags/slug/{slug}
    GET /api/v1/projects/{project_id}/tags/slug/{slug}
    GET PATCH DELETE /api/v1/workspace/{project_id}/tags/{tag_id}
    GET PATCH DELETE /api/v1/projects/{project_id}/tags/{tag_id}
    GET /api/v1/projects
    GET /api/v1/workspace
    GET PATCH DELETE /api/v2/workspace/{slug}
    GET /api/v1/workspace/slug/{slug}
    GET /api/v1/projects/slug/{slug}
    GET DELETE /api/v1/projects/{project_id}
    GET DELETE /api/v1/workspace/{project_id}
    GET /api/v1/admin/keys
    POST /api/v1/admin/keys/rotate-root
    POST /api/v1/admin/keys/rotate-data
    GET /api/v1/projects/{project_id}/grants
    GET /api/v1/projects/{project_id}/grants/{grant_id}
    GET /api/docs
    GET /api/docs/json
    """,
    Placing.IDENTIFIES: """
    POST /api/v1/auth/token/renew
    POST /api/v1/auth/token/revoke
    POST /api/v1/auth/checkAuth
    GET /api/v1/projects/{project_id}/memberships/identities
    DELETE /api/v1/projects/{project_id}/memberships/identities/{identity_id}
    GET DELETE /api/v2/workspace/{project_id}/identity-memberships/{identity_id}
    GET /api/v2/workspace/identity-memberships/{membership_id}
    POST GET DELETE /api/v1/projects/{project_id}/memberships
    POST DELETE /api/v2/workspace/{project_id}/memberships
    GET /api/v1/workspace/{project_id}/memberships
    POST /api/v1/workspace/{project_id}/memberships/details
    PATCH /api/v1/workspace/{project_id}/memberships/{membership_id}
    GET /api/v1/projects/{project_id}/user/{user_id}/membership
    GET PATCH DELETE /api/v1/projects/{project_id}/memberships/{membership_id}
    GET /api/v1/identities
    GET /api/v1/identities/details
    GET DELETE /api/v1/identities/{identity_id}
    PATCH GET DELETE /api/v1/auth/universal-auth/identities/{identity_id}
    GET /api/v1/auth/universal-auth/identities/{identity_id}/client-secrets
    GET /api/v1/auth/universal-auth/identities/{identity_id}/client-secrets/{client_secret_id}
    POST /api/v1/auth/universal-auth/identities/{identity_id}/client-secrets/{client_secret_id}/revoke
    POST /api/v1/auth/universal-auth/identities/{identity_id}/clear-lockouts
    POST /api/v1/auth/kubernetes-auth/login
    POST GET PATCH DELETE /api/v1/auth/kubernetes-auth/identities/{identity_id}
    POST /api/v1/auth/ldap-auth/login
    POST GET PATCH DELETE /api/v1/auth/ldap-auth/identities/{identity_id}
    POST /api/v1/auth/ldap-auth/identities/{identity_id}/clear-lockouts
    GET /api/v1/organization/audit-logs
    POST /api/v3/auth/login
    POST /api/v3/auth/select-organization
    GET /api/v1/organization
    GET /api/v1/sub-organizations
    GET /api/v1/organization/{organization_id}
    GET /api/v1/user
    GET /api/v2/users/me
    POST /api/v1/user/password
    GET POST /api/v1/users
    GET PATCH DELETE /api/v1/users/{user_id}
    POST /api/v1/admin/bootstrap
    """,
    Placing.CONNECTS: """
    GET /api/v1/app-connections
    GET /api/v1/app-connections/options
    GET POST /api/v1/app-connections/{app}
    GET /api/v1/app-connections/{app}/available
    GET /api/v1/app-connections/{app}/connection-name/{connection_name}
    GET DELETE /api/v1/app-connections/{app}/{connection_id}
    GET /api/v1/app-connections/{app}/{connection_id}/usage
    GET PATCH /api/v1/app-connections/{app}/{connection_id}/allowed-use
    POST /api/v1/app-connections/{app}/{connection_id}/rotate-credentials
    POST /api/v1/app-connections/cloud
    PATCH /api/v1/app-connections/cloud/{connection_id}
    POST /api/v1/app-connections/codehost
    PATCH /api/v1/app-connections/codehost/{connection_id}
    POST /api/v1/app-connections/gcp
    PATCH /api/v1/app-connections/gcp/{connection_id}
    POST /api/v1/app-connections/azure-key-vault
    PATCH /api/v1/app-connections/azure-key-vault/{connection_id}
    POST /api/v1/app-connections/hashicorp-vault
    PATCH /api/v1/app-connections/hashicorp-vault/{connection_id}
    POST /api/v1/app-connections/gitlab
    PATCH /api/v1/app-connections/gitlab/{connection_id}
    POST /api/v1/app-connections/external-infisical
    PATCH /api/v1/app-connections/external-infisical/{connection_id}
    POST /api/v1/app-connections/idp
    PATCH /api/v1/app-connections/idp/{connection_id}
    """,
    Placing.TELLS: """
    GET /api/v1/secret-syncs
    GET /api/v1/secret-syncs/options
    GET /api/v1/secret-syncs/owned
    GET POST /api/v1/secret-syncs/{destination}
    GET /api/v1/secret-syncs/{destination}/sync-name/{sync_name}
    GET DELETE PATCH /api/v1/secret-syncs/{destination}/{sync_id}
    GET /api/v1/secret-syncs/{destination}/{sync_id}/secrets
    GET /api/v1/secret-syncs/{destination}/{sync_id}/owner
    POST /api/v1/secret-syncs/{destination}/{sync_id}/remove-secrets
    POST /api/v1/secret-syncs/cloud-parameter-store/check-destination
    POST /api/v1/secret-syncs/cloud-secrets-manager/check-destination
    POST /api/v1/secret-syncs/codehost/check-destination
    POST /api/v1/secret-syncs/gcp-secret-manager/check-destination
    POST /api/v1/secret-syncs/azure-key-vault/check-destination
    POST /api/v1/secret-syncs/hashicorp-vault/check-destination
    POST /api/v1/secret-syncs/gitlab/check-destination
    POST /api/v1/secret-syncs/external-infisical/check-destination
    POST /api/v1/secret-syncs/{destination}/check-destination
    """,
    Placing.CERTIFIES: """
    POST GET /api/v1/cert-manager/certificates
    POST GET /api/v1/cert-manager/certificate-policies
    GET PATCH DELETE /api/v1/cert-manager/certificate-policies/{policy_id}
    GET PATCH /api/v1/cert-manager/certificate-policies/{policy_id}/binding
    POST GET /api/v1/cert-manager/certificate-profiles
    GET /api/v1/cert-manager/certificate-profiles/slug/{slug}
    GET PATCH DELETE /api/v1/cert-manager/certificate-profiles/{profile_id}
    GET /api/v1/cert-manager/certificate-profiles/{profile_id}/certificates
    GET /api/v1/cert-manager/certificate-profiles/{profile_id}/certificates/latest-active-bundle
    GET /api/v1/cert-manager/certificate-profiles/{profile_id}/acme/eab-secret/reveal
    POST GET /api/v1/cert-manager/applications
    GET /api/v1/cert-manager/applications/by-name/{name}
    GET PATCH DELETE /api/v1/cert-manager/applications/{application_id}
    GET POST /api/v1/cert-manager/applications/{application_id}/profiles
    DELETE /api/v1/cert-manager/applications/{application_id}/profiles/{profile_id}
    GET /api/v1/cert-manager/applications/{application_id}/profiles/{profile_id}/enrollment
    PUT /api/v1/cert-manager/applications/{application_id}/profiles/{profile_id}/enrollment/api
    PUT /api/v1/cert-manager/applications/{application_id}/profiles/{profile_id}/enrollment/est
    PUT /api/v1/cert-manager/applications/{application_id}/profiles/{profile_id}/enrollment/acme
    PUT /api/v1/cert-manager/applications/{application_id}/profiles/{profile_id}/enrollment/scep
    DELETE /api/v1/cert-manager/applications/{application_id}/profiles/{profile_id}/enrollment/{kind}
    GET /api/v1/cert-manager/ca
    POST GET /api/v1/cert-manager/ca/internal
    GET PATCH DELETE /api/v1/cert-manager/ca/internal/{authority_id}
    POST GET /api/v1/cert-manager/ca/internal/{authority_id}/certificate
    GET /api/v1/cert-manager/ca/internal/{authority_id}/certificate/{certificate_id}
    GET /api/v1/cert-manager/ca/internal/{authority_id}/ca-certificates
    GET /api/v1/cert-manager/ca/internal/{authority_id}/csr
    POST /api/v1/cert-manager/ca/internal/{authority_id}/sign-intermediate
    POST /api/v1/cert-manager/ca/internal/{authority_id}/import-certificate
    POST /api/v1/cert-manager/ca/internal/{authority_id}/renew
    GET /api/v1/cert-manager/ca/internal/{authority_id}/certificates/{certificate_id}/der
    POST GET /api/v1/cert-manager/ca/acme
    GET PATCH DELETE /api/v1/cert-manager/ca/acme/{authority_id}
    GET /.well-known/acme-challenge/{token}
    GET /api/v1/cert-manager/ca/internal/{authority_id}/crls
    POST /api/v1/cert-manager/ca/internal/{authority_id}/certificates/{certificate_id}/revoke
    GET /api/v1/cert-manager/crl/{certificate_id}
    POST /api/v1/cert-manager/ocsp/{certificate_id}
    GET /api/v1/cert-manager/ocsp/{certificate_id}/{question:path}
    POST /api/v1/cert-manager/certificates/certificate-requests/search
    GET /api/v1/cert-manager/certificates/certificate-requests
    GET /api/v1/cert-manager/certificates/certificate-requests/{request_id}
    POST /api/v1/cert-manager/certificates/certificate-requests/{request_id}/cancel
    GET DELETE /api/v1/cert-manager/certificates/{certificate_id}
    GET /api/v1/cert-manager/certificates/{certificate_id}/bundle
    GET /api/v1/cert-manager/certificates/{certificate_id}/certificate
    GET /api/v1/cert-manager/certificates/{certificate_id}/private-key
    POST /api/v1/cert-manager/certificates/{certificate_id}/renew
    PATCH /api/v1/cert-manager/certificates/{certificate_id}/config
    POST /api/v1/cert-manager/certificates/{certificate_id}/revoke
    POST /api/v1/cert-manager/certificates/import-certificate
    POST GET /api/v1/cert-manager/approval-policies
    GET PATCH DELETE /api/v1/cert-manager/approval-policies/{policy_id}
    GET /api/v1/cert-manager/approval-requests
    GET /api/v1/cert-manager/approval-requests/{approval_id}
    POST /api/v1/cert-manager/approval-requests/{approval_id}/approve
    POST /api/v1/cert-manager/approval-requests/{approval_id}/reject
    POST /api/v1/pki/subscribers
    GET PATCH DELETE /api/v1/pki/subscribers/{subscriber_name}
    GET /api/v1/projects/{project_id}/pki-subscribers
    POST /api/v1/pki/subscribers/{subscriber_name}/issue-certificate
    POST /api/v1/pki/subscribers/{subscriber_name}/sign-certificate
    POST /api/v1/pki/subscribers/{subscriber_name}/order-certificate
    GET /api/v1/pki/subscribers/{subscriber_name}/latest-certificate-bundle
    """,
}


def _table() -> Mapping[str, Placing]:
    """Return the placing of each method and path.

    Raises:
        ValueError: one is placed twice.
    """
    table: dict[str, Placing] = {}
    for placing, lines in _PLACED.items():
        for line in lines.strip().splitlines():
            *methods, path = line.split()
            for method in methods:
                route = f"{method} {path}"
                if route in table:
                    raise ValueError(f"{route} is placed twice")
                table[route] = placing
    return table


TABLE = _table()
