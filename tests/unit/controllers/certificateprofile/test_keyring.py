"""keybearer.controllers.certificateprofile.secret_contents."""

from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest

from keybearer.controllers.certificateprofile.secret_contents import KeptAttempt, Keyring, read_keyring
from keybearer.controllers.certificateprofile.status import Need
from keybearer.controllers.certificateprofile.targets import keyring_name
from unit.controllers.fakes.targets import Body

_BEGUN = datetime(2026, 3, 1, 12, tzinfo=UTC)
_ATTEMPT = KeptAttempt(3, "0a1b2c3d", "digest", _BEGUN, Need.RENEWAL)
_RING = Keyring().begun("front", _ATTEMPT, b"\x30\x01")


def _body(data: dict[str, bytes]) -> Body:
    return {"data": {name: base64.b64encode(value).decode() for name, value in data.items()}}


def test_what_was_noted_is_read_again() -> None:
    assert read_keyring(_body(_RING.data())) == _RING


def test_an_attempt_without_a_key_of_ours_is_noted_as_well() -> None:
    ring = Keyring().begun("front", _ATTEMPT, None)
    assert read_keyring(_body(ring.data())) == ring


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(None, id="no Secret"),
        pytest.param({}, id="an empty one"),
        pytest.param({"data": {"attempts.json": "!", "x": 1}}, id="nonsense"),
        pytest.param(_body({"attempts.json": b"[1]"}), id="an index of another form"),
        pytest.param(
            _body({"attempts.json": b'{"front": {"revision": "3"}}'}), id="an attempt of another form"
        ),
    ],
)
def test_what_cannot_be_read_is_as_good_as_lost(body: Body | None) -> None:
    assert read_keyring(body) == Keyring()


def test_only_what_is_needed_stays() -> None:
    ring = _RING.begun("back", _ATTEMPT, b"\x31").begun(
        "front", KeptAttempt(4, "t", "d", _BEGUN, Need.ASKED), b"\x32"
    )

    kept = ring.only({("front", 3)}, {"front"})

    assert kept.keys == {("front", 3): b"\x30\x01", ("front", 4): b"\x32"}
    assert kept.attempts.keys() == {"front"}


def test_no_repr_shows_a_key() -> None:
    assert "x30" not in repr(_RING)


@pytest.mark.parametrize("length", [1, 235, 236, 237, 253])
def test_its_name_is_one_that_kubernetes_takes_and_tells_profiles_apart(length: int) -> None:
    names = {keyring_name("a" * length), keyring_name("a" * (length - 1) + "b")}

    assert all(len(name) <= 253 and name.endswith(".certificate-keys") for name in names)
    assert len(names) == 2
