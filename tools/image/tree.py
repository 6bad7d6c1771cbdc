"""A root file system in the making: what is taken of this machine lies at the same paths in it."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

__all__ = ["Tree"]

_DIRECTORY = 0o755
_PROGRAM = 0o755
_FILE = 0o644
_LINKS_MAX = 40  # as the kernel bounds them (path_resolution(7))


class Tree:
    """Files under `root`, each where it lies under `source`.

    Modes are plain, 0755 and 0644, so that neither the umask of the build nor a set-user-ID bit gets in.

    Args:
        root: an empty directory.
        source: the machine's own root; another one in tests.

    Attributes:
        taken: paths of the files as the machine has them, without symbolic links in them.
    """

    def __init__(self, root: Path, source: Path = Path("/")) -> None:
        self.root = root
        self.taken: set[Path] = set()
        self._source = source

    def take(self, path: Path, wanted: Callable[[Path], bool] = lambda _: True) -> Path:
        """The file or directory is in the tree, with every symbolic link on the way; returns where it really lies.

        Args:
            path: absolute.
            wanted: says of each path in a directory whether it is to be taken; the directory itself always is.

        Raises:
            FileNotFoundError: there is no such file.
        """
        real = self._follow(path)
        here = self._in_source(real)
        if here.is_dir():
            for entry in sorted(here.iterdir()):
                # A link that leads nowhere, as a package may ship one, is of no use to anybody.
                if entry.exists() and wanted(real / entry.name):
                    self.take(real / entry.name, wanted)
        elif real not in self.taken:
            is_program = bool(here.stat().st_mode & stat.S_IXUSR)
            shutil.copyfile(here, self.place(real))
            self.place(real).chmod(_PROGRAM if is_program else _FILE)
            self.taken.add(real)
        return real

    def write(self, path: Path, text: str) -> None:
        """The file has this text."""
        self.directory(path.parent)
        self.place(path).write_text(text)
        self.place(path).chmod(_FILE)

    def directory(self, path: Path, mode: int = _DIRECTORY, owner: int = 0) -> None:
        """The directory exists; mode and owner (user and group) are those of the last part of the path."""
        for part in reversed([path, *path.parents]):
            if not self.place(part).is_dir():
                self.place(part).mkdir()
                self.place(part).chmod(_DIRECTORY)
        if (mode, owner) != (_DIRECTORY, 0):
            self.place(path).chmod(mode)
            os.chown(self.place(path), owner, owner)

    def place(self, path: Path) -> Path:
        """Where that path of the image lies on this machine."""
        return self.root / path.relative_to("/")

    def date(self, seconds: int) -> None:
        """Everything carries the same time: seconds of the Unix epoch."""
        for directory, folders, files in os.walk(self.root, topdown=False):
            for name in (*folders, *files):
                os.utime(Path(directory, name), (seconds, seconds), follow_symlinks=False)
        os.utime(self.root, (seconds, seconds))

    def _follow(self, path: Path) -> Path:
        """Resolve the path in the source, and repeat its directories and links in the tree."""
        at, rest, links = Path("/"), list(path.parts[1:]), 0
        while rest:
            part = rest.pop(0)
            if part == "..":
                at = at.parent
                continue
            here = self._in_source(at / part)
            if here.is_symlink():
                links += 1
                if links > _LINKS_MAX:
                    raise OSError(f"{path}: too many symbolic links")
                target = here.readlink()
                if not self.place(at / part).is_symlink():
                    self.place(at / part).symlink_to(target)
                if target.is_absolute():
                    at, target = Path("/"), target.relative_to("/")
                rest = [*target.parts, *rest]
                continue
            at /= part
            if here.is_dir():
                self.directory(at)
            elif rest or not here.exists():
                raise FileNotFoundError(f"{path}: there is no {at}")
        return at

    def _in_source(self, path: Path) -> Path:
        return self._source / path.relative_to("/")
