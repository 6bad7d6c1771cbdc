"""The tutorials that move objects over from other operators, as they are pasted after the start of the trial."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.pasted import Shell, blocks
from tools.chart.rendering import ROOT
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.ports import free_port

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_TUTORIALS = ROOT / "docs" / "tutorials"
_TRIAL = (_TUTORIALS / "without-an-image.md").read_text()
_FENCED = re.compile(r"^```(?:yaml|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OF_ANOTHER_CLUSTER = (
    "kubectl get externalsecrets",
    "kubectl get certificates",
    "kubectl -n external-secrets",
    "kubectl -n demo patch externalsecret",
    "kubectl -n demo patch secret shop-tls",
)
"""Commands for a cluster that has the other operator."""
_END = "kill %1 %2\nwait\nkubectl delete namespace demo\n"


def _start() -> Iterator[str]:
    """Yield the commands of the trial that start service and operator, and log in."""
    begin, operate, _, change, *_ = blocks(_TRIAL)
    for line in f"{begin}{operate}{change}".splitlines():
        if line.startswith(("make setup", "python3 examples/", "kubectl -n demo", "keybearer secrets set")):
            continue
        yield line.replace("port=8080 metrics_port=8081", f"port={free_port()} metrics_port=0")


def _script(page: str) -> str:
    """Return the page's commands with its first YAML as the file that they read."""
    given = _FENCED.findall(page)[0]
    # What a part about other cases shows is for no cluster of ours.
    ours = re.sub(r"^## (?:Let's Encrypt|If an object).*?(?=^## )", "", page, flags=re.MULTILINE | re.DOTALL)
    commands = "".join(
        block for block in blocks(_FENCED.sub("", ours)) if not block.startswith(_OF_ANOTHER_CLUSTER)
    )
    return "\n".join(["set -m", *_start(), f"cat > theirs.yaml <<'END'\n{given}END", commands, _END])


def _run(page: str, control_plane: ControlPlane, tmp_path: Path) -> str:
    text = (_TUTORIALS / page).read_text()
    return Shell(tmp_path / "checkout", control_plane.admin_kubeconfig).run(_script(text))


def test_an_external_secret_becomes_a_secret_sync(control_plane: ControlPlane, tmp_path: Path) -> None:
    printed = _run("from-external-secrets.md", control_plane, tmp_path)

    assert "secretsync.keybearer.dev/web condition met\n" in printed
    before, planned, after = printed.partition("checksum")
    assert planned, "the plan is shown"
    patched = "secret/web-secrets patched\n"
    assert (patched in before, patched in after) == (False, True), "before its owner is removed"
    assert "What was written stays when the SecretSync is deleted." in printed
    assert "postgres://web:invented@db.example.com/web" in printed
    left = printed.partition('secretsync.keybearer.dev "web" deleted')[2]
    assert "DATABASE_URL" in left, "the way back leaves the Secret"
    assert "ownerReferences" not in left
    assert "keybearer.dev/" not in left


def test_a_certificate_of_an_issuer_of_the_kind_ca_is_taken_over(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    printed = _run("from-cert-manager.md", control_plane, tmp_path)

    assert "certificateprofile.keybearer.dev/internal condition met\n" in printed
    assert "new.pem: OK\n" in printed
    assert "shop-tls" in printed
