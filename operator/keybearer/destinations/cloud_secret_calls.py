"""Calls to the manager of secrets of the cloud, which both mappings make.

https://docs.aws.amazon.com/secretsmanager/latest/apireference. A secret that exists is written with one call. One
that somebody scheduled for deletion is restored: its name can't be had otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from keybearer.base.ids import new_uuid
from keybearer.destinations.cloud_app import CloudAccount
from keybearer.destinations.cloud_calls import CloudFault
from keybearer.destinations.cloud_extras import Extras, Json, tags_of
from keybearer.destinations.cloud_options import CloudOptions
from keybearer.destinations.cloud_signing import Scope
from keybearer.destinations.form import Place
from keybearer.destinations.remote import RemoteError, RemoteUnavailableError

__all__ = ["NOT_THERE", "TARGET", "VALUE_BYTES", "SecretCalls", "is_to_be_deleted"]

TARGET = "secretsmanager."
"""What the names of operations begin with."""
NOT_THERE = "ResourceNotFoundException"
"""The code of the refusal for a secret that doesn't exist."""
_THERE = "ResourceExistsException"
_WRONG_STATE = "InvalidRequestException"
_DEFAULT_KEY = "alias/aws/secretsmanager"
VALUE_BYTES = 65_536
"""Of a value, in UTF-8."""
_STEPS = 4
"""Not there: create; there after all: write; to be deleted: restore and write."""
_HINTS = {
    "EncryptionFailure": "there is no such key of encryption, or it can't be used",
    "DecryptionFailure": "its key of encryption can't be used",
    "LimitExceededException": "the account holds as many secrets, or this one as many versions, as it may",
    "ValidationException": "a name takes letters, digits and /_+=.@-",
    "InvalidParameterException": "a name takes letters, digits and /_+=.@-, and tags likewise with spaces and colons",
}


class SecretCalls:
    """Calls that both mappings make, by the names of secrets."""

    def __init__(self, given: Place, region: str) -> None:
        if not isinstance(given.options, CloudOptions):
            raise TypeError(type(given.options).__name__)
        self.scope = Scope("secretsmanager", region)
        self.extras = Extras(given.options)
        self.account = CloudAccount(given.session.credentials, given.session.context)
        self.tags: dict[str, Mapping[str, str]] = {}
        self.is_listed = False

    async def ask(self, operation: str, body: Json) -> Json:
        """Return the answer.

        Raises:
            RemoteError: it is a refusal.
        """
        told, fault = await self.account.ask(self.scope, f"{TARGET}{operation}", body)
        if fault is not None:
            raise fault.error(operation)
        return told

    async def write(self, name: str, value: str, metadata: Sequence[tuple[str, str]] = ()) -> str:
        """Return the id of the version that is current now, in a secret with the tags that it should have.

        Raises:
            RemoteError: it isn't.
        """
        is_there = name in self.tags or not self.is_listed
        for _ in range(_STEPS):
            version = new_uuid()
            operation = "UpdateSecret" if is_there else "CreateSecret"
            body = (
                self._update(name, value, version)
                if is_there
                else self._creation(name, value, version, metadata)
            )
            _, fault = await self.account.ask(self.scope, f"{TARGET}{operation}", body)
            if fault is None:
                if is_there and self.extras.manages_tags:
                    await self._tag(name, metadata)
                self.tags[name] = self.extras.tags(metadata)
                return version
            if fault.code == NOT_THERE and is_there:
                is_there = False
            elif fault.code == _THERE and not is_there:
                is_there = True
            elif is_to_be_deleted(fault):
                is_there = await self._restore(name)
            else:
                raise _refusal(fault, f"{operation} of {name}", value)
        raise RemoteUnavailableError(f"the secret {name} is still being deleted; its name is free in a while")

    async def delete(self, name: str) -> None:
        """Schedule a secret for deletion, 30 days by default; one that is gone or scheduled already counts.

        Raises:
            RemoteError: it is still there.
        """
        _, fault = await self.account.ask(self.scope, f"{TARGET}DeleteSecret", {"SecretId": name})
        if fault is not None and fault.code != NOT_THERE and not is_to_be_deleted(fault):
            raise fault.error(f"DeleteSecret of {name}")
        self.tags.pop(name, None)

    async def _restore(self, name: str) -> bool:
        _, fault = await self.account.ask(self.scope, f"{TARGET}RestoreSecret", {"SecretId": name})
        if fault is not None and fault.code not in (NOT_THERE, _WRONG_STATE):
            raise fault.error(f"RestoreSecret of {name}")
        return fault is None

    def _update(self, name: str, value: str, version: str) -> Json:
        key: dict[str, JsonValue] = {} if self.extras.key_id is None else {"KmsKeyId": self.extras.key_id}
        return {"SecretId": name, "ClientRequestToken": version, "SecretString": value, **key}

    def _creation(self, name: str, value: str, version: str, metadata: Sequence[tuple[str, str]]) -> Json:
        tags = self.extras.change(metadata, {}).listed
        return {
            "Name": name,
            "ClientRequestToken": version,
            "SecretString": value,
            "KmsKeyId": self.extras.key_id or _DEFAULT_KEY,
            **({"Tags": tags} if tags else {}),
        }

    async def _tag(self, name: str, metadata: Sequence[tuple[str, str]]) -> None:
        present = self.tags.get(name)
        if present is None:
            present = tags_of(await self.ask("DescribeSecret", {"SecretId": name}), "Tags")
        change = self.extras.change(metadata, present)
        if change.remove:
            await self.ask("UntagResource", {"SecretId": name, "TagKeys": list(change.remove)})
        if change.put:
            await self.ask("TagResource", {"SecretId": name, "Tags": change.listed})


def is_to_be_deleted(fault: CloudFault) -> bool:
    """Return whether the secret is scheduled for deletion."""
    # Of many wrong states this is the one that can be helped, and only the text tells them apart.
    return fault.code == _WRONG_STATE and re.search(r"delet", fault.message) is not None


def _refusal(fault: CloudFault, action: str, value: str) -> RemoteError:
    hint = _HINTS.get(fault.code, "")
    if (
        fault.code in ("ValidationException", "InvalidParameterException")
        and len(value.encode()) > VALUE_BYTES
    ):
        hint = "its value is longer than the 64 KiB that a secret holds"
    return fault.error(action, hint=hint, is_quotable=False)
