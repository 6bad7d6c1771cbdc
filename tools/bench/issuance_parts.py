"""Where the processor time of one certificate goes: each part of issuance by itself, beside bare signing.

`python -m tools.bench.issuance_parts` prints microseconds. Each part is done again and again in one process, in
rounds, of which the quickest counts: neighbours on the machine make all others longer. Caches of the processor
are warm here as they never are in a service, so that the sum is less than what a certificate
costs there. HTTP isn't in it.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import TypeVar

import orjson

from keybearer.base.certificate_terms import RequestStatus
from keybearer.base.clock import SystemClock
from keybearer.domain.audit import EventType
from keybearer.domain.certificates.asked import validity_of
from keybearer.domain.certificates.deciding import Deciding, NewCertificate
from keybearer.domain.certificates.issuance import IssuedCertificate
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.orders import (
    Requester,
    certificate_of_order,
    request_event,
    request_of_order,
)
from keybearer.domain.certificates.profile_terms import dating_of
from keybearer.domain.certificates.signing import Signed, Signing
from keybearer.pki.signing_requests import parse_signing_request
from keybearer.server.answers import json_response
from keybearer.server.certificate_rendering import issued_json
from keybearer.store.audit import AUDIT_ROWS, AuditEvent, AuditRecord
from keybearer.store.certificate_profiles import IssuingProfile
from keybearer.store.certificate_requests import CertificateRequest
from keybearer.store.certificates import Certificate
from keybearer.store.issued_certificates import IssuedRows
from keybearer.wire.certificates.attributes import CertificateAttributes
from keybearer.wire.certificates.issuing import IssueCertificate
from tools.bench.errors import BenchError
from tools.bench.issuing_domain import IssuingDomain, issuing_domain
from tools.bench.signing import Signer, signing_request

__all__ = ["main"]

_ROUNDS, _TIMES = 30, 50
_AT_ONCE = 64
_T = TypeVar("_T")


def _least(work: Callable[[], object]) -> float:
    """Return how many microseconds of the processor the work takes at least."""
    found = []
    for _ in range(_ROUNDS):
        started = time.thread_time()
        for _ in range(_TIMES):
            work()
        found.append((time.thread_time() - started) / _TIMES)
    return min(found) * 1e6


def _done(work: Coroutine[object, None, _T]) -> _T:
    """Return what comes of a coroutine in which nothing waits."""
    try:
        work.send(None)
    except StopIteration as end:
        result: _T = end.value
        return result
    raise RuntimeError("it waits")


async def _least_of_all(home: IssuingDomain[SystemClock], new: NewCertificate) -> float:
    """Return the same of all of it, for many who ask at once, the event loop's share included."""
    found = []
    for _ in range(_ROUNDS):
        started = time.thread_time()
        await asyncio.gather(*(home.issuance.issue(home.admin, new) for _ in range(_AT_ONCE)))
        found.append((time.thread_time() - started) / _AT_ONCE)
    return min(found) * 1e6


def _parts(
    home: IssuingDomain[SystemClock], profile: IssuingProfile, body: bytes
) -> Iterator[tuple[str, float]]:
    """Yield what each part takes; those that hold another one don't count it twice."""
    work, now = KeyWork(), home.time.now()
    signing = Signing(work)
    deciding = Deciding(signing, work, home.time)
    new, requester = _new(body), Requester.of(home.admin)
    order = _done(deciding.order(profile, new, requester))
    validity, key = (
        validity_of(order.asked, now, dating_of(profile)),
        parse_signing_request(new.csr or "").public_key,
    )

    def sign() -> Signed:
        return _done(signing.sign(profile, order.asked, validity, key, now))

    signed = sign()

    def records() -> tuple[Certificate, CertificateRequest, AuditEvent]:
        made = certificate_of_order(order, signed, now)
        asked_for = request_of_order(order, RequestStatus.ISSUED, now, made.id)
        told = request_event(home.admin, EventType.ISSUE_CERTIFICATE, asked_for, made)
        return made, asked_for, told

    certificate, request, event = records()
    answer = IssuedCertificate(request, certificate, signed.issuing)
    reading = _least(lambda: parse_signing_request(new.csr or ""))
    yield "read the body", _least(lambda: _new(body))
    yield "read the signing request, check its signature", reading
    ordering = _least(lambda: _done(deciding.order(profile, new, requester)))
    yield "put together, hold against the policy", ordering - reading
    yield "sign, write as text", _least(sign)
    yield "records of certificate, request and audit log", _least(records)
    rows = _least(
        lambda: (
            IssuedRows.of(certificate, request, ()),
            AUDIT_ROWS.row(AuditRecord.of(event, now), None, None, None),
        )
    )
    yield "rows as the database takes them", rows
    yield "write the answer", _least(lambda: json_response(issued_json(answer)))


def _new(body: bytes) -> NewCertificate:
    read = IssueCertificate.model_validate(orjson.loads(body))
    return NewCertificate(str(read.profile_id), read.attributes or CertificateAttributes(), read.csr)


async def _measure(directory: Path) -> None:
    async with issuing_domain(directory, SystemClock()) as home:
        asked = {"profileId": home.profile_id, "csr": signing_request(), "attributes": {"ttl": "30d"}}
        body = orjson.dumps(asked)
        async with home.database.reading() as unit:
            profile = await unit.certificate_profiles.issuing(home.profile_id)
        if profile is None:
            raise BenchError("the profile is gone")
        _tell("floor: bare signing", _least(Signer().sign))
        for what, microseconds in _parts(home, profile, body):
            _tell(what, microseconds)
        _tell(f"all of it but HTTP, {_AT_ONCE} at once", await _least_of_all(home, _new(body)))


def _tell(what: str, microseconds: float) -> None:
    sys.stdout.write(f"{what:48}{microseconds:8.1f} µs\n")


def main() -> None:
    """Print the parts."""
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(_measure(Path(directory)))


if __name__ == "__main__":
    main()
