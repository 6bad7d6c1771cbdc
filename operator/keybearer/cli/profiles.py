"""`keybearer profiles`: what certificates are issued from, and whose agreement that needs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage
from keybearer.base.errors import ConfigurationError
from keybearer.cli.certificate_finding import (
    CertificateProject,
    all_of,
    authority_of,
    in_certificate_project,
    policy_of,
    profile_of,
)
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_fields,
    print_found,
    require_confirmed,
)

if TYPE_CHECKING:
    from keybearer.client import CertificateProfile

__all__ = ["profiles"]

profiles = new_group("Say what certificates are issued from.")

Which = Annotated[str, typer.Argument(help="Slug or id of the profile.", metavar="PROFILE")]


@profiles.command("list")
def list_profiles(
    search: Annotated[str | None, typer.Option(help="Only those with this text.")] = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the profiles of a project."""
    with in_certificate_project(project) as (client, project_id):
        ask = partial(client.certificate_profiles.list, project_id=project_id, search=search)
        found = all_of(ask, lambda page: page.certificate_profiles)
        names = {one.id: one.name for one in client.certificate_authorities.list(project_id=project_id)}
    rows = [
        (one.slug, names.get(one.ca_id or "", one.ca_id or "itself"), one.description, one.id)
        for one in found
    ]
    print_found(output, found, ("SLUG", "SIGNED BY", "DESCRIPTION", "ID"), rows)


@profiles.command("show")
def show(profile: Which, project: CertificateProject = None, output: Output = OutputFormat.TABLE) -> None:
    """Show a profile.

    Shows who signs, what may be requested, the defaults, and who must approve.
    """
    with in_certificate_project(project) as (client, project_id):
        found = client.certificate_profiles.get(profile_of(client, profile, project_id).id)
        agreements = client.approval_policies.list(profile_id=found.id, project_id=_project_of(found))
    told = [f"{one.required_approvals} must agree" for one in agreements if one.enabled]
    print_fields(output, found, [*_fields_of(found), ("approval", ", ".join(told) or "none needed")])


@profiles.command("create")
def create(
    slug: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.")],
    policy: Annotated[str, typer.Option(help="Name or id of the policy.", metavar="POLICY")],
    ca: Annotated[
        str | None, typer.Option(help="Name or id of the authority that signs.", metavar="AUTHORITY")
    ] = None,
    self_signed: Annotated[bool, typer.Option("--self-signed", help="Certificates sign themselves.")] = False,
    ttl_days: Annotated[
        int | None, typer.Option(help="Days of validity if a request names none.", min=1)
    ] = None,
    key_algorithm: Annotated[
        KeyAlgorithm | None,
        typer.Option(help="Of keys that the service makes, such as EC_prime256v1.", metavar="ALGORITHM"),
    ] = None,
    key_usage: Annotated[
        list[KeyUsage] | None,
        typer.Option(
            help="Used if a request names none, such as digital_signature; repeatable.", metavar="USAGE"
        ),
    ] = None,
    usage: Annotated[
        list[ExtendedKeyUsage] | None,
        typer.Option(help="Used if a request names none, such as server_auth; repeatable.", metavar="USAGE"),
    ] = None,
    auto_renew: Annotated[
        int | None,
        typer.Option(
            help="Days before the end at which the service renews certificates whose key it made.",
            min=1,
            max=30,
            metavar="DAYS",
        ),
    ] = None,
    template: Annotated[
        str | None,
        typer.Option(
            help="What an authority of kind acme calls this kind of certificate, such as shortlived.",
            metavar="TEMPLATE",
        ),
    ] = None,
    description: Annotated[str | None, typer.Option(help="What it is for.")] = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make a profile."""
    from keybearer.client import ApiEnrollment, ProfileDefaults

    if (ca is None) != self_signed:
        raise ConfigurationError("say who signs: --ca AUTHORITY or --self-signed")
    defaults = ProfileDefaults(
        ttl_days=ttl_days, key_algorithm=key_algorithm, key_usages=key_usage, extended_key_usages=usage
    )
    with in_certificate_project(project) as (client, project_id):
        made = client.certificate_profiles.create(
            slug,
            policy_id=policy_of(client, policy, project_id).id,
            ca_id=None if ca is None else authority_of(client, ca, project_id).id,
            issuer_type="self-signed" if self_signed else "ca",
            description=description,
            defaults=None if defaults == ProfileDefaults() else defaults,
            api_config=ApiEnrollment(auto_renew=True, renew_before_days=auto_renew) if auto_renew else None,
            template=template,
            project_id=project_id,
        )
    print_done(output, made, f"Profile {made.slug} is made; its id is {made.id}.")


@profiles.command("approval")
def approval(
    profile: Which,
    required: Annotated[int, typer.Option(help="How many must approve; 0 for nobody.", min=0)] = 1,
    approver: Annotated[
        list[str] | None,
        typer.Option(
            help="Id of an approver; repeatable. Default: everybody who has the right to approve.",
            metavar="ID",
        ),
    ] = None,
    bypass: Annotated[
        list[str] | None,
        typer.Option(help="Id of an identity whose requests need no approval; repeatable.", metavar="ID"),
    ] = None,
    own: Annotated[bool, typer.Option("--own", help="Requesters may approve their own requests.")] = False,
    request_ttl: Annotated[
        str | None, typer.Option(help="How long requests wait at most, such as 7d. Default: for ever.")
    ] = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Set who must approve requests of a profile."""
    with in_certificate_project(project) as (client, project_id):
        found = client.certificate_profiles.get(profile_of(client, profile, project_id).id)
        present = client.approval_policies.list(profile_id=found.id, project_id=_project_of(found))
        if required == 0:
            for one in present:
                client.approval_policies.delete(one.id)
            print_done(output, None, f"Requests of {found.slug} need nobody's agreement.")
            return
        # The one that is there changes in one step: at no moment, and after no refusal, is there none.
        ask = (
            partial(
                client.approval_policies.update, present[0].id, enabled=True, request_ttl=request_ttl or ""
            )
            if present
            else partial(client.approval_policies.create, found.id, request_ttl=request_ttl)
        )
        told = ask(
            required_approvals=required,
            approver_ids=approver or (),
            bypass_identity_ids=bypass or (),
            allow_self_approval=own,
        )
    print_done(output, told, f"Requests of {found.slug} need {told.required_approvals} to agree.")


@profiles.command("delete")
def delete(
    profile: Which,
    project: CertificateProject = None,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete a profile.

    Certificates that it issued stay valid.
    """
    require_confirmed(f"Delete profile {profile}?", yes=yes)
    with in_certificate_project(project) as (client, project_id):
        deleted = client.certificate_profiles.delete(profile_of(client, profile, project_id).id)
    print_done(output, deleted, f"Profile {deleted.slug} is deleted.")


def _project_of(found: CertificateProfile) -> str | None:
    """Return the project of a profile that was asked for by its id: its policy tells, itself may not."""
    return found.project_id or (found.certificate_policy.project_id if found.certificate_policy else None)


def _fields_of(found: CertificateProfile) -> list[tuple[str, str]]:
    from keybearer.client import ProfileDefaults

    authority, policy = found.certificate_authority, found.certificate_policy
    defaults = found.defaults or ProfileDefaults()
    filled_in = [
        ("valid for", "" if defaults.ttl_days is None else f"{defaults.ttl_days:g} days"),
        ("key", defaults.key_algorithm),
        ("common name", defaults.common_name),
        ("key usages", ", ".join(defaults.key_usages or ())),
        ("extended key usages", ", ".join(defaults.extended_key_usages or ())),
    ]
    return [
        ("slug", found.slug),
        ("signed by", authority.name if authority else found.ca_id or "itself"),
        ("policy", policy.name if policy else found.certificate_policy_id),
        *((name, text) for name, text in filled_in if text),
        ("description", found.description),
        ("created", found.created_at),
        ("id", found.id),
    ]
