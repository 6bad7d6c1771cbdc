"""What a person sees of the clients in a terminal or a notebook: names, parameters, docstrings."""

from __future__ import annotations

import inspect
import pydoc
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Literal, TypeVar, get_type_hints

import pytest

from keybearer.client import AsyncKeybearer, Keybearer, Secret, SecretMetadata, SecretType
from keybearer.client.resources import Method, Resource

Clients = tuple[Keybearer, AsyncKeybearer]
SURELY = {
    "secrets.create",
    "auth.renew",
    "auth.universal_auth.login",
    "events.subscribe",
    "pki_subscribers.update",
}


@pytest.fixture
async def clients() -> AsyncIterator[Clients]:
    with Keybearer("http://127.0.0.1:1") as blocking:
        async with AsyncKeybearer("http://127.0.0.1:1") as asynchronous:
            yield blocking, asynchronous


def resources(owner: object, path: str = "") -> Iterator[tuple[str, Resource[Any]]]:
    for name in dir(owner):
        found = None if name.startswith("_") else getattr(owner, name)
        if isinstance(found, Resource):
            yield f"{path}{name}", found
            yield from resources(found, f"{path}{name}.")


def methods(client: object) -> dict[str, tuple[Resource[Any], str]]:
    return {
        f"{path}.{name}": (resource, name)
        for path, resource in resources(client)
        for name, _ in inspect.getmembers_static(type(resource))
        if not name.startswith("_") and callable(getattr(resource, name))
    }


def expected_parameters(takes: Callable[..., object]) -> list[tuple[object, ...]]:
    """Names, kinds, defaults and types of an operation's constructor, or of a function after its session."""
    given = list(inspect.signature(takes).parameters.values())
    hints = get_type_hints(takes)
    own = given if isinstance(takes, type) else given[1:]
    return [(one.name, one.kind, one.default, hints[one.name]) for one in own]


def mistakes(resource: Resource[Any], name: str) -> Iterator[str]:
    """What is wrong with the face of a method."""
    bound = getattr(resource, name)
    group = type(resource)
    if not inspect.ismethod(bound) or bound.__self__ is not resource:
        yield "is not bound to its resource"
    if (bound.__name__, bound.__qualname__) != (name, f"{group.__qualname__}.{name}"):
        yield f"is called {bound.__qualname__}"
    if bound.__module__ != group.__module__:
        yield f"is in {bound.__module__}"
    kinds = {one.kind for one in inspect.signature(bound).parameters.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        yield "takes anything"
    if not bound.__doc__:
        yield "has no docstring"
    if f"{name}(" not in pydoc.plain(pydoc.render_doc(bound)):
        yield "shows no parameters in its help"


def mistakes_of_one_made(resource: Resource[Any], name: str, *, is_asynchronous: bool) -> Iterator[str]:
    """What is wrong with a method that is made from an operation or from a function of steps."""
    bound = getattr(resource, name)
    shown = inspect.signature(bound)
    made = inspect.getattr_static(type(resource), name)
    if not isinstance(made, Method):
        return
    if inspect.iscoroutinefunction(bound) != is_asynchronous:
        yield "is a coroutine function in the wrong client"
    parameters = [(one.name, one.kind, one.default, one.annotation) for one in shown.parameters.values()]
    if parameters != expected_parameters(made.takes):
        yield f"has the parameters {shown}"
    result = shown.return_annotation
    if isinstance(result, str | TypeVar) or result is inspect.Signature.empty:
        yield f"returns {result!r}"
    if bound.__doc__ != made.takes.__doc__ or bound.__doc__.startswith(f"{made.takes.__name__}("):
        yield "has no docstring of its operation"
    if list(inspect.signature(made).parameters) != ["self", *shown.parameters]:
        yield "has other parameters on the class"


def test_every_method_of_both_clients_shows_its_name_its_parameters_and_its_docstring(
    clients: Clients,
) -> None:
    found = [
        f"{type(client).__name__}.{path} {mistake}"
        for client, is_asynchronous in zip(clients, (False, True), strict=True)
        for path, (resource, name) in methods(client).items()
        for mistake in (
            *mistakes(resource, name),
            *mistakes_of_one_made(resource, name, is_asynchronous=is_asynchronous),
        )
    ]
    assert not found, "\n".join(found)


def test_no_method_escapes_that_comparison(clients: Clients) -> None:
    blocking, asynchronous = map(methods, clients)
    assert set(blocking) == set(asynchronous)
    assert set(blocking) >= SURELY
    assert len(blocking) > 190


def test_create_of_secrets_shows_the_parameters_of_the_interface(clients: Clients) -> None:
    for client in clients:
        shown = inspect.signature(client.secrets.create)
        assert [
            (one.name, one.kind.name, one.default, one.annotation) for one in shown.parameters.values()
        ] == [
            ("secret_name", "POSITIONAL_OR_KEYWORD", inspect.Parameter.empty, str),
            ("secret_value", "POSITIONAL_OR_KEYWORD", inspect.Parameter.empty, str),
            ("project_id", "KEYWORD_ONLY", inspect.Parameter.empty, str),
            ("environment", "KEYWORD_ONLY", inspect.Parameter.empty, str),
            ("secret_path", "KEYWORD_ONLY", "/", str),
            ("secret_comment", "KEYWORD_ONLY", None, str | None),
            ("skip_multiline_encoding", "KEYWORD_ONLY", None, bool | None),
            ("tag_ids", "KEYWORD_ONLY", None, tuple[str, ...] | None),
            ("secret_reminder_note", "KEYWORD_ONLY", None, str | None),
            ("secret_reminder_repeat_days", "KEYWORD_ONLY", None, int | None),
            ("type", "KEYWORD_ONLY", "shared", SecretType | Literal["shared", "personal"]),
            ("metadata", "KEYWORD_ONLY", (), tuple[SecretMetadata, ...]),
        ]
        assert shown.return_annotation is Secret


def test_help_on_a_group_lists_its_methods_with_parameters_and_docstrings(clients: Clients) -> None:
    for client in clients:
        shown = pydoc.plain(pydoc.render_doc(client.secrets))
        assert "get_by_id(self, secret_id: str" in shown
        assert "Return one secret by its id" in shown
        assert "object at 0x" not in shown


def test_a_method_may_be_called_through_its_group(clients: Clients) -> None:
    client = clients[1]
    call = type(client.auth).check(client.auth)
    assert inspect.iscoroutine(call)
    assert call.__qualname__ == "AuthApi.check"
    call.close()
