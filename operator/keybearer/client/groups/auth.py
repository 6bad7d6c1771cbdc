"""`client.auth` (interface.md section 4.9)."""

from __future__ import annotations

from keybearer.client import auth
from keybearer.client.credentials import SuppliedToken
from keybearer.client.errors import InvalidArgument
from keybearer.client.operations.tokens import CheckToken
from keybearer.client.resources import Resource, Shell, call, flow

__all__ = ["AuthApi", "KubernetesApi", "LdapApi", "UniversalAuthApi", "UserApi"]


class UniversalAuthApi(Resource[Shell]):
    """`client.auth.universal_auth`."""

    login = flow(auth.login_with_universal_auth)


class LdapApi(Resource[Shell]):
    """`client.auth.ldap`."""

    login = flow(auth.login_with_ldap)


class KubernetesApi(Resource[Shell]):
    """`client.auth.kubernetes`."""

    login = flow(auth.login_with_kubernetes)


class UserApi(Resource[Shell]):
    """`client.auth.user`."""

    login = flow(auth.login_as_user)


class AuthApi(Resource[Shell]):
    """`client.auth` (interface.md section 4.9)."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.universal_auth = UniversalAuthApi(shell)
        self.ldap = LdapApi(shell)
        self.kubernetes = KubernetesApi(shell)
        self.user = UserApi(shell)

    renew = flow(auth.renew)
    revoke = flow(auth.revoke)
    check = call(CheckToken)

    def set_access_token(self, access_token: str) -> None:
        """Use a token from elsewhere from now on; makes no request.

        Raises:
            InvalidArgument: it starts with `Bearer `, or is no token.
        """
        self.shell.session.wallet.supply(SuppliedToken(access_token))

    def keep_access_token(self) -> str:
        """Return the token in use, and leave it valid when the client closes.

        Raises:
            InvalidArgument: there is no token.
        """
        token = self.access_token
        if token is None:
            raise InvalidArgument("there is no access token to keep; log in first")
        self.shell.session.wallet.spare(token)
        return token

    @property
    def access_token(self) -> str | None:
        """The token in use, if there is one."""
        token = self.shell.session.wallet.token
        return None if token is None else token.text
