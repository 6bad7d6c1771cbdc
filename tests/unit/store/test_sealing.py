from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keybearer.base.errors import ConfigurationError
from keybearer.store.sealing.envelope import (
    Ciphertext,
    Plaintext,
    SealingKey,
    UnsealError,
    associate,
    key_id_of,
    key_name,
    key_name_of,
    new_key_material,
)
from keybearer.store.sealing.keyring import Keyring, data_key_identity
from keybearer.store.sealing.root_key import RootKeys

texts = st.binary(max_size=300).map(Plaintext)
parts = st.lists(st.one_of(st.text(max_size=20), st.integers()), max_size=4)


def fresh_key(version: int = 1) -> SealingKey:
    return SealingKey(key_name(uuid4(), version), new_key_material())


@given(text=texts, identity=st.binary(max_size=40))
def test_what_was_sealed_opens_for_the_same_key_and_record(text: Plaintext, identity: bytes) -> None:
    key = fresh_key()
    assert key.open(key.seal(text, identity), identity) == text


@given(text=texts, identity=st.binary(max_size=40), other=st.binary(max_size=40))
def test_an_envelope_moved_to_another_record_stays_closed(
    text: Plaintext, identity: bytes, other: bytes
) -> None:
    key = fresh_key()
    sealed = key.seal(text, identity)
    if identity != other:
        with pytest.raises(UnsealError):
            key.open(sealed, other)


@given(text=texts, position=st.integers(min_value=0), flip=st.integers(min_value=1, max_value=255))
def test_a_changed_byte_anywhere_keeps_an_envelope_closed(text: Plaintext, position: int, flip: int) -> None:
    key = fresh_key()
    damaged = bytearray(key.seal(text, b"row"))
    damaged[position % len(damaged)] ^= flip
    with pytest.raises(UnsealError):
        key.open(Ciphertext(bytes(damaged)), b"row")


@given(first=parts, second=parts)
@example(first=["a,b"], second=["a", "b"])
@example(first=["a,1:b"], second=["a", "b"])
def test_associated_data_of_different_records_never_runs_together(
    first: list[str | int], second: list[str | int]
) -> None:
    same = [str(part) for part in first] == [str(part) for part in second]
    assert (associate("row", *first) == associate("row", *second)) == same


def test_an_envelope_names_the_key_and_version_that_sealed_it() -> None:
    key_id = UUID("0190d3a4-0000-4000-8000-000000000001")
    key = SealingKey(key_name(key_id, 7), new_key_material())
    name = key_name_of(key.seal(Plaintext(b"cnry-sealed"), b""))
    assert name == key_name(key_id, 7)
    assert key_id_of(name) == key_id


def test_two_seals_of_one_text_differ() -> None:
    key = fresh_key()
    assert key.seal(Plaintext(b"cnry-same"), b"") != key.seal(Plaintext(b"cnry-same"), b"")


def test_another_version_of_a_key_does_not_open() -> None:
    old = fresh_key(1)
    new = SealingKey(key_name(key_id_of(old.name), 2), old.material)
    with pytest.raises(UnsealError, match="names key"):
        new.open(old.seal(Plaintext(b"cnry-old"), b""), b"")


def test_an_envelope_that_is_renamed_to_another_key_does_not_open() -> None:
    """Even where the other key is the same bytes: the name in front is authenticated."""
    key = fresh_key()
    other = SealingKey(key_name(uuid4(), 1), key.material)
    sealed = key.seal(Plaintext(b"cnry-sealed"), b"row")
    renamed = Ciphertext(sealed.replace(key.name, other.name, 1))
    assert key_name_of(renamed) == other.name
    with pytest.raises(UnsealError):
        other.open(renamed, b"row")


@pytest.mark.parametrize(
    "envelope",
    [
        pytest.param(b"", id="nothing at all"),
        pytest.param(b"\x01" * 40, id="shorter than header, nonce and tag"),
        pytest.param(b"\x09" + b"\x00" * 60, id="a format of the future"),
    ],
)
def test_what_is_no_envelope_is_told_so(envelope: bytes) -> None:
    with pytest.raises(UnsealError):
        key_name_of(envelope)


def test_a_key_does_not_show_in_its_repr() -> None:
    key = SealingKey(key_name(uuid4(), 1), b"cnry-0123456789abcdef0123456789a")
    assert "cnry" not in repr(key)


def test_a_data_key_unwraps_under_a_retired_root_key_only_while_that_is_given() -> None:
    old, new, data = fresh_key(), fresh_key(), fresh_key()
    wrapped = old.wrap(data, data_key_identity("project"))
    unwrapped = Keyring(RootKeys(new, (old,))).unwrap(data.name, wrapped, "project")
    assert unwrapped.material == data.material
    with pytest.raises(ConfigurationError, match="was not given"):
        Keyring(RootKeys(new)).unwrap(data.name, wrapped, "project")


def test_a_wrapped_key_of_another_project_does_not_unwrap() -> None:
    root, data = fresh_key(), fresh_key()
    wrapped = root.wrap(data, data_key_identity("one"))
    with pytest.raises(UnsealError):
        Keyring(RootKeys(root)).unwrap(data.name, wrapped, "two")


def test_the_keyring_keeps_a_bounded_number_of_keys() -> None:
    ring = Keyring(RootKeys(fresh_key()))
    keys = [SealingKey(key_name(uuid4(), 1), new_key_material()) for _ in range(1100)]
    for key in keys:
        ring.keep(key)
    assert ring.cached(keys[0].name) is None
    assert ring.cached(keys[-1].name) is keys[-1]
    assert sum(ring.cached(key.name) is not None for key in keys) == 1024
