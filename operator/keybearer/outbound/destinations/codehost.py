"""The code host: secrets of its workflows, which go in sealed and never come out (wire.md section 3.5)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Mapping, Sequence

from nacl.exceptions import CryptoError
from nacl.public import PublicKey, SealedBox
from pydantic import JsonValue

from keybearer.destinations.name_rules import NameRules
from keybearer.outbound.apps.codehost_api import CodehostApi
from keybearer.outbound.destinations.bounds import Bounds, one_by_one
from keybearer.outbound.destinations.protocol import (
    Change,
    DriverInput,
    Outgoing,
    Present,
    Refused,
    Traits,
    Written,
)
from keybearer.outbound.remote import RemoteUnavailableError, segment
from keybearer.wire.destinations.base import DestinationConfig
from keybearer.wire.destinations.codehost import (
    OrganizationConfig,
    RepositoryConfig,
    RepositoryEnvironmentConfig,
    Visibility,
)

__all__ = ["CodehostSecrets"]

_ORGANIZATION_MAX = 1000
_REPOSITORY_MAX = 100
_PAGE = 100
_PAGES_MAX = 1000
_RULES = NameRules(
    pattern=r"[A-Za-z_][A-Za-z0-9_]*",
    words="letters, digits and underscores, and no digit first",
    reserved=("GITHUB_",),
    value_bytes_max=48 * 1024,
)
"""https://docs.github.com/actions/security-for-github-actions/security-guides/using-secrets-in-github-actions"""


class CodehostSecrets:
    """The secrets of an organization, a repository or an environment."""

    def __init__(self, given: DriverInput) -> None:
        self._config = given.config
        self._path, self._place = _path_of(given.config)
        self._api = CodehostApi(given.credentials, given.context)
        self._box: tuple[str, SealedBox[PublicKey]] | None = None

    @property
    def traits(self) -> Traits:
        """Write-only, and in upper case."""
        is_shared = isinstance(self._config, OrganizationConfig)
        names_max = _ORGANIZATION_MAX if is_shared else _REPOSITORY_MAX
        return Traits(has_readable_values=False, names_max=names_max, folds_case=True, rules=_RULES)

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:  # noqa: ARG002 - all are listed
        """Return all names with the time of their last change."""
        found: dict[str, Present] = {}
        bounds = Bounds()
        for page in range(1, _PAGES_MAX + 1):
            path = f"{self._path}?per_page={_PAGE}&page={page}"
            answer = await self._api.send("GET", path, to=f"list the secrets of {self._place}")
            content = answer.json()
            listed = content.get("secrets") if isinstance(content, dict) else None
            if not isinstance(listed, list):
                raise RemoteUnavailableError("the code host lists secrets in a form that isn't its own")
            for one in listed:
                name, present = _present(one)
                bounds.add(name)
                found[name] = present
            # The next page is counted, not followed: a link may lead anywhere.
            if 'rel="next"' not in answer.headers.get("link", ""):
                return found
        raise RemoteUnavailableError(f"the code host doesn't come to an end of the secrets of {self._place}")

    def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Write one by one: there is no other way."""
        return one_by_one(change, self._put, self._delete)

    async def _put(self, outgoing: Outgoing) -> None:
        name = outgoing.name
        key_id, box = await self._sealing()
        body: dict[str, JsonValue] = {
            "encrypted_value": base64.b64encode(box.encrypt(outgoing.value.encode())).decode(),
            "key_id": key_id,
        }
        if isinstance(self._config, OrganizationConfig):
            body["visibility"] = self._config.visibility.value
            if self._config.visibility is Visibility.SELECTED:
                body["selected_repository_ids"] = list(self._config.selected_repository_ids or ())
        await self._api.send(
            "PUT", f"{self._path}/{segment(name)}", body, to=f"write the secret '{name}' of {self._place}"
        )

    async def _delete(self, name: str) -> None:
        answer = await self._api.send(
            "DELETE",
            f"{self._path}/{segment(name)}",
            to=f"delete the secret '{name}' of {self._place}",
            taken=(404,),
        )
        if answer.status == 404:
            # Either somebody was faster, or the whole place can't be seen any more: then nothing was removed.
            await self._api.send("GET", f"{self._path}?per_page=1", to=f"list the secrets of {self._place}")

    async def _sealing(self) -> tuple[str, SealedBox[PublicKey]]:
        """Return the id of the place's key and the box that it locks; asked for once in a run."""
        if self._box is None:
            answer = await self._api.send(
                "GET", f"{self._path}/public-key", to=f"give the public key of {self._place}"
            )
            content = answer.json()
            key_id, key = (
                (content.get("key_id"), content.get("key")) if isinstance(content, dict) else (None, None)
            )
            if not isinstance(key_id, str) or not isinstance(key, str):
                raise RemoteUnavailableError("the code host answers without a public key")
            try:
                self._box = key_id, SealedBox(PublicKey(base64.b64decode(key, validate=True)))
            except (binascii.Error, CryptoError, ValueError):
                raise RemoteUnavailableError("the code host's public key can't be used") from None
        return self._box


def _path_of(config: DestinationConfig) -> tuple[str, str]:
    """Return where the place's secrets are in the API, and what to call it."""
    match config:
        case OrganizationConfig(org=org):
            return f"/orgs/{segment(org)}/actions/secrets", f"the organization '{org}'"
        case RepositoryConfig(owner=owner, repo=repo):
            path = f"/repos/{segment(owner)}/{segment(repo)}/actions/secrets"
            return path, f"the repository '{owner}/{repo}'"
        case RepositoryEnvironmentConfig(owner=owner, repo=repo, env=env):
            path = f"/repos/{segment(owner)}/{segment(repo)}/environments/{segment(env)}/secrets"
            return path, f"the environment '{env}' of '{owner}/{repo}'"
        case _:
            raise TypeError(type(config).__name__)


def _present(listed: JsonValue) -> tuple[str, Present]:
    name, changed = (
        (listed.get("name"), listed.get("updated_at")) if isinstance(listed, dict) else (None, None)
    )
    if not isinstance(name, str):
        raise RemoteUnavailableError("the code host lists a secret without a name")
    return name, Present(None, changed if isinstance(changed, str) else None)
