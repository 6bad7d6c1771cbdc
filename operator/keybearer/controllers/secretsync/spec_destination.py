"""The destination half of a SecretSync: another store, to which the service pushes (interface.md section 2.1)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue, WithJsonSchema

from keybearer.controllers.custom_resource import RuledModel, rule
from keybearer.controllers.resource_fields import ObjectName

__all__ = [
    "CLOUD_PARAMETERS",
    "CLOUD_SECRETS",
    "CODE_HOST",
    "ConnectionRef",
    "Destination",
    "DestinationConfigObject",
    "DestinationDeletionPolicy",
    "SyncOptionsObject",
    "has_fields_of_its_scope",
]

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
                "scope": _text(
                    "What of the remote holds the secrets: an organization, a repository, a project."
                ),
                "org": _text("The organization at the code host."),
                "visibility": _choice(
                    "Which repositories see a secret of the organization.", "all", "private", "selected"
                ),
                "selectedRepositoryIds": {
                    "type": "array",
                    "maxItems": 1000,
                    "description": "The repositories that see it, where visibility is selected.",
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
                    "How the first push deals with what the destination holds already.",
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
                "keyId": _text("The key of the cloud that values are encrypted with.", maxLength=256),
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
