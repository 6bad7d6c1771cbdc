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


# What is said with a word of the template, and what without.
_COMPLAINTS: Mapping[TemplateFault, tuple[str, str]] = {
    TemplateFault.SYNTAX_ERROR: ("uses {}, which is no filter or test here", "is no valid Jinja2"),
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
        hint = _hint(name, names) if failure.fault is TemplateFault.UNDEFINED_VARIABLE else ""
        return with_word.format(name) + hint
    if failure.fault is TemplateFault.FAILED:
        what = f"fails with {name}" if _is_exception(name) else without
        return what + _expression(source, failure.line)
    return without


def _hint(name: str, names: Iterable[str]) -> str:
    """Return which names there are: those most like the one that is not defined.

    Only for a name that stands in the template: which names are like a value would tell of the value.
    """
    near = difflib.get_close_matches(name, heapq.nsmallest(_COMPARED_MAX, names), n=_SHOWN_MAX, cutoff=0.0)
    return f"; there are {', '.join(near)}" if near else "; no secret was selected"


def _expression(source: str, line: int | None) -> str:
    """Return what the template says in that line, if it is one expression or statement."""
    lines = source.splitlines()
    text = lines[line - 1] if line is not None and line <= len(lines) else ""
    found = _EXPRESSIONS.findall(text)
    if len(found) != 1:
        return ""
    shown = found[0] if len(found[0]) <= _EXPRESSION_MAX else f"{found[0][:_EXPRESSION_MAX]}…"
    return f" in {shown}"


def _is_exception(name: str) -> bool:
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, Exception)
