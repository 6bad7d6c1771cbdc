"""Reads the objects that ask for certificates. Pure; what is not meant for us, or has its answer, reads as None."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of, mappings_of, text_of
from keybearer.controllers.signers.asked import Approval, Asked, Flaw, Requester
from keybearer.controllers.signers.naming import profile_of_signer
from keybearer.controllers.signers.usages import read_usages
from keybearer.kube.resources import (
    CERTIFICATE_REQUESTS,
    CERTIFICATE_SIGNING_REQUESTS,
    POD_CERTIFICATE_REQUESTS,
    JsonObject,
    ObjectKey,
)

__all__ = ["CSR_MAX_CHARS", "read_asked"]

CSR_MAX_CHARS: Final = 4096
"""The longest signing request that the service takes (wire.md section 5.1)."""

_DEFAULT_USAGES: Final = ("digital signature", "key encipherment")
"""What cert-manager means by no usages (types_certificaterequest.go)."""

_GO_DURATION = re.compile(r"(?:\d{1,12}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h)){1,8}")
_GO_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")
_GO_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_LINE = 64
_SECONDS_MAX: Final = 2**31 - 1
"""What a field of 32 bits can say."""

_Conditions = tuple[Mapping[str, JsonValue], ...]


def read_asked(kind: str, body: JsonObject) -> Asked | None:
    """Return what the object asks of one of our profiles, or None where that is nothing, or was answered.

    Args:
        kind: of the object.
        body: as the API server holds it.
    """
    return _READERS[kind](body)


def _certificate_request(body: JsonObject) -> Asked | None:
    spec, status = mapping_of(body.get("spec")), mapping_of(body.get("status"))
    reference = mapping_of(spec.get("issuerRef"))
    if reference.get("group") != "keybearer.dev" or reference.get("kind") != "CertificateProfile":
        return None
    conditions = _conditions(status)
    states = {text_of(one.get("type")): text_of(one.get("status")) for one in conditions}
    ready = next((one for one in conditions if one.get("type") == "Ready"), {})
    is_over = states.get("Ready") == "True" or ready.get("reason") in ("Failed", "Denied", "Issued")
    if is_over or states.get("InvalidRequest") == "True":
        return None
    key, uid, version = _identity(body)
    csr_pem, flaw = _pem(spec.get("request"))
    words = [text_of(one) for one in list_of(spec.get("usages"))] or _DEFAULT_USAGES
    is_ca = spec.get("isCA") is True
    return Asked(
        kind=CERTIFICATE_REQUESTS.kind,
        object=key,
        uid=uid,
        resource_version=version,
        profile=ObjectKey(key.namespace, text_of(reference.get("name"))),
        approval=_approval(states),
        csr_pem=csr_pem,
        lifetime=_go_duration(text_of(spec.get("duration"))),
        usages=read_usages([*words, "cert sign"] if is_ca else words),
        is_ca=is_ca,
        flaw=flaw,
        conditions=conditions,
        told=(text_of(ready.get("reason")), text_of(ready.get("message"))) if ready else None,
    )


def _signing_request(body: JsonObject) -> Asked | None:
    spec, status = mapping_of(body.get("spec")), mapping_of(body.get("status"))
    profile = profile_of_signer(text_of(spec.get("signerName")))
    conditions = _conditions(status)
    states = {text_of(one.get("type")): text_of(one.get("status")) for one in conditions}
    if profile is None or status.get("certificate") or {"Failed", "Denied"} & states.keys():
        return None
    key, uid, version = _identity(body)
    csr_pem, flaw = _pem(spec.get("request"))
    return Asked(
        kind=CERTIFICATE_SIGNING_REQUESTS.kind,
        object=ObjectKey("", key.name),
        uid=uid,
        resource_version=version,
        profile=profile,
        approval=_approval(states),
        csr_pem=csr_pem,
        lifetime=_seconds(spec.get("expirationSeconds")),
        usages=read_usages(map(text_of, list_of(spec.get("usages")))),
        requester=_requester(spec),
        flaw=flaw,
        conditions=conditions,
    )


def _pod_request(body: JsonObject) -> Asked | None:
    spec, status = mapping_of(body.get("spec")), mapping_of(body.get("status"))
    profile = profile_of_signer(text_of(spec.get("signerName")))
    conditions = _conditions(status)
    if profile is None or conditions:  # the API server allows none but Issued, Denied and Failed
        return None
    key, uid, version = _identity(body)
    stub = text_of(spec.get("stubPKCS10Request"))
    csr_pem, flaw = (_wrapped(stub), None) if stub else ("", _NO_STUB)
    if spec.get("unverifiedUserAnnotations"):
        flaw = _ANNOTATED
    return Asked(
        kind=POD_CERTIFICATE_REQUESTS.kind,
        object=key,
        uid=uid,
        resource_version=version,
        profile=profile,
        approval=Approval.GIVEN,  # who may run a pod in the namespace may have its certificate
        csr_pem=csr_pem,
        lifetime=_seconds(spec.get("maxExpirationSeconds")),
        usages=read_usages(()),
        flaw=flaw,
        conditions=conditions,
    )


_NO_STUB: Final = Flaw(
    "StubRequestMissing",
    "the request holds a bare public key, and the service signs none without a signing request; a kubelet of "
    "Kubernetes 1.36 or newer sends stubPKCS10Request",
)
_ANNOTATED: Final = Flaw(
    "InvalidUnverifiedUserAnnotations",
    "this signer knows no user annotations; remove userAnnotations from the pod's podCertificate volume",
)

_READERS: Final[Mapping[str, Callable[[JsonObject], Asked | None]]] = {
    CERTIFICATE_REQUESTS.kind: _certificate_request,
    CERTIFICATE_SIGNING_REQUESTS.kind: _signing_request,
    POD_CERTIFICATE_REQUESTS.kind: _pod_request,
}


def _identity(body: JsonObject) -> tuple[ObjectKey, str, str]:
    meta = mapping_of(body.get("metadata"))
    return ObjectKey.of(body), text_of(meta.get("uid")), text_of(meta.get("resourceVersion"))


def _conditions(status: Mapping[str, JsonValue]) -> _Conditions:
    return mappings_of(status.get("conditions"))


def _approval(states: Mapping[str, str]) -> Approval:
    """A denial wins, whatever else is said; neither kind lets both be."""
    if states.get("Denied") == "True":
        return Approval.DENIED
    return Approval.GIVEN if states.get("Approved") == "True" else Approval.AWAITED


def _requester(spec: Mapping[str, JsonValue]) -> Requester:
    extra = mapping_of(spec.get("extra"))
    return Requester(
        username=text_of(spec.get("username")),
        uid=text_of(spec.get("uid")),
        groups=tuple(map(text_of, list_of(spec.get("groups")))),
        extra={
            name: tuple(map(text_of, values)) for name, values in extra.items() if isinstance(values, list)
        },
    )


def _pem(request: JsonValue) -> tuple[str, Flaw | None]:
    """Return the text that a field of bytes holds, or what is wrong with it."""
    try:
        text = base64.b64decode(text_of(request), validate=True).decode("ascii").strip()
    except ValueError:  # no base64, or letters that neither base64 nor PEM has
        return "", Flaw("RequestInvalid", "spec.request holds no signing request in PEM")
    if len(text) > CSR_MAX_CHARS:
        return "", Flaw(
            "RequestTooLong",
            f"the signing request has {len(text)} characters, and the service takes {CSR_MAX_CHARS}; ask for "
            "fewer names, or for an elliptic key",
        )
    return text, None


def _wrapped(der_base64: str) -> str:
    lines = [der_base64[start : start + _LINE] for start in range(0, len(der_base64), _LINE)]
    return "\n".join(("-----BEGIN CERTIFICATE REQUEST-----", *lines, "-----END CERTIFICATE REQUEST-----", ""))


def _seconds(value: JsonValue) -> timedelta | None:
    return timedelta(seconds=value) if isinstance(value, int) and 0 < value <= _SECONDS_MAX else None


def _go_duration(text: str) -> timedelta | None:
    """Return a duration as Go writes it, such as `2160h0m0s`; None for anything else, and for none."""
    if not _GO_DURATION.fullmatch(text):
        return None
    try:
        length = timedelta(
            seconds=sum(float(count) * _GO_SECONDS[unit] for count, unit in _GO_PART.findall(text))
        )
    except OverflowError:
        return None
    return length if length > timedelta() else None
