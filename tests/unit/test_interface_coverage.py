"""`docs/interface-coverage.md` names tests that exist, at least one for each line of the interface."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from support.rows import listed

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs/interface-coverage.md"
NODE = re.compile(r"`([\w/]+\.py(?:::\w+)+)`")
# How many things each section asks for: a line that is lost must be missed.
SECTIONS = {
    "2.1": 51,
    "2.2": 5,
    "2.3": 22,
    "2.4": 9,
    "2.5": 13,
    "2.6": 20,
    "2.7": 10,
    "4.1": 4,
    "4.2": 2,
    "4.3": 13,
    "4.4": 3,
    "4.5": 13,
    "4.6": 10,
    "4.7": 4,
    "4.8": 31,
    "4.9": 7,
    "4.10": 4,
    "7": 11,
    "8": 12,
    "wire.md": 14,
    "Beyond": 11,
}


class Row(NamedTuple):
    """A line of a table."""

    section: str
    line: str
    asked: str
    done: str
    tests: str


def rows() -> Iterator[Row]:
    section = ""
    for text in DOCUMENT.read_text().splitlines():
        if text.startswith("## "):
            section = text.split()[1]
        cells = [cell.strip() for cell in text.strip("|").split(" | ")]
        if text.startswith("| ") and cells[0].isdigit():
            line, asked, done, tests = cells
            yield Row(section, line, asked, done, tests)


@cache
def names_in(path: Path) -> frozenset[str]:
    """Return the names of a file's tests, those in classes with the class before them."""
    found: set[str] = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            found.update(f"{node.name}::{name}" for name in _functions(node.body))
    return frozenset(found.union(_functions(ast.parse(path.read_text()).body)))


def _functions(body: list[ast.stmt]) -> Iterator[str]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
            yield node.name


def exists(node: str) -> bool:
    """Tell whether there is a test of that name."""
    file, _, test = node.partition("::")
    path = ROOT / "tests" / file
    return path.exists() and test in names_in(path)


def mistakes(row: Row) -> Iterator[str]:
    """What is wrong with a line."""
    named = NODE.findall(row.tests)
    if not named:
        yield "names no test"
    if not row.asked or not row.done:
        yield "has an empty cell"
    if NODE.sub("", row.tests).strip(" ,"):
        yield "has something that is no test among the tests"
    for node in named:
        if not exists(node):
            yield f"names {node}, which does not exist"


def test_a_line_is_covered_by_tests_that_exist() -> None:
    wrong = [f"{row.section} line {row.line} {mistake}" for row in rows() for mistake in mistakes(row)]
    assert not wrong, listed(wrong)


def test_no_line_is_missing() -> None:
    lines: dict[str, list[int]] = {}
    for row in rows():
        lines.setdefault(row.section, []).append(int(row.line))
    assert lines == {section: list(range(1, count + 1)) for section, count in SECTIONS.items()}


def test_tests_that_the_text_names_exist() -> None:
    missing = [node for node in NODE.findall(DOCUMENT.read_text()) if not exists(node)]
    assert not missing, listed(missing)
