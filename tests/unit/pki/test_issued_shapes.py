"""Every shape of certificate that is issued, before judges that know nothing of who issued it.

`tests/system/test_certificates_with_openssl.py` asks a third one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

import pytest
from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, NameType
from keybearer.pki.certificates import Certificate, load_certificates
from keybearer.pki.chains import verify_chain
from keybearer.pki.issuance import default_key_usages, self_sign
from keybearer.pki.keys import is_supported
from keybearer.pki.names import AlternativeName, Subject
from support.x509_house import NOW, key_of, root, template
from support.x509_lint import violations, violations_of_pair
from support.x509_shapes import ALGORITHMS, NAMES, SUBJECTS, Shape, issued_shape

_POST_QUANTUM = [algorithm for algorithm in KeyAlgorithm if algorithm.value.startswith("ML-DSA")]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
@pytest.mark.parametrize("by", ["root", "intermediate"])
@pytest.mark.parametrize("names", NAMES)
def test_a_certificate_of_every_shape_passes_the_linter_and_the_verifier(
    algorithm: KeyAlgorithm, by: str, names: str
) -> None:
    for subject in SUBJECTS:
        leaf, *authorities = issued_shape(Shape(algorithm, by, names, subject))

        assert violations(leaf.der) == [], subject
        assert violations_of_pair(authorities[0].der, leaf.der) == [], subject
        assert is_verified_as_on_the_web(leaf, authorities), subject
        assert verify_chain(
            leaf, authorities[:-1], authorities[-1:], NOW, usages=[ExtendedKeyUsage.CLIENT_AUTH]
        )


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_authorities_pass_the_linter(algorithm: KeyAlgorithm) -> None:
    top = root(algorithm)
    below = top.below()

    assert violations(top.certificate.der) == []
    assert violations(below.certificate.der) == []
    assert violations_of_pair(top.certificate.der, below.certificate.der) == []


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_a_self_signed_leaf_passes_the_linter(algorithm: KeyAlgorithm) -> None:
    key = key_of(algorithm)
    made_of = template(names=NAMES["dns"], key_usages=default_key_usages(algorithm))

    assert violations(self_sign(made_of, key).der) == []


@pytest.mark.parametrize("algorithm", _POST_QUANTUM, ids=str)
def test_a_post_quantum_chain_passes_the_linter_and_is_verified_here(algorithm: KeyAlgorithm) -> None:
    if not is_supported(algorithm):
        pytest.skip("the linked library has no ML-DSA")
    top = root(algorithm)
    below = top.below()
    leaf = below.issue(template(names=NAMES["dns"]), key_of(algorithm))

    assert violations(leaf.der) == []
    assert verify_chain(leaf, [below.certificate], [top.certificate], NOW)


def is_verified_as_on_the_web(leaf: Certificate, authorities: Sequence[Certificate]) -> bool:
    """Return whether the library's verifier, with all that it asks of the web's certificates, accepts the chain."""
    loaded, *between, anchor = load_certificates((leaf, *authorities))
    builder = PolicyBuilder().store(Store([anchor])).time(NOW)
    for name in leaf.alternative_names:
        subject = _as_asked(name)
        if subject is not None:
            builder.build_server_verifier(subject).verify(loaded, between)
    builder.build_client_verifier().verify(loaded, between)
    return True


def _as_asked(name: AlternativeName) -> x509.DNSName | x509.IPAddress | None:
    if name.type is NameType.DNS_NAME:
        return x509.DNSName(name.value.replace("*", "any"))
    if name.type is NameType.IP_ADDRESS:
        return x509.IPAddress(ipaddress.ip_address(name.value))
    return None


def test_a_judge_finds_what_is_wrong() -> None:
    top = root()
    other = root(name="Other")
    leaf = top.issue(template(Subject.of("leaf"), names=NAMES["dns"]), key_of(KeyAlgorithm.EC_P256))

    assert violations_of_pair(other.certificate.der, leaf.der)
    with pytest.raises(Exception, match="validation failed"):
        is_verified_as_on_the_web(leaf, [other.certificate])
