"""The destinations that are offered, and the apps of their connections: those of wire.md section 3.7, in its order.

All else is derived from the tuple below: the routes and what they take, options, the texts of the custom resources,
and the tables in docs/destinations.md. A new destination is its module and its entry here. What packages of others
add is `keybearer.destinations.shipped`'s: a process is given one catalogue at its start, and passes it on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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

__all__ = ["CATALOGUE", "Catalogue", "OfferedDestination"]

OfferedDestination = DestinationKind | UnbuiltDestination


@dataclass(frozen=True, eq=False)
class Catalogue:
    """What a process offers; it never changes.

    Attributes:
        destinations: all, in their order.
        apps_apart: that connections can be made to, and no destination takes.
    """

    destinations: tuple[OfferedDestination, ...]
    apps_apart: tuple[App, ...] = ()

    @cached_property
    def kinds(self) -> tuple[DestinationKind, ...]:
        """Those that syncs can be made to."""
        return tuple(one for one in self.destinations if isinstance(one, DestinationKind))

    @cached_property
    def apps(self) -> tuple[App, ...]:
        """Those that connections can be made to."""
        return tuple(self._apps.values())

    def offered(self, name: str) -> OfferedDestination | None:
        """Return the destination of interface.md's name; None where none is offered."""
        return self._offered.get(name)

    def kind(self, name: str) -> DestinationKind | None:
        """Return the destination of interface.md's name; None for one that nothing here can write to."""
        return self._kinds.get(name)

    def app(self, name: str) -> App | None:
        """Return the app of interface.md's name; None for one that no connection can be made to."""
        return self._apps.get(name)

    def waiting_for_app(self, name: str) -> OfferedDestination | None:
        """Return a destination whose app no connection can be made to yet; None if no destination has that app."""
        if name in self._apps:
            return None
        return next((one for one in self.destinations if one.connection == name), None)

    @cached_property
    def _offered(self) -> dict[str, OfferedDestination]:
        return {one.name: one for one in self.destinations}

    @cached_property
    def _kinds(self) -> dict[str, DestinationKind]:
        return {one.name: one for one in self.kinds}

    @cached_property
    def _apps(self) -> dict[str, App]:
        return {app.name: app for app in (*(kind.app for kind in self.kinds), *self.apps_apart)}


_DESTINATIONS: tuple[OfferedDestination, ...] = (
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
CATALOGUE = Catalogue(_DESTINATIONS, (IDP,))
"""What this version offers without packages of others."""
