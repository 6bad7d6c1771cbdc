"""The spec of a SecretSync: the folder that is read, and the store that is pushed to (interface.md section 2.1)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, JsonValue, WithJsonSchema

from keybearer.controllers.custom_resource import ResourceModel, RuledModel, rule
from keybearer.controllers.resource_fields import DATA_KEY_PATTERN, ObjectName
from keybearer.controllers.target.spec import is_target_key
from keybearer.wire.limits import ENVIRONMENT_SLUG_MAX, FOLDER_PATH_MAX, SECRET_NAME_MAX

__all__ = [
    "CLOUD_PARAMETERS",
    "CLOUD_SECRETS",
    "CODE_HOST",
    "ConnectionRef",
    "Decoding",
    "Destination",
    "DestinationConfigObject",
    "DestinationDeletionPolicy",
    "KeyItem",
    "KeySelection",
    "Rename",
    "Source",
    "SyncOptionsObject",
    "has_fields_of_its_scope",
]

_PATH_PATTERN = r"^/?([A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)*/?)?$"
_ENVIRONMENT_PATTERN = r"^[a-z0-9]+([_-]+[a-z0-9]+)*$"
_SLUG_PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"

_Pattern = Annotated[str, Field(min_length=1, max_length=256)]


class Decoding(StrEnum):
    """What is done to a value before it is written."""

    NONE = "None"
    BASE64 = "Base64"


class Rename(ResourceModel):
    """Gives matching keys another name."""

    pattern: Annotated[
        str,
        Field(
            alias="from",
            min_length=1,
            max_length=256,
            description="An exact name, or an RE2 expression between slashes (/^APP_(.*)$/) that must match "
            "the whole name.",
        ),
    ]
    replacement: Annotated[
        str,
        Field(
            alias="to",
            min_length=1,
            max_length=253,
            description=(
                "The new name. After an RE2 expression, \\0 is the whole name, and \\1 to \\9 are its groups."
            ),
        ),
    ]


class KeyItem(RuledModel):
    """One secret, taken by name. Patterns don't apply to it."""

    key: Annotated[
        str,
        Field(
            min_length=1,
            max_length=SECRET_NAME_MAX,
            pattern=r"^[^:/]+$",
            description="The name of the secret in the service.",
        ),
    ]
    target_key: Annotated[
        str | None,
        Field(
            alias="as",
            min_length=1,
            max_length=253,
            pattern=DATA_KEY_PATTERN,
            description="The key in the target. Without it, the name of the secret after renaming.",
        ),
    ] = None
    decode: Annotated[
        Decoding,
        Field(
            strict=False,
            description="Base64 decodes the value (standard alphabet; white space is ignored), for binary "
            "contents such as keystores.",
        ),
    ] = Decoding.NONE
    json_property: Annotated[
        str | None,
        Field(
            alias="property",
            min_length=1,
            max_length=512,
            description="Takes one property of a value that is JSON: names and list positions separated by "
            r"dots, as in database.hosts.0; a dot inside a name is written \. and a backslash \\.",
        ),
    ] = None
    version: Annotated[
        int | None,
        Field(ge=1, le=2_147_483_647, description="Pins the secret to this version; later ones are ignored."),
    ] = None

    @rule(
        cel="!has(self.__as__) || !(self.__as__ == '.' || self.__as__.startsWith('..'))",
        message="as must not be . and must not begin with ..",
    )
    def _names_a_key(self) -> bool:
        return self.target_key is None or is_target_key(self.target_key)


class KeySelection(ResourceModel):
    """Selects secrets, and names their keys."""

    include: Annotated[
        tuple[_Pattern, ...],
        Field(
            strict=False,
            max_length=64,
            description="Takes the secrets whose name matches any of these: a glob (DB_*), or an RE2 "
            "expression between slashes (/^DB_/). An empty list takes only what items names.",
        ),
    ] = ("*",)
    exclude: Annotated[
        tuple[_Pattern, ...],
        Field(
            strict=False,
            max_length=64,
            description=(
                "Leaves out the secrets whose name matches any of these, written like include. "
                "Secrets in items are taken nevertheless."
            ),
        ),
    ] = ()
    rename: Annotated[
        tuple[Rename, ...],
        Field(
            strict=False,
            max_length=64,
            description="Renames keys; of these rules the first that matches a name is applied to it.",
        ),
    ] = ()
    items: Annotated[
        tuple[KeyItem, ...],
        Field(
            strict=False,
            max_length=128,
            description=(
                "Single secrets, instead of their plain form. You can name a secret several "
                "times, for example for two properties of one JSON value."
            ),
        ),
    ] = ()


def _normal_path(path: str) -> str:
    return "/" + path.strip("/")


_DEFAULT_KEYS = KeySelection()


class Source(RuledModel):
    """One folder of one environment of a project."""

    project_id: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=64,
            pattern=r"^[A-Za-z0-9_-]+$",
            description="The id of the project. Give this or projectSlug.",
        ),
    ] = None
    project_slug: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=64,
            pattern=_SLUG_PATTERN,
            description="The slug of the project: 5 to 36 characters in our service. Give this or projectId.",
        ),
    ] = None
    environment: Annotated[
        str,
        Field(
            min_length=1,
            max_length=ENVIRONMENT_SLUG_MAX,
            pattern=_ENVIRONMENT_PATTERN,
            description="The slug of the environment, for example dev.",
        ),
    ]
    secret_path: Annotated[
        str,
        Field(
            max_length=FOLDER_PATH_MAX,
            pattern=_PATH_PATTERN,
            description="The folder, for example /apps/web.",
        ),
        AfterValidator(_normal_path),
    ] = "/"
    recursive: Annotated[
        bool,
        Field(
            description=(
                "Reads the folders below too. If two have the same name, the one whose path sorts"
                " later wins, and the clash is reported."
            )
        ),
    ] = False
    include_imports: Annotated[
        bool, Field(description="Includes imported secrets. The folder's own secrets win over imported ones.")
    ] = True
    expand_secret_references: Annotated[
        bool, Field(description="Replaces references in values with the values that they refer to.")
    ] = True
    tag_slugs: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")], ...],
        Field(strict=False, max_length=20, description="Takes only secrets with one of these tags."),
    ] = ()
    keys: Annotated[KeySelection, Field(description="Selects secrets, and names their keys.")] = Field(
        default_factory=lambda: _DEFAULT_KEYS
    )

    @rule(
        cel="has(self.projectId) != has(self.projectSlug)",
        message="name the project by projectSlug or projectId, and not by both",
    )
    def _names_one_project(self) -> bool:
        return (self.project_id is None) != (self.project_slug is None)

    @property
    def label(self) -> str:
        """`dev:/apps/web`, as statuses and messages name the source."""
        return f"{self.environment}:{self.secret_path}"


CLOUD_PARAMETERS = ("cloud-parameter-store", "aws-parameter-store")
CLOUD_SECRETS = ("cloud-secrets-manager", "aws-secrets-manager")
CODE_HOST = ("codehost", "github")
"""Both words for each of the three destinations whose fields interface.md lists."""


def _text(description: str, **more: JsonValue) -> dict[str, JsonValue]:
    return {"type": "string", "minLength": 1, "maxLength": 2048, "description": description, **more}


def _choice(description: str, *words: str) -> dict[str, JsonValue]:
    return {"type": "string", "enum": list(words), "description": description}


class DestinationDeletionPolicy(StrEnum):
    """What becomes of the secrets in the destination when the object is deleted."""

    RETAIN = "Retain"
    REMOVE_SECRETS = "RemoveSecrets"


class ConnectionRef(RuledModel):
    """The connection that the service pushes through."""

    name: Annotated[
        ObjectName | None, Field(description="The name of an AppConnection in the same namespace.")
    ] = None
    id: Annotated[
        str | None,
        Field(
            min_length=36,
            max_length=36,
            pattern=r"^[0-9a-fA-F-]{36}$",
            description="The id of a connection that the service has.",
        ),
    ] = None

    @rule(cel="has(self.name) != has(self.id)", message="give exactly one of name and id")
    def _names_one(self) -> bool:
        return (self.name is None) != (self.id is None)


Destination = Annotated[
    str,
    Field(min_length=1, max_length=64, pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$"),
]
"""A word of the options endpoint."""

DestinationConfigObject = Annotated[
    dict[str, JsonValue],
    WithJsonSchema(
        {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {
                "region": _text("The region of the cloud."),
                "path": _text("The path below which parameters or secrets go."),
                "mappingBehavior": _choice(
                    "One secret for each key, or one for all.", "one-to-one", "many-to-one"
                ),
                "secretName": _text("The one secret that holds all keys."),
                "scope": _text("The kind of place at the remote: an organization, a repository, a project."),
                "org": _text("The organization at the code host."),
                "visibility": _choice(
                    "The repositories that see a secret of the organization.", "all", "private", "selected"
                ),
                "selectedRepositoryIds": {
                    "type": "array",
                    "maxItems": 1000,
                    "description": "The repositories that see it, if visibility is selected.",
                    "items": {"type": "integer", "format": "int64"},
                },
                "owner": _text("The owner of the repository."),
                "repo": _text("The repository."),
                "env": _text("The environment of the repository."),
            },
        }
    ),
]
"""`destinationConfig`: the fields of the variants of interface.md, and whatever other destinations take."""

SyncOptionsObject = Annotated[
    dict[str, JsonValue],
    WithJsonSchema(
        {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "required": ["initialSyncBehavior"],
            "properties": {
                "initialSyncBehavior": _choice(
                    "How the first push treats existing secrets of the destination.",
                    "overwrite-destination",
                    "import-prioritize-source",
                    "import-prioritize-destination",
                ),
                "keySchema": _text(
                    "How keys are named there: {{secretKey}} once, perhaps {{environment}}, and letters, digits, "
                    "underscores, hyphens and slashes.",
                    maxLength=255,
                ),
                "disableSecretDeletion": {
                    "type": "boolean",
                    "description": "Leaves there what the folder has no more.",
                },
                "keyId": _text("The key of AWS that encrypts the values.", maxLength=256),
                "syncSecretMetadataAsTags": {
                    "type": "boolean",
                    "description": "Writes the metadata of secrets as tags.",
                },
                "tags": {
                    "type": "array",
                    "maxItems": 50,
                    "description": "Tags of what is written.",
                    "items": {
                        "type": "object",
                        "required": ["key", "value"],
                        "properties": {
                            "key": _text("The tag.", maxLength=128),
                            "value": {"type": "string", "maxLength": 256, "description": "Its value."},
                        },
                    },
                },
            },
        }
    ),
]
"""`syncOptions`, likewise."""


def has_fields_of_its_scope(config: dict[str, JsonValue]) -> bool:
    """Tell whether the configuration of a code host has the fields that its scope asks for."""
    match config.get("scope"):
        case "organization":
            return {"org", "visibility"} <= config.keys()
        case "repository":
            return {"owner", "repo"} <= config.keys()
        case "repository-environment":
            return {"owner", "repo", "env"} <= config.keys()
        case _:
            return False
