"""The secret operations of the interface as its section 4.8 tells them, with their defaults and answers (2.7)."""

from __future__ import annotations

import pytest

from contract.client.house import Client, House, of
from keybearer.client import ClientOptions, InvalidArgument, NotFound, Secret


def check_fields(secret: Secret, house: House, key: str, value: str, version: int) -> None:
    """Each field of interface.md 2.7, by name and kind."""
    assert (secret.secret_key, secret.secret_value, secret.secret_comment) == (key, value, "said")
    assert (secret.secret_path, secret.environment, secret.workspace) == ("/", "dev", house.project.id)
    assert (secret.version, type(secret.version)) == (version, int)
    assert secret.type == "shared"
    for text in (secret.id, secret.created_at, secret.updated_at):
        assert isinstance(text, str)
        assert text


async def test_every_operation_answers_the_fields_of_the_interface(house: House, client: Client) -> None:
    created = await of(client.secrets.create("KEY", "cnry-1", secret_comment="said", **house.place))
    check_fields(created, house, "KEY", "cnry-1", 1)
    (listed,) = await of(client.secrets.list(**house.place))
    check_fields(listed, house, "KEY", "cnry-1", 1)
    updated = await of(client.secrets.update("KEY", secret_value="cnry-2", **house.place))
    check_fields(updated, house, "KEY", "cnry-2", 2)
    check_fields(await of(client.secrets.get("KEY", **house.place)), house, "KEY", "cnry-2", 2)
    check_fields(await of(client.secrets.delete("KEY", **house.place)), house, "KEY", "cnry-2", 2)


async def test_a_list_without_options_is_the_root_with_its_imports_and_without_what_lies_below(
    house: House, client: Client
) -> None:
    environment: dict[str, str] = {}
    other = house.client(house.credentials, ClientOptions(process_env=environment))
    await of(client.folders.create("below", **house.place))
    await of(client.folders.create("source", **house.place))
    await of(client.secrets.create("B_DIRECT", "cnry-d", **house.place))
    await of(client.secrets.create("BELOW", "cnry-b", secret_path="/below", **house.place))
    await of(client.secrets.create("A_IMPORTED", "cnry-i", secret_path="/source", **house.place))
    await of(client.imports.create("dev", "/source", **house.place))
    listed = await of(other.secrets.list(**house.place))
    assert [secret.secret_key for secret in listed] == ["A_IMPORTED", "B_DIRECT"]
    assert environment == {}, "nothing is attached unless asked for"
    alone = await of(client.secrets.list(include_imports=False, **house.place))
    assert [secret.secret_key for secret in alone] == ["B_DIRECT"]
    found = await of(client.secrets.get("A_IMPORTED", **house.place))
    assert (found.secret_value, found.secret_path) == ("cnry-i", "/source")
    with pytest.raises(NotFound):
        await of(client.secrets.get("A_IMPORTED", include_imports=False, **house.place))


async def test_recursion_ends_at_twenty_folders(house: House, client: Client) -> None:
    for depth in (20, 21):
        path = "/d" * depth
        await of(client.folders.create("d", path="/d" * (depth - 1), **house.place))
        await of(client.secrets.create(f"AT_{depth}", "cnry-v", secret_path=path, **house.place))
    listed = await of(client.secrets.list(recursive=True, **house.place))
    assert [secret.secret_key for secret in listed] == ["AT_20"]


async def test_an_update_needs_a_value_or_a_name(house: House, client: Client) -> None:
    await of(client.secrets.create("KEY", "cnry-1", **house.place))
    with pytest.raises(InvalidArgument, match="secret_value or new_secret_name"):
        await of(client.secrets.update("KEY", **house.place))
    renamed = await of(client.secrets.update("KEY", new_secret_name="NAME", **house.place))
    assert (renamed.secret_key, renamed.version) == ("NAME", 2)
    read = await of(client.secrets.get("NAME", **house.place))
    assert read.secret_value == "cnry-1"


async def test_a_value_of_several_lines_follows_the_flag_of_create_and_of_update(
    house: House, client: Client
) -> None:
    await of(client.secrets.create("LINES", "cnry-1\ncnry-2", **house.place))
    await of(client.secrets.create("USE", "${LINES}", skip_multiline_encoding=True, **house.place))
    read = await of(client.secrets.get("USE", **house.place))
    assert read.secret_value == '"cnry-1\\ncnry-2"'
    await of(
        client.secrets.update("USE", secret_value="${LINES}", skip_multiline_encoding=False, **house.place)
    )
    assert (await of(client.secrets.get("USE", **house.place))).secret_value == "cnry-1\ncnry-2"
