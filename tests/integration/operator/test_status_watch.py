"""`kubectl keybearer status --watch` beside a real API server: changes arrive by watches, and Ctrl-C ends it well."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from support.command_line import PROGRAM, CommandLine
from support.tenant import Tenant
from tools.local.operator_cluster import OperatorCluster
from tools.local.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.integration

PLUGIN = str(PROGRAM.with_name("kubectl-keybearer"))


@pytest.fixture
def plugin(operator_cluster: OperatorCluster, tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, {"KUBECONFIG": str(operator_cluster.plane.admin_kubeconfig)}, (PLUGIN,))


@contextmanager
def watching(plugin: CommandLine, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    process = plugin.start("status", "--watch", *arguments)
    assert process.stdout is not None
    try:
        yield process, process.stdout
    finally:
        process.kill()
        process.communicate()


def until(lines: IO[str], *parts: str) -> str:
    """Return the first line with all these parts."""
    seen: list[str] = []
    try:
        for line in lines:
            seen.append(line)
            if all(part in line for part in parts):
                return line
    except OSError:
        pass  # how Linux says that nobody has the other end of a terminal any more
    raise AssertionError(f"it ended without {parts}: {seen}")


def test_piped_each_change_is_a_line_and_ctrl_c_ends_with_0(plugin: CommandLine, tenant: Tenant) -> None:
    tenant.project.store({"DB_HOST": "cnry-1"})
    tenant.sync("well")
    tenant.until_ready("well")
    with watching(plugin, "-n", tenant.namespace) as (process, lines):
        until(lines, f"SecretSync {tenant.namespace}/well True Synced: ")
        tenant.sync("broken", source=tenant.source(environment="none"))
        until(lines, f"SecretSync {tenant.namespace}/broken False SourceNotFound: ")
        tenant.api.delete("SecretSync", tenant.namespace, "broken")
        until(lines, f"SecretSync {tenant.namespace}/broken gone")
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=PATIENCE_SECONDS)
        assert (process.returncode, errors) == (0, ""), rest


def test_one_object_as_json_is_told_alone(plugin: CommandLine, tenant: Tenant) -> None:
    tenant.project.store({"DB_HOST": "cnry-1"})
    tenant.sync("web")
    tenant.sync("other")
    tenant.until_ready("web")
    tenant.until_ready("other")
    with watching(plugin, "-n", tenant.namespace, "secretsync/web", "-o", "json") as (process, lines):
        first = json.loads(until(lines, "web"))
        assert (first["name"], first["ready"], first["is_gone"]) == ("web", "True", False)
        tenant.api.delete("SecretSync", tenant.namespace, "other")
        tenant.api.delete("SecretSync", tenant.namespace, "web")
        assert json.loads(until(lines, '"is_gone":true'))["name"] == "web"
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_SECONDS) == 0


def test_a_terminal_shows_the_table_again_after_a_change(plugin: CommandLine, tenant: Tenant) -> None:
    leader, follower = os.openpty()
    process = subprocess.Popen(
        # A shell starts background jobs with SIGINT ignored, and their children inherit that.
        ["env", "--default-signal=INT", PLUGIN, "status", "-w", "-n", tenant.namespace],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**plugin.environment, "TERM": "xterm", "COLUMNS": "200"},
        start_new_session=True,
    )
    os.close(follower)
    try:
        with os.fdopen(leader, encoding="utf-8", errors="replace") as shown:
            until(shown, "No objects of Keybearer in namespace")
            until(shown, "Ctrl-C ends this")
            tenant.sync("broken", source=tenant.source(environment="none"))
            assert "\x1b[2J" in until(shown, "KIND", "NAME", "READY")
            until(shown, "SourceNotFound")
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_SECONDS) == 0
    finally:
        process.kill()
        process.wait()


def test_a_pipe_that_nobody_reads_any_more_ends_it(plugin: CommandLine, tenant: Tenant) -> None:
    with watching(plugin, "-n", tenant.namespace) as (process, lines):
        lines.close()
        tenant.sync("broken", source=tenant.source(environment="none"))
        process.wait(PATIENCE_SECONDS)
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
        assert process.returncode != 0


def test_exit_code_and_watch_exclude_each_other(plugin: CommandLine) -> None:
    answer = plugin("status", "--watch", "--exit-code")
    assert (answer.status, "exclude each other" in answer.stderr) == (2, True)
