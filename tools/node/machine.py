"""What a node needs of this machine, tried before it is relied on."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tools.controlplane.errors import ControlPlaneError
from tools.node.cgroups import controllers_missing, make_cgroup, remove_cgroup
from tools.node.namespaces import UNSHARED, run_command

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MachinePrograms", "UnfitMachineError", "machine_programs", "shortcomings", "snapshotter"]

_CNI = (Path("/usr/lib/cni"), Path("/opt/cni/bin"))
_PLUGINS = ("host-local", "loopback", "ptp")
_PACKAGES = {
    "busybox": "busybox-static",
    "ip": "iproute2",
    "nft": "nftables",
    "nsenter": "util-linux",
    "runc": "runc",
    "unshare": "util-linux",
}
"""Of Debian, by program."""


class UnfitMachineError(ControlPlaneError):
    """This machine can't have nodes; the text says why."""


@dataclass(frozen=True, slots=True)
class MachinePrograms:
    """Paths of programs of the operating system.

    Attributes:
        busybox: Static, for images.
        cni: The directory of CNI plugins.
        ip: Of iproute2.
        nsenter: Of util-linux.
        runc: Itself.
        unshare: Of util-linux.
    """

    busybox: Path
    cni: Path
    ip: Path
    nsenter: Path
    runc: Path
    unshare: Path


def machine_programs() -> MachinePrograms:
    """Where they are; UnfitMachineError, which names all that is missing, where they aren't."""
    missing = list(_lacking())
    if missing:
        raise UnfitMachineError("; ".join(missing))
    return MachinePrograms(
        busybox=_found("busybox"),
        cni=next(path for path in _CNI if path.is_dir()),
        ip=_found("ip"),
        nsenter=_found("nsenter"),
        runc=_found("runc"),
        unshare=_found("unshare"),
    )


def shortcomings() -> list[str]:
    """Why this machine can't have nodes: nothing where it can. Needs a second, and leaves nothing behind."""
    return list(_lacking()) or list(_refusals())


def snapshotter(directory: Path) -> str:
    """How containerd keeps file systems of containers below this directory: in layers, where the kernel lets it.

    A file system may be no ground for layers, such as that of a container; there all files are copied.
    """
    places = {name: directory / f"overlay-{name}" for name in ("lower", "upper", "work", "merged")}
    for place in places.values():
        place.mkdir()
    options = f"lowerdir={places['lower']},upperdir={places['upper']},workdir={places['work']}"
    mount: list[str | Path] = ["mount", "-t", "overlay", "overlay", "-o", options, places["merged"]]
    try:
        run_command([_found("unshare"), "--mount", "--propagation=private", *mount])
    except ControlPlaneError:
        return "native"
    else:
        return "overlayfs"
    finally:
        for place in places.values():
            shutil.rmtree(place)


def _lacking() -> Iterator[str]:
    if sys.platform != "linux":
        yield "nodes need Linux"
        return
    if os.geteuid() != 0:
        yield "nodes need root"
    for name, package in _PACKAGES.items():
        if shutil.which(name, path=_search_path()) is None:
            yield f"{name} is not installed (package {package})"
    if not any(all((path / name).exists() for name in _PLUGINS) for path in _CNI):
        yield "plugins of CNI are not installed (package containernetworking-plugins)"


def _refusals() -> Iterator[str]:
    """What the kernel, or whoever runs this machine as a container, doesn't allow."""
    steps = (
        ("namespaces can't be made", "true"),
        ("interfaces can't be made", f"{_found('ip')} link add name tried type bridge"),
        (
            "pairs of veth interfaces can't be made",
            f"{_found('ip')} link add tried type veth peer name other",
        ),
        ("nftables doesn't work", f"{_found('nft')} add table ip tried"),
    )
    for what, script in steps:
        try:
            run_command([_found("unshare"), *UNSHARED, "sh", "-c", script])
        except ControlPlaneError as error:
            yield f"{what}: {error}"
            return
    missing = controllers_missing()
    if missing:
        yield f"cgroups have no controller {', '.join(missing)}"
        return
    name = f"keybearer-tried-{secrets.token_hex(4)}"
    try:
        make_cgroup(name)
    except OSError as error:
        yield f"cgroups can't be made: {error}"
    finally:
        remove_cgroup(name)


def _found(name: str) -> Path:
    found = shutil.which(name, path=_search_path())
    if found is None:
        raise UnfitMachineError(f"{name} is not installed")
    return Path(found)


def _search_path() -> str:
    """Administrators' programs are not on everybody's path."""
    return f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin"
