"""keybearer.controllers.certificateprofile.desired."""

from __future__ import annotations

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.controllers.certificateprofile.desired import (
    DesiredCertificate,
    Made,
    ProfileScope,
    Wish,
    describe_certificate,
    make,
)
from keybearer.controllers.certificateprofile.spec_certificate import Certificate
from keybearer.controllers.outcome import StalledError
from keybearer.pki.keys import generate_private_key
from keybearer.pki.signing_requests import parse_signing_request


def described(name: str, **key: str) -> DesiredCertificate:
    attributes = {"commonName": f"{name}.example.com", "ttl": "30d"}
    entry = Certificate.model_validate({"name": name, "attributes": attributes, "privateKey": key})
    return describe_certificate(entry, ProfileScope("profile-1"), None)


async def test_each_gets_a_key_of_its_own_and_a_request_that_says_what_is_wanted() -> None:
    wished = [described("front"), described("back", algorithm="EC_secp384r1"), described("side")]

    made = await make([Wish(one, None) for one in wished])

    whole = [one for one in made if isinstance(one, Made)]
    assert [one.key.algorithm for one in whole] == [
        KeyAlgorithm.EC_P256,
        KeyAlgorithm.EC_P384,
        KeyAlgorithm.EC_P256,
    ]
    assert len({one.key.public_key for one in whole}) == 3
    for desired, one in zip(wished, whole, strict=True):
        read = parse_signing_request(one.csr)
        assert read.public_key == one.key.public_key
        assert read.subject == desired.subject


async def test_a_key_that_is_held_is_asked_with_again() -> None:
    held = generate_private_key(KeyAlgorithm.EC_P256)

    (first,) = await make([Wish(described("front"), held)])
    others = await make([Wish(described("front"), None), Wish(described("back"), None)])

    assert isinstance(first, Made)
    assert first.key is held
    assert all(isinstance(one, Made) and one.key.public_key != held.public_key for one in others)


async def test_one_that_can_t_be_made_is_told_and_spares_the_others() -> None:
    wished = [described("front", algorithm="SLH-DSA-SHA2-128s"), described("back")]

    refused, made = await make([Wish(one, None) for one in wished])

    assert isinstance(refused, StalledError)
    assert "certificate front" in refused.message
    assert isinstance(made, Made)


async def test_nothing_is_made_of_nothing() -> None:
    assert await make([]) == []
