"""What `help` and `inspect.signature` show of a method that is made from an operation or from a function of steps."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, isclass, signature
from typing import Any, TypeVar, get_args, get_type_hints

from keybearer.client.operation import Operation

__all__ = ["result_of", "signature_of"]


def signature_of(takes: Callable[..., Any], result: object) -> Signature:
    """Return the signature of the method, `self` included; the annotations are types, not texts.

    Args:
        takes: a command's or an operation's class, or a function of steps, whose first parameter is the session.
        result: the type of what the method returns.
    """
    given = list(signature(takes).parameters.values())
    types = get_type_hints(takes)
    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    shown = [one.replace(annotation=types[one.name]) for one in (given if isclass(takes) else given[1:])]
    return Signature([own, *shown], return_annotation=result)


def result_of(takes: Callable[..., Any], run: Callable[..., Any]) -> object:
    """Return the type of what a function of steps returns; of any operation's result, what the operation reads."""
    result: object = get_args(get_type_hints(run)["return"])[-1]
    if isinstance(result, TypeVar) and isclass(takes) and issubclass(takes, Operation):
        return get_type_hints(takes.read)["return"]
    return result
