"""The 48 destinations that are offered (wire.md section 3.7), those without a driver as well."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DESTINATIONS", "OfferedDestination", "offered"]


@dataclass(frozen=True, slots=True)
class OfferedDestination:
    """A destination as it is offered.

    Attributes:
        name: interface.md's word, or the published one where it has none.
        title: as people write it.
        app: of the connections it takes.
        can_import: whether its secrets can be read back.
        can_remove: whether they can be removed when the sync is deleted.
    """

    name: str
    title: str
    app: str
    can_import: bool
    can_remove: bool = True


DESTINATIONS: tuple[OfferedDestination, ...] = (
    OfferedDestination("cloud-parameter-store", "AWS Parameter Store", "cloud", can_import=True),
    OfferedDestination("cloud-secrets-manager", "AWS Secrets Manager", "cloud", can_import=True),
    OfferedDestination("codehost", "GitHub", "codehost", can_import=False),
    OfferedDestination("gcp-secret-manager", "GCP Secret Manager", "gcp", can_import=True),
    OfferedDestination("azure-key-vault", "Azure Key Vault", "azure-key-vault", can_import=True),
    OfferedDestination(
        "azure-app-configuration", "Azure App Configuration", "azure-app-configuration", can_import=True
    ),
    OfferedDestination("azure-devops", "Azure DevOps", "azure-devops", can_import=True),
    OfferedDestination("databricks", "Databricks", "databricks", can_import=False),
    OfferedDestination("humanitec", "Humanitec", "humanitec", can_import=False),
    OfferedDestination("terraform-cloud", "Terraform Cloud", "terraform-cloud", can_import=False),
    OfferedDestination("camunda", "Camunda", "camunda", can_import=False),
    OfferedDestination("vercel", "Vercel", "vercel", can_import=True),
    OfferedDestination("windmill", "Windmill", "windmill", can_import=True),
    OfferedDestination("hashicorp-vault", "Hashicorp Vault", "hashicorp-vault", can_import=True),
    OfferedDestination("teamcity", "TeamCity", "teamcity", can_import=True),
    OfferedDestination("oci-vault", "OCI Vault", "oci", can_import=True),
    OfferedDestination("1password", "1Password", "1password", can_import=True),
    OfferedDestination("heroku", "Heroku", "heroku", can_import=True),
    OfferedDestination("render", "Render", "render", can_import=True),
    OfferedDestination("flyio", "Fly.io", "flyio", can_import=True),
    OfferedDestination("trigger-dev", "Trigger.dev", "trigger-dev", can_import=False),
    OfferedDestination("gitlab", "GitLab", "gitlab", can_import=False),
    OfferedDestination("cloudflare-pages", "Cloudflare Pages", "cloudflare", can_import=False),
    OfferedDestination("cloudflare-workers", "Cloudflare Workers", "cloudflare", can_import=False),
    OfferedDestination("supabase", "Supabase", "supabase", can_import=False),
    OfferedDestination("zabbix", "Zabbix", "zabbix", can_import=True),
    OfferedDestination("railway", "Railway", "railway", can_import=True),
    OfferedDestination("checkly", "Checkly", "checkly", can_import=False),
    OfferedDestination(
        "digital-ocean-app-platform", "Digital Ocean App Platform", "digital-ocean", can_import=False
    ),
    OfferedDestination("netlify", "Netlify", "netlify", can_import=True),
    OfferedDestination("northflank", "Northflank", "northflank", can_import=True),
    OfferedDestination("bitbucket", "Bitbucket", "bitbucket", can_import=True),
    OfferedDestination("laravel-forge", "Laravel Forge", "laravel-forge", can_import=True),
    OfferedDestination("chef", "Chef", "chef", can_import=True),
    OfferedDestination("octopus-deploy", "Octopus Deploy", "octopus-deploy", can_import=False),
    OfferedDestination("circleci", "CircleCI", "circleci", can_import=False),
    OfferedDestination(
        "azure-entra-id-scim", "Azure Entra ID SCIM", "azure-entra-id", can_import=False, can_remove=False
    ),
    OfferedDestination("external-infisical", "Infisical", "external-infisical", can_import=True),
    OfferedDestination("ovh", "OVH Cloud", "ovh", can_import=False),
    OfferedDestination("devin", "Devin", "devin", can_import=False),
    OfferedDestination("ona", "Ona", "ona", can_import=False),
    OfferedDestination("travis-ci", "Travis CI", "travis-ci", can_import=False),
    OfferedDestination("snowflake", "Snowflake", "snowflake", can_import=False),
    OfferedDestination("qovery", "Qovery", "qovery", can_import=False),
    OfferedDestination("hasura-cloud", "Hasura Cloud", "hasura-cloud", can_import=True),
    OfferedDestination("rundeck", "Rundeck", "rundeck", can_import=False),
    OfferedDestination("cloud-66", "Cloud 66", "cloud-66", can_import=True),
    OfferedDestination("spacelift", "Spacelift", "spacelift", can_import=False),
)
_BY_NAME = {destination.name: destination for destination in DESTINATIONS}


def offered(name: str) -> OfferedDestination | None:
    """Return the destination of that name; None where none is offered."""
    return _BY_NAME.get(name)
