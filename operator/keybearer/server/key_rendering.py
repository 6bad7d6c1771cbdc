"""How keys stand, as it is answered."""

from __future__ import annotations

from keybearer.domain.key_status import KeyStatus
from keybearer.wire.keys import CredentialRotationModel, DataKeyRotationModel, KeyStatusModel, RootKeyModel

__all__ = ["key_status_of"]


def key_status_of(status: KeyStatus) -> KeyStatusModel:
    """Return the answer for a status."""
    return KeyStatusModel(
        first_root_key_id=status.first,
        held_root_key_ids=list(status.held),
        root_keys=[
            RootKeyModel(
                id=root.id,
                state=root.state.value,
                activated_at=root.activated_at,
                retired_at=root.retired_at,
                wraps=root.wraps,
            )
            for root in status.roots
        ],
        processes=status.processes,
        lacking_processes=status.lacking,
        data_keys=status.data_keys,
        rotations=[
            DataKeyRotationModel(
                project_id=rotation.project_id, started_at=rotation.started_at, resealed=rotation.resealed
            )
            for rotation in status.rotations
        ],
        credential_rotation=(
            None
            if status.credentials is None
            else CredentialRotationModel(
                started_at=status.credentials.started_at, remaining=status.credentials.remaining
            )
        ),
    )
