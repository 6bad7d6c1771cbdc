"""What is sealed of a secret opens for that secret, in that version and project, and as what it is."""

from __future__ import annotations

from uuid import uuid4

import pytest

from keybearer.store.records import SecretDetails
from keybearer.store.sealing.envelope import (
    BARE,
    AlteredDatabaseError,
    Plaintext,
    SealingKey,
    UnsealError,
    associate,
    key_name,
    new_key_material,
)
from keybearer.store.secret_codec import (
    Sealed,
    open_details,
    open_value,
    reseal,
    seal_details,
    seal_value,
)

KEY = SealingKey(key_name(uuid4(), 2), new_key_material(), is_strict=True)
FORMER_KEY = SealingKey(key_name(uuid4(), 1), new_key_material())
KEYS = {key.name: key for key in (KEY, FORMER_KEY)}
RECORD = Sealed(project_id="p", secret_id="s", version=3, folder_id="f", key="A")
DETAILS = SecretDetails(comment="cnry-comment")

others = pytest.mark.parametrize(
    "other",
    [
        pytest.param(RECORD._replace(project_id="q"), id="another project"),
        pytest.param(RECORD._replace(secret_id="t"), id="another secret"),
        pytest.param(RECORD._replace(version=2), id="another version"),
        pytest.param(RECORD._replace(folder_id="g"), id="another folder"),
        pytest.param(RECORD._replace(key="B"), id="another key"),
    ],
)


def test_it_opens_for_its_own_record() -> None:
    assert open_value(KEYS, RECORD, seal_value(KEY, RECORD, "cnry-1")) == "cnry-1"
    assert open_details(KEYS, RECORD, seal_details(KEY, RECORD, DETAILS)) == DETAILS


@others
def test_it_opens_for_no_other_record(other: Sealed) -> None:
    with pytest.raises(UnsealError):
        open_value(KEYS, other, seal_value(KEY, RECORD, "cnry-1"))
    with pytest.raises(UnsealError):
        open_details(KEYS, other, seal_details(KEY, RECORD, DETAILS))


@others
def test_it_is_not_sealed_anew_for_another_record(other: Sealed) -> None:
    with pytest.raises(UnsealError):
        reseal(KEYS, KEY, other, seal_value(KEY, RECORD, "cnry-1"), None)


def test_what_an_earlier_version_sealed_opens_until_it_is_sealed_anew() -> None:
    former = FORMER_KEY.seal(Plaintext(b"cnry-1"), RECORD.bound("secret value", BARE))
    assert open_value(KEYS, RECORD._replace(folder_id="", key="B"), former) == "cnry-1"
    value, _ = reseal(KEYS, KEY, RECORD, former, None)
    assert open_value(KEYS, RECORD, value) == "cnry-1"
    with pytest.raises(UnsealError):
        open_value(KEYS, RECORD._replace(key="B"), value)


def test_an_earlier_version_opens_what_is_sealed_with_a_key_of_its_own() -> None:
    value, details = seal_value(FORMER_KEY, RECORD, "cnry-1"), seal_details(FORMER_KEY, RECORD, DETAILS)
    assert details is not None
    assert FORMER_KEY.open(value, associate("secret value", "p", "s", 3)) == b"cnry-1"
    assert b"cnry-comment" in bytes(FORMER_KEY.open(details, associate("secret details", "p", "s", 3)))


def test_a_strict_key_opens_nothing_of_earlier_versions() -> None:
    former = KEY.seal(Plaintext(b"cnry-1"), RECORD.bound("secret value", BARE))
    with pytest.raises(AlteredDatabaseError):
        open_value(KEYS, RECORD, former)


def test_details_do_not_open_as_a_value() -> None:
    details = seal_details(KEY, RECORD, DETAILS)
    assert details is not None
    with pytest.raises(UnsealError):
        open_value(KEYS, RECORD, details)
