from __future__ import annotations

import re
from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509.oid import ExtendedKeyUsageOID

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage
from keybearer.pki.certificates import Certificate, certificate_of, load_certificates
from keybearer.pki.chains import is_issued_by, ordered_chain, verify_chain
from keybearer.pki.errors import ChainError, TemplateError
from keybearer.pki.issuance import Issuer, self_sign
from keybearer.pki.keys import is_supported
from keybearer.pki.names import Subject
from support.x509_house import NOW, Authority, certified, dns, key_of, root, template

_KEY = KeyAlgorithm.EC_P256
_SERVER, _CLIENT = ExtendedKeyUsage.SERVER_AUTH, ExtendedKeyUsage.CLIENT_AUTH


def of_elsewhere(by: Authority, *extensions: tuple[x509.ExtensionType, bool], name: str = "Odd") -> Authority:
    """An authority that is made as this project makes none."""
    key = key_of(_KEY, name)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]))
        .issuer_name(load_certificates([by.certificate])[0].subject)
        .public_key(key.public_key.key)
        .serial_number(11)
        .not_valid_before(NOW - timedelta(days=1))
        .not_valid_after(NOW + timedelta(days=900))
    )
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    made = builder.sign(by.issuer.key.key, hashes.SHA256())
    certificate = certificate_of(made.public_bytes(serialization.Encoding.DER))
    issuer = object.__new__(Issuer)
    issuer.certificate = certificate
    issuer._key = key
    issuer._own = load_certificates([certificate])[0]
    issuer._name = issuer._own.subject
    issuer._constraints = ()
    issuer._key_identifier = x509.Extension(
        x509.AuthorityKeyIdentifier.oid,
        critical=False,
        value=x509.AuthorityKeyIdentifier(key.public_key.identifier, None, None),
    )
    return Authority(issuer, (certificate, *by.chain))


_IS_CA = (x509.BasicConstraints(ca=True, path_length=None), True)


class TestOrder:
    def test_a_shuffled_chain_is_brought_into_order_without_strangers_and_doubles(self) -> None:
        third = root().below("Second", path_length=1).below("Third")
        leaf = certified(third)
        sent = [*third.chain, *third.chain, leaf, root(name="Stranger").certificate]
        for others in (sent, sent[::-1], sent[3:] + sent[:3]):
            assert ordered_chain(leaf, others) == (leaf, *third.chain)

    def test_a_gap_ends_the_chain(self) -> None:
        third = root().below("Second", path_length=1).below("Third")
        leaf = certified(third)

        assert ordered_chain(leaf, [third.anchor, third.certificate]) == (leaf, third.certificate)

    def test_a_self_signed_certificate_is_a_chain(self) -> None:
        top = root()

        assert ordered_chain(top.certificate, [top.certificate]) == (top.certificate,)

    def test_who_has_the_name_but_not_the_key_issued_nothing(self) -> None:
        top = root()
        key = key_of(_KEY, "impostor")
        made_of = template(
            top.certificate.subject,
            is_ca=True,
            key_usages=frozenset({KeyUsage.KEY_CERT_SIGN}),
            extended_key_usages=(),
        )
        impostor = certificate_of(self_sign(made_of, key).der)
        leaf = certified(top)

        assert is_issued_by(leaf, top.certificate)
        assert not is_issued_by(leaf, impostor)
        assert ordered_chain(leaf, [impostor, top.certificate]) == (leaf, top.certificate)


class TestTrust:
    def test_a_chain_is_followed_to_its_root_in_whatever_order_it_came(self) -> None:
        third = root().below("Second", path_length=1).below("Third")
        leaf = certified(third)
        intermediates = [third.chain[1], third.chain[0]]

        assert verify_chain(leaf, intermediates, [third.anchor], NOW) == (leaf, *third.chain)

    def test_an_authority_is_verified_as_a_leaf_is(self) -> None:
        third = root().below("Second", path_length=1).below("Third")

        assert verify_chain(third.certificate, [third.chain[1]], [third.anchor], NOW) == third.chain

    def test_an_intermediate_may_be_the_anchor(self) -> None:
        below = root().below()
        leaf = certified(below)

        assert verify_chain(leaf, [], [below.certificate], NOW) == (leaf, below.certificate)

    def test_the_path_ends_at_the_first_anchor(self) -> None:
        below = root().below()
        leaf = certified(below)

        path = verify_chain(leaf, below.chain, [below.certificate, below.anchor], NOW)

        assert path[-1] in (below.certificate, below.anchor)
        assert path[: len(path)] == (leaf, *below.chain)[: len(path)]

    def test_a_certificate_that_is_trusted_itself_needs_nobody(self) -> None:
        leaf = certificate_of(self_sign(template(names=dns("a.example.com")), key_of(_KEY)).der)

        assert verify_chain(leaf, [leaf], [leaf], NOW) == (leaf,)

    def test_after_a_root_got_a_new_certificate_either_is_found(self) -> None:
        old = root()
        again = root(not_after=NOW + timedelta(days=7000))
        leaf = certified(old)

        for anchor in (old, again):
            assert verify_chain(leaf, [], [anchor.certificate], NOW) == (leaf, anchor.certificate)

    def test_of_two_paths_the_good_one_is_found(self) -> None:
        top, other = root(), root(name="Other")
        below = top.below()
        crossed = other.below(not_after=NOW - timedelta(hours=1))
        leaf = certified(below)

        for intermediates in (
            [below.certificate, crossed.certificate],
            [crossed.certificate, below.certificate],
        ):
            path = verify_chain(leaf, intermediates, [top.certificate, other.certificate], NOW)
            assert path == (leaf, below.certificate, top.certificate)

    @pytest.mark.parametrize("usages", [(), (_SERVER,), (_SERVER, _CLIENT)])
    def test_usages_that_the_leaf_has_are_granted(self, usages: tuple[ExtendedKeyUsage, ...]) -> None:
        top = root()
        leaf = certified(top, extended_key_usages=(_CLIENT, _SERVER))

        assert verify_chain(leaf, [], [top.certificate], NOW, usages=usages)

    @pytest.mark.parametrize("extended", [(), (ExtendedKeyUsage.ANY_PURPOSE,)])
    def test_a_leaf_without_limits_is_for_every_usage(self, extended: tuple[ExtendedKeyUsage, ...]) -> None:
        top = root()
        leaf = certified(top, extended_key_usages=extended)

        assert verify_chain(leaf, [], [top.certificate], NOW, usages=[_CLIENT])


class TestDistrust:
    def refused(
        self,
        says: str,
        leaf: Certificate,
        *intermediates: Certificate,
        anchors: list[Certificate],
        usages: tuple[ExtendedKeyUsage, ...] = (),
        after: timedelta = timedelta(),
    ) -> None:
        with pytest.raises(ChainError, match=re.escape(says)):
            verify_chain(leaf, intermediates, anchors, NOW + after, usages=usages)

    def test_of_a_stranger(self) -> None:
        leaf = certified(root())

        self.refused(
            "who issued the certificate of CN=leaf, CN=Root,O=Example,C=CH, is neither in the chain nor trusted",
            leaf,
            anchors=[root(name="Other").certificate],
        )

    def test_of_a_root_that_was_only_sent(self) -> None:
        top = root()

        self.refused(
            "CN=Root,O=Example,C=CH is self-signed and not among those that are trusted",
            certified(top),
            top.certificate,
            anchors=[root(name="Other").certificate],
        )

    def test_of_a_gap(self) -> None:
        third = root().below("Second", path_length=1).below("Third")

        self.refused(
            "who issued the certificate of CN=Third,O=Example,C=CH, CN=Second,O=Example,C=CH, is neither",
            certified(third),
            third.certificate,
            anchors=[third.anchor],
        )

    def test_of_a_leaf_before_and_after_its_time(self) -> None:
        top = root()
        leaf = certified(top)

        for after, says in (
            (timedelta(days=-1), "the certificate of CN=leaf isn't valid before 2026-03-01T11:55:00Z"),
            (timedelta(days=91), "the certificate of CN=leaf has expired at 2026-05-30T12:00:00Z"),
        ):
            self.refused(says, leaf, anchors=[top.certificate], after=after)

    def test_at_the_very_ends_of_its_time_a_leaf_is_good(self) -> None:
        top = root()
        leaf = certified(top)

        for after in (timedelta(minutes=-5), timedelta(days=90)):
            assert verify_chain(leaf, [], [top.certificate], NOW + after)

    def test_of_an_expired_authority(self) -> None:
        top = root()
        below = top.below()
        late = top.below(not_after=NOW + timedelta(days=1))
        leaf = certified(below)

        self.refused(
            "CN=Intermediate,O=Example,C=CH has expired",
            leaf,
            late.certificate,
            anchors=[top.certificate],
            after=timedelta(days=2),
        )

    def test_of_an_expired_root(self) -> None:
        below = root().below()
        expiring = root(not_after=NOW + timedelta(days=1))

        self.refused(
            "CN=Root,O=Example,C=CH has expired",
            certified(below),
            below.certificate,
            anchors=[expiring.certificate],
            after=timedelta(days=2),
        )

    def test_of_a_leaf_that_signed(self) -> None:
        top = root()
        odd = of_elsewhere(top, (x509.BasicConstraints(ca=False, path_length=None), True))

        self.refused(
            "CN=Odd is no authority, but signed a certificate of the chain",
            certified(odd),
            odd.certificate,
            anchors=[top.certificate],
        )

    def test_of_an_authority_without_the_usage_to_sign(self) -> None:
        top = root()
        usages = x509.KeyUsage(True, False, False, False, False, False, True, False, False)  # noqa: FBT003
        odd = of_elsewhere(top, _IS_CA, (usages, True))

        self.refused(
            "CN=Odd lacks the key usage key_cert_sign",
            certified(odd),
            odd.certificate,
            anchors=[top.certificate],
        )

    def test_of_more_authorities_than_the_path_length_allows(self) -> None:
        narrow = root().below("Narrow", path_length=0)
        odd = of_elsewhere(narrow, _IS_CA)

        self.refused(
            "CN=Narrow,O=Example,C=CH allows 0 authorities below it, 1 are there",
            certified(odd),
            odd.certificate,
            narrow.certificate,
            anchors=[narrow.anchor],
        )

    def test_of_a_leaf_for_another_usage(self) -> None:
        top = root()

        self.refused(
            "the certificate of CN=leaf isn't made for client_auth",
            certified(top),
            anchors=[top.certificate],
            usages=(_SERVER, _CLIENT),
        )

    def test_of_an_authority_for_other_usages(self) -> None:
        top = root()
        odd = of_elsewhere(top, _IS_CA, (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), False))

        self.refused(
            "CN=Odd signs no certificates for server_auth",
            certified(odd),
            odd.certificate,
            anchors=[top.certificate],
            usages=(_SERVER,),
        )

    def test_of_a_name_outside_the_constraints(self) -> None:
        top = root()
        constraints = x509.NameConstraints([x509.DNSName("example.com")], None)
        odd = of_elsewhere(top, _IS_CA, (constraints, True))
        inside, outside = certified(odd, "www.example.com"), certified(odd, "www.example.org")

        assert verify_chain(inside, [odd.certificate], [top.certificate], NOW)
        self.refused("doesn't verify", outside, odd.certificate, anchors=[top.certificate])

    def test_an_authority_with_constraints_signs_nothing_outside_of_them(self) -> None:
        odd = of_elsewhere(root(), _IS_CA, (x509.NameConstraints([x509.DNSName("example.com")], None), True))
        constrained = Authority(Issuer(odd.certificate, odd.issuer.key), odd.chain)

        nobody = Subject()
        assert certified(constrained, "www.example.com", subject=nobody).issuer == odd.certificate.subject
        with pytest.raises(TemplateError, match="may sign for certain names only"):
            certified(constrained, "www.example.org", subject=nobody)

    def test_of_a_critical_extension_that_nobody_knows(self) -> None:
        top = root()
        unknown = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.2.3.4"), b"\x05\x00")
        odd = of_elsewhere(top, _IS_CA, (unknown, True))

        self.refused("doesn't verify", certified(odd), odd.certificate, anchors=[top.certificate])

    def test_of_constraints_that_nobody_judges_where_keys_are_post_quantum(self) -> None:
        if not is_supported(KeyAlgorithm.ML_DSA_44):
            pytest.skip("the linked library has no ML-DSA")
        top = root()
        odd = of_elsewhere(top, _IS_CA, (x509.NameConstraints([x509.DNSName("example.com")], None), True))
        leaf = odd.issue(template(names=dns("www.example.org")), key_of(KeyAlgorithm.ML_DSA_44))

        self.refused(
            "CN=Odd has the critical extension 2.5.29.30, unknown here",
            leaf,
            odd.certificate,
            anchors=[top.certificate],
        )

    def test_of_a_changed_certificate(self) -> None:
        top = root()
        der = certified(top, "www.example.com").der.replace(b"www.example.com", b"xxx.example.com")

        self.refused("neither in the chain nor trusted", certificate_of(der), anchors=[top.certificate])

    def test_of_too_many_certificates(self) -> None:
        top = root()
        leaf = certified(top)

        self.refused("holds 17 certificates", leaf, *[leaf] * 17, anchors=[top.certificate])

    def test_of_certificates_that_can_be_chained_in_too_many_ways(self) -> None:
        first, second = root(name="One"), root(name="Two")
        mesh: list[Certificate] = []
        for by, other in ((first, second), (second, first)):
            made = [
                by.issue(
                    template(
                        other.certificate.subject,
                        is_ca=True,
                        key_usages=frozenset({KeyUsage.KEY_CERT_SIGN}),
                        extended_key_usages=(),
                    ),
                    other.issuer.key,
                )
                for _ in range(8)
            ]
            mesh += made

        self.refused(
            "can be chained in too many ways",
            certified(first),
            *mesh,
            anchors=[root(name="Three").certificate],
        )

    def test_of_nobody_at_all(self) -> None:
        self.refused("neither in the chain nor trusted", certified(root()), anchors=[])


def test_a_subject_without_attributes_is_named_by_its_serial_number() -> None:
    made_of = template(Subject(), names=dns("a.example.com"))
    leaf = root().issue(made_of, key_of(_KEY))

    with pytest.raises(ChainError, match=f"the certificate of serial number {leaf.serial}"):
        verify_chain(leaf, [], [], NOW)
