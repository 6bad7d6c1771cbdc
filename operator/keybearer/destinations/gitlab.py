"""GitLab: CI/CD variables of a project or a group, within one environment scope.

https://docs.gitlab.com/api/project_level_variables, https://docs.gitlab.com/api/group_level_variables and
https://docs.gitlab.com/ci/variables (2026-11-23). Configuration and credentials have the published service's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Literal, cast
from urllib.parse import quote

from pydantic import BeforeValidator, JsonValue, StringConstraints

from keybearer.destinations.app import Answers, App, in_header
from keybearer.destinations.form import (
    CreateOrUpdate,
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
from keybearer.destinations.remote import (
    RemoteAnswer,
    RemoteRefusedError,
    RemoteUnavailableError,
    field_of,
    segment,
    text_of,
    text_or_none,
)
from keybearer.destinations.session import Call, Session
from keybearer.wire.base import Flag
from keybearer.wire.credentials import Credentials, Method, Token
from keybearer.wire.destination_forms import DestinationConfig
from keybearer.wire.instance_url import InstanceUrl
from keybearer.wire.strict import EmptyIsAbsent, NonEmpty

__all__ = ["GITLAB", "AccessTokenCredentials", "GroupConfig", "ProjectConfig"]


class AccessTokenType(StrEnum):
    """Whose token it is; both travel the same way."""

    PERSONAL = "personal"
    PROJECT = "project"


class AccessTokenCredentials(Credentials):
    """A token of a person, project or group with the scope `api`."""

    access_token: Token
    access_token_type: AccessTokenType
    instance_url: Annotated[InstanceUrl | None, EmptyIsAbsent] = None


async def _check(session: Session) -> None:
    """Ask whose token it is; those of projects and groups belong to a user of their own."""
    answer = await session.ask(Call(method="GET", path="/user", to="tell whose token it is"))
    if field_of(answer.json(), "username") is None:
        raise RemoteUnavailableError("what answers at this instanceUrl is no GitLab")


def _root(session: Session) -> str:
    given = session.credentials_as(AccessTokenCredentials).instance_url
    return f"{given.rstrip('/') if given else session.root('https://gitlab.com')}/api/v4"


def _complaint(content: JsonValue) -> str:
    """Return the fields that GitLab complains of; what it says of them may repeat the value."""
    said = field_of(content, "message")
    return " and ".join(said) if isinstance(said, dict) else ""


_APP = App(
    name="gitlab",
    title="GitLab",
    methods={"access-token": Method(AccessTokenCredentials, ("access_token_type", "instance_url"))},
    root=_root,
    static=lambda credentials: cast("AccessTokenCredentials", credentials).access_token,
    authorize=in_header("PRIVATE-TOKEN"),
    check=_check,
    answers=Answers(
        who="GitLab",
        message=lambda content: field_of(content, "message") or field_of(content, "error_description"),
        word=_complaint,
        hints={
            401: "the token is wrong, has ended or was revoked",
            403: "it needs the scope api and a role that may",
        },
    ),
)


_Mark = Annotated[Flag, BeforeValidator(lambda given: False if given is None else given)]
_Scope = Annotated[
    str,
    BeforeValidator(lambda given: "*" if given is None or given == "" else given),
    StringConstraints(max_length=255),
]


class _VariablesConfig(DestinationConfig):
    """What is the same for both; answers always have these fields, as the published service's do."""

    target_environment: _Scope = "*"
    should_protect_secrets: _Mark = False
    should_mask_secrets: _Mark = False
    should_hide_secrets: _Mark = False

    @property
    def is_masked(self) -> bool:
        """Whether jobs' logs never show the variables; GitLab hides only what is masked."""
        return self.should_mask_secrets or self.should_hide_secrets


class ProjectConfig(_VariablesConfig):
    """Variables of a project, named by its number or by its path."""

    scope: Literal["project"]
    project_id: NonEmpty
    project_name: NonEmpty | None = None


class GroupConfig(_VariablesConfig):
    """Variables of a group, named by its number or by its path."""

    scope: Literal["group"]
    group_id: NonEmpty
    group_name: NonEmpty | None = None


def _traits(config: DestinationConfig) -> Traits:
    """Values come back unless they are hidden. Values are written raw, so that nothing in them is expanded."""
    given = cast("ProjectConfig | GroupConfig", config)
    rules = NameRules(
        pattern="[A-Za-z0-9_]+",
        words="letters, digits and underscores",
        longest=255,
        value_chars_max=10_000,
        value_pattern=r"\S{8,}" if given.is_masked else None,
        value_words="one line of 8 characters or more without white space, or GitLab can't mask it; change it, or "
        "turn shouldMaskSecrets and shouldHideSecrets off",
    )
    return Traits(has_readable_values=not given.should_hide_secrets, rules=rules)


def _marks(*marks: bool) -> Mapping[str, str]:
    return dict(zip(("protected", "masked", "hidden"), map(str, marks), strict=True))


class _Variables:
    """The variables of one environment scope; `*` is one of them, the one for all environments."""

    def __init__(self, place: Place) -> None:
        self._config = config = cast("ProjectConfig | GroupConfig", place.config)
        self._scope = config.target_environment
        if isinstance(config, ProjectConfig):
            what, identity = "project", config.project_id
        else:
            what, identity = "group", config.group_id
        self._root, self._name = f"/{what}s/{segment(identity)}/variables", f"the {what} '{identity}'"

    def table(self) -> Table:
        config = self._config
        marks = _marks(config.should_protect_secrets, config.is_masked, config.should_hide_secrets)
        return Table(
            place=self._name,
            listing=Listing(
                first=lambda: self._page(1),
                rows=lambda page: page,
                row=self._row,
                following=by_number(self._page),
            ),
            write=CreateOrUpdate(
                create=self._create,
                update=lambda one: self._write("PUT", self._path(one.name), one, {}),
                is_taken=_is_taken,
                is_missing=_has_no_variable,
                # Where the filter fits none of a group's, GitLab updates a variable of that key in another scope.
                creates_first=isinstance(config, GroupConfig),
                # Only a new variable can be hidden, and none can be shown again.
                is_replaced=lambda present: (present.extras or marks)["hidden"] != marks["hidden"],
                version=self._check_scope,
            ),
            remove=Remove(lambda key: self._call("DELETE", self._path(key), f"delete the variable '{key}'")),
            extras=lambda _: marks,
        )

    def _call(self, method: str, path: str, to: str) -> Call:
        return Call(method=method, path=path, to=f"{to} of {self._name}")

    def _path(self, key: str) -> str:
        return f"{self._root}/{segment(key)}?filter%5Benvironment_scope%5D={quote(self._scope, safe='')}"

    def _page(self, number: int) -> Call:
        return self._call("GET", f"{self._root}?per_page=100&page={number}", "list the variables")

    def _row(self, listed: JsonValue) -> Row:
        key = text_of(listed, "key")
        if (field_of(listed, "environment_scope") or "*") != self._scope:
            return Row(key, None)
        hidden = field_of(listed, "hidden")
        marks = _marks(
            field_of(listed, "protected") is True,
            field_of(listed, "masked") is True,
            # A GitLab that can't hide variables doesn't show whether they are hidden.
            self._config.should_hide_secrets if hidden is None else hidden is True,
        )
        return Row(key, Present(text_or_none(listed, "value"), extras=marks))

    def _create(self, one: Outgoing) -> Call:
        hidden: dict[str, JsonValue] = {"masked_and_hidden": True} if self._config.should_hide_secrets else {}
        new = {"key": one.name, "variable_type": "env_var", "environment_scope": self._scope, **hidden}
        return self._write("POST", self._root, one, new)

    def _write(self, method: str, path: str, one: Outgoing, more: Mapping[str, JsonValue]) -> Call:
        body: dict[str, JsonValue] = {
            "value": one.value,
            "raw": True,
            "protected": self._config.should_protect_secrets,
            "masked": self._config.is_masked,
            **more,
        }
        call = self._call(method, path, f"write the variable '{one.name}'")
        return replace(call, body=body, holds_values=True)

    def _check_scope(self, answer: RemoteAnswer) -> None:
        if (field_of(answer.json(), "environment_scope") or self._scope) != self._scope:
            raise RemoteRefusedError(
                f"GitLab wrote a variable of {self._name} in another environment scope: it has no such scopes for "
                "groups, or somebody deleted the variable of this scope meanwhile; look there"
            )


def _has_no_variable(answer: RemoteAnswer) -> bool:
    """Whether the variable is missing; where project or group are, the message names those."""
    return answer.status == 404 and "Variable" in str(field_of(answer.json_or_none(), "message"))


def _is_taken(answer: RemoteAnswer) -> bool:
    return answer.status == 400 and "taken" in str(field_of(answer.json_or_none(), "message", "key"))


def _same_place(config: DestinationConfig) -> Mapping[str, JsonValue]:
    # How variables are marked says nothing of where they are, and names are there for people.
    told = {"scope", "project_id", "group_id", "target_environment"}
    return config.model_dump(mode="json", by_alias=True, include=told)


GITLAB = DestinationKind(
    name="gitlab",
    title="GitLab",
    app=_APP,
    can_import=False,
    config=config_of(ProjectConfig, GroupConfig, by="scope"),
    place=_same_place,
    traits=_traits,
    open=lambda place: _Variables(place).table(),
)
