from __future__ import annotations

import base64

import pytest
from nacl.public import PrivateKey, SealedBox

from keybearer.pki.errors import MalformedError
from keybearer.pki.sealed_box import sealed


@pytest.mark.parametrize("value", ["", "cnry-ü\n\0", "cnry-" * 20_000])
def test_a_sealed_text_is_opened_by_the_key_that_it_is_for(value: str) -> None:
    key = PrivateKey.generate()
    public = base64.b64encode(bytes(key.public_key)).decode()
    box = sealed(value, public)
    assert SealedBox(key).decrypt(base64.b64decode(box)).decode() == value
    assert box != sealed(value, public), "each has a key of its own"


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("no base64", id="no base64"),
        pytest.param("ü", id="no ASCII"),
        pytest.param("c2hvcnQ=", id="too short"),
        pytest.param(base64.b64encode(bytes(32)).decode(), id="of low order"),
    ],
)
def test_a_key_that_nothing_can_be_sealed_for_is_refused(key: str) -> None:
    with pytest.raises(MalformedError, match="no public key"):
        sealed("cnry-1", key)
