"""Builds a release of the commit that is checked out, and puts it in the place of the former one."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
import zlib
from contextlib import closing
from pathlib import Path

from tools.chart.helm import helm_recipe
from tools.chart.rendering import helm
from tools.controlplane.cache import exclusive
from tools.controlplane.scratch import ScratchDirectory
from tools.release.archives import gzipped, members_of, tar_of
from tools.release.base import prepare_base
from tools.release.distributions import build_distributions
from tools.release.engine import Engine
from tools.release.environment import Settings
from tools.release.errors import ReleaseError
from tools.release.layout import archive_of, read_archive
from tools.release.output import replaced
from tools.release.preflight import check
from tools.release.progress import report, step
from tools.release.provenance import Base, provenance_of
from tools.release.source import Commit, export, head
from tools.release.sums import SUMS, sha256_of, sums_of
from tools.release.version import version_of
from tools.release.wheel_bill import bill_of_wheel, locked_versions

__all__ = ["NAME", "build"]

NAME = "keybearer"


def build(root: Path, output: Path, settings: Settings) -> None:
    """The output holds a release of the commit that is checked out.

    Args:
        root: of the checkout.
        output: a directory; a former release in it is replaced.
        settings: what may be chosen.

    Raises:
        ReleaseError: it was not built, and the output is as it was.
    """
    with exclusive(root / "build" / "release"), closing(ScratchDirectory()) as scratch:
        check(root, output, scratch.path, settings)
        commit = head(root)
        with replaced(output) as unfinished:
            _Release(root, commit, scratch.path, unfinished, settings).write()
    report(
        f"{output} holds {NAME} {version_of(root)} of commit {commit.name}. Nothing is signed or published yet"
    )


class _Release:
    """One build.

    Args:
        root: of the checkout.
        commit: what is built.
        scratch: an empty directory.
        into: an empty directory, for the artifacts.
        settings: what may be chosen.
    """

    def __init__(self, root: Path, commit: Commit, scratch: Path, into: Path, settings: Settings) -> None:
        self._commit = commit
        self._scratch = scratch
        self._into = into
        self._settings = settings
        self._source = scratch / "source"
        export(root, commit, self._source)
        self._version = version_of(self._source)

    def write(self) -> None:
        """All artifacts are there, and what is said of them."""
        with step("building wheel and source distribution"):
            self._write_distributions()
        with step("packaging chart and CRDs"):
            self._write_chart()
            self._write_crds()
        with step("building the image"):
            described, base, buildah = self._write_image()
        subjects = {path.name: sha256_of(path) for path in self._into.iterdir()}
        programs = {
            "buildah": buildah,
            "helm": helm_recipe().version,
            "python": platform.python_version(),
            "setuptools": importlib.metadata.version("setuptools"),
            "zlib": zlib.ZLIB_RUNTIME_VERSION,
        }
        statement = provenance_of(subjects, self._commit, self._version, described, base, programs)
        self._place("provenance.json").write_text(statement, encoding="utf-8")
        sums = {path.name: sha256_of(path) for path in self._into.iterdir()}
        (self._into / SUMS).write_text(sums_of(sums), encoding="utf-8")
        for path in self._into.iterdir():
            path.chmod(0o644)
        self._into.chmod(0o755)

    def _write_distributions(self) -> None:
        place = self._scratch / "distributions"
        place.mkdir()
        wheel, _ = build_distributions(self._source, self._commit, place, self._into)
        lock = (self._source / "requirements" / "runtime.txt").read_text(encoding="utf-8")
        bill = bill_of_wheel(wheel, locked_versions(lock), self._commit.seconds)
        (self._into / f"{wheel.stem}.cdx.json").write_text(bill, encoding="utf-8")

    def _write_chart(self) -> None:
        made = self._scratch / "chart"
        made.mkdir()
        helm("package", str(self._source / "charts" / NAME), f"--destination={made}")
        (package,) = made.iterdir()
        # Helm writes the present time into it.
        packed = gzipped(tar_of(members_of(package), self._commit.seconds), self._commit.seconds)
        (self._into / package.name).write_bytes(packed)

    def _write_crds(self) -> None:
        files = sorted((self._source / "crds").glob("*.yaml"))
        text = "".join(file.read_text(encoding="utf-8") for file in files)
        self._place("crds.yaml").write_text(text, encoding="utf-8")

    def _write_image(self) -> tuple[str, Base, str]:
        """Its platform, what it was built on, and buildah's version."""
        program = shutil.which("buildah")
        if program is None:
            raise ReleaseError("buildah is not installed any more")
        storage, layout = self._scratch / "storage", self._scratch / "layout"
        storage.mkdir()
        engine = Engine(program, storage, self._commit)
        bill = self._scratch / "image.cdx.json"
        try:
            on, base = prepare_base(engine, self._source, self._settings)
            engine.make_image(self._source, on, bill)
            engine.write_layout(layout)
            version = engine.version()
        finally:
            engine.clear()
        made = self._scratch / "image.tar"
        made.write_bytes(archive_of(layout, NAME, self._version, self._commit.seconds))
        described = read_archive(made).platform
        suffix = described.replace("/", "-")
        shutil.move(made, self._place(f"{suffix}.oci.tar"))
        shutil.copyfile(bill, self._place(f"{suffix}.cdx.json"))
        return described, base, version

    def _place(self, suffix: str) -> Path:
        return self._into / f"{NAME}-{self._version}-{suffix}"
