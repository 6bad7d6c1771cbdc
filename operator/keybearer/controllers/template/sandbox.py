"""Rendering itself: pure, and as the child runs it.

The sandbox of Jinja2 keeps templates from attributes and calls that lead out of it. It bounds neither time nor
memory (`'a' * 300_000_000` allocates 300 MB in it), and it had holes before: so this runs confined
(`confinement`), and what it reports is still not trusted (`protocol.read_answer`).
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from jinja2 import StrictUndefined, TemplateAssertionError, TemplateSyntaxError, UndefinedError
from jinja2.environment import Template
from jinja2.exceptions import SecurityError
from jinja2.sandbox import MAX_RANGE, ImmutableSandboxedEnvironment

from keybearer.controllers.template.filters import FILTERS, FilterError
from keybearer.controllers.template.protocol import OUTPUT_MAX_BYTES, Failure, Request, TemplateFault

__all__ = ["render", "warm_up"]


class _OutputTooLargeError(Exception):
    """The templates wrote more than the target takes."""


class _NotTextError(Exception):
    """A template prints what has no text of its own."""


class _NameOnlyUndefined(StrictUndefined):
    """Says its name alone: Jinja2's own message describes the object that lacks it."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        return self._undefined_name if isinstance(self._undefined_name, str) else ""


def _finalize(printed: object) -> object:
    """Keep Python's spelling out of the output: of booleans, of nothing, of bytes, lists and mappings."""
    if isinstance(printed, bool):
        return "true" if printed else "false"
    if printed is None:
        return ""
    if isinstance(printed, (str, int, float)):
        return printed
    if isinstance(printed, StrictUndefined):
        return str(printed)  # raises
    raise _NotTextError


def _range(*bounds: int) -> range:
    steps = range(*bounds)
    if len(steps) > MAX_RANGE:
        raise SecurityError("range")
    return steps


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        undefined=_NameOnlyUndefined, finalize=_finalize, keep_trailing_newline=True, autoescape=False
    )
    environment.filters = dict(FILTERS)
    environment.globals = {"range": _range, "dict": dict, "namespace": environment.globals["namespace"]}
    return environment


_ENVIRONMENT = _environment()


def render(request: Request, starting: Callable[[], None] | None = None) -> dict[str, bytes] | Failure:
    """Return the output of each template by key, or why the first that failed did.

    Args:
        request: templates and values.
        starting: called before each template.

    Raises:
        MemoryError: there is not enough; the process should end.
    """
    variables = _variables(request.values)
    outputs: dict[str, bytes] = {}
    room = OUTPUT_MAX_BYTES
    for key, source in request.templates.items():
        if starting is not None:
            starting()
        try:
            template = _compile(key, source)
            outputs[key] = _run(template, variables, room)
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a template raises becomes a fault, never a traceback
            return _explain(key, error)
        room -= len(outputs[key])
    return outputs


def warm_up() -> None:
    """Load and cache what rendering needs, so that children find it in the memory they are forked with."""
    values = {"TEXT": b"a", "LIST": b"[1]"}
    good = "{% for one in LIST|fromjson %}{{ one|tojson }}{% endfor %}{{ TEXT|upper }}{{ secrets['TEXT']|b64encode }}"
    for source in (
        good,
        "{{ absent }}",
        "{% if %}",
        "{{ ''.__class__ }}",
        "{{ 1 // 0 }}",
        "{{ TEXT|toyaml }}",
    ):
        render(Request({"warm": source}, values))


def _variables(values: Mapping[str, bytes]) -> dict[str, Any]:
    secrets = {name: _value(value) for name, value in values.items()}
    variables = {
        name: value for name, value in secrets.items() if name.isidentifier() and not keyword.iskeyword(name)
    }
    return {**variables, "secrets": secrets}


def _value(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _compile(key: str, source: str) -> Template:
    code = _ENVIRONMENT.compile(source, name=key, filename=key)
    return Template.from_code(_ENVIRONMENT, code, _ENVIRONMENT.make_globals(None))


def _run(template: Template, variables: Mapping[str, Any], room: int) -> bytes:
    pieces: list[bytes] = []
    # The pieces one by one, where Template.render would join whatever they come to.
    for piece in template.root_render_func(template.new_context(dict(variables))):
        encoded = piece.encode()
        room -= len(encoded)
        if room < 0:
            raise _OutputTooLargeError
        pieces.append(encoded)
    return b"".join(pieces)


_FAULTS: tuple[tuple[type[Exception], TemplateFault], ...] = (
    (TemplateSyntaxError, TemplateFault.SYNTAX_ERROR),
    (SecurityError, TemplateFault.UNSAFE),
    (UndefinedError, TemplateFault.UNDEFINED_VARIABLE),
    (_OutputTooLargeError, TemplateFault.OUTPUT_TOO_LARGE),
    (_NotTextError, TemplateFault.NOT_TEXT),
)


def _explain(key: str, error: Exception) -> Failure:
    fault = next((fault for kind, fault in _FAULTS if isinstance(error, kind)), TemplateFault.FAILED)
    line = error.lineno if isinstance(error, TemplateSyntaxError) else _line(error.__traceback__)
    return Failure(fault, key, line, _name(error, fault))


def _name(error: Exception, fault: TemplateFault) -> str | None:
    """Return the one word that tells more; the texts of errors stay here, they can hold values."""
    match error:
        case TemplateAssertionError():  # "No filter named 'x'.", or the same of a test
            quoted = (error.message or "").split("'")
            return quoted[1] if len(quoted) == 3 else None
        case SecurityError() | UndefinedError() | TemplateSyntaxError():
            return error.message
        case FilterError():
            return str(error)
        case _:
            return type(error).__name__ if fault is TemplateFault.FAILED else None


def _line(trace: TracebackType | None) -> int | None:
    """Return the line of the template that the innermost frame of a template stands at."""
    line: int | None = None
    while trace is not None:
        template = trace.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, Template):
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line
