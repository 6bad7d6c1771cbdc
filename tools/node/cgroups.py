"""Cgroups of nodes: one below which a kubelet puts those of its pods, in each hierarchy of the machine."""

from __future__ import annotations

from pathlib import Path

__all__ = ["controllers_missing", "make_cgroup", "remove_cgroup"]

_ROOT = Path("/sys/fs/cgroup")
_NEEDED = ("cpu", "cpuset", "memory", "pids")
_COPIED = ("cpuset.cpus", "cpuset.mems")
"""In version 1 a new cgroup has none of these, and no process may be put into it (cgroups-v1/cpusets)."""


def controllers_missing() -> list[str]:
    """Which of the controllers that a kubelet asks for this machine doesn't offer."""
    if _is_unified():
        offered = (_ROOT / "cgroup.controllers").read_text().split()
        return [name for name in _NEEDED if name not in offered]
    return [name for name in _NEEDED if not (_ROOT / name / "cgroup.procs").exists()]


def make_cgroup(name: str) -> None:
    """The cgroup is there, with the controllers that a kubelet needs; OSError where it can't be made."""
    if _is_unified():
        switches = " ".join(f"+{one}" for one in _NEEDED)
        (_ROOT / "cgroup.subtree_control").write_text(switches)
        (_ROOT / name).mkdir()
        (_ROOT / name / "cgroup.subtree_control").write_text(switches)
        return
    for hierarchy in _hierarchies():
        made = hierarchy / name
        made.mkdir()
        for copied in _COPIED:
            if (hierarchy / copied).exists():
                (made / copied).write_text((hierarchy / copied).read_text())


def remove_cgroup(name: str) -> None:
    """The cgroup and all below it are gone; OSError while a process is in one of them."""
    for hierarchy in [_ROOT] if _is_unified() else _hierarchies():
        top = hierarchy / name
        if top.is_dir():
            below = sorted((path for path in top.rglob("*") if path.is_dir()), reverse=True)
            for path in (*below, top):
                path.rmdir()


def _is_unified() -> bool:
    """Whether there is version 2 alone."""
    return (_ROOT / "cgroup.controllers").exists()


def _hierarchies() -> list[Path]:
    """Those of version 1, each once: `cpu` may be a link to `cpu,cpuacct`; and of version 2, beside them."""
    found = {path.resolve() for path in _ROOT.iterdir() if (path / "cgroup.procs").exists()}
    return sorted(found)
