"""Finds the vendor's OpenAPI description of Vault: a Go module carries it, which Go's own cache keeps."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tools.controlplane.environment import go_environment
from tools.controlplane.toolchain import go_command
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["vault_description"]

_MODULE = Path(__file__).parents[2] / "vault"
_NAME = "github.com/hashicorp/vault-client-go"


def vault_description() -> Path:
    """Return the file; its version is the one that `tests/vault/go.mod` locks."""
    told = subprocess.run(
        [go_command(_MODULE), "mod", "download", "-json", _NAME],
        cwd=_MODULE,
        env=go_environment(),
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE_SECONDS,
        check=False,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return Path(json.loads(told.stdout)["Dir"]) / "openapi.json"
