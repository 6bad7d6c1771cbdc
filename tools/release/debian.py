"""A base of the image where no registry can be reached: the machine's own Debian, by debootstrap."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.controlplane.cache import exclusive
from tools.controlplane.environment import cache_root
from tools.release.environment import build_environment, user_environment
from tools.release.errors import ReleaseError
from tools.release.progress import report
from tools.release.running import run

__all__ = ["DebianBase", "DebianPackage", "debian_base"]

_PACKAGES = ("ca-certificates", "python3-venv")
# Releases of one day are built on one base; one that is older may lack what Debian has mended since.
_FRESH_SECONDS = 24 * 3600.0
_MIRROR = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class DebianPackage:
    """One that is installed in the base.

    Attributes:
        name: without architecture.
        version: as dpkg writes it.
        architecture: dpkg's word for it, such as amd64; `all` where it is for every one.
        sha256: of the archive that it was installed from, as the signed index of the release says.
    """

    name: str
    version: str
    architecture: str
    sha256: str


@dataclass(frozen=True, slots=True)
class DebianBase:
    """A small Debian with Python and the authorities' certificates.

    Attributes:
        archive: a tar archive of its root file system.
        distribution: in the words of os-release(5), such as debian.
        release: Debian's word for it, such as bookworm.
        dated: when Debian signed the indexes that its packages are from, in Debian's words.
        packages: all that are installed in it, by name.
    """

    archive: Path
    distribution: str
    release: str
    dated: str
    packages: tuple[DebianPackage, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    mirror: str
    distribution: str
    release: str
    architecture: str
    is_named: bool

    @property
    def key(self) -> str:
        """Other packages, or another release, make another archive; another mirror only if somebody names it."""
        parts = repr(
            (
                2,
                self.distribution,
                self.release,
                self.architecture,
                _PACKAGES,
                self.mirror if self.is_named else "",
            )
        )
        return f"{self.release}-{hashlib.sha256(parts.encode()).hexdigest()[:12]}"


def debian_base(debootstrap: str, mirror: str | None = None) -> DebianBase:
    """The base of the last day, or a new one. What comes from the mirror is checked by the keys of the release.

    Args:
        debootstrap: path of the program; it needs root.
        mirror: URL of one; None for the one that apt uses here.

    Raises:
        ReleaseError: there is no mirror, or debootstrap failed; the text ends with what it said.
    """
    source = _source(mirror)
    folder = cache_root() / "image-base" / source.key
    archive, described = folder / "base.tar", folder / "base.json"
    with exclusive(folder):
        if not _is_fresh(described, always=source.is_named):
            report(f"making a base of {source.distribution} {source.release} in {folder}")
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                _make(debootstrap, source, Path(scratch))
                described.unlink(missing_ok=True)  # it is what says that the archive is whole
                for made in (archive, described):
                    Path(scratch, made.name).rename(made)
        said = json.loads(described.read_text())
    packages = tuple(DebianPackage(**one) for one in said["packages"])
    return DebianBase(archive, said["distribution"], said["release"], said["dated"], packages)


def _is_fresh(described: Path, *, always: bool) -> bool:
    """Whether there is one that may be built on; a named mirror is that of one day, and doesn't age."""
    if not described.exists():
        return False
    return always or time.time() - described.stat().st_mtime < _FRESH_SECONDS


def _make(debootstrap: str, source: _Source, scratch: Path) -> None:
    """`base.tar` and `base.json` are in the scratch directory."""
    root = scratch / "root"
    environment = build_environment(scratch, None)
    # In mounts of its own: what it mounts for the packages' scripts is gone even where it is killed.
    run(
        [
            *("unshare", "--mount", debootstrap, "--variant=minbase", "--force-check-gpg"),
            f"--arch={source.architecture}",
            f"--include={','.join(_PACKAGES)}",
            *(source.release, str(root), source.mirror),
        ],
        environment,
        scratch,
    )
    (scratch / "base.json").write_text(json.dumps(_described(root, source), indent=1))
    # What apt fetched, and the sources that name the mirror.
    for left in ("var/cache/apt", "var/lib/apt/lists", "var/log", "etc/apt/sources.list"):
        path = root / left
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    archive = f"--file={scratch / 'base.tar'}"
    run(["tar", "--numeric-owner", "--create", archive, f"--directory={root}", "."], environment, scratch)


def _described(root: Path, source: _Source) -> dict[str, object]:
    """What is in it, from dpkg's records and from the indexes that debootstrap checked."""
    lists = root / "var/lib/apt/lists"
    indexed = {
        (one["Package"], one["Version"]): one["SHA256"]
        for index in lists.glob("*_Packages")
        for one in _paragraphs(index)
    }
    dates = [
        date[1]
        for name in ("*_InRelease", "*_Release")
        for file in lists.glob(name)
        if (date := re.search(r"^Date: (.*)$", file.read_text(errors="replace"), re.MULTILINE))
    ]
    if not dates:
        raise ReleaseError(f"debootstrap left no file named Release in {lists}: this version isn't known")
    packages = []
    for one in _paragraphs(root / "var/lib/dpkg/status"):
        digest = indexed.get((one["Package"], one["Version"]))
        if digest is None:
            raise ReleaseError(f"no index of {source.release} has {one['Package']} {one['Version']}")
        packages.append(DebianPackage(one["Package"], one["Version"], one["Architecture"], digest))
    packages.sort(key=lambda one: (one.name, one.architecture))
    return {
        "distribution": source.distribution,
        "release": source.release,
        "dated": dates[0],
        "packages": [asdict(one) for one in packages],
    }


def _paragraphs(file: Path) -> Iterator[dict[str, str]]:
    """Fields of each paragraph of a control file of Debian, without the lines that go on."""
    for paragraph in file.read_text(encoding="utf-8").split("\n\n"):
        fields = dict(re.findall(r"^([A-Za-z0-9-]+): (.*)$", paragraph, re.MULTILINE))
        if fields:
            yield fields


def _source(mirror: str | None) -> _Source:
    distribution, release = _said("sh", "-c", '. /etc/os-release && echo "$ID" "$VERSION_CODENAME"').split(
        " "
    )
    architecture = _said("dpkg", "--print-architecture")
    if mirror is not None:
        if _MIRROR.fullmatch(mirror) is None:
            raise ReleaseError(
                f"RELEASE_DEBIAN_MIRROR={mirror} is no http or https URL: correct it, or unset it"
            )
        return _Source(mirror, distribution, release, architecture, is_named=True)
    sites = _said(
        *("apt-get", "indextargets", "--format", "$(SITE)"),
        *("Created-By: Packages", f"Release: {release}", "Component: main"),
    )
    if not sites:
        raise ReleaseError(f"apt has no source of {release} main: see /etc/apt/sources.list")
    return _Source(sites.splitlines()[0], distribution, release, architecture, is_named=False)


def _said(*command: str) -> str:
    return run(command, user_environment(), Path("/")).strip()
