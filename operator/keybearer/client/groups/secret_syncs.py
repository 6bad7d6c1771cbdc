"""`client.secret_syncs`."""

from __future__ import annotations

from keybearer.client.operations import secret_syncs, sync_owners
from keybearer.client.resources import Resource, Shell, call

__all__ = ["SecretSyncsApi"]


class SecretSyncsApi(Resource[Shell]):
    """`client.secret_syncs`: what pushes the secrets of folders to remotes."""

    list = call(secret_syncs.ListSecretSyncs)
    options = call(secret_syncs.ListSecretSyncOptions)
    get = call(secret_syncs.GetSecretSync)
    get_by_name = call(secret_syncs.GetSecretSyncByName)
    list_secrets = call(secret_syncs.ListSyncedSecrets)
    list_owned = call(sync_owners.ListOwnedSyncs)
    get_owner = call(sync_owners.GetSyncOwner)
    change_owner = call(sync_owners.ChangeSyncOwner)
    create = call(secret_syncs.CreateSecretSync)
    update = call(secret_syncs.UpdateSecretSync)
    delete = call(secret_syncs.DeleteSecretSync)
    sync = call(secret_syncs.SyncSecrets)
    import_secrets = call(secret_syncs.ImportIntoFolder)
    remove_secrets = call(secret_syncs.RemoveFromDestination)
    check_destination = call(secret_syncs.CheckDestination)
