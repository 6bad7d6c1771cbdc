"""What is stored of a certificate that is there already: read from its text, whoever made it."""

from __future__ import annotations

from datetime import datetime

from keybearer.base.ids import ProjectId, new_uuid
from keybearer.domain.certificates.signing import shown_subject
from keybearer.pki.certificates import Certificate as ReadCertificate
from keybearer.pki.errors import UnsupportedAlgorithmError
from keybearer.store.certificates import Certificate

__all__ = ["record_of"]


def record_of(read: ReadCertificate, project_id: ProjectId, chain: str, now: datetime) -> Certificate:
    """Return what is stored of a certificate with the chain above it, PEM: of nobody, and with an id of its own.

    Raises:
        UnsupportedAlgorithmError: its key is of a kind that no word names.
    """
    if read.public_key is None:
        raise UnsupportedAlgorithmError("the key of the certificate is of a kind that isn't supported")
    return Certificate(
        id=new_uuid(),
        project_id=project_id,
        profile_id=None,
        application_id=None,
        subscriber_id=None,
        authority_id=None,
        authority_certificate_id=None,
        serial_number=read.serial,
        fingerprint=read.fingerprint,
        public_key_fingerprint=read.public_key.fingerprint,
        common_name=read.subject.common_name or "",
        alt_names=",".join(name.value for name in read.alternative_names),
        friendly_name="",
        subject=shown_subject(read.subject),
        key_usages=tuple(sorted(read.key_usages or ())),
        extended_key_usages=tuple(read.extended_key_usages),
        key_algorithm=read.public_key.algorithm.value,
        signature_algorithm="" if read.signature_algorithm is None else read.signature_algorithm.value,
        is_ca=read.is_ca,
        path_length=read.path_length,
        not_before=read.not_before,
        not_after=read.not_after,
        certificate=read.pem,
        chain=chain,
        is_revoked=False,
        revoked_at=None,
        revocation_reason=None,
        renew_before_days=None,
        renew_at=None,
        renewed_from_id=None,
        renewed_by_id=None,
        created_at=now,
        updated_at=now,
    )
