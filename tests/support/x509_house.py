"""Keys, authorities and leaves for tests of X.509, made by the code under test; keys are made once in a process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage, NameType
from keybearer.pki.certificates import NO_POINTERS, Certificate, Pointers, certificate_of
from keybearer.pki.issuance import Issuer, Template, default_key_usages, new_serial_number, self_sign
from keybearer.pki.keys import PrivateKey, generate_private_key
from keybearer.pki.names import AlternativeName, Subject, alternative_name

__all__ = ["NOW", "Authority", "certified", "dns", "key_of", "root", "template"]

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
_POINTERS = Pointers(
    crl_urls=("http://pki.example.com/crl",),
    issuer_urls=("http://pki.example.com/ca.der",),
    ocsp_urls=("http://pki.example.com/ocsp",),
)


@cache
def key_of(algorithm: KeyAlgorithm, which: str = "leaf") -> PrivateKey:
    """Return the key of that kind and name."""
    del which  # tells one key from another in the cache
    return generate_private_key(algorithm)


def dns(*names: str) -> tuple[AlternativeName, ...]:
    """Return DNS names."""
    return tuple(alternative_name(NameType.DNS_NAME, name) for name in names)


def template(
    subject: Subject | None = None,
    *,
    names: Iterable[AlternativeName] = (),
    not_before: datetime = NOW - timedelta(minutes=5),
    not_after: datetime = NOW + timedelta(days=90),
    key_usages: frozenset[KeyUsage] = frozenset({KeyUsage.DIGITAL_SIGNATURE}),
    extended_key_usages: tuple[ExtendedKeyUsage, ...] = (ExtendedKeyUsage.SERVER_AUTH,),
    is_ca: bool = False,
    path_length: int | None = None,
    pointers: Pointers = NO_POINTERS,
) -> Template:
    """Return what a leaf is made of."""
    return Template(
        subject=Subject.of("leaf") if subject is None else subject,
        not_before=not_before,
        not_after=not_after,
        serial_number=new_serial_number(),
        alternative_names=tuple(names),
        key_usages=key_usages,
        extended_key_usages=extended_key_usages,
        is_ca=is_ca,
        path_length=path_length,
        pointers=pointers,
    )


def _authority_template(
    name: str, path_length: int | None, not_before: datetime, not_after: datetime, pointers: Pointers
) -> Template:
    return template(
        Subject.of(name, organization="Example", country="CH"),
        key_usages=default_key_usages(KeyAlgorithm.EC_P256, is_ca=True),
        extended_key_usages=(),
        is_ca=True,
        path_length=path_length,
        not_before=not_before,
        not_after=not_after,
        pointers=pointers,
    )


@dataclass(frozen=True)
class Authority:
    """An authority, and who stands above it: `chain` begins with itself and ends with the root."""

    issuer: Issuer
    chain: tuple[Certificate, ...]

    @property
    def certificate(self) -> Certificate:
        return self.issuer.certificate

    @property
    def anchor(self) -> Certificate:
        return self.chain[-1]

    def issue(self, made_of: Template, key: PrivateKey) -> Certificate:
        """Return a certificate of the key."""
        return certificate_of(self.issuer.issue(made_of, key.public_key).der)

    def below(
        self,
        name: str = "Intermediate",
        *,
        path_length: int | None = 0,
        not_before: datetime = NOW - timedelta(days=1),
        not_after: datetime = NOW + timedelta(days=1000),
    ) -> Authority:
        """Return an authority that this one vouches for, with a key of the same kind."""
        key = key_of(self.issuer.key.algorithm, name)
        made_of = _authority_template(name, path_length, not_before, not_after, _POINTERS)
        certificate = self.issue(made_of, key)
        return Authority(Issuer(certificate, key), (certificate, *self.chain))


def root(
    algorithm: KeyAlgorithm = KeyAlgorithm.EC_P256,
    name: str = "Root",
    *,
    path_length: int | None = None,
    not_before: datetime = NOW - timedelta(days=2),
    not_after: datetime = NOW + timedelta(days=3650),
) -> Authority:
    """Return a root."""
    key = key_of(algorithm, name)
    made_of = _authority_template(name, path_length, not_before, not_after, NO_POINTERS)
    certificate = certificate_of(self_sign(made_of, key).der)
    return Authority(Issuer(certificate, key), (certificate,))


def certified(authority: Authority, *names: str, **more: object) -> Certificate:
    """Return a leaf of the authority for these DNS names."""
    made_of = template(names=dns(*(names or ("www.example.com",))), **more)  # type: ignore[arg-type]
    return authority.issue(made_of, key_of(KeyAlgorithm.EC_P256))
