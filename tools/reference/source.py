"""What only the source says: the words under a constant, and the constants that a call is given."""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from pathlib import Path

import keybearer

__all__ = ["member_docs", "string_constants", "texts_given_to", "trees"]

_PACKAGE = Path(inspect.getfile(keybearer)).parent
_OF_THE_OPERATOR = ("controllers", "kube")


def member_docs(kind: type[StrEnum]) -> dict[str, str]:
    """Return value and docstring of each member that has one."""
    (body,) = ast.parse(inspect.getsource(kind).strip()).body
    if not isinstance(body, ast.ClassDef):
        raise TypeError(f"{kind} is no class")
    return {kind[name].value: text for name, text in _docs_under_names(body.body) if name in kind.__members__}


def _docs_under_names(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for statement, following in itertools.pairwise(body):
        match statement, following:
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield name, " ".join(text.split())
            case _:
                pass


@cache
def trees() -> tuple[ast.Module, ...]:
    """Return the modules of the operator, parsed."""
    files = sorted(file for part in _OF_THE_OPERATOR for file in (_PACKAGE / part).rglob("*.py"))
    return tuple(ast.parse(file.read_text(encoding="utf-8")) for file in files)


def texts_given_to(*functions: str) -> set[str]:
    """Return the constant texts that calls of functions of these names are given, wherever in the operator."""
    found: set[str] = set()
    for tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _name(node.func) in functions:
                found |= {text.value for text in node.args if _is_text(text)}  # type: ignore[attr-defined]
    return found


def string_constants() -> set[str]:
    """Return all constant texts of the operator."""
    return {
        node.value
        for tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _name(function: ast.expr) -> str | None:
    match function:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
