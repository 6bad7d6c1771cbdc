"""Whether a certificate is what was asked for, before anybody gets it. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from keybearer.base.certificate_terms import KeyUsage
from keybearer.controllers.issuance.service import IssuedCertificate
from keybearer.controllers.signers.asked import Asked
from keybearer.controllers.signers.decide import refused, usage_gap
from keybearer.controllers.signers.usages import Usages
from keybearer.controllers.signers.verdict import Delivery, Verdict
from keybearer.kube.resources import POD_CERTIFICATE_REQUESTS
from keybearer.pki.certificates import (
    Certificate,
    parse_certificate,
    parse_certificates,
    text_of_certificates,
)
from keybearer.pki.chains import ordered_chain, verify_chain
from keybearer.pki.comparison import Asked as Wanted
from keybearer.pki.comparison import differences
from keybearer.pki.errors import MalformedError, PkiError, UnsupportedAlgorithmError
from keybearer.pki.signing_requests import SigningRequest, parse_signing_request

__all__ = ["judge_certificate", "read_request"]

_SKEW: Final = timedelta(minutes=10)
"""By how much the clocks of service and operator may differ."""


def read_request(asked: Asked) -> SigningRequest | Verdict:
    """Return the signing request, or why it can't be signed."""
    try:
        request = parse_signing_request(asked.csr_pem)
    except UnsupportedAlgorithmError as error:
        return refused(asked, "UnsupportedKeyType", f"{error}; use a key on a P curve or RSA")
    except MalformedError as error:
        return refused(asked, "RequestInvalid", str(error))
    if request.is_ca is not None and request.is_ca is not asked.is_ca:
        return refused(
            asked,
            "RequestInvalid",
            "the signing request and the object disagree on whether it is for an authority",
        )
    if asked.kind == POD_CERTIFICATE_REQUESTS.kind and (
        request.subject.attributes or request.alternative_names
    ):
        # Names would be signed as they stand: a kubelet's request has none, and pods take those of the profile.
        return refused(asked, "StubRequestNotEmpty", "the stub request of a pod may hold nothing but its key")
    # What it asks for itself is what it gets, so a contradiction shows before anything is issued.
    usages = Usages(
        key=asked.usages.key if request.key_usages is None else request.key_usages,
        extended=frozenset(request.extended_key_usages) or asked.usages.extended,
    )
    gap = usage_gap(asked, usages)
    if gap is not None:
        return refused(
            asked, "UsagesDiffer", f"compared with the usages of the object, the signing request {gap}"
        )
    return request


def judge_certificate(
    asked: Asked, request: SigningRequest, issued: IssuedCertificate, now: datetime
) -> Delivery | str:
    """Return the certificate as it is handed over, or why it isn't."""
    try:
        leaf = parse_certificate(issued.certificate)
        others = parse_certificates(issued.chain) if issued.chain.strip() else ()
        difference = _difference(asked, request, leaf)
        if difference is not None:
            return difference
        path = ordered_chain(leaf, others)
        if len(path) < 2:
            return "it comes without the certificate of who signed it"
        *intermediates, anchor = path[1:]
        # The clock of who signed may be ahead of ours, by this much.
        at = min(max(now, leaf.not_before), now + _SKEW)
        verify_chain(leaf, intermediates, [anchor], at, usages=asked.usages.extended)
    except PkiError as error:
        return str(error)
    # Who is to trust a root has it; sent along, it is only in the way.
    shown = intermediates if anchor.is_self_issued else [*intermediates, anchor]
    return Delivery(
        chain_pem=text_of_certificates((leaf, *shown)),
        anchor_pem=anchor.pem,
        not_before=leaf.not_before,
        not_after=leaf.not_after,
        serial_number=leaf.serial,
    )


def _difference(asked: Asked, request: SigningRequest, leaf: Certificate) -> str | None:
    wanted = Wanted(
        public_key=request.public_key,
        subject=request.subject,
        # A request without names takes those of the profile.
        alternative_names=request.alternative_names or None,
        is_ca=asked.is_ca,
        # What a pod says is the longest; `judge_delivery` holds it to that.
        lifetime=None if asked.kind == POD_CERTIFICATE_REQUESTS.kind else asked.lifetime,
    )
    texts = [one.text for one in differences(wanted, leaf)]
    issued = Usages(
        key=frozenset(KeyUsage) if leaf.key_usages is None else leaf.key_usages,
        extended=frozenset(leaf.extended_key_usages),
        unknown=leaf.other_usages,
    )
    gap = usage_gap(asked, issued)
    return "; ".join([*texts, *([f"it {gap}"] if gap is not None else [])]) or None
