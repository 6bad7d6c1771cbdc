"""What a certificate's own Secret says of it, where the status was lost. Pure."""

from __future__ import annotations

import base64

from keybearer.base.certificate_terms import RequestStatus
from keybearer.controllers.certificateprofile.case import Case
from keybearer.controllers.certificateprofile.gate import Authority
from keybearer.controllers.certificateprofile.secret_body import CA_KEY, CERTIFICATE_KEY, origins_of
from keybearer.controllers.certificateprofile.status import CertificateRequestStatus
from keybearer.controllers.issuance.timing import renewal_time, spread
from keybearer.controllers.target.observed import PresentTarget
from keybearer.pki.certificates import parse_certificates
from keybearer.pki.chains import ordered_chain
from keybearer.pki.errors import PkiError

__all__ = ["recall_entry"]


def recall_entry(case: Case, present: PresentTarget, uid: str) -> CertificateRequestStatus | None:
    """Return what the status is to say of a certificate; None where its Secret doesn't tell."""
    origins = origins_of(present.body, case.name)
    if origins is None:
        return None
    try:
        encoded = present.data.get(CERTIFICATE_KEY, "")
        leaf, *above = parse_certificates(base64.b64decode(encoded, validate=True).decode())
        trusted = parse_certificates(base64.b64decode(present.data.get(CA_KEY, ""), validate=True).decode())
    except (PkiError, ValueError):
        return None
    path = ordered_chain(leaf, (*above, *trusted))
    entry = case.desired.entry
    return case.entry.model_copy(
        update={
            "revision": origins.revision,
            "status": RequestStatus.ISSUED,
            "certificate_id": origins.certificate_id,
            "certificate_revision": origins.revision,
            "serial_number": leaf.serial,
            "not_before": leaf.not_before,
            "not_after": leaf.not_after,
            "renewal_time": None
            if entry.asked.not_after is not None
            else renewal_time(leaf.not_before, leaf.not_after, entry.renew_before, spread(uid, case.name)),
            "spec": origins.digest,
            "authority": None if len(path) < 2 else Authority(path[1:]).key,
            "fingerprint": present.fingerprint,
            "keystores": case.keystores,
        }
    )
