"""AppConnections of a tenant: they lead to the far service, with a login of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from support.operator_fixtures import Installation
from support.secretsync_objects import identity_secret, secret
from support.tenant import Tenant
from tools.local.kube_api import Body
from tools.local.secrets_service import Login, ServiceAdmin, SourceProject
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["Connections", "open_connections"]

MANAGER = "manager-identity"
"""The identity Secret of who may manage connections of the project."""
REMOTE_LOGIN = "remote-login"
"""The Secret with what the connection proves itself with."""


@dataclass(frozen=True)
class Connections:
    """What tests of connections work with.

    Attributes:
        tenant: whose namespace and project they are.
        far_project: where the far service lets the login write.
        login: at the far service.
        url: of the far service.
    """

    tenant: Tenant
    far_project: SourceProject
    login: Login
    url: str

    def keep_login(self, **changes: str) -> None:
        """The Secret with the login exists, or holds this from now on."""
        held = self.login.as_secret() | changes
        body = secret(self.tenant.namespace, REMOTE_LOGIN, held)
        if self.tenant.api.find("Secret", self.tenant.namespace, REMOTE_LOGIN) is None:
            self.tenant.api.create(body)
        else:
            self.tenant.api.patch("Secret", self.tenant.namespace, REMOTE_LOGIN, {"data": body["data"]})

    def manifest(self, own_name: str, /, **spec: object) -> Body:
        """An AppConnection to the far service, but for what the spec says; None leaves a field out."""
        whole: Body = {
            "identityRef": {"name": MANAGER},
            "projectId": self.tenant.project.id,
            "app": "external-infisical",
            "method": "machine-identity",
            "credentials": {
                "instanceUrl": {"value": self.url},
                "machineIdentityClientId": self.from_secret("clientId"),
                "machineIdentityClientSecret": self.from_secret("clientSecret"),
            },
            **spec,
        }
        return {
            "apiVersion": "keybearer.dev/v1alpha1",
            "kind": "AppConnection",
            "metadata": {"namespace": self.tenant.namespace, "name": own_name},
            "spec": {key: value for key, value in whole.items() if value is not None},
        }

    @staticmethod
    def from_secret(key: str) -> Body:
        """A field of credentials that is kept in the Secret."""
        return {"valueFrom": {"secretKeyRef": {"name": REMOTE_LOGIN, "key": key}}}

    def create(self, own_name: str, /, **spec: object) -> str:
        """An AppConnection exists; return its name."""
        self.tenant.api.create(self.manifest(own_name, **spec))
        return own_name

    def find(self, name: str) -> Body | None:
        """An AppConnection, or None."""
        return self.tenant.api.find("AppConnection", self.tenant.namespace, name)

    def until(
        self, name: str, holds: Callable[[Body], bool], awaited: str, *, within: float = PATIENCE_SECONDS
    ) -> Body:
        """Return an AppConnection once the condition holds."""
        return self.tenant.until(name, holds, awaited, within=within, kind="AppConnection")

    def until_reason(
        self, name: str, reason: str, *, saying: str = "", within: float = PATIENCE_SECONDS
    ) -> Body:
        """Return an AppConnection once Ready has this reason, for its newest spec."""
        return self.tenant.until_reason(name, reason, saying=saying, within=within, kind="AppConnection")


def open_connections(tenant: Tenant, installation: Installation) -> Connections:
    """Return what is needed for connections; the Secret with the login is not there yet."""
    far = installation.far
    return connections_of(tenant, installation.admin, far.admin, far.process.url)


def connections_of(tenant: Tenant, admin: ServiceAdmin, far: ServiceAdmin, url: str) -> Connections:
    """Return the same, given the administrators of both services, which may be one, and the far one's address."""
    manager = admin.new_login(tenant.project.id, role="admin")
    tenant.api.create(identity_secret(tenant.namespace, MANAGER, manager.as_secret()))
    far_project = far.new_project(f"far-{tenant.namespace}")
    login = far.new_login(far_project.id, role="member")
    return Connections(tenant, far_project, login, url)
