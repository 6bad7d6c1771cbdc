"""What must hold at each instant of a run, read from every version of its Secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tools.explore.moments import Naming
from tools.explore.state import digest, flat, held_by
from tools.local.kube_api import Body

__all__ = ["Trail"]

_BESIDE = re.compile(r"\.certificate-keys$|\.keybearer-backup-")
"""Secrets with keys and attempts that are under way, and backups and trials of targets: there are more of these where
something had to be tried again."""


@dataclass(slots=True)
class Trail:
    """Looks at every event of the namespace.

    Attributes:
        keeps: Secrets that are never gone.
        is_armed: whether that counts.
        seen: one word for each content that a Secret had: its name, its keys and a digest of what it held.
        findings: what must never be.
    """

    naming: Naming
    keeps: tuple[str, ...] = ()
    is_armed: bool = True
    seen: set[str] = field(default_factory=set)
    findings: list[str] = field(default_factory=list)

    def see(self, event: str, kind: str, body: Body) -> None:
        """Take in one event."""
        name = body["metadata"]["name"]
        if kind != "Secret" or not self.naming.is_ours(name):
            return
        plain = self.naming.plain(name)
        if event == "DELETED":
            if self.is_armed and plain in self.keeps:
                self.findings.append(f"Secret {plain} was gone")
            return
        held = held_by(body)
        if not held:
            self.findings.append(f"Secret {plain} was empty")
        if not _BESIDE.search(plain):
            word = digest(flat(held, "", self.naming))
            self.seen.add(f"{plain} with {', '.join(sorted(held)) or 'nothing'} ({word})")
