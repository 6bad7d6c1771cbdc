"""The shapes of certificates that tests have judged: kinds of keys, of names, of subjects, and of who issues."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, NameType
from keybearer.pki.certificates import Certificate, Pointers
from keybearer.pki.issuance import default_key_usages
from keybearer.pki.names import AlternativeName, Subject, alternative_name
from support.x509_house import Authority, key_of, root, template

__all__ = ["ALGORITHMS", "NAMES", "SUBJECTS", "Shape", "issued_shape"]

ALGORITHMS = [algorithm for algorithm in KeyAlgorithm if algorithm.is_rsa or algorithm.is_elliptic]
_WRITTEN = {
    "dns": [(NameType.DNS_NAME, "www.example.com")],
    "wildcard": [(NameType.DNS_NAME, "*.example.com"), (NameType.DNS_NAME, "example.com")],
    "ip": [(NameType.IP_ADDRESS, "10.0.0.1"), (NameType.IP_ADDRESS, "2001:db8::1")],
    "uri": [(NameType.URI, "https://www.example.com/a?b=c")],
    "spiffe": [(NameType.URI, "spiffe://trust.example.com/ns/web/sa/front")],
    "email": [(NameType.EMAIL, "ops@example.com")],
    "all": [
        (NameType.DNS_NAME, "www.example.com"),
        (NameType.IP_ADDRESS, "10.0.0.1"),
        (NameType.URI, "https://www.example.com/a?b=c"),
        (NameType.EMAIL, "ops@example.com"),
    ],
}
NAMES: dict[str, tuple[AlternativeName, ...]] = {
    which: tuple(alternative_name(kind, value) for kind, value in names) for which, names in _WRITTEN.items()
}
SUBJECTS = {
    "no subject": Subject(),
    "a common name": Subject.of("www.example.com"),
    "every field": Subject.of(
        "Frontend für alle",
        organization="Beispiel & Söhne, Inc.",
        organizational_unit="東京",
        country="CH",
        state="Zürich",
        locality='"Winterthur"+<>;\\',
        domain_components=("com", "example"),
    ),
}
_POINTERS = Pointers(
    crl_urls=("http://pki.example.com/crl/1",),
    issuer_urls=("http://pki.example.com/ca/1/der",),
    ocsp_urls=("http://pki.example.com/ocsp/1",),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """One shape; names and subject by their words above, the issuer is "root" or "intermediate"."""

    algorithm: KeyAlgorithm
    issuer: str
    names: str
    subject: str

    def __str__(self) -> str:
        return f"{self.algorithm.value} by {self.issuer}, {self.names}, {self.subject}"


def issued_shape(shape: Shape) -> tuple[Certificate, ...]:
    """Return the chain: the leaf, the intermediate where there is one, the root."""
    authority = _authority(shape.algorithm, shape.issuer)
    made_of = template(
        SUBJECTS[shape.subject],
        names=NAMES[shape.names],
        key_usages=default_key_usages(shape.algorithm),
        extended_key_usages=(
            ExtendedKeyUsage.SERVER_AUTH,
            ExtendedKeyUsage.CLIENT_AUTH,
            *([ExtendedKeyUsage.EMAIL_PROTECTION] if shape.names in ("email", "all") else []),
        ),
        pointers=_POINTERS,
    )
    return (authority.issue(made_of, key_of(shape.algorithm)), *authority.chain)


@cache
def _authority(algorithm: KeyAlgorithm, issuer: str) -> Authority:
    top = root(algorithm)
    return top if issuer == "root" else top.below()
