"""The container image of a release, and its programs started from it."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.controlplane.process import Process
from tools.controlplane.scratch import ScratchDirectory
from tools.local.waiting import PATIENCE_SECONDS
from tools.release.layout import read_archive

__all__ = ["BuiltImage", "unpacked_image"]

_MAIN = Path(__file__).with_name("container_main.py")


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """What was built.

    Attributes:
        root: its root file system, which nobody may change.
        config: what its programs start with, in the words of the OCI image specification.
        bill: the bill of materials that was written beside it.
    """

    root: Path
    config: Mapping[str, object]
    bill: Path

    @property
    def user(self) -> int:
        """Whom its programs run as."""
        return int(str(self.config["User"]).partition(":")[0])

    @property
    def environment(self) -> dict[str, str]:
        """The variables of its programs."""
        lines = self.config["Env"]
        assert isinstance(lines, list)
        return {name: value for name, _, value in (str(line).partition("=") for line in lines)}

    def command(
        self,
        arguments: Sequence[str],
        mounts: Sequence[tuple[Path, str, bool]] = (),
        environment: Mapping[str, str] | None = None,
        entrypoint: Sequence[str] | None = None,
    ) -> list[str | Path]:
        """What starts a program in the image, under a read-only root.

        Args:
            arguments: of the image's entrypoint.
            mounts: of this machine, paths in the image, and whether they are writable.
            environment: variables besides the image's own.
            entrypoint: in place of the image's own.
        """
        spec = {
            "root": str(self.root),
            "user": self.user,
            "directory": self.config["WorkingDir"],
            "environment": {**self.environment, **(environment or {})},
            "mounts": [(str(source), target, writable) for source, target, writable in mounts],
        }
        own = self.config["Entrypoint"]
        assert isinstance(own, list)
        started = [*(own if entrypoint is None else entrypoint), *arguments]
        return [sys.executable, "-I", "-S", _MAIN, json.dumps(spec), *started]

    def run(self, *arguments: str, entrypoint: Sequence[str] | None = None) -> str:
        """What a program of the image printed; AssertionError with what it said where its status isn't 0."""
        command = self.command(arguments, entrypoint=entrypoint)
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def process(
        self,
        name: str,
        arguments: Sequence[str],
        log: Path,
        mounts: Sequence[tuple[Path, str, bool]],
        environment: Mapping[str, str] | None = None,
    ) -> Process:
        """A server program of the image, not yet started; the arguments are those of `command`."""
        return Process(name, self.command(arguments, mounts, environment), log)


@contextmanager
def unpacked_image(archive: Path, bill: Path) -> Iterator[BuiltImage]:
    """Yield the image of an OCI archive, its root file system laid out with its owners and modes. As root.

    Args:
        archive: of a release.
        bill: the bill of materials that was released with it.
    """
    scratch = ScratchDirectory()
    try:
        image = read_archive(archive)
        root = scratch.path / "root"
        root.mkdir()
        (layer,) = image.layers  # it starts from nothing
        with tarfile.open(archive) as opened:
            content = opened.extractfile(layer)
            assert content is not None
            subprocess.run(
                [
                    "tar",
                    "--extract",
                    "--gzip",
                    "--numeric-owner",
                    "--preserve-permissions",
                    f"--directory={root}",
                ],
                input=content.read(),
                timeout=PATIENCE_SECONDS,
                check=True,
            )
        config = image.config["config"]
        assert isinstance(config, dict)
        yield BuiltImage(root, config, bill)
    finally:
        scratch.close()
