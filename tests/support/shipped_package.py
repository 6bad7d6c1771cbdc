"""Python packages with destinations: that of docs/destinations.md, built and installed, and others as installed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tools.chart.rendering import ROOT

__all__ = ["ACME", "install_acme", "write_installed"]

ACME = "acme-for-keybearer"
"""The package of the page."""


def install_acme(into: Path) -> Path:
    """Build the package that the page shows, install it, and return where; it belongs on the module search path."""
    page = (ROOT / "docs" / "destinations.md").read_text(encoding="utf-8")
    source, target = into / "source", into / "packages"
    source.mkdir()
    (source / "pyproject.toml").write_text(_block(page, "toml"))
    (source / "acme_for_keybearer.py").write_text(_block(page, "python"))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # Nothing is fetched: what builds it is here already.
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, *offline, "--target", str(target), str(source)], check=True)
    return target


def write_installed(into: Path, name: str, entry_points: Mapping[str, str], **modules: str) -> None:
    """Write an installed package as an installer would leave it.

    Args:
        into: a folder of the module search path.
        name: of the package.
        entry_points: of the destinations' group, by their names.
        modules: sources of its modules, by their names.
    """
    information = into / f"{name.replace('-', '_')}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{entry} = {value}" for entry, value in entry_points.items()]
    if lines:
        (information / "entry_points.txt").write_text("\n".join(["[keybearer.destinations]", *lines, ""]))
    for module, source in modules.items():
        (into / f"{module}.py").write_text(source)


def _block(page: str, language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return str(found)
