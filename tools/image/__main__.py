"""Writes the root file system of the image: Keybearer, and the Python and the libraries that it runs on.

The image is a stage of its own that starts from nothing, so what isn't taken here isn't in it: no shell, no package
manager, no compiler (docs/decisions/0021).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tools.image.bill import Distribution, Interpreter, complete
from tools.image.bytecode import compile_tree
from tools.image.environment import Environment, inspect
from tools.image.libraries import is_binary, shared_libraries
from tools.image.needless import wanted_of_environment, wanted_of_python
from tools.image.packages import Package, packages_of
from tools.image.tree import Tree

__all__ = ["main"]

_USER = 65532
_BILL = Path("/usr/local/share/sbom/keybearer.cdx.json")
_OS_RELEASE = Path("/etc/os-release")
_TRUSTED = Path("/etc/ssl/certs/ca-certificates.crt")
_OPENSSL = Path("/etc/ssl/openssl.cnf")
_DATA = Path("/var/lib/keybearer")
_TEXTS = {
    Path("/etc/passwd"): "root:x:0:0:root:/:/nonexistent\n"
    f"keybearer:x:{_USER}:{_USER}:keybearer:/tmp:/nonexistent\n",
    Path("/etc/group"): f"root:x:0:\nkeybearer:x:{_USER}:\n",
    Path("/etc/hosts"): "127.0.0.1 localhost\n::1 localhost\n",
    Path("/etc/nsswitch.conf"): "passwd: files\ngroup: files\nhosts: files dns\n",
}
# Where a runtime mounts its own, and where the chart mounts what is secret; a read-only root can't make them.
_MOUNTS = (Path("/dev"), Path("/etc/keybearer"), Path("/proc"), Path("/run"), Path("/sys"))


def main() -> None:
    """The directory given holds the root file system."""
    parser = argparse.ArgumentParser(prog="python -m tools.image", description=__doc__)
    parser.add_argument("--environment", type=Path, required=True, help="the virtual environment to run")
    parser.add_argument("--bill", type=Path, required=True, help="what cyclonedx-py wrote of it, in JSON")
    parser.add_argument("--root", type=Path, required=True, help="an empty directory")
    parser.add_argument("--date", type=int, required=True, help="of all files: seconds of the Unix epoch")
    given = parser.parse_args()
    environment = inspect(given.environment)
    tree = Tree(given.root)
    _take_programs(tree, environment)
    packages = _take_records(tree)
    compile_tree(tree.root, tree.place(environment.standard_library))
    compile_tree(tree.root, tree.place(environment.directory))
    interpreter = None if _is_packaged(packages) else Interpreter(environment.version)
    distribution = Distribution.read(_OS_RELEASE.read_text())
    bill = complete(given.bill.read_text(), packages, distribution, interpreter, seconds=given.date)
    tree.write(_BILL, bill)
    tree.date(given.date)
    size = sum(path.lstat().st_size for path in tree.root.rglob("*") if path.is_file())
    sys.stdout.write(f"{size / 2**20:.0f} MiB in files, {len(packages)} packages of {distribution.name}\n")


def _take_programs(tree: Tree, environment: Environment) -> None:
    """What runs, and what is read while it runs."""
    tree.take(environment.directory, wanted_of_environment(environment))
    tree.take(environment.standard_library, wanted_of_python(environment.standard_library))
    for library in shared_libraries(path for path in tree.taken if is_binary(path)):
        tree.take(library)
    # The loader's own list, for libraries outside its usual directories.
    for file in (Path("/etc/ld.so.cache"), _OS_RELEASE, _TRUSTED, _OPENSSL):
        tree.take(file)
    for path, text in _TEXTS.items():
        tree.write(path, text)
    for path in _MOUNTS:
        tree.directory(path)
    tree.directory(Path("/tmp"), mode=0o1777)  # noqa: S108 - the image's own
    tree.directory(_DATA, mode=0o700, owner=_USER)


def _take_records(tree: Tree) -> list[Package]:
    """What the distribution's packages leave for lawyers and for scanners of images."""
    packages = packages_of(tree.taken, also=["ca-certificates"])
    for package in packages:
        tree.write(Path("/var/lib/dpkg/status.d", package.name), package.record)
        tree.take(Path("/usr/share/doc", package.name, "copyright"))
    return packages


def _is_packaged(packages: list[Package]) -> bool:
    return any(package.name.startswith("python3.") for package in packages)


if __name__ == "__main__":
    main()
