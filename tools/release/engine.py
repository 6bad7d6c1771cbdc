"""buildah with a storage of its own: nothing that the user has built or set for it reaches a release."""

from __future__ import annotations

import ast
import configparser
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.release.environment import build_environment, user_environment
from tools.release.running import run
from tools.release.source import Commit

__all__ = ["Engine"]

_NAME = "localhost/keybearer:released"
_PULL_SECONDS = 300.0
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
# What leads pip to its packages. The rest of its settings speaks of this machine's files.
_OF_PIP = frozenset({"extra-index-url", "index-url", "proxy", "retries", "timeout", "trusted-host"})


class Engine:
    """Builds images without a daemon and without a container runtime.

    Args:
        program: path of buildah.
        directory: an empty one, for its storage.
        commit: what is built; its time is that of every image.
    """

    def __init__(self, program: str, directory: Path, commit: Commit) -> None:
        self._program = program
        self._directory = directory
        self._commit = commit
        storage, policy, containers = (
            directory / name for name in ("storage.conf", "policy.json", "containers.conf")
        )
        storage.write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{directory}/graph"\nrunroot = "{directory}/run"\n'
        )
        containers.write_text("")
        # The base is pinned by its digest, in the provenance; nobody's key says more than that.
        policy.write_text(json.dumps({"default": [{"type": "insecureAcceptAnything"}]}))
        self._policy = policy
        self._environment = build_environment(
            directory,
            None,  # buildah 1.41 and newer refuse to be told twice
            {
                "BUILDAH_ISOLATION": "chroot",
                "CONTAINERS_CONF": str(containers),
                "CONTAINERS_STORAGE_CONF": str(storage),
                "TMPDIR": str(directory),
            },
        )

    def pull(self, reference: str) -> str:
        """Fetch an image from its registry; returns the digest of its manifest.

        Raises:
            ReleaseError: the registry can't be reached, or doesn't have it.
        """
        pull = ("pull", "--quiet", "--retry=0", f"--signature-policy={self._policy}", reference)
        run([self._program, *pull], self._environment, self._directory, within=_PULL_SECONDS)
        return self.said("inspect", "--type=image", "--format={{.FromImageDigest}}", reference).strip()

    def import_root(self, archive: Path, name: str) -> None:
        """An image of that root file system, a tar archive, is in the storage."""
        working = self.said("from", "scratch").strip()
        self.said("add", working, str(archive), "/")
        self.said("commit", f"--signature-policy={self._policy}", working, name)
        self.said("rm", working)

    def make_image(self, source: Path, base: str, bill: Path) -> None:
        """`make image` has built it, in the source that was exported.

        Args:
            source: files of the commit.
            base: name or digest of an image in the storage.
            bill: where its bill of materials goes.

        Raises:
            ReleaseError: it failed; the text ends with what it said.
        """
        options = [
            f"--build-arg=PYTHON_IMAGE={base}",
            f"--timestamp={self._commit.seconds}",
            "--identity-label=false",
            "--format=oci",
            "--layers=false",
            "--pull=never",
            f"--signature-policy={self._policy}",
            *self._secrets(),
        ]
        self._run(
            [
                *("make", "--no-print-directory", f"--directory={source}", "image"),
                f"CONTAINER_ENGINE={self._program}",
                f"IMAGE={_NAME}",
                f"IMAGE_BILL={bill}",
                f"IMAGE_ARGS={' '.join(options)}",
                f"COMMIT={self._commit.name}",
                f"COMMITTED={self._commit.seconds}",
                "DIRTY=",
            ]
        )

    def write_layout(self, into: Path) -> None:
        """The directory is an OCI image layout of what was built."""
        self.said(
            *("push", "--quiet", "--format=oci", "--compression-format=gzip"),
            f"--signature-policy={self._policy}",
            *(_NAME, f"oci:{into}"),
        )

    def version(self) -> str:
        """Of buildah itself."""
        return str(json.loads(self.said("version", "--json"))["version"])

    def said(self, *arguments: str) -> str:
        """What buildah printed.

        Raises:
            ReleaseError: its status was not 0; the text ends with what it said.
        """
        return self._run([self._program, *arguments])

    def clear(self) -> None:
        """No mount is left, so that the storage can be removed."""
        self.said("umount", "--all")
        self.said("rm", "--all")
        self.said("rmi", "--all", "--force")

    def _secrets(self) -> list[str]:
        """How pip finds its packages on this machine, as secrets of the build."""
        own = _settings_of_pip(self._directory)
        settings = self._directory / "pip.conf"
        settings.touch(mode=0o600)
        written = configparser.RawConfigParser()
        written["global"] = {name: value for name, value in own.items() if name in _OF_PIP}
        with settings.open("w") as file:
            written.write(file)
        authorities = Path(own.get("cert", _CERTIFICATES))
        found = [f"--secret=id=pip,src={settings}"]
        if authorities.is_file():
            found.append(f"--secret=id=ca,src={authorities}")
        return found

    def _run(self, command: Sequence[str]) -> str:
        return run(command, self._environment, self._directory)


def _settings_of_pip(directory: Path) -> dict[str, str]:
    """The machine's own, by the names of pip's options."""
    said = run([sys.executable, "-m", "pip", "config", "list"], user_environment(), directory)
    found: dict[str, str] = {}
    for line in said.splitlines():
        name, _, value = line.partition("=")
        found[name.rpartition(".")[2]] = str(ast.literal_eval(value))
    return found
