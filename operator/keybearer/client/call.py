"""A route of the interface as an operation of the client: its request from a command, its answer as a shape."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar, Union, cast

from keybearer.client.decoding import decode
from keybearer.client.messages import Request, Response, fill_named, json_body, query_of
from keybearer.client.operation import Operation, Repeat
from keybearer.interface.route import Route, body_of, path_fields
from keybearer.interface.shapes import Envelope, Within, content_field, marked, wire_names

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Call"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Operation[T]):
    """What is asked by one route, with this command."""

    route: Route[..., Any, Any]
    command: DataclassInstance = field(repr=False)  # may hold values

    @property
    def operation_name(self) -> str:
        """The name of the command."""
        return self.route.name

    @property
    def repeat(self) -> Repeat:  # type: ignore[override] # of its route; other operations have it of their class
        """When it may be sent again."""
        is_harmless = self.route.method == "GET" or self.route.is_repeatable
        return Repeat.FREELY if is_harmless else Repeat.UNSENT_ONLY

    @property
    def authenticated(self) -> bool:  # type: ignore[override] # same
        """Whether it carries the access token."""
        return not self.route.is_open

    def request(self) -> Request:
        """Return what to send."""
        given: dict[str, Any] = {one.name: getattr(self.command, one.name) for one in fields(self.command)}
        path = fill_named(self.route.canonical, {name: given.pop(name) for name in path_fields(self.route)})
        model = body_of(self.route)
        if model is not None:
            for name, mark in marked(self.route.command, Within).items():
                given.setdefault(mark.name, {})[name] = given.pop(name)
            return Request(self.route.method, path, body=json_body(lambda: model(**given)))
        names = wire_names(self.route.command)
        query = query_of({names[name]: value for name, value in given.items()})
        return Request(self.route.method, path, query=query)

    def read(self, response: Response) -> T:
        """Return the answer; of an envelope what it is about."""
        form, other = self.route.answer, self.route.also_answered
        if other is not None:
            form = cast("type[Any]", Union[form, other])  # noqa: UP007 - made at run time
        answer: object = decode(response, form)
        if isinstance(answer, Envelope):
            answer = getattr(answer, content_field(type(answer)))
        return cast("T", answer)

    def confidential(self) -> tuple[str, ...]:
        """Return the texts that the command doesn't show either."""
        hidden = [getattr(self.command, field.name) for field in fields(self.command) if not field.repr]
        return tuple(text for text in hidden if isinstance(text, str))
