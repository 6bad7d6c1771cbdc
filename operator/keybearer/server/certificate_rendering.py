"""Domain to wire: the JSON of certificates and of requests for them."""

from __future__ import annotations

from datetime import datetime

from keybearer.domain.certificates.asked import Asked
from keybearer.domain.certificates.certificates import Bundle
from keybearer.domain.certificates.issuance import IssuedCertificate
from keybearer.domain.certificates.requests import RequestDetail
from keybearer.domain.certificates.signing import first_of, shown_subject, without_last
from keybearer.store.certificate_request_search import CertificateRequestView
from keybearer.store.certificates import Certificate
from keybearer.wire.base import write_instant

__all__ = [
    "bundle_json",
    "certificate_json",
    "issued_json",
    "pem_json",
    "renewed_json",
    "request_detail_json",
    "request_json",
]

Json = dict[str, object]
_ISSUED = "Certificate issued successfully"


def issued_json(issued: IssuedCertificate) -> Json:
    """Return what came of issuance (interface.md section 2.4)."""
    request, certificate = issued.request, issued.certificate
    shown: Json | None = None
    if certificate is not None:
        shown = {
            "certificate": certificate.certificate,
            "issuingCaCertificate": issued.issuing or "",
            "certificateChain": issued.chain,
            "serialNumber": certificate.serial_number,
            "certificateId": certificate.id,
        }
        if issued.private_key is not None:
            shown["privateKey"] = issued.private_key
    return {
        "certificate": shown,
        "certificateRequestId": request.id,
        "status": request.status,
        "message": _ISSUED if certificate is not None else request.pending_message,
    }


def renewed_json(issued: IssuedCertificate) -> Json:
    """Return what came of a renewal: flat, null while the request waits (wire.md section 5.3)."""
    certificate = issued.certificate
    shown: Json = {
        "certificate": None,
        "issuingCaCertificate": None,
        "certificateChain": None,
        "serialNumber": None,
        "certificateId": None,
        "certificateRequestId": issued.request.id,
    }
    if certificate is not None:
        shown |= {
            "certificate": certificate.certificate,
            "issuingCaCertificate": issued.issuing or "",
            "certificateChain": issued.chain,
            "serialNumber": certificate.serial_number,
            "certificateId": certificate.id,
        }
        if issued.private_key is not None:
            shown["privateKey"] = issued.private_key
    return shown


def request_json(view: CertificateRequestView, now: datetime) -> Json:
    """Return a request in a list (interface.md section 2.5); what it doesn't have is left out."""
    request = view.request
    status = view.certificate_status(now)
    optional = {
        "commonName": request.common_name,
        "altNames": request.alt_names,
        "profileId": request.profile_id,
        "profileName": view.profile_slug,
        "caId": request.authority_id,
        "certificateId": request.certificate_id,
        "approvalRequestId": view.approval_id,
        "errorMessage": request.error_message,
        "pendingMessage": request.pending_message,
        "certificate": None
        if status is None
        else {"id": request.certificate_id, "serialNumber": view.serial_number, "status": status.value},
    }
    return {
        "id": request.id,
        "status": request.status,
        **{name: value for name, value in optional.items() if value is not None},
        "createdAt": write_instant(request.created_at),
        "updatedAt": write_instant(request.updated_at),
    }


def request_detail_json(detail: RequestDetail) -> Json:
    """Return one request: flat (wire.md section 5.2)."""
    request, certificate = detail.request, detail.certificate
    asked = Asked.read(request.asked)
    chain = None if certificate is None else certificate.chain
    if chain is not None and request.remove_roots_from_chain:
        chain = without_last(chain)
    subject = shown_subject(asked.subject)
    return {
        "status": request.status,
        "certificate": None if certificate is None else certificate.certificate,
        "certificateId": request.certificate_id,
        "privateKey": detail.private_key,
        "serialNumber": None if certificate is None else certificate.serial_number,
        "certificateChain": chain,
        "issuingCaCertificate": None if certificate is None else first_of(certificate.chain),
        "errorMessage": request.error_message,
        "commonName": request.common_name,
        **{name: subject.get(name) for name in _SUBJECT},
        "basicConstraints": _constraints(is_ca=asked.is_ca, path_length=asked.path_length),
        "createdAt": write_instant(request.created_at),
        "updatedAt": write_instant(request.updated_at),
    }


def certificate_json(certificate: Certificate, now: datetime) -> Json:
    """Return a certificate without its text (wire.md section 5.3)."""
    subject = certificate.subject
    return {
        "id": certificate.id,
        "projectId": certificate.project_id,
        "profileId": certificate.profile_id,
        "applicationId": certificate.application_id,
        "caId": certificate.authority_id,
        "caCertId": certificate.authority_certificate_id,
        "status": certificate.status(now).value,
        "serialNumber": certificate.serial_number,
        "commonName": certificate.common_name,
        "altNames": certificate.alt_names,
        "notBefore": write_instant(certificate.not_before),
        "notAfter": write_instant(certificate.not_after),
        "keyUsages": certificate.key_usages,
        "extendedKeyUsages": certificate.extended_key_usages,
        "keyAlgorithm": certificate.key_algorithm,
        "signatureAlgorithm": certificate.signature_algorithm,
        "subjectOrganization": subject.get("organization"),
        "subjectOrganizationalUnit": subject.get("organizationalUnit"),
        "subjectCountry": subject.get("country"),
        "subjectState": subject.get("state"),
        "subjectLocality": subject.get("locality"),
        "subjectDomainComponents": subject.get("domainComponents"),
        "basicConstraints": _constraints(is_ca=certificate.is_ca, path_length=certificate.path_length),
        "revokedAt": None if certificate.revoked_at is None else write_instant(certificate.revoked_at),
        "revocationReason": certificate.revocation_reason,
        "friendlyName": certificate.friendly_name,
        "createdAt": write_instant(certificate.created_at),
        "updatedAt": write_instant(certificate.updated_at),
    }


def pem_json(certificate: Certificate) -> Json:
    """Return a certificate with its chain."""
    return {
        "certificate": certificate.certificate,
        "certificateChain": certificate.chain or None,
        "serialNumber": certificate.serial_number,
    }


def bundle_json(bundle: Bundle) -> Json:
    """Return a certificate with its chain and its key."""
    return {**pem_json(bundle.certificate), "privateKey": bundle.private_key}


_SUBJECT = ("organization", "organizationalUnit", "country", "state", "locality")


def _constraints(*, is_ca: bool, path_length: int | None) -> Json:
    return {"isCA": is_ca, "pathLength": path_length}
