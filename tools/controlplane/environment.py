"""The only place of this package that reads environment variables."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = [
    "cache_root",
    "go_environment",
    "kubebuilder_assets",
    "kubectl_environment",
]

# They aim a build at another machine or bind it to another toolchain or workspace.
_FOREIGN_TO_OUR_BUILD = frozenset({"GOARCH", "GOOS", "GOROOT", "GOWORK", "GOEXPERIMENT"})


def cache_root() -> Path:
    """Where built programs are kept between runs: `$XDG_CACHE_HOME/keybearer`, else `~/.cache/keybearer`.

    A relative `XDG_CACHE_HOME` is ignored, as the XDG Base Directory Specification asks.
    """
    configured = Path(_variables().get("XDG_CACHE_HOME", ""))
    base = configured if configured.is_absolute() else Path.home() / ".cache"
    return base / "keybearer"


def kubebuilder_assets() -> Path | None:
    """The directory of ready-made programs that the user names, as Kubebuilder's envtest reads it."""
    named = _variables().get("KUBEBUILDER_ASSETS")
    return Path(named) if named else None


def go_environment() -> dict[str, str]:
    """Variables for the go command: static programs for this machine from exactly the locked modules.

    `GOTOOLCHAIN=local` keeps go from fetching another version of itself; `-mod=readonly` fails a build
    that would have to change go.mod. Module proxy settings of the user stay in force.
    """
    kept = {name: value for name, value in _variables().items() if name not in _FOREIGN_TO_OUR_BUILD}
    return kept | {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly", "GOTOOLCHAIN": "local", "GOWORK": "off"}


def kubectl_environment(home: Path) -> dict[str, str]:
    """Variables for kubectl: nothing of the user's own clusters, plugins or preferences reaches it."""
    return {"HOME": str(home), "PATH": _variables().get("PATH", os.defpath), "KUBERC": "off"}


def _variables() -> dict[str, str]:
    return dict(os.environ)  # noqa: TID251 - these programs have no settings object that reads it
