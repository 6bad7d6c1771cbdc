"""What connections are made and changed with: built from the registry, told as people would write them down."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from keybearer.destinations.app import App
from keybearer.destinations.catalogue import CATALOGUE
from keybearer.wire.app_connections import CreateAppConnection, UpdateAppConnection, create_body, update_body

KEY = {"accessKeyId": "id", "secretAccessKey": "cnry-key"}
ROLE = {"roleArn": "arn:aws:iam::123456789012:role/r"}
ROTATION = {"rotationInterval": 30, "rotateAtUtc": {"hours": 3, "minutes": 15}}


def known(name: str) -> App:
    model = CATALOGUE.app(name)
    assert model is not None
    return model


def created(app: str, **given: object) -> CreateAppConnection:
    made = TypeAdapter(create_body(known(app))).validate_python({"name": "n", **given})
    assert isinstance(made, CreateAppConnection)
    return made


def changed(app: str, **given: object) -> UpdateAppConnection:
    return update_body(known(app)).model_validate(given)


def issues(error: ValidationError) -> list[tuple[tuple[int | str, ...], str]]:
    return [(issue["loc"], issue["msg"]) for issue in error.errors(include_input=False, include_url=False)]


@pytest.mark.parametrize(("method", "given"), [("access-key", KEY), ("assume-role", ROLE)])
def test_the_method_says_which_credentials_they_are(method: str, given: dict[str, str]) -> None:
    made = created("cloud", method=method, credentials=given)
    assert type(made.credentials) is known("cloud").methods[method].given


@pytest.mark.parametrize(
    ("given", "places"),
    [
        (
            {"method": "access-key", "credentials": ROLE},
            [("accessKeyId",), ("secretAccessKey",), ("roleArn",)],
        ),
        ({"method": "assume-role", "credentials": {}}, [("roleArn",)]),
    ],
)
def test_the_place_of_an_issue_names_fields_alone(
    given: dict[str, Any], places: list[tuple[str, ...]]
) -> None:
    with pytest.raises(ValidationError) as caught:
        created("cloud", **given)
    assert [place for place, _ in issues(caught.value)] == [("credentials", *place) for place in places]


@pytest.mark.parametrize("given", [{}, {"method": "oauth"}, {"method": None}, {"method": ["access-key"]}])
def test_without_a_method_that_there_is_no_credentials_are_judged(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        created("cloud", credentials={}, **given)
    assert [place for place, _ in issues(caught.value)] == [("method",)]


@pytest.mark.parametrize("body", [None, [], "text", 5])
def test_what_is_no_object_is_refused(body: object) -> None:
    for app in CATALOGUE.apps:
        with pytest.raises(ValidationError):
            TypeAdapter(create_body(app)).validate_python(body)


def test_a_method_that_rotates_takes_terms_and_another_of_the_same_app_none() -> None:
    more = {"isAutoRotationEnabled": True, "rotation": ROTATION}
    made = created("cloud", method="access-key", credentials=KEY, **more)
    assert made.is_auto_rotation_enabled
    assert made.rotation is not None
    assert (made.rotation.rotation_interval, made.rotation.rotate_at_utc.hours) == (30, 3)
    with pytest.raises(ValidationError) as caught:
        created("cloud", method="assume-role", credentials=ROLE, **more)
    told = "Value error, Not supported for AWS Connections"
    assert {(place[0], text) for place, text in issues(caught.value)} == {
        ("isAutoRotationEnabled", told),
        ("rotation", told),
    }


@pytest.mark.parametrize("value", ["true", 1, None])
def test_a_flag_is_a_boolean(value: object) -> None:
    with pytest.raises(ValidationError):
        created("cloud", method="access-key", credentials=KEY, isAutoRotationEnabled=value)


class TestChanges:
    def test_credentials_are_read_for_each_method_that_they_fit(self) -> None:
        assert changed("cloud").credentials is None
        assert changed("cloud", credentials=None).credentials is None
        for method, given in (("access-key", KEY), ("assume-role", ROLE)):
            read = changed("cloud", credentials=given).credentials
            assert read is not None
            assert list(read) == [method]

    def test_credentials_that_fit_none_are_told_as_of_the_nearest(self) -> None:
        with pytest.raises(ValidationError) as caught:
            changed("cloud", credentials={"accessKeyId": "id"})
        assert issues(caught.value) == [(("credentials", "secretAccessKey"), "Field required")]

    def test_a_description_that_is_null_is_told_from_none(self) -> None:
        assert "description" in changed("idp", description=None).model_fields_set
        assert "description" not in changed("idp").model_fields_set


@pytest.mark.parametrize("app", CATALOGUE.apps, ids=lambda app: app.name)
def test_no_body_shows_its_credentials(app: App) -> None:
    for body in (create_body(app), update_body(app)):
        kinds = getattr(body, "__origin__", body)
        for model in getattr(kinds, "__args__", (kinds,)):
            assert not model.model_fields["credentials"].repr, model


@pytest.mark.parametrize("app", CATALOGUE.apps, ids=lambda app: app.name)
def test_what_is_shown_of_credentials_is_part_of_them(app: App) -> None:
    for method in app.methods.values():
        assert method.shown <= {field.alias for field in method.stored.model_fields.values()}
