"""How the methods of both clients are made: each from one definition (`keybearer.client.groups`).

Each method is made from a route of the interface, and has the parameters and the docstring of its command; or from an
operation's class, or a function of steps, and has theirs. Type checkers see this by the overloads of
`Method.__get__`; `help` and `inspect.signature` by `Method.__signature__`. On a resource of the asynchronous client
the method is a coroutine function, on one of the blocking client it returns the result itself.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from inspect import Signature, iscoroutinefunction
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from keybearer.client import auth
from keybearer.client.call import Call
from keybearer.client.operation import Operation
from keybearer.client.session import Session
from keybearer.client.signatures import result_of, signature_of
from keybearer.client.steps import Steps
from keybearer.interface.route import Route
from keybearer.interface.shapes import Envelope, content_of

__all__ = ["AsyncShell", "BlockingShell", "Method", "Resource", "Shell", "ask", "call", "call_by", "flow"]

T = TypeVar("T")
P = ParamSpec("P")
Asked = TypeVar("Asked", bound=Operation[Any])


class AsyncShell(Protocol):
    """Takes steps without blocking."""

    @property
    def session(self) -> Session:
        """The client's state."""
        ...

    async def run(self, steps: Steps[T]) -> T:
        """Take the steps, and return their result."""
        ...


class BlockingShell(Protocol):
    """Takes steps in the caller's thread."""

    @property
    def session(self) -> Session:
        """The client's state."""
        ...

    def run(self, steps: Steps[T]) -> T:
        """Take the steps, and return their result."""
        ...


Shell = TypeVar("Shell", bound=AsyncShell | BlockingShell)


class Resource(Generic[Shell]):
    """A group of methods of a client."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell


class Method(Generic[P, T]):
    """A method of a resource, whichever client it belongs to.

    Attributes:
        takes: whose parameters it has: a class of commands or operations, or a function of steps after the session.
    """

    def __init__(
        self,
        begin: Callable[Concatenate[Session, P], Steps[T]],
        takes: Callable[..., object],
        result: Callable[[], object],
    ) -> None:
        self.takes = takes
        self._begin = begin
        self._result = result
        self._functions: dict[type[object], Callable[..., object]] = {}
        self.__doc__ = takes.__doc__

    def __set_name__(self, owner: type[object], name: str) -> None:
        self.__name__ = name
        self.__qualname__ = f"{owner.__qualname__}.{name}"
        self.__module__ = owner.__module__

    @property
    def __signature__(self) -> Signature:
        """The signature of the unbound method; found when somebody asks for it."""
        return signature_of(self.takes, self._result())

    @overload
    def __get__(self, resource: None, owner: type[object]) -> Self: ...

    @overload
    def __get__(
        self, resource: Resource[AsyncShell], owner: type[object]
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...

    @overload
    def __get__(self, resource: Resource[BlockingShell], owner: type[object]) -> Callable[P, T]: ...

    def __get__(self, resource: Resource[Any] | None, owner: type[object]) -> object:
        """Return the method bound to the resource."""
        if resource is None:
            return self
        shell = type(resource.shell)
        function = self._functions.get(shell)
        if function is None:
            function = self._functions[shell] = self._function(shell)
        return MethodType(function, resource)

    def __call__(self, resource: Resource[Any], /, *args: P.args, **kwargs: P.kwargs) -> object:
        """Call it as any function of a class: `SecretsApi.get(client.secrets, ...)`."""
        bound: Callable[P, object] = self.__get__(resource, type(resource))
        return bound(*args, **kwargs)

    def _function(self, shell: type[AsyncShell | BlockingShell]) -> Callable[..., object]:
        begin = self._begin

        def blocking(resource: Resource[BlockingShell], /, *args: P.args, **kwargs: P.kwargs) -> T:
            shell = resource.shell
            return shell.run(begin(shell.session, *args, **kwargs))

        async def asynchronous(resource: Resource[AsyncShell], /, *args: P.args, **kwargs: P.kwargs) -> T:
            shell = resource.shell
            return await shell.run(begin(shell.session, *args, **kwargs))

        function: Callable[..., object] = asynchronous if iscoroutinefunction(shell.run) else blocking
        # `inspect.signature` follows `__wrapped__`, and so asks this method for its `__signature__`.
        return update_wrapper(function, self, updated=())


def call(operation: Callable[P, Operation[T]]) -> Method[P, T]:
    """Return the method that runs an operation made of its arguments."""
    return call_by(operation, auth.perform)


def call_by(operation: Callable[P, Asked], run: Callable[[Session, Asked], Steps[T]]) -> Method[P, T]:
    """Return the method that makes an operation of its arguments and takes the steps of `run`."""

    def begin(session: Session, /, *args: P.args, **kwargs: P.kwargs) -> Steps[T]:
        return run(session, operation(*args, **kwargs))

    return Method(begin, operation, lambda: result_of(operation, run))


def flow(begin: Callable[Concatenate[Session, P], Steps[T]]) -> Method[P, T]:
    """Return the method that takes the steps of a function."""
    return Method(begin, begin, lambda: result_of(begin, begin))


@overload
def ask(route: Route[P, Any, Envelope[T]]) -> Method[P, T]: ...


@overload
def ask(route: Route[P, Any, T]) -> Method[P, T]: ...


def ask(route: Route[P, Any, Any]) -> Method[P, Any]:
    """Return the method that asks by a route of the interface, with the parameters of its command."""

    def begin(session: Session, /, *args: P.args, **kwargs: P.kwargs) -> Steps[Any]:
        return auth.perform(session, Call(route, route.takes(*args, **kwargs)))

    return Method(begin, route.takes, lambda: content_of(route.answer))
