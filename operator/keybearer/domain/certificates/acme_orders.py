"""A request on its way through an ACME authority: ordered, proven, finalized, fetched (RFC 8555 section 7.4).

Every step looks at what the authority says the order is, and leaves a trace before the next: a process that is killed
anywhere is followed by one that goes on with the same order. The one thing that can be done twice is to place an
order, which costs nothing until it is finalized; and that needs its URL, which is stored first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pydantic import JsonValue

from keybearer.base.certificate_terms import RequestStatus
from keybearer.base.clock import Clock
from keybearer.base.errors import KeybearerError
from keybearer.destinations.remote import RemoteUnavailableError
from keybearer.domain.certificates.acme_accounts import AcmeSessions
from keybearer.domain.certificates.acme_terms import content_of, identifiers_of, names_of, require_given
from keybearer.domain.certificates.finishing import Finishing
from keybearer.domain.certificates.orders import Order
from keybearer.domain.certificates.own_actor import service_actor
from keybearer.domain.certificates.signing import Signed, first_of, sentence_of
from keybearer.domain.certificates.transitions import may_move
from keybearer.domain.errors import InvalidError
from keybearer.outbound.acme.account_key import AccountKey
from keybearer.outbound.acme.client import AcmeClient, told
from keybearer.outbound.acme.messages import AuthorizationStatus, ChallengeStatus, OrderStatus
from keybearer.outbound.acme.messages import Order as AcmeOrder
from keybearer.pki.certificates import Certificate, parse_certificates, text_of_certificates
from keybearer.pki.chains import ordered_chain
from keybearer.pki.errors import PkiError
from keybearer.pki.keys import PublicKey
from keybearer.pki.names import Subject
from keybearer.pki.signing_requests import build_signing_request, parse_signing_request
from keybearer.store.certificate_authorities import CertificateAuthority
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

__all__ = ["AcmeOrders", "LostRequestError", "OrderState", "held", "pause_of"]

_LOOKING = timedelta(seconds=20)
"""How long an order is looked at before others have their turn."""
_FIRST_LOOK = timedelta(milliseconds=500)
_LONGEST_LOOK = timedelta(seconds=5)
_NAMED_MAX = 5


class LostRequestError(KeybearerError):
    """Somebody else has the request now, or ended it."""


@dataclass(frozen=True, slots=True)
class OrderState:
    """What is kept of an order beside its request.

    Attributes:
        started_at: when the service began with it.
        url: what the authority calls the order; None before it was placed.
    """

    started_at: datetime
    url: str | None = None

    def written(self) -> dict[str, JsonValue]:
        """Return it as it is kept."""
        return {"startedAt": self.started_at.isoformat(), "order": self.url}

    @classmethod
    def of(cls, request: CertificateRequest, now: datetime) -> OrderState:
        """Return the state of a request; that of one with which nobody began is a fresh one."""
        kept: Mapping[str, JsonValue] = request.order_state or {}
        started_at, url = kept.get("startedAt"), kept.get("order")
        return cls(
            datetime.fromisoformat(started_at) if isinstance(started_at, str) else now,
            url if isinstance(url, str) else None,
        )


@dataclass(frozen=True, slots=True)
class _Work:
    """A request that is worked on, and what with."""

    request: CertificateRequest
    order: Order
    authority: CertificateAuthority
    key: AccountKey
    client: AcmeClient


def pause_of(asked: timedelta | None, usual: timedelta) -> timedelta:
    """Return how long to wait before the next look: as the authority asks, but never without a pause."""
    return usual if asked is None else max(asked, _FIRST_LOOK)


async def held(unit: UnitOfWork, request_id: str, process_id: str) -> CertificateRequest:
    """Return the request, kept from other writers.

    Raises:
        LostRequestError: the process hasn't got it any more.
    """
    found = await unit.certificate_requests.get(request_id, for_change=True)
    if found is None or found.claimed_by != process_id:
        raise LostRequestError("the certificate request is another's by now, or over")
    return found


class AcmeOrders:
    """Brings requests on that a process has claimed."""

    def __init__(
        self,
        database: Database,
        sessions: AcmeSessions,
        finishing: Finishing,
        clock: Clock,
        process_id: str,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._database = database
        self._sessions = sessions
        self._finishing = finishing
        self._clock = clock
        self._process_id = process_id
        self._sleep = sleep

    async def advance(self, request: CertificateRequest) -> timedelta | None:
        """Bring a request on as far as it goes; return when to look again, None where its certificate is stored.

        Raises:
            InvalidError: it can't come to a certificate any more; the text says why.
            RemoteError: the authority refuses, or can't be reached.
            LostRequestError: somebody else has the request, or ended it.
            BusyError, RaceError, UnavailableError: as `Database.writing`.
        """
        async with self._database.reading() as unit:
            order = await self._finishing.resumed(unit, request)
            authority = _authority_of(order, request)
            account = await self._sessions.account(unit, authority)
        async with self._sessions.client(authority, account) as client:
            work = _Work(request, order, authority, AccountKey(account.private_key), client)
            url = OrderState.of(request, self._clock.now()).url or await self._place(work)
            return await self._follow(work, url)

    async def _place(self, work: _Work) -> str:
        configs = work.order.profile.profile.external_configs or {}
        template = configs.get("template")
        url = await work.client.place_order(
            identifiers_of(work.order.asked), template if isinstance(template, str) and template else None
        )
        async with self._database.writing() as unit:
            found = await held(unit, work.request.id, self._process_id)
            state = replace(OrderState.of(found, self._clock.now()), url=url)
            await unit.certificate_requests.update(
                replace(found, order_state=state.written(), updated_at=self._clock.now())
            )
        return url

    async def _follow(self, work: _Work, url: str) -> timedelta | None:
        """Do what the order needs until there is a certificate, or it is time for others."""
        until = self._clock.monotonic() + _LOOKING.total_seconds()
        wait, is_proven, is_finalized = _FIRST_LOOK, False, False
        while True:
            polled = await work.client.order(url)
            match polled.order.status:
                case OrderStatus.VALID:
                    await self._take(work, polled.order)
                    return None
                case OrderStatus.INVALID:
                    raise InvalidError(await _why_invalid(work, polled.order))
                case OrderStatus.PENDING if not is_proven:
                    await self._prove(work, polled.order)
                    is_proven = True
                    continue
                case OrderStatus.READY if not is_finalized:
                    await work.client.finalize(polled.order.finalize, _request_of(work.order))
                    is_finalized = True
                    continue
                case OrderStatus.PENDING | OrderStatus.READY | OrderStatus.PROCESSING:
                    pass
            pause = pause_of(polled.wait, wait)
            wait = min(wait * 2, _LONGEST_LOOK)
            if self._clock.monotonic() + pause.total_seconds() > until:
                return pause
            await self._sleep(pause.total_seconds())

    async def _prove(self, work: _Work, order: AcmeOrder) -> None:
        """Have what answers the challenges ready before the authority is told to look."""
        answers: dict[str, str] = {}
        challenges: list[str] = []
        names: list[str] = []
        for url in order.authorizations:
            found = await work.client.authorization(url)
            if found.status is not AuthorizationStatus.PENDING:
                continue  # shown before, or failed: then the order says so
            challenge = found.over_http
            name = found.identifier.shown
            if challenge is None or challenge.token is None:
                raise InvalidError(
                    f"Certificate authority {work.authority.name} offers no http-01 challenge for {name}, the only "
                    "kind that the service answers"
                )
            names.append(name)
            answers[challenge.token] = work.key.key_authorization(challenge.token)
            if challenge.status is ChallengeStatus.PENDING:
                challenges.append(challenge.url)
        if not names:
            return
        await self._publish(work, answers, names)
        for url in challenges:
            await work.client.answer(url)

    async def _publish(self, work: _Work, answers: Mapping[str, str], names: list[str]) -> None:
        now = self._clock.now()
        async with self._database.writing() as unit:
            found = await held(unit, work.request.id, self._process_id)
            if await unit.acme_challenges.put(found.id, answers, now):
                raise InvalidError(
                    f"Certificate authority {work.authority.name} gave a challenge whose token is another's"
                )
            validation = RequestStatus.PENDING_VALIDATION
            if may_move(RequestStatus(found.status), validation):
                found = replace(found, status=validation.value)
            shown = ", ".join(names[:_NAMED_MAX]) + (" and others" if len(names) > _NAMED_MAX else "")
            message = (
                f"Certificate authority {work.authority.name} validates {shown}: it asks each for "
                "http://HOST/.well-known/acme-challenge/TOKEN, which has to lead to this service"
            )
            await unit.certificate_requests.update(replace(found, pending_message=message, updated_at=now))

    async def _take(self, work: _Work, order: AcmeOrder) -> None:
        """Fetch the certificate, look at it, and store it."""
        if order.certificate is None:
            raise RemoteUnavailableError("the authority doesn't say where the certificate is")
        key = _public_key(work.order)
        try:
            first, *others = parse_certificates(await work.client.certificate(order.certificate))
            chain = ordered_chain(first, others)[1:]
        except PkiError as error:
            raise InvalidError(f"What was issued can't be used: {error}") from error
        require_given(work.order.profile.policy, work.order.asked, key, first, self._clock.now())
        signed = _signed(first, text_of_certificates(chain), key)
        async with self._database.writing() as unit:
            found = await held(unit, work.request.id, self._process_id)
            fresh = await self._finishing.resumed(unit, found)
            _authority_of(fresh, found)
            content = content_of(first, key.algorithm)
            actor = await service_actor(unit, found.project_id)
            await self._finishing.attach(unit, found, replace(fresh, asked=content), signed, actor)
            await unit.acme_challenges.drop(found.id)


def _authority_of(order: Order, request: CertificateRequest) -> CertificateAuthority:
    """Return the authority that the request was made for; a profile may have another by now."""
    authority = order.profile.authority
    if authority is None or authority.id != request.authority_id:
        raise InvalidError("The certificate profile has another certificate authority by now")
    return authority


async def _why_invalid(work: _Work, order: AcmeOrder) -> str:
    said: list[str] = []
    for url in order.authorizations:
        found = await work.client.authorization(url)
        if found.status is AuthorizationStatus.VALID:
            continue
        errors = [told(one.error) for one in found.challenges if one.error is not None]
        said.append(f"{found.identifier.shown} ({errors[0] if errors else found.status})")
        if len(said) == _NAMED_MAX:
            break
    name = work.authority.name
    if said:
        return f"Certificate authority {name} could not validate {'; '.join(said)}"
    why = "" if order.error is None else told(order.error)
    return f"Certificate authority {name} rejected the order: {why or 'it does not say why'}"


def _public_key(order: Order) -> PublicKey:
    key = order.private_key
    if key is not None:
        return key.public_key
    if not isinstance(order.key, PublicKey):
        raise InvalidError("The key of the certificate request is gone")
    return order.key


def _request_of(order: Order) -> bytes:
    """Return the signing request, DER: the one that was given, else one of the key that the service made."""
    if order.csr is not None:
        return parse_signing_request(order.csr).der
    key = order.private_key
    if key is None:
        raise InvalidError("The key of the certificate request is gone")
    common_name = order.asked.subject.common_name
    names = names_of(common_name, order.asked.alternative_names)
    try:
        return parse_signing_request(
            build_signing_request(key, Subject.of(common_name), alternative_names=names)
        ).der
    except PkiError as error:
        raise InvalidError(sentence_of(error)) from error


def _signed(first: Certificate, chain: str, key: PublicKey) -> Signed:
    if first.signature_algorithm is None:
        raise InvalidError("What was issued is signed in a way that isn't known here")
    return Signed(
        certificate=first.pem,
        chain=chain,
        issuing=first_of(chain) or "",
        serial_number=first.serial,
        fingerprint=first.fingerprint,
        not_before=first.not_before,
        not_after=first.not_after,
        public_key=key,
        signature_algorithm=first.signature_algorithm,
        authority_certificate_id=None,
    )
