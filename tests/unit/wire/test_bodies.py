"""keybearer.wire.bodies: the zeros that clients written in Go send for what nobody set."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from importlib import import_module
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

import pytest
from pydantic import AliasChoices, AwareDatetime, Field, ValidationError

import keybearer.destinations
import keybearer.wire
from keybearer.interface.route import body_of
from keybearer.interface.table import TABLE
from keybearer.wire.base import WHOLE, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from support.rows import each_row


class Word(StrEnum):
    ONE = "one"


class Body(BodyModel):
    needed: str
    needed_number: int
    text: Annotated[str, Field(min_length=3)] | None = None
    with_default: str = "default"
    number: Annotated[int, Field(ge=1), WHOLE] | None = None
    word: Word = Word.ONE
    literal: Literal["a", "b"] | None = None
    uuid: UUID | None = None
    date: AwareDatetime | None = None
    day: datetime | None = None
    words: Annotated[list[Annotated[str, Field(min_length=1)]], Field(max_length=3)] | None = None
    numbers: list[int] | None = None
    flag: bool = True
    nothing: None = None
    choice: Annotated[
        str | None, Field(min_length=1, validation_alias=AliasChoices("oneName", "otherName"))
    ] = None
    emptied: Annotated[str, Zero.COUNTS] | None = None
    bounded: Annotated[int, Field(ge=1), Zero.COUNTS] | None = None
    removed: Annotated[Annotated[int, Field(ge=1)], Zero.CLEARS] | None = None
    removed_text: Annotated[str, Zero.CLEARS] | None = None


def read(**given: object) -> Body:
    return Body.model_validate({"needed": "", "neededNumber": 0, **given})


def test_zeros_of_required_fields_are_values() -> None:
    assert (read().needed, read().needed_number) == ("", 0)


@each_row(
    ("field", "zero"),
    [
        ("text", ""),
        ("withDefault", ""),
        ("number", 0),
        ("word", ""),
        ("literal", ""),
        ("uuid", ""),
        ("date", ""),
        ("day", ""),
        ("words", [""]),
        ("nothing", ""),
        ("oneName", ""),
        ("otherName", ""),
    ],
)
def test_the_zero_of_an_optional_field_is_absent(field: str, zero: object) -> None:
    body = read(**{field: zero})
    assert body == read()
    assert body.model_fields_set == {"needed", "needed_number"}


@each_row(
    ("field", "value"),
    [
        ("text", 0),
        ("number", ""),
        ("number", False),
        ("number", "0"),
        ("words", ["", "a"]),
        ("words", [0]),
        ("numbers", [""]),
        ("uuid", 0),
        ("nothing", "something"),
        ("bounded", 0),
    ],
)
def test_no_other_value_is_taken_for_a_zero(field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        read(**{field: value})


@each_row(("field", "value"), [("flag", False), ("words", []), ("numbers", [0]), ("emptied", "")])
def test_what_is_said_is_kept(field: str, value: object) -> None:
    body = read(**{field: value})
    assert getattr(body, field) == value
    assert field in body.model_fields_set


def test_what_is_said_in_python_is_said() -> None:
    body = Body(needed="", needed_number=0, with_default="", removed_text="")
    assert (body.with_default, body.removed_text) == ("", "")
    with pytest.raises(ValidationError):
        Body(needed="", needed_number=0, number=0)


@each_row(("field", "name", "zero"), [("removed", "removed", 0), ("removedText", "removed_text", "")])
def test_a_zero_that_clears_is_a_null(field: str, name: str, zero: object) -> None:
    body = read(**{field: zero})
    assert getattr(body, name) is None
    assert name in body.model_fields_set


def test_the_description_takes_what_the_body_takes() -> None:
    described = Body.model_json_schema(by_alias=True)
    answered = Body.model_json_schema(by_alias=True, mode="serialization")
    for field in ("text", "literal", "uuid", "date"):
        assert _choices(described, field) == [*_choices(answered, field), {"const": "", "type": "string"}]
    assert _choices(described, "oneName")[-1] == {"const": "", "type": "string"}
    for field in ("number", "removed"):
        assert _choices(described, field) == [*_choices(answered, field), {"const": 0, "type": "integer"}]
    assert _choices(described, "words") == [*_choices(answered, "words"), {"const": [""], "type": "array"}]
    assert described["properties"]["word"] == {
        "anyOf": [{"$ref": "#/$defs/Word"}, {"const": "", "type": "string"}],
        "default": "one",
    }
    for field in ("needed", "neededNumber", "withDefault", "numbers", "flag", "emptied", "bounded"):
        assert described["properties"][field] == answered["properties"][field]


def _choices(described: dict[str, Any], field: str) -> list[object]:
    return list(described["properties"][field]["anyOf"])


def _every_model() -> list[type[WireModel]]:
    for package in (keybearer.wire, keybearer.destinations):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    for route in TABLE:
        body_of(route)
    found = [*_below(WireModel)]
    return sorted(
        {one for one in found if one.__module__.startswith("keybearer.")}, key=lambda one: one.__name__
    )


def _below(model: type[WireModel]) -> Iterator[type[WireModel]]:
    for one in model.__subclasses__():
        yield one
        yield from _below(one)


def _marks(annotation: object) -> Iterator[object]:
    for part in get_args(annotation):
        yield part
        yield from _marks(part)


# Model and field: what stands here is declared so, and nothing else is.
COUNTING = {
    # An empty text empties what was there.
    "ChangedSecretItem.secret_value",
    "ChangedSecretItem.secret_comment",
    "UpdateSecret.secret_value",
    "UpdateSecret.secret_comment",
    "UpdateAppConnection.description",
    "UpdateApplication.description",
    "UpdateCertificateProfile.description",
    "UpdateFolder.description",
    "_FolderItem.description",
    "UpdateProject.description",
    "UpdateSecretSync.description",
    "UpdateTag.color",
    "UpdateUser.first_name",
    "UpdateUser.last_name",
    "_ConfigurationChange.ca_certificates",
    "_ConfigurationChange.friendly_name",
    # An empty text clears the profile's default.
    "CertificateAttributes.common_name",
    "CertificateAttributes.country",
    "CertificateAttributes.locality",
    "CertificateAttributes.organization",
    "CertificateAttributes.organizational_unit",
    "CertificateAttributes.state",
    # An empty text takes away a restriction.
    "_KubernetesShown.allowed_audience",
    "_KubernetesShown.allowed_names",
    "_KubernetesShown.allowed_namespaces",
    "_KubernetesShown.ca_cert",
    "UpdateKubernetesAuth.allowed_audience",
    "UpdateKubernetesAuth.allowed_names",
    "UpdateKubernetesAuth.allowed_namespaces",
    "UpdateKubernetesAuth.ca_cert",
    "_LdapShown.ldap_ca_certificate",
    "UpdateLdapAuth.ldap_ca_certificate",
    # Refused: a new name and a password are never empty, and nobody is to believe that they changed one.
    "ChangedSecretItem.new_secret_name",
    "UpdateSecret.new_secret_name",
    "UpdateLdapAuth.bind_pass",
    "UpdateUser.password",
    # 0 is a number of its own: without end, without limit, no authority below.
    "AuthorityConfiguration.max_path_length",
    "GenerateAuthorityCertificate.max_path_length",
    "SignIntermediate.max_path_length",
    "ChangedTokenTerms.access_token_max_ttl",
    "ChangedTokenTerms.access_token_num_uses_limit",
    "ChangedTokenTerms.access_token_period",
    "ChangedTokenTerms.access_token_ttl",
    "TokenTerms.access_token_max_ttl",
    "TokenTerms.access_token_num_uses_limit",
    "TokenTerms.access_token_period",
    "TokenTerms.access_token_ttl",
    "CreateClientSecret.num_uses_limit",
    "CreateClientSecret.ttl",
    # interface.md section 4.3 takes a description of no characters.
    "CreateAppConnection.description",
    # interface.md section 8 and wire.md section 1.2 set the lower bound.
    "CloudOptions.key_id",
    "SearchCertificateRequests.limit",
    "ChangedLockingTerms.lockout_counter_reset_seconds",
    "ChangedLockingTerms.lockout_duration_seconds",
    "ChangedLockingTerms.lockout_threshold",
    "LockingTerms.lockout_counter_reset_seconds",
    "LockingTerms.lockout_duration_seconds",
    "LockingTerms.lockout_threshold",
}
CLEARING = {
    "ChangedSecretItem.secret_reminder_note",
    "ChangedSecretItem.secret_reminder_repeat_days",
    "UpdateSecret.secret_reminder_note",
    "UpdateSecret.secret_reminder_repeat_days",
    "UpdateKubernetesAuth.token_reviewer_jwt",
}


@pytest.mark.parametrize(("zero", "declared"), [(Zero.COUNTS, COUNTING), (Zero.CLEARS, CLEARING)])
def test_where_a_zero_says_something_is_written_down(zero: Zero, declared: set[str]) -> None:
    found = {
        f"{model.__name__}.{name}"
        for model in _every_model()
        for name, field in model.model_fields.items()
        if name in model.__annotations__ and zero in [*field.metadata, *_marks(field.annotation)]
    }
    assert found == declared
