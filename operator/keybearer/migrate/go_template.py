"""Templates of Go as templates of Jinja2, where both say the same.

Known are fields, pipes, literals, the functions of `go_functions`, `if`, `range`, `with`, variables and comments.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from keybearer.migrate.go_expression import TemplateError, parse, tokens
from keybearer.migrate.go_functions import Expression

__all__ = ["TEMPLATE_MAX", "FieldReader", "TemplateError", "secret", "translate", "variables_of"]

TEMPLATE_MAX = 65_536
"""Characters of one template, as a SecretSync takes them."""

_ACTIONS_MAX = 2000
_DEPTH_MAX = 32
_NO_NAMES = frozenset(
    {
        *keyword.kwlist,
        "true",
        "false",
        "none",
        "secrets",
        "range",
        "dict",
        "namespace",
        "loop",
        "self",
        "super",
    }
    | {
        "block",
        "call",
        "caller",
        "do",
        "extends",
        "filter",
        "import",
        "include",
        "kwargs",
        "macro",
        "recursive",
    }
    | {"scoped", "set", "varargs"}
)
"""Names that mean something else in Jinja2, or in Keybearer's templates."""

FieldReader = Callable[[Sequence[str]], Expression]
"""From the names of a field chain, as in `.a.b`, to what it is; raises TemplateError for what has no equal."""


def secret(name: str) -> Expression:
    """Return how a template calls the secret of that name."""
    is_plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name not in _NO_NAMES
    return Expression(name if is_plain else f"secrets[{json.dumps(name, ensure_ascii=False)}]")


def variables_of(names: Sequence[str]) -> Expression:
    """Read fields as External Secrets has them: each is a secret, and has no fields of its own."""
    if len(names) != 1:
        raise TemplateError("a field of a field")
    return secret(names[0])


def translate(template: str, read: FieldReader = variables_of) -> str:
    """Return the template in Jinja2.

    Args:
        template: of Go.
        read: what fields of the root are.

    Raises:
        TemplateError: something in it has no equal.
    """
    if len(template) > TEMPLATE_MAX:
        raise TemplateError(f"more than {TEMPLATE_MAX} characters")
    written = _Translation(read).run(template)
    if len(written) > TEMPLATE_MAX:
        raise TemplateError(f"more than {TEMPLATE_MAX} characters in Jinja2")
    return written


@dataclass(slots=True)
class _Block:
    """An `if`, `range` or `with` whose `end` hasn't come yet."""

    word: str
    outer_dot: Expression | None
    outer_variables: dict[str, Expression]


@dataclass(slots=True)
class _Translation:
    """The run over one template."""

    read: FieldReader
    dot: Expression | None = None
    """What `.` is; None for the root, whose fields are read."""
    variables: dict[str, Expression] = field(default_factory=dict)
    blocks: list[_Block] = field(default_factory=list)
    names: int = 0

    def run(self, template: str) -> str:
        pieces: list[str] = []
        position = 0
        for _ in range(_ACTIONS_MAX + 1):
            start = template.find("{{", position)
            if start < 0:
                break
            end = _end_of_action(template, start + 2)
            pieces.append(_plain(template[position:start]))
            pieces.append(self._action(*_trimmed(template[start + 2 : end])))
            position = end + 2
        else:
            raise TemplateError(f"more than {_ACTIONS_MAX} actions")
        if self.blocks:
            raise TemplateError("a block without its end")
        return "".join([*pieces, _plain(template[position:])])

    def _action(self, content: str, left: str, right: str) -> str:
        if content.startswith("/*") and content.endswith("*/"):
            return "{#" + left + " " + right + "#}" if left or right else ""
        word = re.match(r"(if|else|end|range|with|break|continue|template|block|define)\b", content)
        if word is None:
            assigned = re.fullmatch(r"\$([A-Za-z0-9_]+)\s*:=\s*(.+)", content, re.DOTALL)
            if assigned:
                value = self._read(assigned[2])
                name = self._declare(assigned[1])
                return f"{{%{left} set {name} = {value.text} {right}%}}"
            return f"{{{{{left} {self._read(content).text} {right}}}}}"
        return f"{{%{left} {self._statement(word[0], content[word.end() :].strip())} {right}%}}"

    def _statement(self, word: str, rest: str) -> str:
        match word:
            case "if":
                condition = self._read(rest)
                self._enter("if")
                return f"if {condition.text}"
            case "else":
                return self._otherwise(rest)
            case "end" if not rest and self.blocks:
                done = self.blocks.pop()
                self.dot, self.variables = done.outer_dot, done.outer_variables
                return "endfor" if done.word == "range" else "endif"
            case "range":
                return self._range(rest)
            case "with":
                subject = self._read(rest)
                self._enter("with")
                name = self._fresh("with")
                self.dot = Expression(name)
                return f"if {subject.text} %}}{{% set {name} = {subject.text}"
            case _:
                raise TemplateError(f"the action {word}")

    def _otherwise(self, rest: str) -> str:
        if not self.blocks:
            raise TemplateError("an else without its if")
        block = self.blocks[-1]
        self.dot, self.variables = block.outer_dot, dict(block.outer_variables)
        if not rest:
            return "else"
        if rest.startswith("if ") and block.word == "if":
            return f"elif {self._read(rest[3:]).text}"
        raise TemplateError("an else that goes on with something else than if")

    def _range(self, rest: str) -> str:
        named = re.fullmatch(r"(?:\$([A-Za-z0-9_]+)\s*,\s*)?\$([A-Za-z0-9_]+)\s*:=\s*(.+)", rest, re.DOTALL)
        over = named[3] if named else rest
        marks = tokens(over)
        is_root = marks == [("variable", "$")] or (marks == [("sign", ".")] and self.dot is None)
        subject = None if is_root else self._read(over)
        self._enter("range")
        if subject is None:
            key = self._declare(named[1]) if named and named[1] else self._fresh("key")
            item = self._declare(named[2]) if named else self._fresh("item")
            self.dot = Expression(item)
            # Go goes through a mapping by its keys in order, and capitals come first.
            return f"for {key}, {item} in secrets | dictsort(true)"
        if named and named[1]:
            raise TemplateError("a range with a key over something else than all secrets")
        item = self._declare(named[2]) if named else self._fresh("item")
        self.dot = Expression(item)
        return f"for {item} in {subject.primary}"

    def _enter(self, word: str) -> None:
        if len(self.blocks) >= _DEPTH_MAX:
            raise TemplateError(f"blocks that are nested deeper than {_DEPTH_MAX} levels")
        self.blocks.append(_Block(word, self.dot, dict(self.variables)))

    def _declare(self, name: str) -> str:
        written = self._fresh(name)
        self.variables[name] = Expression(written)
        return written

    def _fresh(self, name: str) -> str:
        self.names += 1
        return f"_{name}{self.names}"

    def _read(self, text: str) -> Expression:
        return parse(text, self)

    def operand(self, kind: str, text: str) -> Expression:
        """Return a field or variable."""
        if kind == "variable":
            found = self.variables.get(text[1:])
            if text == "$":
                return Expression("secrets")
            if found is None:
                raise TemplateError("a variable that it doesn't declare")
            return found
        head, *names = text.split(".")
        if head in ("", "$") and (self.dot is None or head == "$"):
            return self.read(names)
        base = self.dot if not head else self.variables.get(head[1:])
        if base is None:
            raise TemplateError("a variable that it doesn't declare")
        return Expression(base.primary + "".join(f"[{json.dumps(name)}]" for name in names))

    def here(self) -> Expression:
        """Return what `.` is."""
        return Expression("secrets") if self.dot is None else self.dot


def _end_of_action(template: str, position: int) -> int:
    """Return where the braces stand that end an action; those within a text end nothing."""
    if template.startswith(("/*", "- /*"), position):
        position = max(template.find("*/", position), position)
    quote = ""
    while position < len(template):
        mark = template[position]
        if quote:
            if mark == "\\" and quote == '"':
                position += 1
            elif mark == quote:
                quote = ""
        elif mark in '"`':
            quote = mark
        elif template.startswith("}}", position):
            return position
        position += 1
    raise TemplateError("an action without its end")


def _trimmed(action: str) -> tuple[str, str, str]:
    """Return what stands between the braces, and the marks that cut white space to the left and right."""
    left = "-" if action[:1] == "-" and action[1:2].isspace() else ""
    right = "-" if action[-1:] == "-" and action[-2:-1].isspace() else ""
    return action[len(left) : len(action) - len(right)].strip(), left, right


def _plain(text: str) -> str:
    """Return text that stands for itself in Jinja2 as well."""
    return re.sub(r"\{[%#]", lambda found: '{{ "' + found[0] + '" }}', text)
