"""Keys and certificate signing requests, made where they don't hold up others: those of a round in one go."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.controllers.certificateprofile.desired import DesiredCertificate
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.outcome import StalledError
from keybearer.pki.errors import PkiError
from keybearer.pki.keys import PrivateKey, generate_private_key
from keybearer.pki.signing_requests import build_signing_request

__all__ = ["Made", "Wish", "csr_of", "make"]

_QUICK = frozenset({KeyAlgorithm.EC_P256, KeyAlgorithm.EC_P384, KeyAlgorithm.EC_P521})


@dataclass(frozen=True, slots=True)
class Wish:
    """A certificate that needs a key; and the one to ask with again, if any."""

    desired: DesiredCertificate
    held: PrivateKey | None


@dataclass(frozen=True, slots=True)
class Made:
    """A key, and the request that asks for its certificate (PEM)."""

    key: PrivateKey
    csr: str


async def make(wishes: Sequence[Wish]) -> list[Made | StalledError]:
    """Return for each wish a fresh key, or the one that it holds, with its request.

    An error stands for a wish whose key or request can't be made here.
    """
    if not wishes:
        return []
    if len(wishes) == 1 and wishes[0].desired.entry.key.algorithm in _QUICK:
        return [_made(wishes[0])]
    # One errand for all: sixty of them take as long as a few writes, and RSA keys a second each.
    return await asyncio.to_thread(lambda: [_made(wish) for wish in wishes])


async def csr_of(desired: DesiredCertificate, key: PrivateKey) -> str:
    """Return the request that asks for the certificate.

    Raises:
        StalledError: it can't be written.
    """
    try:
        if key.algorithm in _QUICK:
            return _request(desired, key)
        return await asyncio.to_thread(_request, desired, key)
    except PkiError as error:
        raise _refused(desired, error) from None


def _made(wish: Wish) -> Made | StalledError:
    desired = wish.desired
    try:
        key = wish.held or generate_private_key(desired.entry.key.algorithm)
        return Made(key, _request(desired, key))
    except PkiError as error:
        return _refused(desired, error)


def _request(desired: DesiredCertificate, key: PrivateKey) -> str:
    return build_signing_request(
        key,
        desired.subject,
        alternative_names=desired.names,
        key_usages=desired.key_usages or frozenset(),
        extended_key_usages=tuple(sorted(desired.extended_key_usages or ())),
    )


def _refused(desired: DesiredCertificate, error: PkiError) -> StalledError:
    return StalledError(Reason.SPEC_INVALID, f"certificate {desired.name}: {error}")
