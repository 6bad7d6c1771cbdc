"""Client of one account at an ACME authority (RFC 8555); requests go through the gate, bounded and signed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from keybearer.destinations.remote import Limits, RemoteAnswer, RemoteRequest, RemoteUnavailableError
from keybearer.outbound.acme.account_key import AccountKey, encoded
from keybearer.outbound.acme.errors import AcmeProblemError
from keybearer.outbound.acme.messages import Account, Authorization, Directory, Identifier, Order, Problem
from keybearer.outbound.pace import asked_wait
from keybearer.outbound.remote import RemoteHttp

__all__ = ["AcmeClient", "Binding", "Polled", "told"]

_Message = TypeVar("_Message", bound=BaseModel)

_NONCE_TRIES = 10
"""Attempts with a new nonce: real authorities refuse one after a restart, or when it is old."""
_NONCE = re.compile(r"[A-Za-z0-9_-]{1,512}")
_JOSE = "application/jose+json"
_CHAIN = "application/pem-certificate-chain"
_TOLD_MAX = 600
_NEVER_THROTTLED = Limits(is_throttled=lambda _: False)
"""An answer about a rate limit is a problem document like any other."""
_URN = "urn:ietf:params:acme:error:"


@dataclass(frozen=True, slots=True)
class Binding:
    """The binding of a new account to an external one (section 7.3.4)."""

    key_id: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Polled:
    """The present state of an order, and how long the authority asks to wait before the next poll."""

    order: Order
    wait: timedelta | None


class AcmeClient:
    """One account at one authority.

    Every method raises AcmeProblemError where the authority refuses, RemoteUnavailableError where it can't be
    reached or answers something else than its part of the protocol, and RemoteRefusedError where the gate lets nobody
    go there.

    Args:
        http: that leads there, with whom to trust.
        directory_url: where everything begins.
        key: of the account.
        account_url: what the authority calls it; None until `register`.
    """

    def __init__(
        self, http: RemoteHttp, directory_url: str, key: AccountKey, account_url: str | None = None
    ) -> None:
        self._http = http
        self._directory_url = directory_url
        self._key = key
        self._account_url = account_url
        self._directory: Directory | None = None
        self._nonce: str | None = None

    async def directory(self) -> Directory:
        """Return the URLs of the authority."""
        if self._directory is None:
            self._directory = _read(await self._get(self._directory_url), Directory)
        return self._directory

    async def register(self, *, email: str | None, binding: Binding | None) -> str:
        """Return the URL of the account, which is created unless the key has one already (section 7.3).

        This agrees to the terms of service: ask the owner of the account first.
        """
        url = (await self.directory()).new_account
        body: dict[str, object] = {"termsOfServiceAgreed": True}
        if email is not None:
            body["contact"] = [f"mailto:{email}"]
        if binding is not None:
            body["externalAccountBinding"] = self._key.bound(binding.secret, binding.key_id, url)
        answer = await self._post(url, orjson.dumps(body), as_account=False)
        account = _read(answer, Account)
        if account.status != "valid":
            raise AcmeProblemError(
                f"the account is {account.status}", kind="unauthorized", status=answer.status, wait=None
            )
        self._account_url = _location(answer)
        return self._account_url

    async def place_order(self, names: Sequence[Identifier], profile: str | None) -> str:
        """Return the URL of a new order for these names.

        Args:
            names: all names of the certificate.
            profile: what the authority calls a kind of certificate; None for the usual one.
        """
        body: dict[str, object] = {"identifiers": [one.model_dump() for one in names]}
        if profile is not None:
            body["profile"] = profile
        answer = await self._post((await self.directory()).new_order, orjson.dumps(body))
        _read(answer, Order)
        return _location(answer)

    async def order(self, url: str) -> Polled:
        """Return the present state of an order."""
        answer = await self._post(url, b"")
        return Polled(_read(answer, Order), asked_wait(answer, self._http.now()))

    async def authorization(self, url: str) -> Authorization:
        """Return the present state of an authorization."""
        return _read(await self._post(url, b""), Authorization)

    async def answer(self, challenge_url: str) -> None:
        """Tell the authority that a challenge is ready to be validated."""
        await self._post(challenge_url, b"{}")

    async def finalize(self, url: str, request: bytes) -> None:
        """Submit the signing request, DER, of a ready order."""
        await self._post(url, orjson.dumps({"csr": encoded(request)}))

    async def certificate(self, url: str) -> str:
        """Return the certificate of an order with its chain, PEM."""
        answer = await self._post(url, b"", accept=_CHAIN)
        try:
            return answer.body.decode("ascii")
        except UnicodeDecodeError:
            raise RemoteUnavailableError("the authority answers something other than certificates") from None

    async def revoke(self, certificate: bytes, reason: int) -> None:
        """Revoke a certificate, DER; an already revoked one stays as it is.

        Args:
            certificate: of an order of this account.
            reason: a code of RFC 5280 section 5.3.1.
        """
        url = (await self.directory()).revoke_cert
        try:
            await self._post(url, orjson.dumps({"certificate": encoded(certificate), "reason": reason}))
        except AcmeProblemError as problem:
            if problem.kind != "alreadyRevoked":
                raise

    async def _get(self, url: str) -> RemoteAnswer:
        answer = await self._send(RemoteRequest("GET", url, {"Accept": "application/json"}))
        if answer.status != 200:
            raise self._problem(answer)
        return answer

    async def _post(
        self, url: str, payload: bytes, *, as_account: bool = True, accept: str = "application/json"
    ) -> RemoteAnswer:
        """Return the answer to a signed request; with a refused nonce it is sent again (section 6.5)."""
        for _ in range(_NONCE_TRIES):
            body = self._key.signed(
                payload,
                url=url,
                nonce=await self._fresh_nonce(),
                account_url=self._account_url if as_account else None,
            )
            answer = await self._send(
                RemoteRequest(
                    "POST", url, {"Content-Type": _JOSE, "Accept": accept}, body, is_repeatable=False
                )
            )
            if answer.status in (200, 201):
                return answer
            problem = self._problem(answer)
            if problem.kind != "badNonce":
                raise problem
        raise RemoteUnavailableError(f"the authority took none of {_NONCE_TRIES} of its own nonces")

    async def _fresh_nonce(self) -> str:
        if self._nonce is None:
            url = (await self.directory()).new_nonce
            await self._send(RemoteRequest("HEAD", url))
        nonce, self._nonce = self._nonce, None
        if nonce is None:
            raise RemoteUnavailableError("the authority gave no nonce")
        return nonce

    async def _send(self, request: RemoteRequest) -> RemoteAnswer:
        # Who is throttled waits as a job, not within an exchange.
        answer = await self._http.send(request, limits=_NEVER_THROTTLED)
        given = answer.headers.get("replay-nonce", "")
        self._nonce = given if _NONCE.fullmatch(given) else None
        return answer

    def _problem(self, answer: RemoteAnswer) -> AcmeProblemError:
        try:
            problem = Problem.model_validate_json(answer.body)
        except ValidationError:
            problem = Problem()
        kind = problem.type.removeprefix(_URN) if problem.type.startswith(_URN) else ""
        text = told(problem) or f"it answered {answer.status} without saying why"
        return AcmeProblemError(
            text, kind=kind, status=answer.status, wait=asked_wait(answer, self._http.now())
        )


def told(problem: Problem) -> str:
    """Return the text of a problem as it may be shown; empty if there is none."""
    parts = [problem.detail or problem.type.removeprefix(_URN)]
    parts += [
        f"{one.identifier.shown}: {one.detail}" if one.identifier is not None else one.detail
        for one in problem.subproblems[:5]
    ]
    # No secret is ever sent to an authority, so only unprintable characters are left out.
    text = "".join(one if one.isprintable() else " " for one in "; ".join(part for part in parts if part))
    return " ".join(text.split())[:_TOLD_MAX]


def _read(answer: RemoteAnswer, kind: type[_Message]) -> _Message:
    try:
        return kind.model_validate_json(answer.body)
    except ValidationError as error:
        wrong = sorted({".".join(map(str, one["loc"])) or "all" for one in error.errors(include_input=False)})
        raise RemoteUnavailableError(
            f"what answers is no ACME authority, or of another kind than RFC 8555 has it: see {', '.join(wrong[:5])}"
        ) from None


def _location(answer: RemoteAnswer) -> str:
    url = answer.headers.get("location", "")
    # It is stored, and passes the gate again when it is called later.
    if not re.fullmatch(r"https://[!-~]{1,2040}", url):
        raise RemoteUnavailableError("the authority doesn't say where what it made is")
    return url
