"""Signed calls to services of the cloud: where they are, how both of their protocols look, what errors mean.

Parameters, secrets and keys of encryption speak JSON; accounts and tokens speak forms and XML.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

import orjson
from pydantic import JsonValue

from keybearer.destinations.cloud_signing import CloudKey, Scope, sign
from keybearer.destinations.remote import (
    Http,
    Limits,
    RemoteAnswer,
    RemoteDeniedError,
    RemoteError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteRequest,
    RemoteThrottledError,
    RemoteUnavailableError,
)

__all__ = ["CloudCalls", "CloudFault", "fault_of", "xml_text"]

_JSON_TYPE = "application/x-amz-json-1.1"
_FORM_TYPE = "application/x-www-form-urlencoded; charset=utf-8"
_QUOTED_MAX = 300
_CODE = re.compile(r"[A-Za-z0-9_.:-]{1,100}")
_GOV = "us-gov-"

_THROTTLED = frozenset(
    {
        "BandwidthLimitExceeded",
        "PriorRequestNotComplete",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "ThrottledException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TooManyUpdates",
    }
)
_DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "IncompleteSignature",
        "IncompleteSignatureException",
        "InvalidAccessKeyId",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "KMSAccessDeniedException",
        "MissingAuthenticationToken",
        "MissingAuthenticationTokenException",
        "NotAuthorized",
        "OptInRequired",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnauthorizedOperation",
        "UnrecognizedClientException",
    }
)
_MISSING = frozenset(
    {
        "InvalidKeyId",
        "KMSNotFoundException",
        "NoSuchEntity",
        "NoSuchEntityException",
        "ResourceNotFoundException",
    }
)
_FAILING = frozenset(
    {
        "InternalFailure",
        "InternalServerError",
        "InternalServiceError",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "ServiceUnavailableException",
    }
)


@dataclass(frozen=True, slots=True)
class CloudFault:
    """An error that the cloud answered.

    Attributes:
        code: the vendor's word, empty where there is none.
        message: what it says besides. Never to be shown where the request carried a value: it may repeat it.
    """

    status: int
    code: str
    message: str = field(repr=False)

    @property
    def is_throttling(self) -> bool:
        """Whether the same is to be asked again, later."""
        return self.status == 429 or self.code in _THROTTLED

    def error(self, action: str, *, hint: str = "", is_quotable: bool = True) -> RemoteError:
        """Return the kind of error that it is; the text tells what was asked and the vendor's word.

        Args:
            action: what was asked, and of what.
            hint: what the word means there.
            is_quotable: whether the request carried no value, so that the message may be shown.
        """
        text = f"the cloud refuses {action}: {self.code or self.status}"
        if hint:
            text = f"{text}; {hint}"
        elif is_quotable and self.message:
            text = f"{text}: {self.message[:_QUOTED_MAX]}"
        if self.is_throttling:
            return RemoteThrottledError(text)
        if self.code in _DENIED:
            return RemoteDeniedError(text)
        if self.status >= 500 or self.code in _FAILING:
            return RemoteUnavailableError(text)
        if self.code in _MISSING:
            return RemoteMissingError(text)
        return RemoteDeniedError(text) if self.status in (401, 403) else RemoteRefusedError(text)


def fault_of(answer: RemoteAnswer) -> CloudFault | None:
    """Return what the answer says is wrong; None for a good one."""
    if answer.status == 200:
        return None
    found = _json_fault(answer.body)
    if found is None:
        found = xml_text(answer.body, "Code"), xml_text(answer.body, "Message")
    code = (found[0] or answer.headers.get("x-amzn-errortype", "")).partition(":")[0].rpartition("#")[2]
    return CloudFault(answer.status, code if _CODE.fullmatch(code) else "", found[1])


def _json_fault(body: bytes) -> tuple[str, str] | None:
    try:
        told = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(told, dict):
        return "", ""
    return str(told.get("__type") or ""), str(told.get("message") or told.get("Message") or "")


def xml_text(body: bytes, tag: str) -> str:
    """Return the text of the first such element; empty where there is none.

    The answers read here are flat records of texts, so no parser has to be trusted with what a remote sends.
    """
    found = re.search(rb"<%s>([^<]*)</%s>" % (tag.encode(), tag.encode()), body)
    return html.unescape(found[1].decode("utf-8", "replace")).strip() if found else ""


def _is_throttled(answer: RemoteAnswer) -> bool:
    fault = fault_of(answer)
    return fault is not None and fault.is_throttling


class CloudCalls:
    """Calls with one key.

    Args:
        http: the way out.
        key: what all calls are signed with.
        endpoint: takes the place of the vendor's hosts, where it is given.
    """

    def __init__(self, http: Http, key: CloudKey, endpoint: str | None = None) -> None:
        self._http = http
        self._key = key
        self._endpoint = endpoint

    async def ask_json(
        self, scope: Scope, target: str, body: Mapping[str, JsonValue]
    ) -> tuple[Mapping[str, JsonValue], CloudFault | None]:
        """Return the answer of a service that speaks JSON, or what is wrong.

        Args:
            scope: the service and its region.
            target: the operation, as `X-Amz-Target` names it.
            body: what is asked.

        Raises:
            RemoteError: no answer came, or none that can be used.
        """
        headers = {"Content-Type": _JSON_TYPE, "X-Amz-Target": target}
        answer = await self._send(scope, headers, orjson.dumps(body))
        fault = self._fault_of(answer)
        if fault is not None:
            return {}, fault
        told = answer.json() if answer.body else {}
        if not isinstance(told, dict):
            raise RemoteUnavailableError("the cloud answers something other than an object")
        return told, None

    async def ask_form(
        self, scope: Scope, form: Mapping[str, str], *, is_repeatable: bool = True
    ) -> tuple[bytes, CloudFault | None]:
        """Return the XML of a service that speaks forms, or what is wrong.

        Raises:
            RemoteError: no answer came, or none that can be used.
        """
        headers = {"Content-Type": _FORM_TYPE}
        answer = await self._send(scope, headers, urlencode(form).encode(), is_repeatable=is_repeatable)
        return answer.body, self._fault_of(answer)

    def _fault_of(self, answer: RemoteAnswer) -> CloudFault | None:
        fault = fault_of(answer)
        # Who objects to a signature repeats what was signed, a session token included.
        if fault is not None and ("ignature" in fault.code or self._key.is_in(fault.message)):
            return replace(fault, message="")
        return fault

    async def _send(
        self, scope: Scope, headers: Mapping[str, str], content: bytes, *, is_repeatable: bool = True
    ) -> RemoteAnswer:
        url = self._endpoint or _usual_place(scope)
        if not url.endswith("/"):
            url = f"{url}/"
        signed = sign("POST", url, headers, content, key=self._key, scope=scope, now=self._http.now())
        request = RemoteRequest("POST", url, signed, content, is_repeatable)
        return await self._http.send(
            request, limits=Limits(is_throttled=_is_throttled), place=self._key.access_key_id
        )


def _usual_place(scope: Scope) -> str:
    if scope.service == "iam":
        return (
            "https://iam.us-gov.amazonaws.com"
            if scope.region.startswith(_GOV)
            else "https://iam.amazonaws.com"
        )
    return f"https://{scope.service}.{scope.region}.amazonaws.com"
