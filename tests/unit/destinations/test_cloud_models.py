"""Credentials, configs and options of the app `cloud` (interface.md 2.1 and 8, wire.md 3.5 and 4.2)."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from keybearer.destinations.cloud_app import CLOUD
from keybearer.destinations.cloud_credentials import AccessKeyCredentials
from keybearer.destinations.cloud_options import CloudOptions, Region
from keybearer.destinations.cloud_parameter_store import CLOUD_PARAMETER_STORE, ParameterStoreConfig
from keybearer.destinations.cloud_secrets_manager import CLOUD_SECRETS_MANAGER, ManyToOneConfig
from keybearer.wire.destination_forms import DestinationConfig
from support.rows import each_row

KEY = {"accessKeyId": "AKIA0", "secretAccessKey": "cnry-secret"}
ROLE = {"roleArn": "arn:aws:iam::123456789012:role/team/keybearer"}
BEHAVIOR = {"initialSyncBehavior": "overwrite-destination"}
REGIONS = """us-east-1, us-east-2, us-west-1, us-west-2, us-gov-east-1, us-gov-west-1, af-south-1, ap-east-1,
ap-south-1, ap-south-2, ap-northeast-1, ap-northeast-2, ap-northeast-3, ap-southeast-1, ap-southeast-2,
ap-southeast-3, ap-southeast-4, ca-central-1, eu-central-1, eu-central-2, eu-west-1, eu-west-2, eu-west-3, eu-south-1,
eu-south-2, eu-north-1, me-south-1, me-central-1, sa-east-1"""
ONE = {"region": "eu-west-1", "mappingBehavior": "one-to-one"}
MANY = {"region": "eu-west-1", "mappingBehavior": "many-to-one", "secretName": "shop/all"}
BOTH = pytest.mark.parametrize(
    "options", [CLOUD_PARAMETER_STORE.options, CLOUD_SECRETS_MANAGER.options], ids=["parameters", "secrets"]
)


def refusal(model: type[BaseModel] | TypeAdapter[Any], given: object) -> str:
    with pytest.raises(ValidationError) as caught:
        model.validate_python(given) if isinstance(model, TypeAdapter) else model.model_validate(given)
    return str(caught.value)


def test_of_a_key_the_id_is_shown_and_of_a_role_nothing() -> None:
    assert {name: method.shown for name, method in CLOUD.methods.items()} == {
        "access-key": {"accessKeyId"},
        "assume-role": set(),
    }


def test_a_key_can_be_rotated_and_a_role_can_not() -> None:
    assert [name for name, method in CLOUD.methods.items() if method.is_rotatable] == ["access-key"]


def test_the_secret_part_is_in_no_repr() -> None:
    assert "cnry-" not in repr(AccessKeyCredentials.model_validate(KEY))


def test_space_around_credentials_is_dropped() -> None:
    spaced = {key: f" {value}\n" for key, value in KEY.items()}
    assert AccessKeyCredentials.model_validate(spaced) == AccessKeyCredentials.model_validate(KEY)


@each_row("field", KEY)
@each_row("value", [None, "", " ", "a b", "a\nb"])
def test_half_a_key_is_refused(field: str, value: str | None) -> None:
    refusal(CLOUD.methods["access-key"].given, {**KEY, field: value})


@pytest.mark.parametrize("endpoint", [None, "", " ", "https://sts.eu-west-1.amazonaws.com"])
def test_a_role_may_name_where_it_is_assumed(endpoint: str | None) -> None:
    given = CLOUD.methods["assume-role"].given.model_validate({**ROLE, "stsEndpoint": endpoint})
    assert given.model_dump(exclude_none=True).get("sts_endpoint") == ((endpoint or "").strip() or None)


@pytest.mark.parametrize(
    "arn", ["", "role", "arn:aws:iam::1:role/x", "arn:aws:iam::123456789012:user/x", f"{ROLE['roleArn']}\n x"]
)
def test_what_is_no_role_is_refused(arn: str) -> None:
    refusal(CLOUD.methods["assume-role"].given, {"roleArn": arn})


def test_an_unknown_field_of_credentials_is_refused() -> None:
    for name, given in (("access-key", KEY), ("assume-role", ROLE)):
        refusal(CLOUD.methods[name].given, {**given, "sessionToken": "x"})


def test_the_regions_are_those_of_the_interface() -> None:
    assert [region.value for region in Region] == REGIONS.replace("\n", " ").split(", ")


@pytest.mark.parametrize("config", [{"path": "/a/"}, ONE, MANY], ids=["parameters", "one", "many"])
def test_a_region_must_be_one_of_them(config: dict[str, str]) -> None:
    model = CLOUD_PARAMETER_STORE.config if "path" in config else CLOUD_SECRETS_MANAGER.config
    assert model.validate_python({**config, "region": "us-gov-west-1"}) is not None
    for wrong in ("us-east-9", "", None, "US-EAST-1"):
        refusal(model, {**config, "region": wrong})


def with_slashes(length: int) -> str:
    return f"/{'a' * (length - 2)}/"


@pytest.mark.parametrize("path", ["/", "/a/", "/a/b-c_1/", with_slashes(2047), with_slashes(2048)])
def test_a_path_begins_and_ends_with_a_slash(path: str) -> None:
    config = CLOUD_PARAMETER_STORE.config.validate_python({"region": "eu-west-1", "path": path})
    assert config == ParameterStoreConfig(region=Region.EU_WEST_1, path=path)


@each_row("path", ["", "a", "a/", "/a", "/a//b/", "/a b/", "/a.b/", "/ä/", "/a/\n", with_slashes(2049), None])
def test_another_path_is_refused(path: str | None) -> None:
    refusal(CLOUD_PARAMETER_STORE.config, {"region": "eu-west-1", "path": path})


@pytest.mark.parametrize(
    "schema", ["{{secretKey}}", "app/{{environment}}/{{secretKey}}", "a/x-{{secretKey}}-y"]
)
def test_a_key_schema_extends_the_path(schema: str) -> None:
    assert (
        CLOUD_PARAMETER_STORE.options.model_validate({**BEHAVIOR, "keySchema": schema}).key_schema == schema
    )


@pytest.mark.parametrize(
    "schema", ["/{{secretKey}}", "{{secretKey}}/x", "a/{{secretKey}}/", "/a/{{secretKey}}"]
)
def test_a_key_schema_neither_starts_the_path_nor_goes_on_after_the_key(schema: str) -> None:
    assert "Key schema" in refusal(CLOUD_PARAMETER_STORE.options, {**BEHAVIOR, "keySchema": schema})
    assert CLOUD_SECRETS_MANAGER.options.model_validate({**BEHAVIOR, "keySchema": schema}) is not None


def test_a_schema_without_the_key_is_refused_in_the_words_of_all_destinations() -> None:
    told = refusal(CLOUD_PARAMETER_STORE.options, {**BEHAVIOR, "keySchema": "app"})
    assert "Key schema must include exactly one {{secretKey}} placeholder." in told


@BOTH
@pytest.mark.parametrize("length", [1, 255, 256])
def test_a_key_id_has_up_to_256_characters(options: type[CloudOptions], length: int) -> None:
    assert options.model_validate({**BEHAVIOR, "keyId": "a" * length}).key_id == "a" * length


@BOTH
@pytest.mark.parametrize("key_id", ["", "a" * 257, "a b", "a.b", "ä", 7])
def test_another_key_id_is_refused(options: type[CloudOptions], key_id: object) -> None:
    refusal(options, {**BEHAVIOR, "keyId": key_id})


@BOTH
@pytest.mark.parametrize(("key", "value"), [(1, 0), (127, 255), (128, 256)])
def test_tags_have_the_lengths_of_the_interface(options: type[CloudOptions], key: int, value: int) -> None:
    tags = options.model_validate({**BEHAVIOR, "tags": [{"key": "k" * key, "value": "v" * value}]}).tags
    assert tags is not None
    assert (len(tags[0].key), len(tags[0].value)) == (key, value)


@BOTH
@pytest.mark.parametrize(
    "tag",
    [
        {"key": "", "value": ""},
        {"key": "k" * 129, "value": ""},
        {"key": "k", "value": "v" * 257},
        {"key": "k"},
        {"value": "v"},
        {"key": "k?", "value": "v"},
        {"key": "k", "value": "v*"},
        {"key": "k", "value": "a\nb"},
        {"key": "k", "value": "v", "more": "x"},
    ],
    ids=str,
)
def test_another_tag_is_refused(options: type[CloudOptions], tag: dict[str, str]) -> None:
    refusal(options, {**BEHAVIOR, "tags": [tag]})


@BOTH
def test_tags_take_letters_of_any_script_and_some_signs(options: type[CloudOptions]) -> None:
    assert options.model_validate({**BEHAVIOR, "tags": [{"key": "größe 1", "value": "_.:/=+-@"}]}).tags


@BOTH
@pytest.mark.parametrize(("count", "fits"), [(0, True), (49, True), (50, True), (51, False)])
def test_there_are_50_tags_at_most(options: type[CloudOptions], *, count: int, fits: bool) -> None:
    given = {**BEHAVIOR, "tags": [{"key": f"k{n}", "value": "v"} for n in range(count)]}
    if fits:
        assert len(options.model_validate(given).tags or ()) == count
    else:
        refusal(options, given)


@BOTH
def test_two_tags_of_one_key_are_refused(options: type[CloudOptions]) -> None:
    tags = [{"key": "k", "value": "1"}, {"key": "k", "value": "2"}]
    assert "Tag keys must be unique" in refusal(options, {**BEHAVIOR, "tags": tags})


@BOTH
def test_options_take_no_unknown_field_and_no_word_for_a_flag(options: type[CloudOptions]) -> None:
    refusal(options, {**BEHAVIOR, "recursive": True})
    refusal(options, {**BEHAVIOR, "syncSecretMetadataAsTags": "true"})
    refusal(options, {})


@BOTH
@pytest.mark.parametrize(
    "behavior", ["overwrite-destination", "import-prioritize-source", "import-prioritize-destination"]
)
def test_the_first_sync_is_resolved_in_three_ways(options: type[CloudOptions], behavior: str) -> None:
    assert options.model_validate({"initialSyncBehavior": behavior}).written() == {
        "initialSyncBehavior": behavior
    }


@pytest.mark.parametrize("length", [1, 255, 256])
def test_many_to_one_names_its_secret(length: int) -> None:
    config = CLOUD_SECRETS_MANAGER.config.validate_python({**MANY, "secretName": "s" * length})
    assert isinstance(config, ManyToOneConfig)


@pytest.mark.parametrize("name", [None, "", "s" * 257, "a b", "a:b", "ä"])
def test_many_to_one_without_a_good_name_is_refused(name: str | None) -> None:
    refusal(CLOUD_SECRETS_MANAGER.config, {**MANY, "secretName": name})


def test_one_to_one_names_none() -> None:
    told = refusal(CLOUD_SECRETS_MANAGER.config, {**ONE, "secretName": "shop"})
    assert "secretName is for the mapping behavior many-to-one only" in told
    config: DestinationConfig = CLOUD_SECRETS_MANAGER.config.validate_python({**ONE, "secretName": None})
    assert config.written() == ONE


@pytest.mark.parametrize("behavior", [None, "", "many", "ONE-TO-ONE"])
def test_there_are_two_mapping_behaviors(behavior: str | None) -> None:
    refusal(CLOUD_SECRETS_MANAGER.config, {**ONE, "mappingBehavior": behavior})


def test_a_config_takes_no_unknown_field() -> None:
    for config in (ONE, MANY):
        refusal(CLOUD_SECRETS_MANAGER.config, {**config, "path": "/"})
    refusal(CLOUD_PARAMETER_STORE.config, {"region": "eu-west-1", "path": "/", "secretName": "x"})


def test_metadata_is_no_tag_of_a_secret_for_all_keys() -> None:
    options = CloudOptions.model_validate({**BEHAVIOR, "syncSecretMetadataAsTags": True})
    CLOUD_SECRETS_MANAGER.agree(CLOUD_SECRETS_MANAGER.config.validate_python(ONE), options)
    with pytest.raises(ValueError, match="Syncing secret metadata") as caught:
        CLOUD_SECRETS_MANAGER.agree(CLOUD_SECRETS_MANAGER.config.validate_python(MANY), options)
    assert str(caught.value) == (
        'Syncing secret metadata is not supported with "Many-to-One" mapping behavior.'
    )
