"""GitHub: secrets of workflows, of an organization, a repository or an environment; they never come out again.

https://docs.github.com/en/rest/actions/secrets and https://docs.github.com/en/actions/reference/security/secrets
(2026-11-25). A configuration has the published service's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, JsonValue, ValidationInfo, field_validator, model_validator

from keybearer.destinations.codehost_app import CODEHOST_APP
from keybearer.destinations.form import (
    CustomPut,
    DestinationKind,
    Listing,
    Place,
    Remove,
    Row,
    Table,
    by_number,
    config_of,
)
from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import Outgoing, Present, Traits
from keybearer.destinations.remote import RemoteUnavailableError, field_of, segment, text_of, version_of
from keybearer.destinations.session import Call
from keybearer.pki.errors import MalformedError
from keybearer.pki.sealed_box import sealed
from keybearer.wire.base import WHOLE
from keybearer.wire.destination_forms import DestinationConfig
from keybearer.wire.strict import NonEmpty

__all__ = ["CODEHOST", "OrganizationConfig", "RepositoryConfig", "RepositoryEnvironmentConfig"]

_NAMES = NameRules(
    pattern="[A-Za-z_][A-Za-z0-9_]*",
    words="letters, digits and underscores, and no digit first",
    reserved=("GITHUB_",),
    value_bytes_max=48 * 1024,
)
_SELECTED = "selectedRepositoryIds"


class Visibility(StrEnum):
    """Which repositories of an organization may use a secret of it."""

    ALL = "all"
    PRIVATE = "private"
    SELECTED = "selected"


class OrganizationConfig(DestinationConfig):
    """Secrets of an organization."""

    scope: Literal["organization"]
    org: NonEmpty
    visibility: Visibility
    selected_repository_ids: tuple[Annotated[int, Field(ge=0, le=2**53 - 1), WHOLE], ...] | None = None

    @model_validator(mode="before")
    @classmethod
    def _absent_is_null(cls, given: object) -> object:
        # So that the check below tells of the field by its name on the wire.
        return {_SELECTED: None, **given} if isinstance(given, dict) else given

    @field_validator("selected_repository_ids")
    @classmethod
    def _fit_the_visibility(
        cls, given: tuple[int, ...] | None, info: ValidationInfo
    ) -> tuple[int, ...] | None:
        # wire.md section 3.5; without a visibility there is an error about that one already.
        visibility = info.data.get("visibility")
        if visibility is Visibility.SELECTED and not given:
            raise ValueError("Select at least 1 repository")
        if visibility is not None and visibility is not Visibility.SELECTED and given:
            raise ValueError("must be empty or absent unless the visibility is selected")
        return given


class RepositoryConfig(DestinationConfig):
    """Secrets of a repository."""

    scope: Literal["repository"]
    owner: NonEmpty
    repo: NonEmpty


class RepositoryEnvironmentConfig(DestinationConfig):
    """Secrets of an environment of a repository."""

    scope: Literal["repository-environment"]
    owner: NonEmpty
    repo: NonEmpty
    env: NonEmpty


class _Secrets:
    def __init__(self, place: Place) -> None:
        self._session = place.session
        self._path, self._name = _found_at(place.config)
        self._audience: dict[str, JsonValue] = {}
        if isinstance(config := place.config, OrganizationConfig):
            self._audience["visibility"] = config.visibility.value
            if config.selected_repository_ids:
                self._audience["selected_repository_ids"] = list(config.selected_repository_ids)
        self._key: JsonValue = None

    def table(self) -> Table:
        return Table(
            place=self._name,
            listing=Listing(
                first=lambda: self._page(1),
                rows=lambda page: field_of(page, "secrets"),
                row=_row,
                following=by_number(self._page),
            ),
            write=CustomPut(lambda one, _: self._put(one)),
            remove=Remove(
                lambda name: self._call("DELETE", f"delete the secret '{name}'", f"/{segment(name)}")
            ),
        )

    def _call(self, method: str, to: str, path: str, body: JsonValue = None) -> Call:
        return Call(method=method, path=f"{self._path}{path}", to=f"{to} of {self._name}", body=body)

    def _page(self, number: int) -> Call:
        return self._call("GET", "list the secrets", f"?per_page=100&page={number}")

    async def _put(self, one: Outgoing) -> None:
        if self._key is None:
            answer = await self._session.ask(self._call("GET", "give the public key", "/public-key"))
            self._key = answer.json()
        try:
            value = sealed(one.value, text_of(self._key, "key"))
        except MalformedError:
            raise RemoteUnavailableError("GitHub's public key can't be used") from None
        body = {"encrypted_value": value, "key_id": text_of(self._key, "key_id"), **self._audience}
        # GitHub's words may be told: no plain value is sent.
        call = self._call("PUT", f"write the secret '{one.name}'", f"/{segment(one.name)}", body)
        await self._session.ask(call)


def _found_at(config: DestinationConfig) -> tuple[str, str]:
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


def _row(listed: JsonValue) -> Row:
    return Row(text_of(listed, "name"), Present(None, version_of(listed, "updated_at")))


def _same_place(config: DestinationConfig) -> Mapping[str, JsonValue]:
    # Who may use the secrets of an organization says nothing of where they are; names know no case there.
    fields = config.model_dump(mode="json", by_alias=True, exclude={"visibility", "selected_repository_ids"})
    return {name: value.lower() for name, value in fields.items()}


def _traits(config: DestinationConfig) -> Traits:
    names_max = 1000 if isinstance(config, OrganizationConfig) else 100
    return Traits(has_readable_values=False, names_max=names_max, folds_case=True, rules=_NAMES)


CODEHOST = DestinationKind(
    name="codehost",
    title="GitHub",
    app=CODEHOST_APP,
    can_import=False,
    config=config_of(OrganizationConfig, RepositoryConfig, RepositoryEnvironmentConfig, by="scope"),
    place=_same_place,
    traits=_traits,
    open=lambda place: _Secrets(place).table(),
)
