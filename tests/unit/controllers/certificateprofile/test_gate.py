"""What was issued is stored only if it is for our key, as asked for, and vouched for by the profile's authority."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from keybearer.base.certificate_terms import KeyAlgorithm, NameType
from keybearer.controllers.certificateprofile.desired import (
    DesiredCertificate,
    ProfileScope,
    describe_certificate,
)
from keybearer.controllers.certificateprofile.policy import (
    Authority,
    Judged,
    NotConformantError,
    judge,
    read_authority,
)
from keybearer.controllers.certificateprofile.spec_certificate import Certificate
from keybearer.controllers.issuance.service import IssuedCertificate
from keybearer.pki.issuance import Issuer, Template, new_serial_number, self_sign
from keybearer.pki.keys import PrivateKey, generate_private_key
from keybearer.pki.names import Subject, alternative_name
from unit.controllers.fakes.certificate_service import new_authority
from unit.controllers.fakes.profile_world import certificate

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(days=91)


class House:
    """An authority, and a certificate that was asked of it."""

    def __init__(self) -> None:
        self.root, self.other_root = new_authority("Example Root", NOW), new_authority("Other Root", NOW)
        self.key, self.other_key = (generate_private_key(KeyAlgorithm.EC_P256) for _ in range(2))
        self.template = Template(
            subject=Subject.of("front.example.com"),
            not_before=NOW,
            not_after=NOW + timedelta(days=90),
            serial_number=new_serial_number(),
            alternative_names=(alternative_name(NameType.DNS_NAME, "front.example.com"),),
        )

    @property
    def desired(self) -> DesiredCertificate:
        entry = Certificate.model_validate(certificate("front"))
        return describe_certificate(entry, ProfileScope("profile-1"), None)

    @property
    def authority(self) -> Authority:
        authority = read_authority(self.root.certificate.pem)
        assert authority is not None
        return authority

    def issue(self, *, by: Issuer | None = None, key: PrivateKey | None = None) -> IssuedCertificate:
        issuer = by or self.root
        issued = issuer.issue(self.template, (key or self.key).public_key)
        return IssuedCertificate("certificate-1", issued.pem, issuer.certificate.pem)

    def judge(self, issued: IssuedCertificate, *, known: bool = True, now: datetime = NOW) -> Judged:
        authority = self.authority if known else None
        return judge(issued, self.desired, self.key.public_key, authority, self_signed=False, now=now)

    def judge_self_signed(self, issued: IssuedCertificate, now: datetime = NOW) -> Judged:
        return judge(issued, self.desired, self.key.public_key, None, self_signed=True, now=now)


@pytest.fixture(scope="module")
def house() -> House:
    return House()


def test_what_was_asked_for_passes(house: House) -> None:
    judged = house.judge(house.issue())

    assert judged.leaf.public_key == house.key.public_key
    assert judged.anchors == house.root.certificate.pem


def test_one_for_another_key_is_refused(house: House) -> None:
    with pytest.raises(NotConformantError, match="for another public key"):
        house.judge(house.issue(key=house.other_key))


def test_one_of_another_authority_is_refused(house: House) -> None:
    with pytest.raises(NotConformantError, match="nobody vouches"):
        house.judge(house.issue(by=house.other_root))


def test_one_of_another_authority_is_refused_that_comes_with_the_chain_of_ours(house: House) -> None:
    forged = replace(house.issue(by=house.other_root), chain=house.root.certificate.pem)

    with pytest.raises(NotConformantError):
        house.judge(forged)


def test_one_that_has_ended_is_refused(house: House) -> None:
    with pytest.raises(NotConformantError, match="nobody vouches"):
        house.judge(house.issue(), now=LATER)


def test_one_without_its_authority_is_refused_where_none_is_known(house: House) -> None:
    with pytest.raises(NotConformantError, match="without the certificate of who signed it"):
        house.judge(replace(house.issue(), chain=""), known=False)


def test_what_is_no_certificate_is_refused_and_not_repeated(house: House) -> None:
    with pytest.raises(NotConformantError, match="can't be read") as caught:
        house.judge(replace(house.issue(), certificate="cnry-no-certificate"))

    assert "cnry" not in str(caught.value)


class TestSelfSigned:
    def test_one_that_signed_itself_passes(self, house: House) -> None:
        issued = IssuedCertificate("certificate-1", self_sign(house.template, house.key).pem, "")

        assert house.judge_self_signed(issued).authority is None

    def test_one_that_an_authority_signed_is_refused(self, house: House) -> None:
        with pytest.raises(NotConformantError, match="not by itself"):
            house.judge_self_signed(house.issue())

    def test_one_for_another_key_is_refused(self, house: House) -> None:
        issued = IssuedCertificate("certificate-1", self_sign(house.template, house.other_key).pem, "")

        with pytest.raises(NotConformantError, match="for another public key"):
            house.judge_self_signed(issued)

    def test_one_that_has_ended_is_refused(self, house: House) -> None:
        issued = IssuedCertificate("certificate-1", self_sign(house.template, house.key).pem, "")

        with pytest.raises(NotConformantError, match="isn't valid now"):
            house.judge_self_signed(issued, LATER)
