"""What is wrong with a template, in words that hold no value.

A failure comes from a child that ran the template and is not trusted: a sandbox that a template broke out of
must not become a way to show values. Of what a child says, only the key, the line and one word get through, and
the word only where the template itself has it.
"""

from __future__ import annotations

import builtins
import difflib
import heapq
import re
from collections.abc import Iterable, Mapping

from keybearer.base.errors import KeybearerError
from keybearer.controllers.template.filter_names import FILTER_NAMES
from keybearer.controllers.template.protocol import (
    OUTPUT_MAX_BYTES,
    REQUEST_MAX_BYTES,
    Failure,
    TemplateFault,
)

__all__ = ["RendererUnavailableError", "TemplateError", "explain"]

_WORDS = (re.compile(r"\w+"), re.compile(r"[\w.-]+"))
"""Names, and keys that are none; a name that follows a dot is a word of the first kind only."""

_EXPRESSIONS = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")
_EXPRESSION_MAX = 80
_LINE_MAX = 2000
"""Characters of a line that is searched for expressions: with many that never end, the search takes their square."""
_SHOWN_MAX = 5
_COMPARED_MAX = 256


class TemplateError(KeybearerError):
    """A template gives nothing; the text names key, line and reason and can be shown."""

    def __init__(self, failure: Failure, message: str) -> None:
        super().__init__(message)
        self.reason = failure.fault
        self.key = failure.key
        self.line = failure.line


class RendererUnavailableError(KeybearerError):
    """The sandbox can't be started or keeps dying; not the fault of a template. Worth another try later."""


def explain(failure: Failure, templates: Mapping[str, str], names: Iterable[str] = ()) -> TemplateError:
    """Return the error that a failure is to who wrote the templates.

    Args:
        failure: as a child tells it.
        templates: by key.
        names: of the secrets that the templates were given.
    """
    where = "the templates" if failure.key is None else f"the template of key {failure.key}"
    line = "" if failure.line is None else f", line {failure.line},"
    source = templates.get(failure.key or "", "")
    return TemplateError(failure, f"{where}{line} {_complaint(failure, source, names)}")


_NOT_JINJA = "is no valid Jinja2"

# What is said with a word of the template, and what without.
_COMPLAINTS: Mapping[TemplateFault, tuple[str, str]] = {
    TemplateFault.SYNTAX_ERROR: ("uses {}, which is no filter or test here", _NOT_JINJA),
    TemplateFault.UNDEFINED_VARIABLE: (
        "uses {}, which is not defined",
        "uses a name or an item that is not defined",
    ),
    TemplateFault.UNSAFE: ("uses {}, which templates may not", "does what templates may not"),
    TemplateFault.FAILED: ("gives the filter {} what it can't take", "fails"),
}
_PLAIN_COMPLAINTS: Mapping[TemplateFault, str] = {
    TemplateFault.NOT_TEXT: "prints bytes, a list or a mapping; use b64encode, tojson or toyaml",
    TemplateFault.TOO_SLOW: "takes too long",
    TemplateFault.TOO_MUCH_MEMORY: "takes too much memory",
    TemplateFault.INPUT_TOO_LARGE: f"and secrets are over {REQUEST_MAX_BYTES // 2**20} MiB; select fewer keys",
    TemplateFault.OUTPUT_TOO_LARGE: f"gives over {OUTPUT_MAX_BYTES // 2**20} MiB, all keys together",
}


def _complaint(failure: Failure, source: str, names: Iterable[str]) -> str:
    plain = _PLAIN_COMPLAINTS.get(failure.fault)
    if plain is not None:
        return plain
    name = failure.name or ""
    # A name is shown only where the template has it as a word: `secrets[PASSWORD]` is undefined by its value.
    with_word, without = _COMPLAINTS[failure.fault]
    if any(name in words.findall(source) for words in _WORDS):
        return with_word.format(name) + _hint(failure.fault, name, names)
    if failure.fault is TemplateFault.SYNTAX_ERROR:
        return _NOT_JINJA + _syntax(name, source, failure.line)
    if failure.fault is TemplateFault.FAILED:
        what = f"fails with {name}" if _is_exception(name) else without
        return what + _expression(source, failure.line)
    return without


def _hint(fault: TemplateFault, name: str, names: Iterable[str]) -> str:
    """Return which names there are: those most like the one that is not defined, or is no filter.

    Only for a name that is in the template: names that are similar to a value would reveal part of the value.
    """
    if fault is TemplateFault.SYNTAX_ERROR:
        return f"; there are {', '.join(difflib.get_close_matches(name, FILTER_NAMES, n=3, cutoff=0.0))}"
    if fault is not TemplateFault.UNDEFINED_VARIABLE:
        return ""
    near = difflib.get_close_matches(name, heapq.nsmallest(_COMPARED_MAX, names), n=_SHOWN_MAX, cutoff=0.0)
    return f"; there are {', '.join(near)}" if near else "; no secret was selected"


# A message shows at most 32 characters of a token.
_TOKEN = r"['\"]([^'\"]{1,32})['\"]"
_SYNTAX: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(rf"expected token {_TOKEN}, got {_TOKEN}"), "{1} where {0} is expected"),
    (re.compile(rf"Expected an expression, got {_TOKEN}"), "{0} where an expression is expected"),
    (re.compile(rf"unexpected {_TOKEN}, expected {_TOKEN}"), "{0} where {1} is expected"),
    (re.compile(rf"unexpected (?:char )?{_TOKEN}.*"), "unexpected {0}"),
    (re.compile(rf"Encountered unknown tag {_TOKEN}.*"), "the tag {0} is unknown, or closes nothing"),
    (
        re.compile(rf".*innermost block that needs to be closed is {_TOKEN}\."),
        "the block {0} is never closed",
    ),
    (re.compile(r"unexpected end of template.*"), "an expression is never closed"),
    (re.compile(r"Missing end of .*"), "a comment or raw block is never closed"),
    (re.compile(r"expected name or number"), "a dot without a name after it"),
)
"""Messages of Jinja2's parser, and what is said of each; tokens only as `_may_show` says."""
_TOKEN_NAMES = frozenset(
    {
        *(")", "]", "}", "in", "name", "string", "integer", "float", "end of template"),
        *(
            f"{edge} of {part}"
            for edge in ("begin", "end")
            for part in ("print statement", "statement block", "comment")
        ),
    }
)
"""What Jinja2 calls kinds of tokens."""
_LEADING_DOT = re.compile(r"\{\{-?\s*\.\s*([A-Za-z_]\w*)")


def _syntax(said: str, source: str, line: int | None) -> str:
    """Return what is wrong with the syntax; for names as Go templates write them, how Jinja2 writes them."""
    dotted = _LEADING_DOT.search(_line(source, line))
    if dotted is not None:
        return f": names have no dot before them; write {{{{ {dotted[1]} }}}}"
    for pattern, words in _SYNTAX:
        found = pattern.fullmatch(said)
        if found is not None and all(_may_show(token, source) for token in found.groups()):
            return f": {words.format(*found.groups())}"
    return ""


def _may_show(token: str, source: str) -> bool:
    """Return whether a message can show a token: Jinja2's own word for a kind of token, or text of the template.

    A child process that a template has taken over can answer anything.
    """
    return token in _TOKEN_NAMES or token in source


def _expression(source: str, line: int | None) -> str:
    """Return what the template says in that line, if it is one expression or statement."""
    found = _EXPRESSIONS.findall(_line(source, line))
    if len(found) != 1:
        return ""
    shown = found[0] if len(found[0]) <= _EXPRESSION_MAX else f"{found[0][:_EXPRESSION_MAX]}…"
    return f" in {shown}"


def _line(source: str, line: int | None) -> str:
    """Return a line of a template; empty if it has none of this number, or a very long one."""
    lines = source.splitlines()
    text = lines[line - 1] if line is not None and line <= len(lines) else ""
    return text if len(text) <= _LINE_MAX else ""


def _is_exception(name: str) -> bool:
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, Exception)
