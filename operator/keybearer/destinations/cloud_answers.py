"""What answers of AWS mean: the codes of its errors, in JSON and in XML.

https://docs.aws.amazon.com/systems-manager/latest/APIReference/CommonErrors.html, its counterparts of the other
services, and the codes that the SDKs repeat (https://docs.aws.amazon.com/sdkref/latest/guide/feature-retry-behavior.html,
2026-11-25).
"""

from __future__ import annotations

import html
import re

from pydantic import JsonValue

from keybearer.destinations.app import Answers
from keybearer.destinations.content import field_of
from keybearer.destinations.remote import (
    Limits,
    RemoteAnswer,
    RemoteDeniedError,
    RemoteError,
    RemoteMissingError,
    RemoteThrottledError,
    RemoteUnavailableError,
)

__all__ = ["ANSWERS", "EXPIRED", "UnknownKeyError", "code_of", "xml_text"]

EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException"})
"""The codes for a session token that holds no more."""


class UnknownKeyError(RemoteDeniedError):
    """Where it was asked, AWS doesn't know the access key: never, no more, or not yet."""


_KINDS: dict[type[RemoteError], str] = {
    RemoteThrottledError: """
        BandwidthLimitExceeded PriorRequestNotComplete RequestLimitExceeded RequestThrottled
        RequestThrottledException SlowDown ThrottledException Throttling ThrottlingException
        TooManyRequestsException TooManyUpdates""",
    UnknownKeyError: "InvalidAccessKeyId InvalidClientTokenId UnrecognizedClientException",
    RemoteDeniedError: """
        AccessDenied AccessDeniedException AuthFailure ExpiredToken ExpiredTokenException IncompleteSignature
        IncompleteSignatureException InvalidSignatureException KMSAccessDeniedException
        MissingAuthenticationToken MissingAuthenticationTokenException NotAuthorized OptInRequired RequestExpired
        SignatureDoesNotMatch UnauthorizedOperation""",
    RemoteMissingError: """
        InvalidKeyId KMSNotFoundException NoSuchEntity NoSuchEntityException ResourceNotFoundException""",
    RemoteUnavailableError: """
        InternalFailure InternalServerError InternalServiceError RequestTimeout RequestTimeoutException
        ServiceUnavailable ServiceUnavailableException""",
}
_BY_CODE = {code: kind for kind, codes in _KINDS.items() for code in codes.split()}


def xml_text(body: bytes, tag: str) -> str:
    """Return the text of the first such element; empty if there is no such element.

    The answers read here are flat records of texts, so no parser has to be trusted with what a remote sends.
    """
    found = re.search(rb"<%s>([^<]*)</%s>" % (tag.encode(), tag.encode()), body)
    return html.unescape(found[1].decode("utf-8", "replace")).strip() if found else ""


def code_of(answer: RemoteAnswer) -> str:
    """Return the code of an error; empty for an answer of success, and for an error without a code."""
    if answer.status == 200:
        return ""
    told = field_of(answer.json_or_none(), "__type") or xml_text(answer.body, "Code")
    code = str(told or answer.headers.get("x-amzn-errortype", "")).partition(":")[0].rpartition("#")[2]
    return code if re.fullmatch("[A-Za-z0-9_.-]{1,100}", code) else ""


def _told(answer: RemoteAnswer) -> JsonValue:
    code, told = code_of(answer), answer.json_or_none()
    message = field_of(told, "message") or field_of(told, "Message") or xml_text(answer.body, "Message")
    # Who objects to a signature repeats what was signed, a session token included.
    return {"code": code, "message": "" if "ignature" in code else message}


def _kind(answer: RemoteAnswer) -> type[RemoteError] | None:
    return RemoteThrottledError if answer.status == 429 else _BY_CODE.get(code_of(answer))


ANSWERS = Answers(
    who="AWS",
    content=_told,
    word=lambda told: field_of(told, "code"),
    kind=_kind,
    hints=dict.fromkeys(
        ("InvalidAccessKeyId", "InvalidClientTokenId", "UnrecognizedClientException"),
        "the access key is unknown there: it is wrong, or was deleted or switched off",
    ),
    limits=Limits(is_throttled=lambda answer: _kind(answer) is RemoteThrottledError),
)
