"""Secret syncs as interface.md 2.1 and 2.2 tell them: no other fields at any level, exact words.

The three destinations that interface.md describes are written down field by field; of the others it is silent, and
their own fields are anything.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, JsonValue

from support.strict_kinds import Instant, Path, Shape, Slug, Uuid, Version, listed, only, shape

__all__ = [
    "CHECKED",
    "OFFERED",
    "ONE_SYNC",
    "OPTIONAL",
    "SYNCED_SECRETS",
    "SYNCS",
    "SYNC_OPTIONS",
    "SYNC_OWNER",
    "expected_options",
]

_JOB_STATE = Literal["pending", "running", "succeeded", "failed"] | None
_BEHAVIOR = Literal["overwrite-destination", "import-prioritize-source", "import-prioritize-destination"]
_REGION = Literal[
    "us-east-1",
    "us-east-2",
    "us-west-1",
    "us-west-2",
    "us-gov-east-1",
    "us-gov-west-1",
    "af-south-1",
    "ap-east-1",
    "ap-south-1",
    "ap-south-2",
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-northeast-3",
    "ap-southeast-1",
    "ap-southeast-2",
    "ap-southeast-3",
    "ap-southeast-4",
    "ca-central-1",
    "eu-central-1",
    "eu-central-2",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "eu-south-1",
    "eu-south-2",
    "eu-north-1",
    "me-south-1",
    "me-central-1",
    "sa-east-1",
]
_KEY_SCHEMA = Annotated[
    str, Field(max_length=255, pattern=r"^[A-Za-z0-9_/{}-]*\{\{secretKey\}\}[A-Za-z0-9_/{}-]*$")
]
_FILLED = Annotated[str, Field(min_length=1)]


def _options(name: str, behavior: object, maybe: dict[str, Any] | None = None) -> Shape:
    return shape(
        f"options of {name}",
        {"initialSyncBehavior": behavior},
        {"keySchema": _KEY_SCHEMA, "disableSecretDeletion": bool, **(maybe or {})},
    )


def _variant(words: tuple[str, ...], apps: tuple[str, ...], options: object, config: object) -> Shape:
    return shape(
        f"sync to {words[0]}",
        {
            "id": Uuid,
            "name": Annotated[Slug, Field(min_length=1, max_length=256)],
            "projectId": Uuid,
            "connectionId": Uuid,
            "createdAt": Instant,
            "updatedAt": Instant,
            "syncOptions": options,
            "connection": shape("connection", {"app": Literal[apps], "name": _FILLED, "id": Uuid}),
            "environment": shape("environment", {"slug": Slug, "name": _FILLED, "id": Uuid}) | None,
            "folder": shape("folder", {"id": Uuid, "path": Path}) | None,
            "destination": Literal[words],
            "destinationConfig": config,
            # Those that interface.md lets be absent are always told: null until something is known.
            "description": Annotated[str, Field(max_length=256)] | None,
            "isAutoSyncEnabled": bool,
            "version": Version,
            "folderId": Uuid | None,
            **{
                field: kind
                for verb, done in (("sync", "Synced"), ("import", "Imported"), ("remove", "Removed"))
                for field, kind in (
                    (f"{verb}Status", _JOB_STATE),
                    (f"last{verb.capitalize()}JobId", Uuid | None),
                    (f"last{verb.capitalize()}Message", str | None),
                    (f"last{done}At", Instant | None),
                )
            },
        },
    )


_TAG = shape(
    "tag",
    {
        "key": Annotated[str, Field(min_length=1, max_length=128)],
        "value": Annotated[str, Field(max_length=256)],
    },
)
_CLOUD_OPTIONS = _options(
    "cloud",
    _BEHAVIOR,
    {
        "keyId": Annotated[str, Field(min_length=1, max_length=256)],
        "tags": listed(_TAG, at_most=50),
        "syncSecretMetadataAsTags": bool,
    },
)
_PARAMETER_STORE = shape(
    "parameter store", {"region": _REGION, "path": Annotated[str, Field(min_length=1, max_length=2048)]}
)
_SECRETS_MANAGER = shape("one to one", {"region": _REGION, "mappingBehavior": Literal["one-to-one"]}) | shape(
    "many to one",
    {
        "region": _REGION,
        "mappingBehavior": Literal["many-to-one"],
        "secretName": Annotated[str, Field(min_length=1, max_length=256)],
    },
)
_CODEHOST = (
    shape(
        "organization",
        {
            "scope": Literal["organization"],
            "org": _FILLED,
            "visibility": Literal["all", "private", "selected"],
        },
        {"selectedRepositoryIds": list[int]},
    )
    | shape("repository", {"scope": Literal["repository"], "owner": _FILLED, "repo": _FILLED})
    | shape(
        "repository environment",
        {"scope": Literal["repository-environment"], "owner": _FILLED, "repo": _FILLED, "env": _FILLED},
    )
)
_SHAPES: dict[str, Shape] = {
    "cloud-parameter-store": _variant(
        ("cloud-parameter-store", "aws-parameter-store"), ("cloud", "aws"), _CLOUD_OPTIONS, _PARAMETER_STORE
    ),
    "cloud-secrets-manager": _variant(
        ("cloud-secrets-manager", "aws-secrets-manager"), ("cloud", "aws"), _CLOUD_OPTIONS, _SECRETS_MANAGER
    ),
    "codehost": _variant(
        ("codehost", "github"),
        ("codehost", "github"),
        _options("codehost", Literal["overwrite-destination"]),
        _CODEHOST,
    ),
}

# --- wire.md 3.7: name, connection, destination, whether it can be imported from. Where it gives two answers
# (bitbucket, azure-devops) the newer one.
OFFERED: tuple[tuple[str, str, str, bool], ...] = (
    ("AWS Parameter Store", "cloud", "cloud-parameter-store", True),
    ("AWS Secrets Manager", "cloud", "cloud-secrets-manager", True),
    ("GitHub", "codehost", "codehost", False),
    ("GCP Secret Manager", "gcp", "gcp-secret-manager", True),
    ("Azure Key Vault", "azure-key-vault", "azure-key-vault", True),
    ("Azure App Configuration", "azure-app-configuration", "azure-app-configuration", True),
    ("Azure DevOps", "azure-devops", "azure-devops", True),
    ("Databricks", "databricks", "databricks", False),
    ("Humanitec", "humanitec", "humanitec", False),
    ("Terraform Cloud", "terraform-cloud", "terraform-cloud", False),
    ("Camunda", "camunda", "camunda", False),
    ("Vercel", "vercel", "vercel", True),
    ("Windmill", "windmill", "windmill", True),
    ("Hashicorp Vault", "hashicorp-vault", "hashicorp-vault", True),
    ("TeamCity", "teamcity", "teamcity", True),
    ("OCI Vault", "oci", "oci-vault", True),
    ("1Password", "1password", "1password", True),
    ("Heroku", "heroku", "heroku", True),
    ("Render", "render", "render", True),
    ("Fly.io", "flyio", "flyio", True),
    ("Trigger.dev", "trigger-dev", "trigger-dev", False),
    ("GitLab", "gitlab", "gitlab", False),
    ("Cloudflare Pages", "cloudflare", "cloudflare-pages", False),
    ("Cloudflare Workers", "cloudflare", "cloudflare-workers", False),
    ("Supabase", "supabase", "supabase", False),
    ("Zabbix", "zabbix", "zabbix", True),
    ("Railway", "railway", "railway", True),
    ("Checkly", "checkly", "checkly", False),
    ("Digital Ocean App Platform", "digital-ocean", "digital-ocean-app-platform", False),
    ("Netlify", "netlify", "netlify", True),
    ("Northflank", "northflank", "northflank", True),
    ("Bitbucket", "bitbucket", "bitbucket", True),
    ("Laravel Forge", "laravel-forge", "laravel-forge", True),
    ("Chef", "chef", "chef", True),
    ("Octopus Deploy", "octopus-deploy", "octopus-deploy", False),
    ("CircleCI", "circleci", "circleci", False),
    ("Azure Entra ID SCIM", "azure-entra-id", "azure-entra-id-scim", False),
    ("Infisical", "external-infisical", "external-infisical", True),
    ("OVH Cloud", "ovh", "ovh", False),
    ("Devin", "devin", "devin", False),
    ("Ona", "ona", "ona", False),
    ("Travis CI", "travis-ci", "travis-ci", False),
    ("Snowflake", "snowflake", "snowflake", False),
    ("Qovery", "qovery", "qovery", False),
    ("Hasura Cloud", "hasura-cloud", "hasura-cloud", True),
    ("Rundeck", "rundeck", "rundeck", False),
    ("Cloud 66", "cloud-66", "cloud-66", True),
    ("Spacelift", "spacelift", "spacelift", False),
)
_NOT_REMOVABLE = "azure-entra-id-scim"
_NAMES = tuple(destination for _, _, destination, _ in OFFERED)
_OTHERS = tuple(name for name in _NAMES if name not in _SHAPES)
_OTHER = _variant(
    _OTHERS,
    tuple(app for _, app, destination, _ in OFFERED if destination in _OTHERS),
    dict[str, JsonValue],
    dict[str, JsonValue],
)
_PUBLISHED = {
    "aws-parameter-store": "cloud-parameter-store",
    "aws-secrets-manager": "cloud-secrets-manager",
    "github": "codehost",
}


def _held(given: object) -> object:
    """Return the sync, if it is as its destination's shape has it."""
    word = str(given.get("destination")) if isinstance(given, dict) else ""
    return _SHAPES.get(_PUBLISHED.get(word, word), _OTHER).model_validate(given)


_SYNC = Annotated[Any, AfterValidator(_held)]
_OPTION = shape(
    "option",
    {
        "name": _FILLED,
        "connection": _FILLED,
        "destination": Literal[_NAMES],
        "canImportSecrets": bool,
        "canRemoveSecretsOnDeletion": bool,
    },
)
OPTIONAL = frozenset(
    {
        *("keySchema", "disableSecretDeletion"),
        *("keyId", "tags", "syncSecretMetadataAsTags"),
        "selectedRepositoryIds",
    }
)
"""Fields that may be absent; all others of 2.1 are always told."""
ONE_SYNC = only("secretSync", _SYNC)
SYNCS = only("secretSyncs", list[_SYNC])
SYNC_OPTIONS = only("secretSyncOptions", listed(_OPTION, at_least=48, at_most=48))
_STANDING = shape(
    "synced secret",
    {
        "name": _FILLED,
        "secretKey": _FILLED | None,
        "state": Literal["synced", "pending", "failed", "removing", "foreign"],
        "message": _FILLED | None,
    },
)
SYNCED_SECRETS = only("secrets", listed(_STANDING))
_OWNER = shape(
    "owner of a sync",
    {
        "id": Uuid | None,
        "name": _FILLED | None,
        "kind": Literal["machine", "user"] | None,
        "canReadSource": bool,
        "message": _FILLED | None,
    },
)
SYNC_OWNER = only("owner", _OWNER)
CHECKED = shape("checked place", {"hasDuplicate": bool}, {"duplicateProjectId": Uuid})


def expected_options() -> list[dict[str, object]]:
    """Return the options as they are answered, in the order of their names."""
    return [
        {
            "name": name,
            "connection": app,
            "destination": destination,
            "canImportSecrets": can_import,
            "canRemoveSecretsOnDeletion": destination != _NOT_REMOVABLE,
        }
        for name, app, destination, can_import in sorted(OFFERED, key=lambda row: row[0].casefold())
    ]
