"""What commands load before they do anything: libraries that they don't need would be felt at every start."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from keybearer.cli.main import app
from tools.local.waiting import PATIENCE_SECONDS

HEAVY = {
    *("aiohttp", "asyncio", "cryptography", "fastapi", "httpx", "importlib.metadata", "kopf", "kubernetes"),
    *("pydantic", "pygments", "rich", "sqlalchemy", "structlog", "uvicorn", "yaml"),
    *("keybearer.client", "keybearer.controllers", "keybearer.domain", "keybearer.kube", "keybearer.server"),
}
"""What `--help` of any command needs none of."""


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a command has loaded when it ends."""
    program = (
        f"import sys; sys.argv = ['keybearer', *{list(arguments)!r}]\n"
        "from keybearer.cli.main import app\n"
        "try:\n    app()\n"
        "except SystemExit:\n    print('loaded', *sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
        env={"KEYBEARER_URL": "http://127.0.0.1:1", "KEYBEARER_TOKEN": "cnry-token"},
    )
    words = done.stdout.splitlines()[-1].split()
    assert words[0] == "loaded", done.stdout
    return set(words[1:])


COERCION = {"pydantic", "importlib.metadata"}
"""typer reads the arguments of each command with pydantic, which looks for its plugins."""


def test_the_help_loads_nothing_that_it_does_not_need() -> None:
    assert loaded_by("--help") & HEAVY == set()


@pytest.mark.parametrize(
    "arguments",
    [
        *(["secrets", "--help"], ["secrets", "set", "--help"], ["serve", "--help"]),
        *(["init", "--help"], ["doctor", "--help"], ["whoami", "--help"]),
    ],
)
def test_the_help_of_a_command_loads_nothing_that_it_does_not_need(arguments: list[str]) -> None:
    assert loaded_by(*arguments) & (HEAVY - COERCION) == set()


def test_the_version_loads_nothing_that_it_does_not_need() -> None:
    assert loaded_by("version") & (HEAVY - COERCION) == set()


def test_a_command_that_asks_the_service_loads_no_other_command_line_and_nothing_of_the_service() -> None:
    loaded = loaded_by("projects", "list", "--output", "json")
    assert loaded & {"httpx", "keybearer.client"} == {"httpx", "keybearer.client"}
    client = {"httpx", "pydantic", "keybearer.client"}
    assert loaded & (HEAVY - COERCION - client - {"asyncio"}) == set()


def test_a_command_that_asks_the_service_loads_the_group_that_it_uses_and_not_the_other_client() -> None:
    loaded = loaded_by("projects", "list", "--output", "json")
    groups = {name for name in loaded if name.startswith("keybearer.client.groups.")}
    assert groups == {"keybearer.client.groups.projects"}
    others = {"asynchronous", "event_frames", "actors", "operations.secret_writes", "operations.users"}
    assert loaded & {f"keybearer.client.{name}" for name in others} == set()
    assert loaded & {"keybearer.wire.secrets", "keybearer.wire.users", "keybearer.wire.identities"} == set()


def test_a_command_loads_no_other_command() -> None:
    loaded = loaded_by("tags", "--help")
    assert "keybearer.cli.tags" in loaded
    others = {"certificates", "identities", "operator", "secrets", "serve", "syncs", "users"}
    assert loaded & {f"keybearer.cli.{name}" for name in others} == set()


def test_a_mistyped_command_is_told_what_it_resembles() -> None:
    answer = CliRunner().invoke(app, ["secretz"])
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "Did you mean 'secrets'" in answer.stderr


def test_the_operator_loads_what_knows_certificates_with_its_first_certificate_profile() -> None:
    program = "import keybearer.controllers.process, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
    )

    assert not {"cryptography", "keybearer.pki"} & set(done.stdout.split())


def test_the_operator_loads_no_blocking_client_of_kubernetes() -> None:
    loaded = loaded_by("operator", "--kubeconfig", "/nowhere")

    assert {"keybearer.controllers.process", "kubernetes.aio.client.configuration"} <= loaded
    assert loaded & {"requests", "oauthlib", "urllib3", "websocket", "kubernetes", "kubernetes.aio"} == set()


def test_a_package_that_was_loaded_bare_can_be_had_whole_afterwards() -> None:
    program = (
        "from keybearer.cli.loading import bare\n"
        "with bare('kubernetes', 'kubernetes.aio'):\n    from keybearer.kube.access import load_access\n"
        "import kubernetes, kubernetes.aio\n"
        "print(kubernetes.config.load_kube_config.__name__, kubernetes.aio.client.V1Pod.__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
    )

    assert done.stdout.split() == ["load_kube_config", "V1Pod"]
