"""The 48 destinations that are offered (wire.md section 3.7), in its order, and the apps of their connections.

All else is derived from this tuple: the routes and what they take, options, the words of the command line, the texts
of the custom resource, and the table in docs/destinations.md. A new destination is its module and its entry here.
"""

from __future__ import annotations

from keybearer.destinations.app import App
from keybearer.destinations.azure_key_vault import AZURE_KEY_VAULT
from keybearer.destinations.cloud_parameter_store import CLOUD_PARAMETER_STORE
from keybearer.destinations.cloud_secrets_manager import CLOUD_SECRETS_MANAGER
from keybearer.destinations.codehost import CODEHOST
from keybearer.destinations.external_infisical import EXTERNAL_INFISICAL
from keybearer.destinations.form import DestinationKind, UnbuiltDestination
from keybearer.destinations.gcp_secret_manager import GCP_SECRET_MANAGER
from keybearer.destinations.gitlab import GITLAB
from keybearer.destinations.hashicorp_vault import HASHICORP_VAULT
from keybearer.destinations.idp import IDP

__all__ = ["APPS", "BUILT", "DESTINATIONS", "OfferedDestination", "app_of", "built", "offered"]

OfferedDestination = DestinationKind | UnbuiltDestination

DESTINATIONS: tuple[OfferedDestination, ...] = (
    CLOUD_PARAMETER_STORE,
    CLOUD_SECRETS_MANAGER,
    CODEHOST,
    GCP_SECRET_MANAGER,
    AZURE_KEY_VAULT,
    UnbuiltDestination(
        "azure-app-configuration", "Azure App Configuration", "azure-app-configuration", can_import=True
    ),
    UnbuiltDestination("azure-devops", "Azure DevOps", "azure-devops", can_import=True),
    UnbuiltDestination("databricks", "Databricks", "databricks", can_import=False),
    UnbuiltDestination("humanitec", "Humanitec", "humanitec", can_import=False),
    UnbuiltDestination("terraform-cloud", "Terraform Cloud", "terraform-cloud", can_import=False),
    UnbuiltDestination("camunda", "Camunda", "camunda", can_import=False),
    UnbuiltDestination("vercel", "Vercel", "vercel", can_import=True),
    UnbuiltDestination("windmill", "Windmill", "windmill", can_import=True),
    HASHICORP_VAULT,
    UnbuiltDestination("teamcity", "TeamCity", "teamcity", can_import=True),
    UnbuiltDestination("oci-vault", "OCI Vault", "oci", can_import=True),
    UnbuiltDestination("1password", "1Password", "1password", can_import=True),
    UnbuiltDestination("heroku", "Heroku", "heroku", can_import=True),
    UnbuiltDestination("render", "Render", "render", can_import=True),
    UnbuiltDestination("flyio", "Fly.io", "flyio", can_import=True),
    UnbuiltDestination("trigger-dev", "Trigger.dev", "trigger-dev", can_import=False),
    GITLAB,
    UnbuiltDestination("cloudflare-pages", "Cloudflare Pages", "cloudflare", can_import=False),
    UnbuiltDestination("cloudflare-workers", "Cloudflare Workers", "cloudflare", can_import=False),
    UnbuiltDestination("supabase", "Supabase", "supabase", can_import=False),
    UnbuiltDestination("zabbix", "Zabbix", "zabbix", can_import=True),
    UnbuiltDestination("railway", "Railway", "railway", can_import=True),
    UnbuiltDestination("checkly", "Checkly", "checkly", can_import=False),
    UnbuiltDestination(
        "digital-ocean-app-platform", "Digital Ocean App Platform", "digital-ocean", can_import=False
    ),
    UnbuiltDestination("netlify", "Netlify", "netlify", can_import=True),
    UnbuiltDestination("northflank", "Northflank", "northflank", can_import=True),
    UnbuiltDestination("bitbucket", "Bitbucket", "bitbucket", can_import=True),
    UnbuiltDestination("laravel-forge", "Laravel Forge", "laravel-forge", can_import=True),
    UnbuiltDestination("chef", "Chef", "chef", can_import=True),
    UnbuiltDestination("octopus-deploy", "Octopus Deploy", "octopus-deploy", can_import=False),
    UnbuiltDestination("circleci", "CircleCI", "circleci", can_import=False),
    UnbuiltDestination(
        "azure-entra-id-scim", "Azure Entra ID SCIM", "azure-entra-id", can_import=False, can_remove=False
    ),
    EXTERNAL_INFISICAL,
    UnbuiltDestination("ovh", "OVH Cloud", "ovh", can_import=False),
    UnbuiltDestination("devin", "Devin", "devin", can_import=False),
    UnbuiltDestination("ona", "Ona", "ona", can_import=False),
    UnbuiltDestination("travis-ci", "Travis CI", "travis-ci", can_import=False),
    UnbuiltDestination("snowflake", "Snowflake", "snowflake", can_import=False),
    UnbuiltDestination("qovery", "Qovery", "qovery", can_import=False),
    UnbuiltDestination("hasura-cloud", "Hasura Cloud", "hasura-cloud", can_import=True),
    UnbuiltDestination("rundeck", "Rundeck", "rundeck", can_import=False),
    UnbuiltDestination("cloud-66", "Cloud 66", "cloud-66", can_import=True),
    UnbuiltDestination("spacelift", "Spacelift", "spacelift", can_import=False),
)
BUILT: tuple[DestinationKind, ...] = tuple(one for one in DESTINATIONS if isinstance(one, DestinationKind))
"""Those that syncs can be made to."""
APPS: tuple[App, ...] = tuple({app.name: app for app in (*(one.app for one in BUILT), IDP)}.values())
"""Those that connections can be made to."""

_OFFERED = {one.name: one for one in DESTINATIONS}
_BUILT = {one.name: one for one in BUILT}
_APPS = {app.name: app for app in APPS}


def offered(name: str) -> OfferedDestination | None:
    """Return the destination of interface.md's name; None where none is offered."""
    return _OFFERED.get(name)


def built(name: str) -> DestinationKind | None:
    """Return the destination of interface.md's name; None for one that nothing here can write to."""
    return _BUILT.get(name)


def app_of(name: str) -> App | None:
    """Return the app of interface.md's name; None for one that no connection can be made to."""
    return _APPS.get(name)
