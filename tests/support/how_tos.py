"""The commands of the how-tos and of troubleshooting that need a cluster, run on the examples that they name."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from support.helm_house import DEMO, HelmHouse
from support.pasted import blocks
from tools.chart.rendering import ROOT
from tools.local.kube_api import Body
from tools.local.waiting import eventually

__all__ = ["follow_how_tos", "pasted_store_key"]

_DOCS = ROOT / "docs"
_HOW_TOS = ("secretsync.md", "appconnection.md", "certificateprofile.md")
_KINDS = {
    "secretsync": "SecretSync",
    "appconnection": "AppConnection",
    "certificateprofile": "CertificateProfile",
}
_ANNOTATES = re.compile(r"annotate --overwrite (\w+) (\S+) ")
_STORE_KEY = "create secret generic store-key"
_STUCK = "finalizers"
"""What leaves behind what an operator would have taken back is for a cluster without one."""


def pasted_store_key(house: HelmHouse, given: str) -> None:
    """The Secret of the store is made as the page on AppConnections says, from these lines."""
    (command,) = (one for one in _commands(_DOCS / "how-to" / "appconnection.md") if _STORE_KEY in one)
    house.run(command, given=given)


def follow_how_tos(house: HelmHouse) -> int:
    """Every other command for a cluster of these pages does what it says; return how many there are."""
    pages = [*(_DOCS / "how-to" / name for name in _HOW_TOS), _DOCS / "troubleshooting.md"]
    found = [one for page in pages for one in _commands(page) if _STORE_KEY not in one and _STUCK not in one]
    for one in found:
        asked = _ANNOTATES.search(one)
        if asked is None:
            house.run(one)
        else:
            _ask(house, one, _KINDS[asked[1]], asked[2])
    return len(found)


def _commands(page: Path) -> list[str]:
    """Those of kubectl, one of several lines as one, for the namespace and a SecretSync of the quick start."""
    text = "\n".join(blocks(page.read_text())).replace("\\\n", " ")
    lines = (line.strip() for line in text.splitlines())
    return [
        re.sub(r"\bNAME\b", "web-database", line.replace("NAMESPACE", DEMO))
        for line in lines
        if shlex.split(line)[:1] == ["kubectl"]
    ]


def _ask(house: HelmHouse, command: str, kind: str, name: str) -> None:
    """The operator answers the request that the command makes."""
    before = _status(house, kind, name)

    def is_new() -> bool:
        # Two requests within a second have one moment: the second is none.
        house.run(command)
        return _asked_at(house, kind, name) != before.get("lastHandledRequestedAt")

    eventually(is_new, awaited=f"a request of another second for {kind} {name}")
    eventually(
        lambda: _status(house, kind, name).get("lastHandledRequestedAt") == _asked_at(house, kind, name),
        awaited=f"an answer to {command}",
        told=house.logs.told,
    )


def _status(house: HelmHouse, kind: str, name: str) -> Body:
    found: Body = house.api.get(kind, DEMO, name).get("status", {})
    return found


def _asked_at(house: HelmHouse, kind: str, name: str) -> str:
    return str(house.api.get(kind, DEMO, name)["metadata"]["annotations"]["keybearer.dev/requestedAt"])
