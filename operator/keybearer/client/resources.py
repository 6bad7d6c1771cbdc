"""The client's methods, bound once for both clients.

Each method is made from an operation's class (its signature is the class's), or from a function of steps. On
a resource of the asynchronous client it returns an awaitable, on one of the blocking client the result
itself; the overloads of `Method.__get__` tell type checkers so.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from keybearer.client import auth
from keybearer.client.credentials import SuppliedToken
from keybearer.client.environment import list_and_attach
from keybearer.client.operation import Operation
from keybearer.client.operations.folders import CreateFolder, DeleteFolder, ListFolders, UpdateFolder
from keybearer.client.operations.projects import (
    CreateEnvironment,
    CreateProject,
    GetProject,
    GetProjectBySlug,
    ListProjects,
)
from keybearer.client.operations.secret_reads import GetSecret, ListSecrets, ListSecretsConditionally
from keybearer.client.operations.secret_writes import CreateSecret, DeleteSecret, UpdateSecret
from keybearer.client.operations.status import GetStatus
from keybearer.client.operations.tokens import CheckToken
from keybearer.client.session import Session
from keybearer.client.steps import Steps

__all__ = [
    "AsyncShell",
    "AuthApi",
    "BlockingShell",
    "EnvironmentsApi",
    "FoldersApi",
    "KubernetesApi",
    "LdapApi",
    "Method",
    "ProjectsApi",
    "Resource",
    "SecretsApi",
    "StatusApi",
    "UniversalAuthApi",
    "call",
    "call_by",
    "flow",
]

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


S = TypeVar("S", bound=AsyncShell | BlockingShell)


class Resource(Generic[S]):
    """A group of methods of a client."""

    def __init__(self, shell: S) -> None:
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


class SecretsApi(Resource[S]):
    """`client.secrets` (interface.md section 4.8)."""

    list = call_by(ListSecrets, list_and_attach)
    list_conditional = call(ListSecretsConditionally)
    get = call(GetSecret)
    create = call(CreateSecret)
    update = call(UpdateSecret)
    delete = call(DeleteSecret)


class ProjectsApi(Resource[S]):
    """`client.projects`."""

    list = call(ListProjects)
    get = call(GetProject)
    get_by_slug = call(GetProjectBySlug)
    create = call(CreateProject)


class EnvironmentsApi(Resource[S]):
    """`client.environments`; a project lists its own."""

    create = call(CreateEnvironment)


class FoldersApi(Resource[S]):
    """`client.folders`."""

    list = call(ListFolders)
    create = call(CreateFolder)
    update = call(UpdateFolder)
    delete = call(DeleteFolder)


class StatusApi(Resource[S]):
    """`client.status`."""

    get = call(GetStatus)


class UniversalAuthApi(Resource[S]):
    """`client.auth.universal_auth`."""

    login = flow(auth.login_with_universal_auth)


class LdapApi(Resource[S]):
    """`client.auth.ldap`."""

    login = flow(auth.login_with_ldap)


class KubernetesApi(Resource[S]):
    """`client.auth.kubernetes`."""

    login = flow(auth.login_with_kubernetes)


class AuthApi(Resource[S]):
    """`client.auth` (interface.md section 4.9)."""

    def __init__(self, shell: S) -> None:
        super().__init__(shell)
        self.universal_auth = UniversalAuthApi(shell)
        self.ldap = LdapApi(shell)
        self.kubernetes = KubernetesApi(shell)

    renew = flow(auth.renew)
    revoke = flow(auth.revoke)
    check = call(CheckToken)

    def set_access_token(self, access_token: str) -> None:
        """Use a token from elsewhere from now on; makes no request.

        Raises:
            InvalidArgument: it starts with `Bearer `, or is no token.
        """
        self.shell.session.wallet.supply(SuppliedToken(access_token))

    @property
    def access_token(self) -> str | None:
        """The token in use, if there is one."""
        token = self.shell.session.wallet.token
        return None if token is None else token.text
