"""GitLab: CI/CD variables of a project or a group, within one environment scope.

https://docs.gitlab.com/api/project_level_variables, https://docs.gitlab.com/api/group_level_variables and
https://docs.gitlab.com/ci/variables (2026-11-23). Configuration and credentials have the published service's words.
"""

from __future__ import annotations

from typing import Annotated, Literal, cast
from urllib.parse import quote

from pydantic import BeforeValidator, JsonValue, StringConstraints

from keybearer.destinations.app import Answers, App, checked_by, in_header
from keybearer.destinations.content import field_of, says, text_of, text_or_none
from keybearer.destinations.form import DestinationKind, NamedPlaces, Place, config_of
from keybearer.destinations.listing import Row, by_number
from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import Outgoing, Present, Traits
from keybearer.destinations.remote import RemoteAnswer, RemoteRefusedError, segment
from keybearer.destinations.session import Call, Session
from keybearer.destinations.table import CreateOrUpdate, Remove, Table
from keybearer.wire.base import Flag
from keybearer.wire.credentials import Credentials, Method, Token
from keybearer.wire.destination_forms import HOW_WRITTEN, DestinationConfig
from keybearer.wire.instance_url import InstanceUrl
from keybearer.wire.key_schema import KeyNaming
from keybearer.wire.strict import BlankIsAbsent, NonEmpty

__all__ = ["GITLAB", "AccessTokenCredentials", "GroupConfig", "ProjectConfig"]


class AccessTokenCredentials(Credentials):
    """A token of a person, project or group with the scope `api`."""

    access_token: Token
    access_token_type: Literal["personal", "project"]  # whose it is; both travel the same way
    instance_url: Annotated[InstanceUrl | None, BlankIsAbsent] = None


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
    # Tokens of projects and groups belong to a user of their own.
    check=checked_by(Call("GET", "/user", "tell whose token it is"), shows="username"),
    answers=Answers(
        who="GitLab",
        message=lambda content: field_of(content, "message") or field_of(content, "error_description"),
        word=_complaint,
        hints={
            401: "the token is wrong, has expired or was revoked",
            403: "it needs the scope api and a role that may",
        },
    ),
)


_Mark = Annotated[Flag, BeforeValidator(lambda given: False if given is None else given), HOW_WRITTEN]
_Name = Annotated[NonEmpty | None, HOW_WRITTEN]
"""For people; places are told apart by their numbers or paths."""
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
    project_name: _Name = None


class GroupConfig(_VariablesConfig):
    """Variables of a group, named by its number or by its path."""

    scope: Literal["group"]
    group_id: NonEmpty
    group_name: _Name = None


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


_is_taken = says(400, "taken", "message", "key")
_is_missing = says(404, "Variable", "message")  # for a missing project or group, the message names that


def _table(place: Place) -> Table:
    """Return the variables of one environment scope; `*` is one of them, the one for all environments."""
    config = cast("ProjectConfig | GroupConfig", place.config)
    scope, is_group = config.target_environment, isinstance(config, GroupConfig)
    identity = config.group_id if isinstance(config, GroupConfig) else config.project_id
    name = f"the {config.scope} '{identity}'"
    query = f"?filter%5Benvironment_scope%5D={quote(scope, safe='')}"
    marked: dict[str, JsonValue] = {"protected": config.should_protect_secrets, "masked": config.is_masked}
    marks = {mark: str(is_on) for mark, is_on in marked.items()} | {"hidden": str(config.should_hide_secrets)}

    def page(number: int) -> Call:
        return Call("GET", f"?per_page=100&page={number}", "list the variables")

    def row(listed: JsonValue) -> Row:
        key = text_of(listed, "key")
        if (field_of(listed, "environment_scope") or "*") != scope:
            return Row(key, None)
        found = {mark: str(field_of(listed, mark) is True) for mark in marks}
        if field_of(listed, "hidden") is None:
            # A GitLab that can't hide variables doesn't show whether they are hidden.
            found["hidden"] = marks["hidden"]
        return Row(key, Present(text_or_none(listed, "value"), extras=found))

    def write(method: str, path: str, one: Outgoing, **more: JsonValue) -> Call:
        body: JsonValue = {"value": one.value, "raw": True, **marked, **more}
        return Call(method, path, f"write the variable '{one.name}'", body=body, holds_values=True)

    def create(one: Outgoing) -> Call:
        hidden: dict[str, JsonValue] = {"masked_and_hidden": True} if config.should_hide_secrets else {}
        return write(
            "POST", "", one, key=one.name, variable_type="env_var", environment_scope=scope, **hidden
        )

    def check_scope(answer: RemoteAnswer) -> None:
        if (field_of(answer.json(), "environment_scope") or scope) != scope:
            raise RemoteRefusedError(
                f"GitLab wrote a variable of {name} in another environment scope: it has no such scopes for groups, "
                "or somebody deleted the variable of this scope meanwhile; look there"
            )

    return Table(
        place=name,
        root=f"/{config.scope}s/{segment(identity)}/variables",
        listing=by_number(page, lambda content: content, row),
        write=CreateOrUpdate(
            create=create,
            update=lambda one: write("PUT", f"/{segment(one.name)}{query}", one),
            is_taken=_is_taken,
            is_missing=_is_missing,
            # Where the filter fits none of a group's, GitLab updates a variable of that key in another scope.
            creates_first=is_group,
            # Only a new variable can be hidden, and none can be shown again.
            is_replaced=lambda present: (present.extras or marks)["hidden"] != marks["hidden"],
            # There are no versions: what was written is only checked.
            version=check_scope,
        ),
        remove=Remove(lambda key: Call("DELETE", f"/{segment(key)}{query}", f"delete the variable '{key}'")),
        extras=lambda _: marks,
    )


def _name(config: DestinationConfig, _: KeyNaming) -> str:
    match config:
        case ProjectConfig(project_id=project):
            return f"projects/{project}"
        case GroupConfig(group_id=group):
            return f"groups/{group}"
        case _:
            raise TypeError(type(config).__name__)


GITLAB = DestinationKind(
    name="gitlab",
    title="GitLab",
    app=_APP,
    can_import=False,
    config=config_of(ProjectConfig, GroupConfig, by="scope"),
    places=NamedPlaces(form="projects/PROJECT or groups/GROUP", name=_name, knows_case=False),
    traits=_traits,
    open=_table,
)
