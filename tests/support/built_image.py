"""The container image, built by `make image` with buildah, and its programs started from it."""

from __future__ import annotations

import ast
import configparser
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.chart.rendering import ROOT
from tools.controlplane.errors import BuildError
from tools.controlplane.process import Process
from tools.controlplane.scratch import ScratchDirectory
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["BuiltImage", "built_image"]

_NAME = "localhost/keybearer:of-the-tests"
_BASE = "localhost/keybearer-base:of-the-tests"
_MAIN = Path(__file__).with_name("container_main.py")
_DEADLINE_SECONDS = 9 * PATIENCE_SECONDS
_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
# What leads pip to its packages. The rest of its settings speaks of this machine's files.
_OF_PIP = frozenset({"extra-index-url", "index-url", "proxy", "retries", "timeout", "trusted-host"})


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """What was built.

    Attributes:
        root: its root file system, which nobody may change.
        config: what its programs start with, in the words of the OCI image specification.
        bill: the bill of materials that was written beside it.
        log: what the build said.
    """

    root: Path
    config: Mapping[str, object]
    bill: Path
    log: str

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
def built_image(buildah: str, base: Path) -> Iterator[BuiltImage]:
    """Build the image as `make image` does where no container engine is, in a storage of its own.

    Args:
        buildah: path of the program; it needs root here.
        base: an archive of the root file system to build on.

    Raises:
        BuildError: it failed; the text ends with what it said.
    """
    scratch = ScratchDirectory()
    engine = _Engine(buildah, scratch.path)
    try:
        engine.import_base(base)
        bill = scratch.path / "keybearer.cdx.json"
        log = engine.make_image(bill)
        working = engine.said("from", "--pull-never", _NAME).strip()
        root = Path(engine.said("mount", working).strip())
        described = json.loads(engine.said("inspect", "--type=image", _NAME))
        yield BuiltImage(root, described["OCIv1"]["config"], bill, log)
    finally:
        engine.clear()
        scratch.close()


class _Engine:
    """buildah without a container runtime, over a storage of its own."""

    def __init__(self, program: str, directory: Path) -> None:
        self._program = program
        self._directory = directory
        settings = directory / "storage.conf"
        settings.write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{directory}/graph"\nrunroot = "{directory}/run"\n'
        )
        self._environment = {
            **os.environ,  # noqa: TID251 - what leads to mirrors and proxies is the machine's own
            "BUILDAH_ISOLATION": "chroot",
            "CONTAINERS_STORAGE_CONF": str(settings),
        }

    def import_base(self, archive: Path) -> None:
        """An image of that root file system is in the storage."""
        working = self.said("from", "scratch").strip()
        self.said("add", working, str(archive), "/")
        self.said("commit", working, _BASE)
        self.said("rm", working)

    def make_image(self, bill: Path) -> str:
        """`make image` has built it; what it said."""
        options = [f"--build-arg=PYTHON_IMAGE={_BASE}", *self._secrets()]
        return self._run(
            [
                *("make", "--no-print-directory", f"--directory={ROOT}", "image"),
                f"CONTAINER_ENGINE={self._program}",
                f"IMAGE={_NAME}",
                f"IMAGE_BILL={bill}",
                f"IMAGE_ARGS={' '.join(options)}",
            ]
        )

    def said(self, *arguments: str) -> str:
        """What buildah printed."""
        return self._run([self._program, *arguments])

    def clear(self) -> None:
        """No mount is left, so that the storage can be removed."""
        self.said("umount", "--all")
        self.said("rm", "--all")
        self.said("rmi", "--all", "--force")

    def _secrets(self) -> list[str]:
        """How pip finds its packages on this machine, as secrets of the build."""
        settings = self._directory / "pip.conf"
        settings.touch(mode=0o600)
        written = configparser.RawConfigParser()
        written["global"] = _settings_of_pip()
        with settings.open("w") as file:
            written.write(file)
        found = [f"--secret=id=pip,src={settings}"]
        if Path(_CERTIFICATES).is_file():
            found.append(f"--secret=id=ca,src={_CERTIFICATES}")
        return found

    def _run(self, command: Sequence[str]) -> str:
        done = subprocess.run(
            command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_DEADLINE_SECONDS,
            check=False,
        )
        if done.returncode != 0:
            tail = "\n".join(done.stdout.splitlines()[-40:])
            raise BuildError(f"{' '.join(command[:3])}: status {done.returncode}:\n{tail}")
        return done.stdout


def _settings_of_pip() -> dict[str, str]:
    """The machine's own, by the names of pip's options."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    found: dict[str, str] = {}
    for line in done.stdout.splitlines():
        name, _, value = line.partition("=")
        option = name.rpartition(".")[2]
        if option in _OF_PIP:
            found[option] = str(ast.literal_eval(value))
    return found
