"""Names of orders, and whether what came back is what was ordered."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage, NameType
from keybearer.domain.certificates.acme_terms import (
    content_of,
    identifiers_of,
    names_of,
    ordered_again,
    require_given,
    require_orderable,
)
from keybearer.domain.certificates.asked import Asked
from keybearer.domain.errors import InvalidError
from keybearer.pki.certificates import Certificate, parse_certificate
from keybearer.pki.issuance import Template, new_serial_number, self_sign
from keybearer.pki.keys import PrivateKey, generate_private_key
from keybearer.pki.names import AlternativeName, Subject
from keybearer.store.certificate_policies import CertificatePolicy

NOW = datetime(2026, 3, 1, tzinfo=UTC)
KEY = generate_private_key(KeyAlgorithm.EC_P256)


def dns(value: str) -> AlternativeName:
    return AlternativeName(NameType.DNS_NAME, value)


def asked(*names: str, common_name: str | None = None) -> Asked:
    return Asked(Subject.of(common_name), tuple(map(dns, names)), KeyAlgorithm.EC_P256)


def policy(**rules: object) -> CertificatePolicy:
    return CertificatePolicy("p", "c", "web", None, rules, NOW, NOW)  # type: ignore[arg-type] # ids and JSON


def issued(*names: str, key: PrivateKey = KEY, days: int = 90) -> Certificate:
    template = Template(
        Subject(),
        NOW,
        NOW + timedelta(days=days),
        new_serial_number(),
        alternative_names=tuple(map(dns, names)),
        key_usages=frozenset({KeyUsage.DIGITAL_SIGNATURE}),
        extended_key_usages=(ExtendedKeyUsage.SERVER_AUTH,),
    )
    return parse_certificate(self_sign(template, key).pem)


@pytest.mark.parametrize(
    ("common_name", "names", "expected"),
    [
        (None, ["a.example.com"], ["dns a.example.com"]),
        ("a.example.com", ["a.example.com", "b.example.com"], ["dns a.example.com", "dns b.example.com"]),
        ("c.example.com", ["a.example.com"], ["dns a.example.com", "dns c.example.com"]),
        ("192.0.2.1", [], ["ip 192.0.2.1"]),
    ],
    ids=["names alone", "one of the names", "one more name", "an address"],
)
def test_a_common_name_is_a_name_like_the_others(
    common_name: str | None, names: list[str], expected: list[str]
) -> None:
    wanted = asked(*names, common_name=common_name)
    require_orderable("ca", wanted)
    assert [f"{one.type} {one.value}" for one in identifiers_of(wanted)] == expected


def test_all_that_cannot_be_honoured_is_named_at_once() -> None:
    wanted = replace(asked("*.example.com"), lifetime=timedelta(days=1), is_ca=True)
    with pytest.raises(
        InvalidError, match=r"can't honour .*ttl.*basicConstraints.*\*\.example\.com"
    ) as caught:
        require_orderable("ca", wanted)
    assert len(caught.value.details) == 3


def test_an_order_has_a_hundred_names_at_most() -> None:
    require_orderable("ca", asked(*(f"a{number}.example.com" for number in range(100))))
    with pytest.raises(InvalidError, match="at most 100 names"):
        require_orderable("ca", asked(*(f"a{number}.example.com" for number in range(101))))


class TestWhatCameBack:
    def test_what_was_ordered_passes(self) -> None:
        wanted = replace(asked("a.example.com"), extended_key_usages=(ExtendedKeyUsage.SERVER_AUTH,))
        found = issued("a.example.com")
        require_given(policy(validity={"max": "90d"}), wanted, KEY.public_key, found, NOW)
        content = content_of(found, KeyAlgorithm.EC_P256)
        assert content.extended_key_usages == (ExtendedKeyUsage.SERVER_AUTH,)
        assert content.alternative_names == (dns("a.example.com"),)

    @pytest.mark.parametrize(
        ("found", "told"),
        [
            (issued("a.example.com", key=generate_private_key(KeyAlgorithm.EC_P256)), "another public key"),
            (issued("b.example.com"), "lacks the dns_name a.example.com"),
            (issued("a.example.com", "b.example.com"), "names the dns_name b.example.com"),
        ],
        ids=["another key", "a name less", "a name more"],
    )
    def test_something_else_does_not(self, found: Certificate, told: str) -> None:
        with pytest.raises(InvalidError, match=told):
            require_given(policy(), asked("a.example.com"), KEY.public_key, found, NOW)

    def test_one_that_is_over_does_not(self) -> None:
        found = issued("a.example.com")
        wanted = asked("a.example.com")
        require_given(policy(), wanted, KEY.public_key, found, found.not_after - timedelta(seconds=1))
        with pytest.raises(InvalidError, match="is over already"):
            require_given(policy(), wanted, KEY.public_key, found, found.not_after)

    def test_one_that_begins_later_than_the_policy_says_does_not(self) -> None:
        found, wanted = issued("a.example.com"), asked("a.example.com")
        an_hour, a_day = found.not_before - timedelta(hours=1), found.not_before - timedelta(days=1)
        require_given(policy(), wanted, KEY.public_key, found, an_hour)
        with pytest.raises(InvalidError, match="begins only at"):
            require_given(policy(), wanted, KEY.public_key, found, a_day)
        later = policy(validity={"maxPostdate": "1d"})
        require_given(later, wanted, KEY.public_key, found, a_day)

    def test_a_usage_that_was_asked_for_must_be_there(self) -> None:
        wanted = replace(asked("a.example.com"), extended_key_usages=(ExtendedKeyUsage.CLIENT_AUTH,))
        with pytest.raises(InvalidError, match="lacks the usage client_auth"):
            require_given(policy(), wanted, KEY.public_key, issued("a.example.com"), NOW)

    @pytest.mark.parametrize(
        ("rules", "told"),
        [
            ({"validity": {"max": "89d"}}, "89d"),
            ({"extendedKeyUsages": {"denied": ["server_auth"]}}, "server_auth is denied"),
        ],
        ids=["too long", "a usage that is denied"],
    )
    def test_the_policy_judges_what_the_authority_decided(self, rules: dict[str, object], told: str) -> None:
        with pytest.raises(InvalidError, match=told):
            require_given(
                policy(**rules), asked("a.example.com"), KEY.public_key, issued("a.example.com"), NOW
            )

    def test_a_renewal_orders_the_names_and_no_more(self) -> None:
        again = ordered_again(issued("a.example.com", "b.example.com"), KeyAlgorithm.EC_P256)
        require_orderable("ca", again)
        assert again.alternative_names == names_of(None, [dns("a.example.com"), dns("b.example.com")])
