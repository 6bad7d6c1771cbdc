"""What `keybearer keys status` and the service say about root keys, data keys and their rotations."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.store.credential_resealing import CredentialRotation
from keybearer.store.resealing import DataKeyRotation
from keybearer.store.root_keys import RootKeyRecord

__all__ = ["KeyStatus"]


@dataclass(frozen=True, slots=True)
class KeyStatus:
    """The state of all keys, by their ids; never key material.

    Attributes:
        first: the first root key that this process found; it wraps, or is going to.
        held: the root keys that this process holds.
        roots: the root keys that wrapped keys of this database at some time, the latest first.
        processes: how many processes serve the database.
        lacking: how many of them don't hold `first`.
        data_keys: how many data keys there are.
        rotations: the rotations of data keys that are under way.
        credentials: the rotation of the key of auth methods, if it is under way.
    """

    first: str
    held: tuple[str, ...]
    roots: tuple[RootKeyRecord, ...]
    processes: int
    lacking: int
    data_keys: int
    rotations: tuple[DataKeyRotation, ...]
    credentials: CredentialRotation | None
