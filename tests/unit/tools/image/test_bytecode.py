"""Bytecode of the image is the same wherever it is compiled, and is loaded without a look at its source."""

from __future__ import annotations

import importlib.util
import marshal
from pathlib import Path
from types import CodeType

import pytest

from tools.image.bytecode import CompilationError, compile_tree

_SOURCE = (
    'NAMES = frozenset({"a", "b", "c", "d"})\n\n\ndef found(name):\n    return name in {"x", "y", "z"}\n'
)


def compiled(root: Path, **modules: str) -> dict[str, bytes]:
    """Return the bytecode of modules in a root file system, by their names."""
    folder = root / "opt" / "package"
    folder.mkdir(parents=True)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    compile_tree(root, folder)
    return {
        name: Path(importlib.util.cache_from_source(str(folder / f"{name}.py"))).read_bytes()
        for name in modules
    }


def test_it_is_the_same_under_another_root(tmp_path: Path) -> None:
    modules = {f"module{number}": _SOURCE + f"\nVALUE = {number}\n" for number in range(3)}
    assert compiled(tmp_path / "one", **modules) == compiled(tmp_path / "elsewhere" / "two", **modules)


def test_it_names_its_source_by_the_path_in_the_image_and_is_never_compared(tmp_path: Path) -> None:
    (content,) = compiled(tmp_path, module=_SOURCE).values()
    assert int.from_bytes(content[4:8], "little") == 1, "a hash of the source, which is not checked (PEP 552)"
    code = marshal.loads(content[16:])  # noqa: S302 - compiled right here
    assert isinstance(code, CodeType)
    assert code.co_filename == "/opt/package/module.py"


def test_all_modules_are_compiled_where_there_are_many(tmp_path: Path) -> None:
    assert len(compiled(tmp_path, **{f"module{number}": "" for number in range(450)})) == 450


def test_a_module_without_valid_syntax_is_named(tmp_path: Path) -> None:
    with pytest.raises(CompilationError, match=r"broken\.py"):
        compiled(tmp_path, fine="", broken="def (")
