"""`client.identities`."""

from __future__ import annotations

from keybearer.client.operations import identities, kubernetes_auth, ldap_auth, universal_auth
from keybearer.client.resources import Resource, Shell, call

__all__ = [
    "ClientSecretsApi",
    "IdentitiesApi",
    "KubernetesAuthSettingsApi",
    "LdapAuthSettingsApi",
    "UniversalAuthSettingsApi",
]


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
