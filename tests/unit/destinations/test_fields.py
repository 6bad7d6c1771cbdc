"""What is told of the fields of credentials and configurations."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Literal

from pydantic import Field as Given

from keybearer.destinations.fields import Field, Form, config_forms, credential_fields
from keybearer.destinations.form import config_of
from keybearer.destinations.gitlab import GITLAB
from keybearer.wire.base import Confidential
from keybearer.wire.credentials import Credentials, Method
from keybearer.wire.destination_forms import DestinationConfig


class Kind(StrEnum):
    ONE = "one"
    OTHER = "other"


class Login(Credentials):
    host: str | None = None
    kind: Kind | None = None
    token: Confidential
    old_token: str | None = Given(default=None, repr=False)


class Whole(DestinationConfig):
    scope: Literal["whole"]
    place_id: str
    part: None = None


class Part(DestinationConfig):
    scope: Literal["part"]
    part: str
    order: Literal["up", "down"] = "up"


def test_credentials_tell_what_is_secret_what_may_be_left_out_and_which_words_there_are() -> None:
    assert credential_fields(Method(Login)) == (
        Field("token", is_required=True, is_secret=True),
        Field("host", is_required=False),
        Field("kind", is_required=False, words=("one", "other")),
        Field("oldToken", is_required=False, is_secret=True),
    )


def test_a_configuration_of_several_shapes_tells_each_with_its_word() -> None:
    kind = replace(GITLAB, config=config_of(Whole, Part, by="scope"))
    assert {form.selector: form.fields for form in config_forms(kind)} == {
        ("scope", "whole"): (Field("placeId", is_required=True),),
        ("scope", "part"): (
            Field("part", is_required=True),
            Field("order", is_required=False, words=("up", "down")),
        ),
    }


def test_a_configuration_of_one_shape_has_no_word() -> None:
    class Single(DestinationConfig):
        name: str

    kind = replace(GITLAB, config=config_of(Single))
    assert config_forms(kind) == (Form(None, (Field("name", is_required=True),)),)
