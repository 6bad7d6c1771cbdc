"""What `help` and `inspect.signature` show of a method that is made from an operation or from a function of steps."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, isclass, signature
from typing import Any, TypeVar, get_args, get_type_hints

from keybearer.client.operation import Operation

__all__ = ["signature_of"]


def signature_of(takes: Callable[..., Any], run: Callable[..., Any]) -> Signature:
    """Return the signature of the method, `self` included; the annotations are types, not texts.

    Args:
        takes: an operation's class, or a function of steps, whose first parameter is the session.
        run: a function of steps; where its result is any operation's, the result is what the operation reads.
    """
    result = get_args(get_type_hints(run)["return"])[-1]
    given = list(signature(takes).parameters.values())
    if isclass(takes) and issubclass(takes, Operation):
        if isinstance(result, TypeVar):
            result = get_type_hints(takes.read)["return"]
    else:
        given = given[1:]
    types = get_type_hints(takes)
    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    shown = [one.replace(annotation=types[one.name]) for one in given]
    return Signature([own, *shown], return_annotation=result)
