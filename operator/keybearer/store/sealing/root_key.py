"""Where the root key comes from: a file with mode 0600, or text given by the environment.

A file holds one key a line, base64 of 32 bytes; `#` starts a comment. The first is the one that shall wrap; the
others open what they wrapped. So a new key is put in front, everything is wrapped anew with it as soon as every
process holds it, and the old line is removed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from keybearer.base.errors import ConfigurationError
from keybearer.store.sealing.envelope import (
    KEY_BYTES,
    KeyName,
    SealingKey,
    WrappedKey,
    key_id_of,
    key_name,
    key_name_of,
    new_key_material,
)

__all__ = ["RootKeys", "add_root_key", "create_root_key_file", "parse_root_keys", "read_root_key_file"]

_MAX_FILE_BYTES = 64 * 1024
_LINE_BYTES = len(base64.b64encode(bytes(KEY_BYTES))) + 1


@dataclass(frozen=True, slots=True)
class RootKeys:
    """The root keys that were given: the one that shall wrap, and those that are being retired."""

    first: SealingKey
    others: tuple[SealingKey, ...] = field(default=())

    @property
    def all(self) -> tuple[SealingKey, ...]:
        """Every one of them."""
        return (self.first, *self.others)

    def named(self, name: KeyName) -> SealingKey:
        """Return the root key of that name.

        Raises:
            ConfigurationError: it was not given.
        """
        for root in self.all:
            if root.name == name:
                return root
        raise ConfigurationError(
            f"the database was sealed with root key {key_id_of(name)}, which was not given; "
            "start with the root key that was used before"
        )

    def joined(self, former: RootKeys) -> RootKeys:
        """Return these, and behind them what of the former ones is not among them."""
        names = {root.name for root in self.all}
        return RootKeys(self.first, (*self.others, *(root for root in former.all if root.name not in names)))

    def unwrap(self, wrapped: WrappedKey, name: KeyName, identity: bytes) -> SealingKey:
        """Return the wrapped key, whichever root key wrapped it.

        Raises:
            ConfigurationError: the root key that wrapped it was not given.
            UnsealError: the wrapped key was changed or belongs to another record.
        """
        return self.named(key_name_of(wrapped)).unwrap(wrapped, name, identity)


def parse_root_keys(text: str, origin: str) -> RootKeys:
    """Return the keys of a text, in its order.

    Raises:
        ConfigurationError: a line is no base64 of 32 bytes, or there is none; names the origin.
    """
    lines = [line.split("#", 1)[0].strip() for line in text.splitlines()]
    keys = [_parse_line(line, origin) for line in lines if line]
    if not keys:
        raise ConfigurationError(f"{origin} holds no root key; write base64 of {KEY_BYTES} random bytes")
    return RootKeys(keys[0], tuple(keys[1:]))


def read_root_key_file(path: Path) -> RootKeys | None:
    """Return the keys of the file, or None where there is no file.

    Raises:
        ConfigurationError: others can reach the file, or its group beyond reading, or it holds no key.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"root key file {path} can't be opened: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        mode = stat.S_IMODE(status.st_mode)
        # A mounted Kubernetes Secret is root's, and a pod that isn't root reads it through its fsGroup: 0440.
        group_may = stat.S_IRGRP if status.st_uid != os.geteuid() else 0
        if mode & (stat.S_IRWXG | stat.S_IRWXO) & ~group_may:
            raise ConfigurationError(
                f"root key file {path} has mode {mode:04o}: group or others can reach it; "
                f"run chmod 600 {path}"
            )
        content = file.read(_MAX_FILE_BYTES + 1)
    if len(content) > _MAX_FILE_BYTES:
        raise ConfigurationError(
            f"root key file {path} is longer than {_MAX_FILE_BYTES} bytes; remove the keys at its end that "
            "nothing is wrapped with any more"
        )
    return parse_root_keys(content.decode("ascii", errors="replace"), f"root key file {path}")


def create_root_key_file(path: Path) -> RootKeys:
    """Write a fresh root key with mode 0600, durably, and return it; never replaces a file.

    Raises:
        ConfigurationError: the file can't be created.
    """
    line = base64.b64encode(new_key_material()) + b"\n"
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise ConfigurationError(f"root key file {path} can't be created: {error.strerror}") from error
    return parse_root_keys(line.decode(), f"root key file {path}")


def add_root_key(path: Path) -> RootKeys:
    """Put a fresh root key in front of those in the file, durably, and return all of them.

    A crash leaves the file as it was or as it shall be, never half of it. It stays with the owner and group that it
    had: whoever rotates may be root, and the service not.

    Raises:
        ConfigurationError: the file can't be read or replaced, or has no room for one more key.
    """
    former = read_root_key_file(path)
    if former is None:
        raise ConfigurationError(f"root key file {path} is missing")
    try:
        content = path.read_bytes()
        status = path.stat()
    except OSError as error:
        raise ConfigurationError(f"root key file {path} can't be read: {error.strerror}") from error
    if len(content) + _LINE_BYTES > _MAX_FILE_BYTES:
        raise ConfigurationError(
            f"root key file {path} has no room for one more key: it would be longer than {_MAX_FILE_BYTES} bytes; "
            "remove the keys at its end that nothing is wrapped with any more"
        )
    beside = path.with_name(f"{path.name}.new")
    beside.unlink(missing_ok=True)  # left by a crash, and never used
    create_root_key_file(beside)
    try:
        with beside.open("ab") as file:
            file.write(content)
            _hand_over(file.fileno(), status)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise ConfigurationError(f"root key file {path} can't be replaced: {error.strerror}") from error
    added = read_root_key_file(path)
    if added is None:
        raise ConfigurationError(f"root key file {path} is missing")
    return added


def _hand_over(descriptor: int, former: os.stat_result) -> None:
    """Give the open file the owner, group and mode of the former one.

    Raises:
        OSError: whoever runs this may not.
    """
    now = os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (former.st_uid, former.st_gid):
        os.fchown(descriptor, former.st_uid, former.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(former.st_mode))


def _parse_line(line: str, origin: str) -> SealingKey:
    try:
        material = base64.b64decode(line, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ConfigurationError(f"{origin} holds a line that is no base64") from error
    if len(material) != KEY_BYTES:
        raise ConfigurationError(f"{origin} holds a key of {len(material)} bytes; {KEY_BYTES} are needed")
    # A root key is named by a keyed digest of a constant, so that the name says nothing about the key.
    digest = hmac.digest(material, b"keybearer root key name", hashlib.sha256)
    return SealingKey(key_name(UUID(bytes=digest[:16]), 1), material)
