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
from keybearer.destinations.content import field_of, text_of, version_of
from keybearer.destinations.form import DestinationKind, NamedPlaces, Place, config_of
from keybearer.destinations.listing import Row, by_number
from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import Outgoing, Present, Traits
from keybearer.destinations.remote import RemoteUnavailableError, segment
from keybearer.destinations.session import Call
from keybearer.destinations.table import CustomPut, Remove, Table
from keybearer.pki.errors import MalformedError
from keybearer.pki.sealed_box import sealed
from keybearer.wire.base import WHOLE
from keybearer.wire.destination_forms import HOW_WRITTEN, DestinationConfig
from keybearer.wire.key_schema import KeyNaming
from keybearer.wire.strict import NonEmpty

__all__ = ["CODEHOST", "OrganizationConfig", "RepositoryConfig", "RepositoryEnvironmentConfig"]

_NAMES = NameRules(
    pattern="[A-Za-z_][A-Za-z0-9_]*",
    words="letters, digits and underscores, and no digit first",
    reserved=("GITHUB_",),
    value_bytes_max=48 * 1024,
)
_SELECTED = "selectedRepositoryIds"
_RepositoryId = Annotated[int, Field(ge=0, le=2**53 - 1), WHOLE]


class Visibility(StrEnum):
    """Which repositories of an organization may use a secret of it."""

    ALL = "all"
    PRIVATE = "private"
    SELECTED = "selected"


class OrganizationConfig(DestinationConfig):
    """Secrets of an organization."""

    scope: Literal["organization"]
    org: NonEmpty
    visibility: Annotated[Visibility, HOW_WRITTEN]
    selected_repository_ids: Annotated[tuple[_RepositoryId, ...] | None, HOW_WRITTEN] = None

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


def _table(place: Place) -> Table:
    path, name = _found_at(place.config)
    audience: dict[str, JsonValue] = {}
    if isinstance(config := place.config, OrganizationConfig):
        audience["visibility"] = config.visibility.value
        if config.selected_repository_ids:
            audience["selected_repository_ids"] = list(config.selected_repository_ids)
    public_keys: list[JsonValue] = []

    def page(number: int) -> Call:
        return Call("GET", f"?per_page=100&page={number}", "list the secrets")

    async def put(one: Outgoing, _: bool | None) -> None:  # noqa: FBT001 - as `CustomPut` has it
        if not public_keys:
            call = Call("GET", f"{path}/public-key", f"give the public key of {name}")
            public_keys.append((await place.session.ask(call)).json())
        (key,) = public_keys
        try:
            value = sealed(one.value, text_of(key, "key"))
        except MalformedError:
            raise RemoteUnavailableError("GitHub's public key can't be used") from None
        body: JsonValue = {"encrypted_value": value, "key_id": text_of(key, "key_id"), **audience}
        # GitHub's words may be told: no plain value is sent.
        to = f"write the secret '{one.name}' of {name}"
        await place.session.ask(Call("PUT", f"{path}/{segment(one.name)}", to, body=body))

    return Table(
        place=name,
        root=path,
        listing=by_number(page, lambda content: field_of(content, "secrets"), _row),
        write=CustomPut(put),
        remove=Remove(lambda key: Call("DELETE", f"/{segment(key)}", f"delete the secret '{key}'")),
    )


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
    # Names know no case there.
    return {field: str(name).lower() for field, name in config.where().items()}


def _traits(config: DestinationConfig) -> Traits:
    names_max = 1000 if isinstance(config, OrganizationConfig) else 100
    return Traits(has_readable_values=False, names_max=names_max, folds_case=True, rules=_NAMES)


def _name(config: DestinationConfig, _: KeyNaming) -> str:
    match config:
        case OrganizationConfig(org=org):
            return org
        case RepositoryConfig(owner=owner, repo=repo):
            return f"{owner}/{repo}"
        case RepositoryEnvironmentConfig(owner=owner, repo=repo, env=env):
            return f"{owner}/{repo}/{env}"
        case _:
            raise TypeError(type(config).__name__)


CODEHOST = DestinationKind(
    name="codehost",
    title="GitHub",
    app=CODEHOST_APP,
    can_import=False,
    config=config_of(OrganizationConfig, RepositoryConfig, RepositoryEnvironmentConfig, by="scope"),
    places=NamedPlaces(
        form="ORGANIZATION, OWNER/REPOSITORY or OWNER/REPOSITORY/ENVIRONMENT", name=_name, knows_case=False
    ),
    place=_same_place,
    traits=_traits,
    open=_table,
)
