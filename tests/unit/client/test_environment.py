from __future__ import annotations

import httpx
import pytest

from keybearer.client import Secret
from keybearer.client.environment import attach
from unit.client.harness import FakeService, Runner, secret_body

SECRETS = "/api/v4/secrets"


def secret(key: str, value: str, *, hidden: bool = False) -> Secret:
    return Secret(id="1", secret_key=key, secret_value=value, secret_value_hidden=hidden)


async def test_a_list_fills_variables_that_are_unset_or_empty_and_no_others(
    runner: Runner, service: FakeService
) -> None:
    runner.process_env.update({"SET": "own", "EMPTY": ""})
    body = {
        "secrets": [secret_body(key, f"cnry-{key}") for key in ("SET", "EMPTY", "UNSET")],
        "imports": [
            {"secretPath": "/x", "environment": "dev", "secrets": [secret_body("IMPORTED", "cnry-i")]}
        ],
    }
    service.on(SECRETS, httpx.Response(200, json=body))
    client = runner.client()
    listed = await runner.of(
        client.secrets.list(project_id="p-1", environment="dev", attach_to_process_env=True)
    )
    assert runner.process_env == {
        "SET": "own",
        "EMPTY": "cnry-EMPTY",
        "UNSET": "cnry-UNSET",
        "IMPORTED": "cnry-i",
    }
    assert len(listed) == 4


async def test_the_other_name_of_the_option_fills_the_environment_too(
    runner: Runner, service: FakeService
) -> None:
    service.on(SECRETS, httpx.Response(200, json={"secrets": [secret_body("A", "cnry-A")]}))
    client = runner.client()
    await runner.of(
        client.secrets.list(project_id="p-1", environment="dev", set_secrets_as_environment_variables=True)
    )
    assert runner.process_env == {"A": "cnry-A"}


async def test_a_list_leaves_the_environment_alone_unless_asked(runner: Runner, service: FakeService) -> None:
    service.on(SECRETS, httpx.Response(200, json={"secrets": [secret_body("A")]}))
    await runner.of(runner.client().secrets.list(project_id="p-1", environment="dev"))
    assert runner.process_env == {}


def test_the_last_of_equal_keys_is_attached() -> None:
    env: dict[str, str] = {}
    attach([secret("A", "cnry-1"), secret("A", "cnry-2")], env)
    assert env == {"A": "cnry-2"}


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(secret("A", "<hidden-by-infisical>", hidden=True), id="a mask"),
        pytest.param(secret("A=B", "cnry-v"), id="a name with an equals sign"),
        pytest.param(secret("", "cnry-v"), id="no name"),
        pytest.param(secret("A", "cnry-\0"), id="a value with NUL"),
        pytest.param(secret("A\0", "cnry-v"), id="a name with NUL"),
    ],
)
def test_what_no_environment_can_hold_is_left_out(odd: Secret) -> None:
    env: dict[str, str] = {}
    attach([odd, secret("FINE", "cnry-v")], env)
    assert env == {"FINE": "cnry-v"}
