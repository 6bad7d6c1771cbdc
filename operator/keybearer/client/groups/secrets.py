"""`client.secrets` (interface.md section 4.8)."""

from __future__ import annotations

from keybearer.client.environment import list_and_attach
from keybearer.client.operations import secret_batches as batches
from keybearer.client.operations import secret_moves as moves
from keybearer.client.operations import secret_reads as reads
from keybearer.client.operations import secret_writes as writes
from keybearer.client.resources import Resource, Shell, call, call_by

__all__ = ["SecretsApi"]


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
