"""Commands of the demo's page and of the quick start, typed at a terminal, change a value in a real service.

What they need of a cluster (the administrator's Secret) a program in kubectl's place answers.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from contract.client.house import nothing_shown
from keybearer.client import ClientOptions, Keybearer, UniversalAuth
from support.canary import Canary
from support.command_line import PROGRAM, CommandLine, at_a_terminal
from support.service_fixtures import Service, ServiceProcess, start_service
from tools.controlplane.certificates import create_identity
from tools.local.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).parents[3]
QUICK_START = ROOT / "examples" / "quickstart"
VALUE = "cnry-typed-value"
PROMPT = "Value of DB_PASSWORD"
KUBECTL = """\
#!/bin/sh
[ "$1 $2 $3 $4 $5 $6" = "-n keybearer get secret keybearer-service-admin -o" ] || exit 1
case "$7" in
  'go-template={{index .data "clientId" | base64decode}}') printf %s "$ADMIN_ID" ;;
  'go-template={{index .data "clientSecret" | base64decode}}') cat "$ADMIN_SECRET_FILE" ;;
  *) exit 1 ;;
esac
"""


def block_of(page: Path) -> str:
    """Return the indented lines of a page around the command that sets a secret."""
    blocks = re.findall(r"(?:^    .*\n)+", page.read_text(), re.MULTILINE)
    (block,) = (block for block in blocks if "keybearer secrets set" in block)
    return re.sub(r"^    ", "", block, flags=re.MULTILINE)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ServiceProcess, Path]]:
    """Yield a service with TLS that `prepare.py` has filled, and its CA's certificate."""
    folder = tmp_path_factory.mktemp("prepared")
    identity = create_identity(folder, datetime.now(UTC))
    served = ("--tls-cert", str(identity.server.certificate), "--tls-key", str(identity.server.key))
    service = start_service(folder / "data", *served, scheme="https")
    subprocess.run(
        [
            *(sys.executable, QUICK_START / "prepare.py"),
            *("--url", service.url, "--ca-file", str(identity.ca_certificate)),
        ],
        input=(folder / "data" / "admin.json").read_text(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    yield service, identity.ca_certificate
    service.stop()


def password_of(service: Service, ca_file: Path) -> str:
    options = ClientOptions(ca_pem=ca_file.read_bytes())
    admin = UniversalAuth(service.admin.client_id, service.admin.client_secret)
    with Keybearer(service.url, admin, options=options) as client:
        project = client.projects.get_by_slug("keybearer-demo")
        return client.secrets.get("DB_PASSWORD", project_id=project.id, environment="dev").secret_value


def test_the_page_of_the_demo_changes_a_value(
    prepared: tuple[ServiceProcess, Path], canary: Canary, tmp_path: Path
) -> None:
    service, ca_file = prepared
    canary.watch("log of keybearer serve", service.log.read_text)
    exports, command = block_of(ROOT / "docs" / "tutorials" / "demo.md").splitlines()
    given = {
        "KEYBEARER_URL": service.url,
        "KEYBEARER_CLIENT_ID": service.admin.client_id,
        "KEYBEARER_CLIENT_SECRET": service.admin.client_secret,
    }
    assert re.findall(r"(\w+)=\.\.\.", exports) == list(given)
    line = CommandLine(tmp_path, {**given, "KEYBEARER_CA_FILE": str(ca_file)})
    typed = f"{VALUE}-of-the-demo"
    script = command.replace(".venv/bin/keybearer", str(PROGRAM))
    status, shown = at_a_terminal(["sh", "-c", script], line.environment, prompt=PROMPT, typed=typed)
    assert status == 0, shown
    nothing_shown(shown)
    assert password_of(service, ca_file) == typed


def test_the_quick_start_logs_in_and_changes_a_value(
    prepared: tuple[ServiceProcess, Path], canary: Canary, tmp_path: Path
) -> None:
    service, ca_file = prepared
    canary.watch("log of keybearer serve", service.log.read_text)
    shutil.copy(ca_file, tmp_path / "ca.crt")
    (tmp_path / "secret").write_text(service.admin.client_secret)
    kubectl = tmp_path / "kubectl"
    kubectl.write_text(KUBECTL)
    kubectl.chmod(0o700)
    line = CommandLine(
        tmp_path, {"ADMIN_ID": service.admin.client_id, "ADMIN_SECRET_FILE": str(tmp_path / "secret")}
    )
    path = os.pathsep.join((str(tmp_path), str(PROGRAM.parent), line.environment["PATH"]))
    port = service.url.rpartition(":")[2]
    script = "set -e\n" + block_of(QUICK_START / "README.md").replace("localhost:8443", f"localhost:{port}")
    typed = f"{VALUE}-of-the-quick-start"
    status, shown = at_a_terminal(
        ["sh", "-c", script],
        {**line.environment, "PATH": path},
        prompt=PROMPT,
        typed=typed,
        folder=tmp_path,
    )
    assert status == 0, shown
    nothing_shown(shown)
    assert password_of(service, ca_file) == typed
    assert json.loads(line.login_file.read_text())["url"] == f"https://localhost:{port}"
