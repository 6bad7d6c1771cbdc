"""Expressions of Go templates: pipes of functions, fields, variables and literals."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Protocol

from keybearer.base.errors import KeybearerError
from keybearer.migrate.go_functions import Expression, UnknownFunctionError, call, literal

__all__ = ["Scope", "TemplateError", "parse", "tokens"]

_TOKEN = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`)|(?P<number>-?(?:0|[1-9][0-9]{0,17}))(?![\w.])"""
    r"""|(?P<field>(?:\$[A-Za-z0-9_]*)?(?:\.[A-Za-z_][A-Za-z0-9_]*)+)|(?P<variable>\$[A-Za-z0-9_]*)"""
    r"""|(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>:=|=|[|(),.]))""",
)
"""Numbers are those that 64 bits surely hold, without the zero before them that makes them octal in Go."""
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_PARENTHESES_MAX = 32


class TemplateError(KeybearerError):
    """A template has no equal; the text says what in it, never the template itself.

    Attributes:
        nearest: what of Jinja2 comes nearest to it; empty where nothing does.
    """

    def __init__(self, text: str, nearest: str = "") -> None:
        super().__init__(text)
        self.nearest = nearest


class Scope(Protocol):
    """What names mean where an expression stands."""

    def operand(self, kind: str, text: str) -> Expression:
        """Return a field or a variable."""

    def here(self) -> Expression:
        """Return what `.` is."""


def parse(text: str, scope: Scope) -> Expression:
    """Return a pipeline as an expression of Jinja2.

    Raises:
        TemplateError: it has no equal.
    """
    parser = _Parser(tokens(text), scope)
    expression = parser.pipeline(0)
    if not parser.is_done:
        raise TemplateError("an expression of another form")
    return expression


@dataclass(slots=True)
class _Parser:
    """A pipeline of one action, token by token."""

    tokens: list[tuple[str, str]]
    scope: Scope
    position: int = 0

    @property
    def is_done(self) -> bool:
        return self.position >= len(self.tokens)

    def pipeline(self, depth: int) -> Expression:
        if depth > _PARENTHESES_MAX:
            raise TemplateError(f"parentheses that are nested deeper than {_PARENTHESES_MAX} levels")
        value = self._command(depth, None)
        while self._take("sign", "|"):
            value = self._command(depth, value)
        return value

    def _command(self, depth: int, piped: Expression | None) -> Expression:
        kind, text = self._next()
        if kind != "word" or text in ("true", "false"):
            if piped is not None:
                raise TemplateError("a pipe into something that is no function")
            value = self._operand(kind, text, depth)
            if not self.is_done and self.tokens[self.position] not in (("sign", "|"), ("sign", ")")):
                raise TemplateError("an expression of another form")
            return value
        arguments: list[Expression] = []
        while not self.is_done and self.tokens[self.position] not in (("sign", "|"), ("sign", ")")):
            arguments.append(self._operand(*self._next(), depth))
        if piped is not None:
            arguments.append(piped)
        try:
            return call(text, arguments)
        except UnknownFunctionError as error:
            raise TemplateError(str(error), error.nearest) from None

    def _operand(self, kind: str, text: str, depth: int) -> Expression:
        match kind:
            case "string":
                return literal(_unquoted(text))
            case "number":
                return literal(int(text))
            case "field" | "variable":
                return self.scope.operand(kind, text)
            case "word" if text in ("true", "false"):
                return Expression(text)
            case "sign" if text == ".":
                return self.scope.here()
            case "sign" if text == "(":
                value = self.pipeline(depth + 1)
                if not self._take("sign", ")"):
                    raise TemplateError("parentheses without their end")
                return self._fields_of(value)
            case "word":
                raise TemplateError(f"the function {text[:40]} as an argument")
            case _:
                raise TemplateError("an expression of another form")

    def _fields_of(self, value: Expression) -> Expression:
        while not self.is_done and self.tokens[self.position][0] == "field":
            _, text = self._next()
            head, *names = text.split(".")
            if head:
                raise TemplateError("an expression of another form")
            value = Expression(value.primary + "".join(f"[{json.dumps(name)}]" for name in names))
        return value

    def _next(self) -> tuple[str, str]:
        if self.is_done:
            raise TemplateError("an expression that breaks off")
        self.position += 1
        return self.tokens[self.position - 1]

    def _take(self, kind: str, text: str) -> bool:
        if self.is_done or self.tokens[self.position] != (kind, text):
            return False
        self.position += 1
        return True


def tokens(text: str) -> list[tuple[str, str]]:
    """Return the tokens of an expression, each with its kind.

    Raises:
        TemplateError: there is something that is none.
    """
    found: list[tuple[str, str]] = []
    position = 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None or match.lastgroup is None:
            raise TemplateError("an expression of another form")
        found.append((match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return found


def _unquoted(text: str) -> str:
    if "{{" in text:
        raise TemplateError(
            "a template within a text, as in charts that were not rendered (helm template does it),"
        )
    if text.startswith("`"):
        return text[1:-1]
    try:
        # What both languages escape alike; Go's others (\a, \x, octal) are rare enough to be refused.
        value = json.loads(text, strict=False)
    except ValueError:
        raise TemplateError("a text with escapes that JSON doesn't have") from None
    if not isinstance(value, str):
        raise TemplateError("an expression of another form")
    if _HALF_CHARACTER.search(value):
        raise TemplateError("a text with half a character of two")
    return value
