"""`client.certificates`, `client.certificate_requests`."""

from __future__ import annotations

from keybearer.client.operations import certificate_issuing, certificate_requests, certificates
from keybearer.client.resources import Resource, Shell, call

__all__ = ["CertificateRequestsApi", "CertificatesApi"]


class CertificateRequestsApi(Resource[Shell]):
    """`client.certificate_requests` (interface.md section 4.6): what was asked for, and how it stands."""

    get = call(certificate_requests.GetCertificateRequest)
    search = call(certificate_requests.SearchCertificateRequests)
    list = call(certificate_requests.ListCertificateRequests)
    cancel = call(certificate_requests.CancelCertificateRequest)


class CertificatesApi(Resource[Shell]):
    """`client.certificates` (interface.md section 4.5)."""

    list = call(certificates.ListCertificates)
    issue = call(certificate_issuing.IssueCertificate)
    get = call(certificates.GetCertificate)
    get_bundle = call(certificates.GetCertificateBundle)
    get_chain = call(certificates.GetCertificateChain)
    get_private_key = call(certificates.GetCertificatePrivateKey)
    import_certificate = call(certificates.ImportCertificate)
    renew = call(certificates.RenewCertificate)
    configure = call(certificates.ConfigureCertificate)
    revoke = call(certificates.RevokeCertificate)
    delete = call(certificates.DeleteCertificate)
