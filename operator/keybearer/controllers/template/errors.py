"""What is wrong with a template, in words that hold no value.

A failure comes from a child that ran the template and is not trusted: a sandbox that a template broke out of
must not become a way to show values. Of what a child says, only the key, the line and one word get through, and
the word only where the template itself has it.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping

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


class TemplateError(KeybearerError):
    """A template gives nothing; the text names key, line and reason and can be shown."""

    def __init__(self, failure: Failure, message: str) -> None:
        super().__init__(message)
        self.reason = failure.fault
        self.key = failure.key
        self.line = failure.line


class RendererUnavailableError(KeybearerError):
    """The sandbox can't be started or keeps dying; not the fault of a template. Worth another try later."""


def explain(failure: Failure, templates: Mapping[str, str]) -> TemplateError:
    """Return the error that a failure is to who wrote the templates."""
    where = "the templates" if failure.key is None else f"the template of key {failure.key}"
    line = "" if failure.line is None else f", line {failure.line},"
    source = templates.get(failure.key or "", "")
    return TemplateError(failure, f"{where}{line} {_complaint(failure, source)}")


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


def _complaint(failure: Failure, source: str) -> str:
    plain = _PLAIN_COMPLAINTS.get(failure.fault)
    if plain is not None:
        return plain
    name = failure.name or ""
    # A name is shown only where the template has it as a word: `secrets[PASSWORD]` is undefined by its value.
    with_word, without = _COMPLAINTS[failure.fault]
    if any(name in words.findall(source) for words in _WORDS):
        return with_word.format(name)
    if failure.fault is TemplateFault.FAILED and _is_exception(name):
        return f"fails with {name}"
    return without


def _is_exception(name: str) -> bool:
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, Exception)
