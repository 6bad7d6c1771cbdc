"""How the methods of both clients are made: each from one definition (`keybearer.client.groups`).

Each method is made from an operation's class (its signature is the class's), or from a function of steps. On
a resource of the asynchronous client it returns an awaitable, on one of the blocking client the result
itself; the overloads of `Method.__get__` tell type checkers so.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from keybearer.client import auth
from keybearer.client.operation import Operation
from keybearer.client.session import Session
from keybearer.client.steps import Steps

__all__ = ["AsyncShell", "BlockingShell", "Method", "Resource", "Shell", "call", "call_by", "flow"]

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
    """A method of a resource, whichever client it belongs to."""

    def __init__(self, begin: Callable[Concatenate[Session, P], Steps[T]], doc: str | None) -> None:
        self._begin = begin
        self.__doc__ = doc

    @overload
    def __get__(self, resource: None, owner: type[object]) -> Self: ...

    @overload
    def __get__(
        self, resource: Resource[AsyncShell], owner: type[object]
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...

    @overload
    def __get__(self, resource: Resource[BlockingShell], owner: type[object]) -> Callable[P, T]: ...

    def __get__(self, resource: Resource[Any] | None, owner: type[object]) -> object:
        """Return the method bound to the resource's client."""
        if resource is None:
            return self
        shell: AsyncShell | BlockingShell = resource.shell

        def bound(*args: P.args, **kwargs: P.kwargs) -> object:
            return shell.run(self._begin(shell.session, *args, **kwargs))

        bound.__doc__ = self.__doc__
        return bound


def call(operation: Callable[P, Operation[T]]) -> Method[P, T]:
    """Return the method that runs an operation made of its arguments."""
    return call_by(operation, auth.perform)


def call_by(operation: Callable[P, Asked], run: Callable[[Session, Asked], Steps[T]]) -> Method[P, T]:
    """Return the method that makes an operation of its arguments and takes the steps of `run`."""

    def begin(session: Session, /, *args: P.args, **kwargs: P.kwargs) -> Steps[T]:
        return run(session, operation(*args, **kwargs))

    return Method(begin, operation.__doc__)


def flow(begin: Callable[Concatenate[Session, P], Steps[T]]) -> Method[P, T]:
    """Return the method that takes the steps of a function."""
    return Method(begin, begin.__doc__)
