"""What is taken lies where it lay, with the links that lead to it and modes that nobody chose."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.image.tree import Tree


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Return a root with a library behind two links, as a merged /usr has it."""
    root = tmp_path / "machine"
    libraries = root / "usr" / "lib" / "triplet"
    libraries.mkdir(parents=True)
    (root / "lib").symlink_to("usr/lib")
    (libraries / "libz.so.1.2").write_bytes(b"library")
    (libraries / "libz.so.1.2").chmod(0o4775)
    (libraries / "libz.so.1").symlink_to("libz.so.1.2")
    (libraries / "notes").write_text("notes")
    (libraries / "notes").chmod(0o600)
    return root


@pytest.fixture
def tree(machine: Path, tmp_path: Path) -> Tree:
    """Return an empty tree of that machine."""
    (tmp_path / "image").mkdir()
    return Tree(tmp_path / "image", machine)


def test_a_file_behind_links_is_taken_with_the_links(tree: Tree) -> None:
    real = tree.take(Path("/lib/triplet/libz.so.1"))
    assert real == Path("/usr/lib/triplet/libz.so.1.2")
    assert tree.taken == {real}
    assert (tree.root / "lib").readlink() == Path("usr/lib")
    assert (tree.root / "lib/triplet/libz.so.1").read_bytes() == b"library"


def test_an_absolute_link_leads_within_the_image(tree: Tree, machine: Path) -> None:
    (machine / "etc").mkdir()
    (machine / "etc" / "notes").symlink_to("/usr/lib/triplet/notes")
    assert tree.take(Path("/etc/notes")) == Path("/usr/lib/triplet/notes")
    assert (tree.root / "etc/notes").readlink() == Path("/usr/lib/triplet/notes")
    assert tree.place(Path("/usr/lib/triplet/notes")).read_text() == "notes"


def test_modes_are_plain_and_no_bit_lets_anybody_become_another(tree: Tree) -> None:
    tree.take(Path("/usr"))
    modes = {path.name: path.stat().st_mode & 0o7777 for path in tree.root.rglob("*")}
    assert modes == {
        "usr": 0o755,
        "lib": 0o755,
        "triplet": 0o755,
        "libz.so.1": 0o755,
        "libz.so.1.2": 0o755,
        "notes": 0o644,
    }


def test_what_is_not_wanted_and_what_leads_nowhere_is_left(tree: Tree, machine: Path) -> None:
    (machine / "usr/lib/triplet/broken").symlink_to("nowhere")
    tree.take(Path("/usr"), lambda path: path.name != "notes")
    assert {path.name for path in tree.taken} == {"libz.so.1.2"}
    assert not os.path.lexists(tree.root / "usr/lib/triplet/broken")


def test_a_file_that_is_not_there_is_told_of(tree: Tree) -> None:
    with pytest.raises(FileNotFoundError, match="/lib/absent"):
        tree.take(Path("/lib/absent"))


def test_links_in_a_circle_end(tree: Tree, machine: Path) -> None:
    (machine / "one").symlink_to("two")
    (machine / "two").symlink_to("one")
    with pytest.raises(OSError, match="too many symbolic links"):
        tree.take(Path("/one"))


def test_everything_carries_the_one_date(tree: Tree) -> None:
    tree.take(Path("/lib/triplet/libz.so.1"))
    tree.write(Path("/etc/hosts"), "127.0.0.1 localhost\n")
    tree.date(1_000_000_000)
    assert {path.lstat().st_mtime for path in [tree.root, *tree.root.rglob("*")]} == {1_000_000_000}
