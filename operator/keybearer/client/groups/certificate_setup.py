"""`client.certificate_profiles`, `client.certificate_policies`, `client.certificate_authorities`."""

from __future__ import annotations

from keybearer.client import certificate_finding
from keybearer.client.operations import (
    acme_authorities,
    certificate_authorities,
    certificate_authority_certificates,
    certificate_policies,
    certificate_profile_certificates,
    certificate_profiles,
    policy_binding,
)
from keybearer.client.resources import Resource, Shell, call, flow

__all__ = ["CertificateAuthoritiesApi", "CertificatePoliciesApi", "CertificateProfilesApi"]


class CertificateProfilesApi(Resource[Shell]):
    """`client.certificate_profiles` (interface.md section 4.7): what certificates are issued from."""

    list = call(certificate_profiles.ListCertificateProfiles)
    get = call(certificate_profiles.GetCertificateProfile)
    get_by_slug = call(certificate_profiles.GetCertificateProfileBySlug)
    create = call(certificate_profiles.CreateCertificateProfile)
    update = call(certificate_profiles.UpdateCertificateProfile)
    delete = call(certificate_profiles.DeleteCertificateProfile)
    list_certificates = call(certificate_profile_certificates.ListCertificatesOfProfile)
    get_latest_bundle = call(certificate_profile_certificates.GetLatestBundleOfProfile)
    reveal_acme_binding = call(certificate_profile_certificates.RevealAcmeBinding)


class CertificatePoliciesApi(Resource[Shell]):
    """`client.certificate_policies`: what may be asked for."""

    list = call(certificate_policies.ListCertificatePolicies)
    get = call(certificate_policies.GetCertificatePolicy)
    find = flow(certificate_finding.find_policy)
    create = call(certificate_policies.CreateCertificatePolicy)
    update = call(certificate_policies.UpdateCertificatePolicy)
    delete = call(certificate_policies.DeleteCertificatePolicy)
    get_binding = call(policy_binding.GetPolicyBinding)
    change_binding = call(policy_binding.ChangePolicyBinding)


class CertificateAuthoritiesApi(Resource[Shell]):
    """`client.certificate_authorities`: who signs."""

    list = call(certificate_authorities.ListCertificateAuthorities)
    find = flow(certificate_finding.find_authority)
    list_internal = call(certificate_authorities.ListInternalAuthorities)
    get = call(certificate_authorities.GetInternalAuthority)
    create = call(certificate_authorities.CreateInternalAuthority)
    update = call(certificate_authorities.UpdateInternalAuthority)
    delete = call(certificate_authorities.DeleteInternalAuthority)
    list_acme = call(acme_authorities.ListAcmeAuthorities)
    get_acme = call(acme_authorities.GetAcmeAuthority)
    create_acme = call(acme_authorities.CreateAcmeAuthority)
    update_acme = call(acme_authorities.UpdateAcmeAuthority)
    delete_acme = call(acme_authorities.DeleteAcmeAuthority)
    get_certificate = call(certificate_authority_certificates.GetAuthorityCertificate)
    get_certificate_der = call(certificate_authority_certificates.GetAuthorityCertificateDer)
    list_certificates = call(certificate_authority_certificates.ListAuthorityCertificates)
    issue_certificate = call(certificate_authority_certificates.IssueAuthorityCertificate)
    get_csr = call(certificate_authority_certificates.GetAuthoritySigningRequest)
    sign_intermediate = call(certificate_authority_certificates.SignIntermediate)
    import_certificate = call(certificate_authority_certificates.ImportAuthorityCertificate)
    renew_certificate = call(certificate_authority_certificates.RenewAuthorityCertificate)
    list_crls = call(certificate_authority_certificates.ListRevocationLists)
