from __future__ import annotations

from keybearer.base.certificate_terms import (
    EXTENDED_KEY_USAGES_BY_SPELLING,
    KEY_ALGORITHMS_BY_SPELLING,
    KEY_USAGES_BY_SPELLING,
    SIGNATURE_ALGORITHMS_BY_SPELLING,
    ExtendedKeyUsage,
    KeyAlgorithm,
    KeyUsage,
    RequestStatus,
    SignatureAlgorithm,
)
from support.rows import each_row


def test_usages_have_the_legacy_spellings_of_the_interface() -> None:
    assert [usage.legacy_spelling for usage in KeyUsage] == [
        "digitalSignature",
        "keyEncipherment",
        "nonRepudiation",
        "dataEncipherment",
        "keyAgreement",
        "keyCertSign",
        "cRLSign",
        "encipherOnly",
        "decipherOnly",
    ]
    assert [usage.legacy_spelling for usage in ExtendedKeyUsage] == [
        "clientAuth",
        "serverAuth",
        "codeSigning",
        "emailProtection",
        "ocspSigning",
        "timeStamping",
        "anyPurpose",
    ]


@each_row(
    ("algorithm", "spelling"),
    [
        (KeyAlgorithm.RSA_2048, "RSA-2048"),
        (KeyAlgorithm.RSA_4096, "RSA-4096"),
        (KeyAlgorithm.EC_P256, "ECDSA-P256"),
        (KeyAlgorithm.EC_P521, "ECDSA-P521"),
        (KeyAlgorithm.ML_DSA_44, "ML-DSA-44"),
        (KeyAlgorithm.SLH_DSA_SHAKE_256S, "SLH-DSA-SHAKE-256s"),
        (SignatureAlgorithm.RSA_SHA256, "SHA256-RSA"),
        (SignatureAlgorithm.ECDSA_SHA512, "SHA512-ECDSA"),
        (SignatureAlgorithm.ML_DSA_87, "ML-DSA-87"),
        (SignatureAlgorithm.SLH_DSA_SHA2_128F, "SLH-DSA-SHA2-128f"),
    ],
)
def test_policies_spell_algorithms_in_their_own_way(
    algorithm: KeyAlgorithm | SignatureAlgorithm, spelling: str
) -> None:
    assert algorithm.policy_spelling == spelling


def test_every_spelling_is_read_as_what_it_means() -> None:
    for usage in KeyUsage:
        assert KEY_USAGES_BY_SPELLING[usage.value] is KEY_USAGES_BY_SPELLING[usage.legacy_spelling] is usage
    for extended in ExtendedKeyUsage:
        assert EXTENDED_KEY_USAGES_BY_SPELLING[extended.legacy_spelling] is extended
        assert EXTENDED_KEY_USAGES_BY_SPELLING[extended.value] is extended
    for algorithm in KeyAlgorithm:
        assert KEY_ALGORITHMS_BY_SPELLING[algorithm.policy_spelling] is algorithm
        assert KEY_ALGORITHMS_BY_SPELLING[algorithm.value] is algorithm
    for signature in SignatureAlgorithm:
        assert SIGNATURE_ALGORITHMS_BY_SPELLING[signature.policy_spelling] is signature
        assert SIGNATURE_ALGORITHMS_BY_SPELLING[signature.value] is signature


def test_all_names_of_post_quantum_keys_are_there() -> None:
    names = {algorithm.value for algorithm in KeyAlgorithm if "DSA-S" in algorithm.value}

    assert names == {
        f"SLH-DSA-{family}-{size}{kind}"
        for family in ("SHA2", "SHAKE")
        for size in (128, 192, 256)
        for kind in "fs"
    }
    assert {"ML-DSA-44", "ML-DSA-65", "ML-DSA-87"} <= {algorithm.value for algorithm in KeyAlgorithm}
    assert names < {signature.value for signature in SignatureAlgorithm}


def test_three_statuses_of_a_request_are_final() -> None:
    assert [status.value for status in RequestStatus if status.is_final] == ["issued", "failed", "rejected"]
