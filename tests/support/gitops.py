"""What GitOps tools make of an object: kstatus, and Argo CD by the check that the documentation gives it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from lupa.lua51 import LuaRuntime

from keybearer.cli.kubectl.standing import health_of

__all__ = ["GITOPS_PAGE", "healths"]

GITOPS_PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "gitops.md"


def healths(body: Mapping[str, Any]) -> tuple[str, str]:
    """The words of kstatus and of Argo CD for an object."""
    return health_of(body).value, _argo_health(body)


def _argo_health(body: Mapping[str, Any]) -> str:
    # Lua 5.1, as Argo CD has it, without the libraries that it takes away: those beyond ipairs and the like.
    lua = LuaRuntime(register_eval=False)
    lua.execute("os, io, package, debug, require, dofile, loadfile = nil, nil, nil, nil, nil, nil, nil")
    lua.globals()["obj"] = lua.table_from(body, recursive=True)
    return str(lua.execute(_script())["status"])


@cache
def _script() -> str:
    blocks = re.findall(r"^```yaml\n(.*?)^```", GITOPS_PAGE.read_text(), re.DOTALL | re.MULTILINE)
    (config,) = [one for one in map(yaml.safe_load, blocks) if one["kind"] == "ConfigMap"]
    return str(yaml.safe_load(config["data"]["resource.customizations"])["keybearer.dev/*"]["health.lua"])
