"""Name constraints of an authority hold common names as well as alternative ones (RFC 5280 section 4.2.1.10)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_network

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.pki.certificates import certificate_of, load_certificates
from keybearer.pki.errors import TemplateError
from keybearer.pki.issuance import Issuer
from keybearer.pki.name_constraints import name_constraints_of
from keybearer.pki.names import Subject
from support.rows import each_row
from support.x509_house import NOW, Authority, dns, key_of, root, template


def constrained(
    permitted: list[x509.GeneralName] | None, excluded: list[x509.GeneralName] | None = None
) -> Issuer:
    """Return an authority of elsewhere that may sign for certain names only."""
    by, key = root(), key_of(KeyAlgorithm.EC_P256, "constrained")
    made = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Constrained")]))
        .issuer_name(load_certificates([by.certificate])[0].subject)
        .public_key(key.public_key.key)
        .serial_number(11)
        .not_valid_before(NOW - timedelta(days=1))
        .not_valid_after(NOW + timedelta(days=900))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.NameConstraints(permitted, excluded), critical=True)
        .sign(by.issuer.key.key, hashes.SHA256())
    )
    return Issuer(certificate_of(made.public_bytes(serialization.Encoding.DER)), key)


_EXAMPLE = constrained([x509.DNSName("example.com")], [x509.DNSName("admin.example.com")])
_ADDRESSES = constrained([x509.IPAddress(ip_network("10.0.0.0/8"))], None)
_MAILS = constrained([x509.RFC822Name("example.com")], None)


def issue(issuer: Issuer, common_name: str, *names: str) -> None:
    made_of = replace(template(names=dns(*names) if names else ()), subject=Subject.of(common_name))
    issuer.issue(made_of, key_of(KeyAlgorithm.EC_P256, "leaf").public_key)


@each_row(
    ("issuer", "common_name"),
    [
        pytest.param(_EXAMPLE, "evil.com", id="another host"),
        pytest.param(_EXAMPLE, "EVIL.com.", id="another host with a dot at its end"),
        pytest.param(_EXAMPLE, "\uff25\uff36\uff29\uff2c.com", id="another host in full width"),
        pytest.param(_EXAMPLE, "myexample.com", id="the end of a label"),
        pytest.param(_EXAMPLE, "localhost", id="a single label"),
        pytest.param(_EXAMPLE, "*.com", id="a wildcard above"),
        pytest.param(_EXAMPLE, "admin.example.com", id="a host that is left out"),
        pytest.param(_EXAMPLE, "a.admin.example.com", id="beneath one that is left out"),
        pytest.param(_EXAMPLE, "*.example.com", id="a wildcard for one that is left out"),
        pytest.param(_ADDRESSES, "192.0.2.1", id="another address"),
        pytest.param(_MAILS, "web@example.org", id="another mailbox"),
    ],
)
def test_a_common_name_outside_is_refused_with_and_without_others(issuer: Issuer, common_name: str) -> None:
    with pytest.raises(TemplateError, match="may sign for certain names only"):
        issue(issuer, common_name)
    with pytest.raises(TemplateError, match="may sign for certain names only"):
        issue(issuer, common_name, "www.example.com")


@each_row(
    ("issuer", "common_name"),
    [
        pytest.param(_EXAMPLE, "WWW.example.com", id="a host within"),
        pytest.param(_EXAMPLE, "example.com", id="the domain itself"),
        pytest.param(_EXAMPLE, "*.shop.example.com", id="a wildcard within"),
        pytest.param(_EXAMPLE, "Jane R. Doe", id="a person"),
        pytest.param(_EXAMPLE, "system:node:a", id="no host"),
        pytest.param(_EXAMPLE, "web@example.org", id="a kind that isn't constrained"),
        pytest.param(_EXAMPLE, "192.0.2.1", id="an address where hosts are constrained"),
        pytest.param(_ADDRESSES, "10.1.2.3", id="an address within"),
        pytest.param(_ADDRESSES, "evil.com", id="a host where addresses are constrained"),
        pytest.param(_MAILS, "web@example.com", id="a mailbox within"),
    ],
)
def test_a_common_name_within_is_signed(issuer: Issuer, common_name: str) -> None:
    issue(issuer, common_name)


def test_no_certificate_begins_before_its_issuer() -> None:
    issuer = root().issuer
    early = replace(
        template(names=dns("a.example.com")), not_before=issuer.certificate.not_before - timedelta(seconds=1)
    )
    with pytest.raises(TemplateError, match="its issuer"):
        issuer.issue(early, key_of(KeyAlgorithm.EC_P256, "leaf").public_key)


def test_constraints_of_an_authority_above_hold_as_well() -> None:
    above = constrained([x509.DNSName("example.com")])
    below = Authority(above, (above.certificate,)).below("Below", not_after=NOW + timedelta(days=800))
    issuer = Issuer(below.certificate, below.issuer.key, above=(above.certificate, root().certificate))
    issue(issuer, "www.example.com", "www.example.com")
    for common_name, name in (("evil.com", "www.example.com"), ("www.example.com", "evil.com")):
        with pytest.raises(TemplateError, match="may sign for certain names only"):
            issue(issuer, common_name, name)


def test_common_names_are_held_to_constraints_as_clients_read_them() -> None:
    constraints = name_constraints_of(
        load_certificates([constrained([x509.DNSName("example.com")]).certificate])[0]
    )
    assert constraints is not None
    for name in ("f*.evil.com", "evil\u3002com", "evil.com."):
        assert not constraints.permit(name), name
    for name in ("f*.example.com", "a\u3002example.com", "Jane Doe", "system:node:*.evil.com"):
        assert constraints.permit(name), name
