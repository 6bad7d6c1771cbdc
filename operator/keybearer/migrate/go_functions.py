"""Functions of Go templates (text/template, sprig, and the operators' own) as expressions of Jinja2.

Only what gives the same output for the same input; anything else is refused by its name, for the person to write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Expression", "UnknownFunctionError", "call", "literal"]


class UnknownFunctionError(Exception):
    """A function has no equal, or is called in a way that has none; carries what to tell.

    Attributes:
        nearest: what of Jinja2 comes nearest to it; empty where nothing does.
    """

    def __init__(self, text: str, nearest: str = "") -> None:
        super().__init__(text)
        self.nearest = nearest


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression of Jinja2.

    Attributes:
        text: of it.
        is_primary: whether an attribute or operator may follow as it stands.
        is_filtered: whether a filter may, as after another filter.
        value: of a literal text or number; None for anything else.
    """

    text: str
    is_primary: bool = True
    is_filtered: bool = False
    value: str | int | None = None

    @property
    def primary(self) -> str:
        """The text, in parentheses if it needs them."""
        return self.text if self.is_primary else f"({self.text})"

    @property
    def filterable(self) -> str:
        """The text, in parentheses if a filter couldn't follow."""
        return self.text if self.is_filtered else self.primary


def literal(value: str | int) -> Expression:
    """Return a literal."""
    if isinstance(value, int):
        return Expression(str(value), value=value)
    return Expression(json.dumps(value, ensure_ascii=False), value=value)


_Arguments = Sequence[Expression]
_Function = Callable[[_Arguments], Expression]


def _filtered(subject: Expression, through: str) -> Expression:
    return Expression(f"{subject.filterable} | {through}", is_primary=False, is_filtered=True)


def _filter(name: str, *fixed: str) -> _Function:
    """One argument, through a filter."""

    def apply(arguments: _Arguments) -> Expression:
        _count(arguments, 1)
        suffix = f"({', '.join(fixed)})" if fixed else ""
        return _filtered(arguments[0], f"{name}{suffix}")

    return apply


def _filter_with(name: str, given: int, *fixed: str) -> _Function:
    """So many arguments for the filter, then what goes through it."""

    def apply(arguments: _Arguments) -> Expression:
        _count(arguments, given + 1)
        *options, subject = arguments
        listed = ", ".join([*(one.text for one in options), *fixed])
        return _filtered(subject, f"{name}({listed})")

    return apply


def _method(name: str) -> _Function:
    """One argument for a method of the text that comes last."""

    def apply(arguments: _Arguments) -> Expression:
        _count(arguments, 2)
        return Expression(f"{arguments[1].primary}.{name}({arguments[0].text})")

    return apply


def _operator(sign: str, least: int = 2) -> _Function:
    def apply(arguments: _Arguments) -> Expression:
        if len(arguments) < least:
            raise UnknownFunctionError("a comparison with too few sides")
        return Expression(f" {sign} ".join(one.primary for one in arguments), is_primary=False)

    return apply


def _comparison(sign: str) -> _Function:
    def apply(arguments: _Arguments) -> Expression:
        _count(arguments, 2)
        return Expression(f"{arguments[0].primary} {sign} {arguments[1].primary}", is_primary=False)

    return apply


def _same(arguments: _Arguments) -> Expression:
    _count(arguments, 1)
    return arguments[0]


def _not(arguments: _Arguments) -> Expression:
    _count(arguments, 1)
    return Expression(f"not {arguments[0].primary}", is_primary=False)


def _index(arguments: _Arguments) -> Expression:
    if len(arguments) < 2:
        raise UnknownFunctionError("index without a key")
    subject, *keys = arguments
    return Expression(subject.primary + "".join(f"[{key.text}]" for key in keys))


def _contains(arguments: _Arguments) -> Expression:
    _count(arguments, 2)
    return Expression(f"{arguments[0].primary} in {arguments[1].primary}", is_primary=False)


def _single_quotes(arguments: _Arguments) -> Expression:
    _count(arguments, 1)
    return Expression(f'"\'" ~ {arguments[0].primary} ~ "\'"', is_primary=False)


def _indented_below(arguments: _Arguments) -> Expression:
    indented = _filter_with("indent", 1, "true", "true")(arguments)
    return Expression(f'"\\n" ~ ({indented.text})', is_primary=False)


_FORMAT_VERB = re.compile(r"%(.)")


def _printf(arguments: _Arguments) -> Expression:
    if not arguments or not isinstance(arguments[0].value, str):
        raise UnknownFunctionError("printf without a literal format")
    form = arguments[0].value
    verbs = [verb for verb in _FORMAT_VERB.findall(form) if verb != "%"]
    if set(verbs) - {"s", "v"} or len(verbs) != len(arguments) - 1:
        raise UnknownFunctionError("printf with other verbs than %s and %v")
    if not verbs:
        return literal(form.replace("%%", "%"))
    listed = ", ".join(one.text for one in arguments[1:])
    return _filtered(literal(form.replace("%v", "%s")), f"format({listed})")


def _print(arguments: _Arguments) -> Expression:
    """Join texts; Go puts a blank between two values that are no texts, which only shows when the template runs."""
    if not arguments:
        raise UnknownFunctionError("print without arguments")
    texts = [isinstance(one.value, str) for one in arguments]
    if any(not (one or other) for one, other in pairwise(texts)):
        raise UnknownFunctionError("print of values side by side")
    return Expression(" ~ ".join(one.primary for one in arguments), is_primary=False)


def _ternary(arguments: _Arguments) -> Expression:
    _count(arguments, 3)
    yes, no, condition = arguments
    return Expression(f"{yes.primary} if {condition.primary} else {no.primary}", is_primary=False)


def _list(arguments: _Arguments) -> Expression:
    return Expression(f"[{', '.join(one.text for one in arguments)}]")


def _dict(arguments: _Arguments) -> Expression:
    if len(arguments) % 2:
        raise UnknownFunctionError("dict with a key too many")
    pairs = zip(arguments[::2], arguments[1::2], strict=True)
    return Expression("{" + ", ".join(f"{key.text}: {value.text}" for key, value in pairs) + "}")


def _pem_blocks(arguments: _Arguments) -> Expression:
    _count(arguments, 2)
    if arguments[0].value not in ("CERTIFICATE", "PRIVATE KEY"):
        raise UnknownFunctionError("filterPEM of anything but CERTIFICATE and PRIVATE KEY")
    # Ours takes private keys of every form, theirs PKCS#8 alone: who has no such key had an empty one.
    return _filtered(arguments[1], f"pem_blocks({arguments[0].text}) | join")


def _url_query(arguments: _Arguments) -> Expression:
    """Encode as Go's url.QueryEscape does: as ours, but a blank is a plus. No other character becomes %20."""
    _count(arguments, 1)
    return _filtered(arguments[0], 'urlencode | replace("%20", "+")')


def _count(arguments: _Arguments, wanted: int) -> None:
    if len(arguments) != wanted:
        raise UnknownFunctionError("a function with another number of arguments than it takes")


_FUNCTIONS: Mapping[str, _Function] = {
    "toString": _same,
    "b64enc": _filter("b64encode"),
    "b64dec": _filter("b64decode"),
    "encodeBase64": _filter("b64encode"),
    "decodeBase64ToBytes": _filter("b64decode"),
    "sha256sum": _filter("sha256"),
    "upper": _filter("upper"),
    "lower": _filter("lower"),
    "trim": _filter("trim"),
    "quote": _filter("quote"),
    "squote": _single_quotes,
    "toJson": _filter("tojson"),
    "mustToJson": _filter("tojson"),
    "toRawJson": _filter("tojson"),
    "toPrettyJson": _filter("tojson", "2"),
    "fromJson": _filter("fromjson"),
    "mustFromJson": _filter("fromjson"),
    "toYaml": _filter("toyaml"),
    "fromYaml": _filter("fromyaml"),
    "first": _filter("first"),
    "last": _filter("last"),
    "atoi": _filter("int"),
    "default": _filter_with("default", 1, "true"),
    "replace": _filter_with("replace", 2),
    "join": _filter_with("join", 1),
    "indent": _filter_with("indent", 1, "true", "true"),
    "nindent": _indented_below,
    "trimSuffix": _method("removesuffix"),
    "trimPrefix": _method("removeprefix"),
    "hasPrefix": _method("startswith"),
    "hasSuffix": _method("endswith"),
    "splitList": _method("split"),
    "contains": _contains,
    "print": _print,
    "printf": _printf,
    "cat": _operator("~ ' ' ~", 1),
    "index": _index,
    "get": _index,
    "eq": _comparison("=="),
    "ne": _comparison("!="),
    "lt": _comparison("<"),
    "le": _comparison("<="),
    "gt": _comparison(">"),
    "ge": _comparison(">="),
    "and": _operator("and"),
    "or": _operator("or"),
    "not": _not,
    "empty": _not,
    "ternary": _ternary,
    "list": _list,
    "dict": _dict,
    "filterPEM": _pem_blocks,
    "urlquery": _url_query,
}

_NEAREST: Mapping[str, str] = {
    "abbrev": "truncate",
    "coalesce": "default(..., true)",
    "filterCertChain": "pem_blocks",
    "html": "replace",
    "int": "int",
    "int64": "int",
    "keys": "dictsort",
    "len": "length",
    "nospace": 'replace(" ", "")',
    "pemCertificate": 'pem_blocks("CERTIFICATE")',
    "pemPrivateKey": 'pem_blocks("PRIVATE KEY")',
    "pick": "dictsort",
    "reverse": "reverse",
    "sortAlpha": "sort",
    "split": ".split(...)",
    "splitn": ".split(...)",
    "substr": "[from:to]",
    "title": "title",
    "trimAll": ".strip(...)",
    "trunc": "[:length]",
    "uniq": "unique",
    "untitle": "lower",
    "urlJoin": "urlencode",
}
"""What of Jinja2 does something like it, but not the same for every input."""


def call(name: str, arguments: Sequence[Expression]) -> Expression:
    """Return a call as an expression.

    Args:
        name: of the function.
        arguments: in Go's order; what came through the pipe is the last.

    Raises:
        UnknownFunctionError: it has no equal.
    """
    function = _FUNCTIONS.get(name)
    if function is None:
        raise UnknownFunctionError(f"the function {name[:40]}", _NEAREST.get(name, ""))
    return function(arguments)
