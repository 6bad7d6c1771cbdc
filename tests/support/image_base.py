"""A base to build the image on where there is no registry: the machine's own Debian, by debootstrap."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.controlplane.cache import exclusive
from tools.controlplane.environment import cache_root
from tools.controlplane.errors import BuildError
from tools.controlplane.progress import report
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["base_archive"]

_PACKAGES = ("ca-certificates", "python3-venv")
_DEADLINE_SECONDS = 6 * PATIENCE_SECONDS


@dataclass(frozen=True, slots=True)
class _Source:
    """Where the machine's own packages come from."""

    site: str
    release: str
    architecture: str

    @property
    def key(self) -> str:
        """Other packages, or another release, make another archive; another mirror doesn't."""
        parts = repr((self.release, self.architecture, _PACKAGES))
        return f"{self.release}-{hashlib.sha256(parts.encode()).hexdigest()[:12]}"


def base_archive(debootstrap: str) -> Path:
    """A tar archive of a small Debian with Python and the authorities' certificates.

    The mirror is the one that apt uses here, and what comes from there is checked by the keys of the release.

    Args:
        debootstrap: path of the program; it needs root.

    Raises:
        BuildError: apt names no mirror, or debootstrap failed; the text ends with what it said.
    """
    source = _source()
    folder = cache_root() / "image-base" / source.key
    archive = folder / "base.tar"
    with exclusive(folder):
        if not archive.exists():
            report(f"making a base of {source.release} in {folder}")
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                made = _make(debootstrap, source, Path(scratch))
                made.rename(archive)
    return archive


def _make(debootstrap: str, source: _Source, scratch: Path) -> Path:
    root, log, made = scratch / "root", scratch / "log", scratch / "base.tar"
    with log.open("wb") as output:
        # In mounts of its own: what it mounts for the packages' scripts is gone even where it is killed.
        done = subprocess.run(
            [
                *("unshare", "--mount", debootstrap, "--variant=minbase", "--force-check-gpg"),
                f"--arch={source.architecture}",
                f"--include={','.join(_PACKAGES)}",
                *(source.release, str(root), source.site),
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=_DEADLINE_SECONDS,
            check=False,
        )
    if done.returncode != 0:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-20:])
        raise BuildError(f"debootstrap ended with status {done.returncode}:\n{tail}")
    # What apt fetched, and the sources that name the mirror.
    for left in ("var/cache/apt", "var/lib/apt/lists", "var/log", "etc/apt/sources.list"):
        path = root / left
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    subprocess.run(
        ["tar", "--numeric-owner", "--create", f"--file={made}", f"--directory={root}", "."],
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    return made


def _source() -> _Source:
    release = _said("sh", "-c", '. /etc/os-release && echo "$VERSION_CODENAME"')
    architecture = _said("dpkg", "--print-architecture")
    sites = _said(
        *("apt-get", "indextargets", "--format", "$(SITE)"),
        *("Created-By: Packages", f"Release: {release}", "Component: main"),
    )
    if not sites:
        raise BuildError(f"apt has no source of {release} main: see /etc/apt/sources.list")
    return _Source(sites.splitlines()[0], release, architecture)


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command)}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip()
