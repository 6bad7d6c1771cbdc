"""The client's methods by group: `client.secrets.list(...)`, `client.projects.create(...)`.

The same for both clients; `keybearer.client.resources` says how. Parameters are those of the operation that each
method names.
"""

from __future__ import annotations

from typing import Generic

from keybearer.client import auth
from keybearer.client.credentials import SuppliedToken
from keybearer.client.environment import list_and_attach
from keybearer.client.errors import InvalidArgument
from keybearer.client.operations import (
    environments,
    folders,
    grants,
    identities,
    imports,
    keys,
    kubernetes_auth,
    ldap_auth,
    memberships,
    projects,
    tags,
    universal_auth,
    users,
)
from keybearer.client.operations import secret_batches as batches
from keybearer.client.operations import secret_moves as moves
from keybearer.client.operations import secret_reads as reads
from keybearer.client.operations import secret_writes as writes
from keybearer.client.operations.status import GetStatus
from keybearer.client.operations.tokens import CheckToken
from keybearer.client.resources import Resource, Shell, call, call_by, flow

__all__ = ["Groups"]


class SecretsApi(Resource[Shell]):
    """`client.secrets` (interface.md section 4.8)."""

    list = call_by(reads.ListSecrets, list_and_attach)
    list_conditional = call(reads.ListSecretsConditionally)
    get = call(reads.GetSecret)
    get_by_id = call(reads.GetSecretById)
    create = call(writes.CreateSecret)
    update = call(writes.UpdateSecret)
    delete = call(writes.DeleteSecret)
    create_many = call(batches.CreateSecrets)
    update_many = call(batches.UpdateSecrets)
    delete_many = call(batches.DeleteSecrets)
    move = call(moves.MoveSecrets)
    duplicate = call(moves.DuplicateSecrets)
    versions = call(moves.ListSecretVersions)


class ProjectsApi(Resource[Shell]):
    """`client.projects`."""

    list = call(projects.ListProjects)
    get = call(projects.GetProject)
    get_by_slug = call(projects.GetProjectBySlug)
    create = call(projects.CreateProject)
    update = call(projects.UpdateProject)
    delete = call(projects.DeleteProject)


class EnvironmentsApi(Resource[Shell]):
    """`client.environments`."""

    list = call(environments.ListEnvironments)
    get = call(environments.GetEnvironment)
    get_by_slug = call(environments.GetEnvironmentBySlug)
    create = call(environments.CreateEnvironment)
    update = call(environments.UpdateEnvironment)
    delete = call(environments.DeleteEnvironment)


class FoldersApi(Resource[Shell]):
    """`client.folders`."""

    list = call(folders.ListFolders)
    get = call(folders.GetFolder)
    create = call(folders.CreateFolder)
    update = call(folders.UpdateFolder)
    delete = call(folders.DeleteFolder)


class ImportsApi(Resource[Shell]):
    """`client.imports`: what a folder takes from others of its project."""

    list = call(imports.ListImports)
    get = call(imports.GetImport)
    create = call(imports.CreateImport)
    update = call(imports.UpdateImport)
    delete = call(imports.DeleteImport)


class TagsApi(Resource[Shell]):
    """`client.tags`."""

    list = call(tags.ListTags)
    get = call(tags.GetTag)
    get_by_slug = call(tags.GetTagBySlug)
    create = call(tags.CreateTag)
    delete = call(tags.DeleteTag)


class ClientSecretsApi(Resource[Shell]):
    """`client.identities.client_secrets`."""

    list = call(universal_auth.ListClientSecrets)
    get = call(universal_auth.GetClientSecret)
    create = call(universal_auth.CreateClientSecret)
    revoke = call(universal_auth.RevokeClientSecret)


class UniversalAuthSettingsApi(Resource[Shell]):
    """`client.identities.universal_auth`: who may log in by client id and client secret."""

    get = call(universal_auth.GetUniversalAuth)
    attach = call(universal_auth.AttachUniversalAuth)
    update = call(universal_auth.UpdateUniversalAuth)
    detach = call(universal_auth.DetachUniversalAuth)
    clear_lockouts = call(universal_auth.ClearUniversalAuthLockouts)


class KubernetesAuthSettingsApi(Resource[Shell]):
    """`client.identities.kubernetes_auth`: which ServiceAccounts of a cluster may log in."""

    get = call(kubernetes_auth.GetKubernetesAuth)
    attach = call(kubernetes_auth.AttachKubernetesAuth)
    update = call(kubernetes_auth.UpdateKubernetesAuth)
    detach = call(kubernetes_auth.DetachKubernetesAuth)


class LdapAuthSettingsApi(Resource[Shell]):
    """`client.identities.ldap_auth`: which people of a directory may log in."""

    get = call(ldap_auth.GetLdapAuth)
    attach = call(ldap_auth.AttachLdapAuth)
    update = call(ldap_auth.UpdateLdapAuth)
    detach = call(ldap_auth.DetachLdapAuth)
    clear_lockouts = call(ldap_auth.ClearLdapAuthLockouts)


class IdentitiesApi(Resource[Shell]):
    """`client.identities`."""

    def __init__(self, shell: Shell) -> None:
        super().__init__(shell)
        self.universal_auth = UniversalAuthSettingsApi(shell)
        self.kubernetes_auth = KubernetesAuthSettingsApi(shell)
        self.ldap_auth = LdapAuthSettingsApi(shell)
        self.client_secrets = ClientSecretsApi(shell)

    list = call(identities.ListIdentities)
    get = call(identities.GetIdentity)
    create = call(identities.CreateIdentity)
    update = call(identities.UpdateIdentity)
    delete = call(identities.DeleteIdentity)


class MembershipsApi(Resource[Shell]):
    """`client.memberships`: the roles that identities and users have in a project."""

    list_identities = call(memberships.ListIdentityMemberships)
    put_identity = call(memberships.PutIdentityMembership)
    remove_identity = call(memberships.RemoveIdentityMembership)
    list_users = call(memberships.ListUserMemberships)
    put_users = call(memberships.PutUserMemberships)
    update_user = call(memberships.UpdateUserMembership)
    remove_user = call(memberships.RemoveUserMembership)


class GrantsApi(Resource[Shell]):
    """`client.grants`: what members may do in parts of a project."""

    list = call(grants.ListGrants)
    get = call(grants.GetGrant)
    create = call(grants.CreateGrant)
    update = call(grants.UpdateGrant)
    delete = call(grants.DeleteGrant)


class AuditLogsApi(Resource[Shell]):
    """`client.audit_logs`."""

    list = call(grants.ListAuditLogs)


class UsersApi(Resource[Shell]):
    """`client.users`."""

    me = call(users.GetMe)
    list = call(users.ListUsers)
    get = call(users.GetUser)
    create = call(users.CreateUser)
    update = call(users.UpdateUser)
    delete = call(users.DeleteUser)
    change_password = call(users.ChangePassword)


class OrganizationsApi(Resource[Shell]):
    """`client.organizations`."""

    list = call(users.ListOrganizations)
    get = call(users.GetOrganization)


class KeysApi(Resource[Shell]):
    """`client.keys`."""

    status = call(keys.GetKeyStatus)
    rotate_root = call(keys.RotateRootKey)
    rotate_data = call(keys.RotateDataKey)


class StatusApi(Resource[Shell]):
    """`client.status`."""

    get = call(GetStatus)


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


class Groups(Generic[Shell]):
    """What a client can be asked, by group."""

    auth: AuthApi[Shell]
    secrets: SecretsApi[Shell]
    projects: ProjectsApi[Shell]
    environments: EnvironmentsApi[Shell]
    folders: FoldersApi[Shell]
    imports: ImportsApi[Shell]
    tags: TagsApi[Shell]
    identities: IdentitiesApi[Shell]
    memberships: MembershipsApi[Shell]
    grants: GrantsApi[Shell]
    audit_logs: AuditLogsApi[Shell]
    users: UsersApi[Shell]
    organizations: OrganizationsApi[Shell]
    keys: KeysApi[Shell]
    status: StatusApi[Shell]

    def open_groups(self, shell: Shell) -> None:
        """Make the groups, whose calls `shell` takes."""
        self.auth = AuthApi(shell)
        self.secrets = SecretsApi(shell)
        self.projects = ProjectsApi(shell)
        self.environments = EnvironmentsApi(shell)
        self.folders = FoldersApi(shell)
        self.imports = ImportsApi(shell)
        self.tags = TagsApi(shell)
        self.identities = IdentitiesApi(shell)
        self.memberships = MembershipsApi(shell)
        self.grants = GrantsApi(shell)
        self.audit_logs = AuditLogsApi(shell)
        self.users = UsersApi(shell)
        self.organizations = OrganizationsApi(shell)
        self.keys = KeysApi(shell)
        self.status = StatusApi(shell)
