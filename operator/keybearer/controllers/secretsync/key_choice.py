"""Which secrets a selection takes, by patterns that tenants write, and which keys of the target they become. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import re2  # type: ignore[import-untyped]  # google-re2 ships no types; the protocols below say what is used

from keybearer.base.errors import KeybearerError
from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.secretsync.spec import KeySelection

__all__ = [
    "InvalidPatternError",
    "KeyChoice",
    "Matcher",
    "Renamer",
    "compile_choice",
    "compile_matcher",
    "compile_renamer",
    "is_expression",
]

_PROGRAM_MAX_BYTES = 64 * 1024  # one expression; room for some 2,700 instructions
_UNION_MAX_BYTES = 256 * 1024  # all expressions of one list, joined
_GLOB_MARKS = frozenset("*?[")
_COMPILED_MAX = (
    128  # selections whose patterns stay compiled; each takes at most about 1 MiB, most take little
)
_CALL_STEPS = 150  # what calling RE2 from Python costs besides


class _Match(Protocol):
    def group(self, group: int, /) -> str | None: ...


class _Expression(Protocol):
    @property
    def groups(self) -> int: ...
    @property
    def programsize(self) -> int: ...
    def search(self, text: str, /) -> _Match | None: ...
    def fullmatch(self, text: str, /) -> _Match | None: ...


class InvalidPatternError(KeybearerError):
    """A pattern is no RE2 expression or too large; the text names the field and it, and says why."""


@dataclass(frozen=True, slots=True)
class Matcher:
    """Tells whether a name matches any of the patterns of a list; one pass over the name decides."""

    everything: bool
    exact: frozenset[str]
    union: _Expression | None

    def __call__(self, name: str) -> bool:
        """Return whether the name matches."""
        if self.everything or name in self.exact:
            return True
        return self.union is not None and self.union.search(name) is not None

    @property
    def size(self) -> int:
        """Instructions that each character of a name may pass; 0 where there are none."""
        return 0 if self.everything or self.union is None else self.union.programsize


@dataclass(frozen=True, slots=True)
class Renamer:
    """One rename rule, ready to run."""

    exact: str
    replacement: tuple[str | int, ...]
    expression: _Expression | None

    def __call__(self, name: str) -> str | None:
        """Return the new name, or None where the rule doesn't match."""
        if self.expression is None:
            return str(self.replacement[0]) if name == self.exact else None
        match = self.expression.fullmatch(name)
        if match is None:
            return None
        return "".join(
            piece if isinstance(piece, str) else match.group(piece) or "" for piece in self.replacement
        )

    @property
    def size(self) -> int:
        """Instructions that each character of a name may pass; 0 where there are none."""
        return 0 if self.expression is None else self.expression.programsize


def compile_matcher(patterns: Iterable[str], field: str) -> Matcher:
    """Return the matcher of a list of patterns.

    Args:
        patterns: globs, names and expressions.
        field: where the list stands in the spec, for messages.

    Raises:
        InvalidPatternError: a pattern can't be compiled, or all together are too large.
    """
    exact: set[str] = set()
    expressions: list[str] = []
    everything = False
    for index, pattern in enumerate(patterns):
        where = f"{field}[{index}]: pattern {pattern!r} is"
        if pattern == "*":
            everything = True
        elif is_expression(pattern):
            expressions.append(_close_quotes(pattern[1:-1]))
            _compile(expressions[-1], where)
        elif _GLOB_MARKS.isdisjoint(pattern):
            exact.add(pattern)
        else:
            expressions.append(_translate_glob(pattern))
            _compile(expressions[-1], where)
    union = None
    if expressions:
        joined = "|".join(f"(?:{expression})" for expression in expressions)
        union = _compile(joined, f"{field}: all patterns together are", _UNION_MAX_BYTES)
    return Matcher(everything, frozenset(exact), union)


def compile_renamer(pattern: str, replacement: str, field: str) -> Renamer:
    r"""Return the rule that gives names that match `pattern` as a whole the name `replacement`.

    After an RE2 expression, `\0` to `\9` in the replacement stand for the match and its groups (a group that
    took no part is empty) and `\\` for a backslash; after an exact name it is taken as it is.

    Args:
        pattern: a name, or an expression between slashes.
        replacement: the new name.
        field: where the rule stands in the spec, for messages.

    Raises:
        InvalidPatternError: the expression can't be compiled, or the replacement names a group it has not.
    """
    if not is_expression(pattern):
        return Renamer(pattern, (replacement,), None)
    expression = _compile(pattern[1:-1], f"{field}.from: pattern {pattern!r} is", captures=True)
    where = f"{field}.to: the replacement of pattern {pattern!r}"
    return Renamer(pattern, _split_replacement(replacement, expression.groups, where), expression)


def _close_quotes(expression: str) -> str:
    r"""End what a `\Q` began: joined with others, it would quote them too. Elsewhere `\E` means nothing."""
    return expression + r"\E" if r"\Q" in expression else expression


def is_expression(pattern: str) -> bool:
    """Tell whether a pattern is an RE2 expression between slashes."""
    return len(pattern) > 2 and pattern[0] == pattern[-1] == "/"


def _compile(
    expression: str, where: str, max_bytes: int = _PROGRAM_MAX_BYTES, *, captures: bool = False
) -> _Expression:
    options = re2.Options()
    options.max_mem = max_bytes
    options.log_errors = False
    options.never_capture = not captures
    try:
        compiled: _Expression = re2.compile(expression, options)
    except re2.error as error:
        detail = error.args[0] if error.args else b""
        reason = detail.decode(errors="replace") if isinstance(detail, bytes) else str(detail)
        raise InvalidPatternError(f"{where} refused: {reason}") from error
    return compiled


def _translate_glob(glob: str) -> str:
    parts = [r"(?s)\A"]
    rest = glob
    while rest:
        mark, rest = rest[0], rest[1:]
        if mark == "*":
            parts.append(".*")
        elif mark == "?":
            parts.append(".")
        elif mark == "[" and (end := rest.find("]", 2 if rest.startswith("!") else 1)) > 0:
            parts.append(_translate_class(rest[:end]))
            rest = rest[end + 1 :]
        else:
            parts.append(re2.escape(mark))
    return "".join(parts) + r"\z"


def _translate_class(content: str) -> str:
    negated = content.startswith("!")
    members = content.removeprefix("!")
    escaped = "".join("\\" + member if member in r"\[]^&~|" else member for member in members)
    return f"[{'^' if negated else ''}{escaped}]"


def _split_replacement(replacement: str, groups: int, where: str) -> tuple[str | int, ...]:
    """Return literal texts and numbers of groups, in order."""
    pieces: list[str | int] = []
    marks = iter(replacement)
    for mark in marks:
        follower = next(marks, "") if mark == "\\" else ""
        if mark != "\\" or follower == "\\":
            pieces.append(mark)
        elif follower.isascii() and follower.isdigit() and int(follower) <= groups:
            pieces.append(int(follower))
        else:
            raise InvalidPatternError(
                f"{where} may refer to \\0 to \\{min(groups, 9)} only; write \\\\ for a backslash"
            )
    return tuple(pieces)


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """The patterns of a selection, compiled: which secrets it takes, and what it calls them."""

    includes: Matcher
    excludes: Matcher
    renamers: tuple[Renamer, ...]
    item_keys: frozenset[str]

    def work(self, secrets: Sequence[SourceSecret]) -> int:
        """Return how many steps matching the names of these may take at worst."""
        all_sizes = (self.includes.size, self.excludes.size, *(renamer.size for renamer in self.renamers))
        sizes = [size for size in all_sizes if size]
        if not sizes:
            return 0
        return sum(map(len, (secret.key for secret in secrets))) * sum(sizes) + (
            len(secrets) * len(sizes) * _CALL_STEPS
        )

    def takes(self, key: str) -> bool:
        """Tell whether a secret of this name is taken."""
        return key in self.item_keys or (self.includes(key) and not self.excludes(key))

    def rename(self, key: str) -> str:
        """Return the key of the target that a secret of this name becomes."""
        for renamer in self.renamers:
            renamed = renamer(key)
            if renamed is not None:
                return renamed
        return key


@lru_cache(maxsize=_COMPILED_MAX)
def compile_choice(keys: KeySelection) -> KeyChoice:
    """Return the selection with its patterns compiled.

    Raises:
        InvalidPatternError: one of them is none; the message names the field.
    """
    return KeyChoice(
        includes=compile_matcher(keys.include, "keys.include"),
        excludes=compile_matcher(keys.exclude, "keys.exclude"),
        renamers=tuple(
            compile_renamer(rename.pattern, rename.replacement, f"keys.rename[{index}]")
            for index, rename in enumerate(keys.rename)
        ),
        item_keys=frozenset(item.key for item in keys.items),
    )
