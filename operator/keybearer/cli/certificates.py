"""`keybearer certificates`: what was issued, and what is done with it."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.certificate_terms import CertificateStatus, RequestStatus, RevocationReason
from keybearer.cli.certificate_approving import approve, reject, requests
from keybearer.cli.certificate_files import CertFile, CertificateFiles, Force, KeyFile, chain_text
from keybearer.cli.certificate_finding import (
    CERTIFICATE,
    CertificateProject,
    Limit,
    all_of,
    certificate_id_of,
    in_certificate_project,
    metadata_of,
    profile_of,
)
from keybearer.cli.certificate_issuing import fetch, issue
from keybearer.cli.certificate_verifying import verify
from keybearer.cli.connecting import connected
from keybearer.cli.instants import since_of
from keybearer.cli.nouns import Noun
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_exactly,
    print_fields,
    require_confirmed,
)

if TYPE_CHECKING:
    from keybearer.client import Certificate, CertificateRequest, Keybearer

__all__ = ["certificates"]

certificates = new_group("Ask for certificates, renew and revoke them.")
for _command in (issue, fetch, requests, approve, reject, verify):
    certificates.command()(_command)

REQUEST: Noun[CertificateRequest] = Noun(
    "request",
    ("NAME", "STATUS", "PROFILE", "MADE", "CERTIFICATE", "REQUEST"),
    lambda one: (
        one.common_name or one.alt_names,
        _standing(one),
        one.profile_name,
        one.created_at,
        one.certificate_id or "",
        one.id,
    ),
)

Which = Annotated[str, typer.Argument(help="Id of the certificate.", metavar="CERTIFICATE")]


@certificates.command("list")
def list_certificates(
    profile: Annotated[
        str | None, typer.Option(help="Only those of this profile: slug or id.", metavar="PROFILE")
    ] = None,
    status: Annotated[CertificateStatus | None, typer.Option(help="Only those.")] = None,
    search: Annotated[str | None, typer.Option(help="Only those with this text in a name.")] = None,
    project: CertificateProject = None,
    limit: Limit = 100,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List certificates, the newest first."""
    with in_certificate_project(project) as (client, project_id):
        ask = (
            partial(client.certificates.list, project_id=project_id)
            if profile is None
            else partial(
                client.certificate_profiles.list_certificates, profile_of(client, profile, project_id).id
            )
        )
        found = all_of(partial(ask, status=status, search=search), lambda page: page.certificates, limit)
    CERTIFICATE.print_list(output, found)


@certificates.command("show")
def show(
    certificate: Annotated[
        str, typer.Argument(help="Id or serial number of the certificate.", metavar="CERTIFICATE")
    ],
    pem: Annotated[bool, typer.Option("--pem", help="Print only its PEM text, with its chain.")] = False,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show a certificate. Never shows its key."""
    with in_certificate_project(project) as (client, project_id):
        certificate_id = certificate_id_of(client, certificate, project_id)
        if pem:
            text = client.certificates.get_chain(certificate_id)
            print_exactly(chain_text(text.certificate, text.certificate_chain))
            return
        found = client.certificates.get(certificate_id)
        rows = [] if output is OutputFormat.JSON else _fields_of(client, found)
    print_fields(output, found, rows)


@certificates.command("search")
def search_requests(
    text: Annotated[str | None, typer.Argument(help="Text in a name.", metavar="[TEXT]")] = None,
    metadata: Annotated[
        list[str] | None,
        typer.Option(help="Only with this metadata; repeatable: all must match.", metavar="KEY=VALUE"),
    ] = None,
    status: Annotated[
        RequestStatus | None,
        typer.Option(help="Only with this status, such as issued, pending_approval.", metavar="STATUS"),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(help="Only of this profile: slug or id; repeatable.", metavar="PROFILE"),
    ] = None,
    since: Annotated[str | None, typer.Option(help="Since then: 30m, 24h, or 2026-01-02T03:04:05Z.")] = None,
    project: CertificateProject = None,
    limit: Limit = 20,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Find requests for certificates, the newest first."""
    pairs = metadata_of(metadata)
    begin = None if since is None else since_of(since)
    with in_certificate_project(project) as (client, project_id):
        ask = partial(
            client.certificate_requests.search,
            project_id=project_id,
            search=text,
            status=status,
            from_date=begin,
            profile_ids=[profile_of(client, one, project_id).id for one in profile or ()],
            metadata=pairs,
        )
        REQUEST.print_list(output, all_of(ask, lambda page: page.certificate_requests, limit))


@certificates.command("renew")
def renew(
    certificate: Which,
    cert_file: CertFile = None,
    key_file: KeyFile = None,
    force: Force = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Renew a certificate whose key the service made.

    The old one stays valid until it ends.
    """
    files = CertificateFiles(cert_file, key_file, force=force)
    files.require_free()
    with connected() as client:
        renewed = client.certificates.renew(certificate)
        if renewed.certificate is None:
            waiting = {"certificate_request_id": renewed.certificate_request_id}
            print_done(output, waiting, f"Request {renewed.certificate_request_id} waits.")
            return
    files.write(renewed.certificate, renewed.certificate_chain, renewed.private_key)
    told = {
        "certificate_id": renewed.certificate_id or "",
        "certificate_request_id": renewed.certificate_request_id,
        "serial_number": renewed.serial_number,
    }
    new = f"Certificate {told['certificate_id']} takes the place of {certificate}{files.told()}."
    print_done(output, told, new)


@certificates.command("revoke")
def revoke(
    certificate: Which,
    reason: Annotated[
        RevocationReason,
        typer.Option(
            help="Why: see above.", metavar="REASON", case_sensitive=False, show_default="unspecified"
        ),
    ] = RevocationReason.UNSPECIFIED,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Revoke a certificate, for good.

    Reasons: unspecified, key_compromise, ca_compromise, affiliation_changed, superseded, cessation_of_operation,
    certificate_hold, privilege_withdrawn, a_a_compromise.
    """
    require_confirmed(f"Revoke certificate {certificate}?", yes=yes)
    with connected() as client:
        revoked = client.certificates.revoke(certificate, reason=reason.value)
    print_done(output, revoked, f"Certificate {certificate} is revoked.")


@certificates.command("cancel")
def cancel(
    request: Annotated[str, typer.Argument(help="Id of the request.", metavar="REQUEST")],
    output: Output = OutputFormat.TABLE,
) -> None:
    """Cancel a request that is in progress."""
    with connected() as client:
        told = client.certificate_requests.cancel(request)
    done = "is given up" if told.cancelled else f"was {told.status} already"
    print_done(output, told, f"Request {request} {done}.")


def _standing(request: CertificateRequest) -> str:
    why = request.error_message or request.pending_message
    return f"{request.status}: {why}" if why else request.status


def _fields_of(client: Keybearer, found: Certificate) -> list[tuple[str, str]]:
    """Return what a table shows, with the names of profile and authority where those may be looked at."""
    from keybearer.client import NotFound, PermissionDenied

    profile = authority = ""
    if found.profile_id:
        with suppress(NotFound, PermissionDenied):
            profile = client.certificate_profiles.get(found.profile_id).slug
    if found.ca_id:
        with suppress(NotFound, PermissionDenied):
            listed = client.certificate_authorities.list(project_id=found.project_id or None)
            authority = next((one.name for one in listed if one.id == found.ca_id), "")
    return [
        ("id", found.id),
        ("status", found.status),
        ("common name", found.common_name),
        ("other names", found.alt_names),
        ("serial number", found.serial_number),
        ("not before", found.not_before),
        ("not after", found.not_after),
        ("key", found.key_algorithm),
        ("signature", found.signature_algorithm),
        ("key usages", ", ".join(found.key_usages)),
        ("extended key usages", ", ".join(found.extended_key_usages)),
        ("profile", f"{profile} ({found.profile_id})" if profile else found.profile_id or ""),
        ("authority", f"{authority} ({found.ca_id})" if authority else found.ca_id or ""),
        ("revoked", "" if found.revoked_at is None else f"{found.revoked_at} ({found.revocation_reason})"),
    ]
