"""The examples of docs/client.md and docs/cli.md do what the pages say."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from functools import cached_property
from pathlib import Path
from unittest import mock

import pytest
import typer
from typer.core import TyperGroup

from keybearer.cli.failures import ExitStatus
from keybearer.cli.main import app
from keybearer.client import Keybearer, UniversalAuth
from keybearer.client.resources import Resource
from support.command_line import PROGRAM, CommandLine
from support.service_fixtures import Service, ServiceProcess
from tools.local.waiting import PATIENCE_SECONDS

DOCS = Path(__file__).parents[3] / "docs"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", (DOCS / "client.md").read_text(), re.DOTALL | re.MULTILINE)
COMMANDS = re.findall(r"^    \$ ((?:.*\\\n)*.*)$", (DOCS / "cli.md").read_text(), re.MULTILINE)


@pytest.fixture
def service(calling_service: ServiceProcess) -> ServiceProcess:
    return calling_service


@pytest.fixture
def project_slug(service: Service) -> str:
    return service.create_project().slug


async def test_the_examples_of_the_client_run_one_after_the_other(
    service: Service, project_slug: str
) -> None:
    assert len(EXAMPLES) >= 6
    who = service.admin
    with (
        mock.patch.dict(os.environ),  # noqa: TID251 - one example fills it
        Keybearer(service.url, UniversalAuth(who.client_id, who.client_secret)) as client,
    ):
        names: dict[str, object] = {
            "url": service.url,
            "client_id": who.client_id,
            "client_secret": who.client_secret,
            "bind_pass": "cnry-reader",
            "project_id": client.projects.get_by_slug(project_slug).id,
            "client": client,
        }
        for number, example in enumerate(EXAMPLES, 1):
            code = compile(
                example, f"docs/client.md example {number}", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            )
            # The blocks that open a client of their own call it `client` too, and close it.
            ran = eval(code, {**names, "client": client} if "as client" in example else names)  # noqa: S307
            if ran is not None:
                await ran


@pytest.mark.deep
def test_the_commands_of_the_page_run_one_after_the_other(
    service: Service, project_slug: str, tmp_path: Path
) -> None:
    assert len(COMMANDS) >= 10
    keybearer = CommandLine(
        tmp_path,
        {
            "KEYBEARER_URL": service.url,
            "KEYBEARER_CLIENT_ID": service.admin.client_id,
            "KEYBEARER_CLIENT_SECRET": service.admin.client_secret,
            "URL": service.url,
            "CLIENT_ID": service.admin.client_id,
            "IDENTITY_ID": service.create_identity().identity_id,
            "OTHER_PROJECT_ID": service.create_project(name="other").id,
        },
    )
    path = f"{PROGRAM.parent}{os.pathsep}{keybearer.environment['PATH']}"
    for command in COMMANDS:
        line = command.replace("my-shop", project_slug)
        done = subprocess.run(
            ["sh", "-c", line],
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            env={**keybearer.environment, "PATH": path},
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"


def methods_of(group: object) -> set[str]:
    kind = type(group)
    own = {name for name in vars(kind) if not name.startswith("_")}
    return {name for name in own if callable(getattr(group, name))}


def test_the_page_lists_every_group_of_the_client_and_every_method() -> None:
    page = (DOCS / "client.md").read_text()
    with Keybearer("http://127.0.0.1:1") as client:
        groups = {
            name: getattr(client, name)
            for kind in Keybearer.__mro__
            for name, found in vars(kind).items()
            if isinstance(found, cached_property)
        }
        assert {"auth", "secrets", "events"} <= groups.keys()
        inner = {
            f"{name}.{part}": found
            for name, group in groups.items()
            for part, found in vars(group).items()
            if isinstance(found, Resource)
        }
        for name, group in {**groups, **inner}.items():
            rows = [line for line in page.splitlines() if line.startswith("|") and name in line]
            for method in methods_of(group):
                assert any(f"{method}`" in row or f"{method}(" in row for row in rows) or (
                    f"`{name}.{method}" in page
                ), f"{name}.{method}"


def test_the_page_lists_every_command() -> None:
    page = (DOCS / "cli.md").read_text()
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    for name in root.commands.keys() - {"version"}:
        assert f"`{name}" in page or f"keybearer {name}`" in page, name


def test_the_page_lists_every_exit_status() -> None:
    _, chapter = (DOCS / "cli.md").read_text().split("\n## Exit statuses\n")
    listed = re.findall(r"^\| (\d+) \|", chapter.partition("\n## ")[0], re.MULTILINE)
    assert [int(status) for status in listed] == [status.value for status in ExitStatus]


def test_the_page_lists_every_variable_that_the_command_line_reads() -> None:
    sources = (DOCS.parent / "operator" / "keybearer" / "cli").rglob("*.py")
    read = {name for source in sources for name in re.findall(r"\bKEYBEARER_[A-Z_]+", source.read_text())}
    page = (DOCS / "cli.md").read_text()
    assert {name for name in read if name not in page} == set()
