from __future__ import annotations

from datetime import UTC, datetime, timedelta

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes

from keybearer.pki.errors import MalformedError
from keybearer.pki.json_web_token import signed_token

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RSA = rsa.generate_private_key(65537, 2048)
NONE = serialization.NoEncryption()


def pem(
    key: PrivateKeyTypes,
    form: serialization.PrivateFormat = serialization.PrivateFormat.PKCS8,
    encryption: serialization.KeySerializationEncryption = NONE,
) -> str:
    return key.private_bytes(serialization.Encoding.PEM, form, encryption).decode()


PUBLIC = (
    RSA.public_key()
    .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    .decode()
)


@pytest.mark.parametrize(
    "form", [serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.TraditionalOpenSSL]
)
def test_a_token_says_who_signs_it_and_for_how_long(form: serialization.PrivateFormat) -> None:
    claims: dict[str, str | datetime] = {"iss": "12", "iat": NOW, "exp": NOW + timedelta(minutes=9)}
    token = signed_token(claims, pem(RSA, form), {"kid": "k"})
    read = jwt.decode(token, PUBLIC, ["RS256"], options={"verify_exp": False, "verify_iat": False})
    assert read == {"iss": "12", "iat": NOW.timestamp(), "exp": NOW.timestamp() + 540}
    assert jwt.get_unverified_header(token) == {"alg": "RS256", "typ": "JWT", "kid": "k"}


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("cnry-no-key", id="no PEM"),
        pytest.param("-----BEGIN RSA PRIVATE KEY-----\ncnry-\n-----END RSA PRIVATE KEY-----", id="no key"),
        pytest.param(PUBLIC, id="a public key"),
        pytest.param(pem(ec.generate_private_key(ec.SECP256R1())), id="an elliptic key"),
        pytest.param(pem(ed25519.Ed25519PrivateKey.generate()), id="an Ed25519 key"),
        pytest.param(
            pem(RSA, encryption=serialization.BestAvailableEncryption(b"cnry-password")),
            id="an encrypted key",
        ),
    ],
)
def test_what_is_no_rsa_key_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(MalformedError, match="no RSA key in PEM without a password") as caught:
        signed_token({"iss": "12"}, key)
    assert caught.value.__cause__ is None
    assert "cnry-" not in str(caught.value)
