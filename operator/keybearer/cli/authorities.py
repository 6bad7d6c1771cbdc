"""`keybearer authorities`: who signs certificates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.base.errors import ConfigurationError
from keybearer.cli.authorities_below import (
    certify_or_remove,
    end_after,
    end_below,
    internal_of,
    warning_of_end,
)
from keybearer.cli.certificate_files import chain_text
from keybearer.cli.certificate_finding import (
    AUTHORITY,
    CertificateProject,
    authority_of,
    in_certificate_project,
)
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
from keybearer.cli.own_credentials import OwnCredential
from keybearer.cli.private_input import private_text, read_text

if TYPE_CHECKING:
    from keybearer.client import AcmeAuthority, InternalAuthority
    from keybearer.client.operations.authority_terms import AuthorityStatusWord

__all__ = ["authorities"]

authorities = new_group("Make authorities that sign certificates.")

Which = Annotated[str, typer.Argument(help="Name or id of the authority.", metavar="AUTHORITY")]
Days = Annotated[
    int | None,
    typer.Option(
        help="How long its certificate is valid; by default 3650, or as long as that of who signs it.", min=1
    ),
]


@authorities.command("list")
def list_authorities(project: CertificateProject = None, output: Output = OutputFormat.TABLE) -> None:
    """List the authorities of a project."""
    with in_certificate_project(project) as (client, project_id):
        AUTHORITY.print_list(output, client.certificate_authorities.list(project_id=project_id))


@authorities.command("show")
def show(
    authority: Which,
    pem: Annotated[bool, typer.Option("--pem", help="Print only its certificate, with its chain.")] = False,
    csr: Annotated[
        bool, typer.Option("--csr", help="Print only the signing request of an intermediate.")
    ] = False,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show an authority. Never shows its key."""
    with in_certificate_project(project) as (client, project_id):
        found = authority_of(client, authority, project_id)
        if csr:
            print_exactly(client.certificate_authorities.get_csr(internal_of(client, found).id))
        elif pem:
            told = client.certificate_authorities.get_certificate(found.id)
            print_exactly(chain_text(told.certificate, told.certificate_chain))
        elif found.type == "acme":
            elsewhere = client.certificate_authorities.get_acme(found.id)
            print_fields(output, elsewhere, _fields_of(elsewhere, _acme_fields(elsewhere)))
        elif found.type == "internal":
            ours = client.certificate_authorities.get(found.id)
            print_fields(output, ours, _fields_of(ours, _internal_fields(ours)))
        else:
            rows = [("name", found.name), ("type", found.type), ("status", found.status), ("id", found.id)]
            print_fields(output, found, rows)


@authorities.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.")],
    parent: Annotated[
        str | None,
        typer.Option(
            help="Name or id of the authority that signs it; without, it signs itself.", metavar="AUTHORITY"
        ),
    ] = None,
    signed_elsewhere: Annotated[
        bool,
        typer.Option(
            "--signed-elsewhere",
            help="An authority outside the service signs it: get its request with show --csr, and hand in the "
            "certificate with certify.",
        ),
    ] = False,
    common_name: Annotated[str | None, typer.Option(help="In its subject; its name by default.")] = None,
    organization: Annotated[str, typer.Option(help="In its subject.")] = "",
    organizational_unit: Annotated[str, typer.Option("--unit", help="In its subject.")] = "",
    country: Annotated[str, typer.Option(help="In its subject: two capital letters.")] = "",
    state: Annotated[str, typer.Option(help="In its subject.")] = "",
    locality: Annotated[str, typer.Option(help="In its subject.")] = "",
    key_algorithm: Annotated[
        KeyAlgorithm,
        typer.Option(help="Of its key, such as EC_prime256v1 (default), RSA_4096.", metavar="ALGORITHM"),
    ] = KeyAlgorithm.EC_P256,
    path_length: Annotated[
        int | None,
        typer.Option(help="How many authorities may be below it. Default: any number.", min=0),
    ] = None,
    days: Days = None,
    kind: Annotated[
        Literal["internal", "acme"],
        typer.Option(help="internal (default), or acme for an authority elsewhere that speaks ACME."),
    ] = "internal",
    directory: Annotated[
        str | None, typer.Option(help="Of kind acme: URL of its directory.", metavar="URL")
    ] = None,
    email: Annotated[
        str | None, typer.Option(help="Of kind acme: the email address for its notices.")
    ] = None,
    agree_to_terms: Annotated[
        bool, typer.Option("--agree-to-terms", help="Of kind acme: agree to its terms of service.")
    ] = False,
    eab_kid: Annotated[
        str | None,
        typer.Option("--eab-kid", help="Of kind acme: the key id that it gave you.", metavar="KID"),
    ] = None,
    eab_key_file: Annotated[
        Path | None,
        typer.Option(
            help="Of kind acme: file with the HMAC key that goes with it, - for standard input; by default "
            "KEYBEARER_EAB_KEY, or a prompt.",
            metavar="FILE",
        ),
    ] = None,
    ca_certificates: Annotated[
        Path | None,
        typer.Option(
            help="Of kind acme: PEM certificates that its server may also prove itself with, in addition to "
            "the system's.",
            metavar="FILE",
        ),
    ] = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make an authority, ready to sign.

    Without options it is a root. With --parent, another authority signs it, and it ends no later than that one. With
    --signed-elsewhere, an authority outside the service signs it. With --kind acme, it is an account at an ACME
    server.
    """
    theirs = {
        "--directory": directory,
        "--email": email,
        "--eab-kid": eab_kid,
        "--eab-key-file": eab_key_file,
        "--ca-certificates": ca_certificates,
        "--agree-to-terms": agree_to_terms,
    }
    ours = {
        "--parent": parent,
        "--signed-elsewhere": signed_elsewhere,
        "--common-name": common_name,
        "--organization": organization,
        "--unit": organizational_unit,
        "--country": country,
        "--state": state,
        "--locality": locality,
        "--path-length": path_length,
    }
    _require_none_given(ours if kind == "acme" else theirs, kind)
    if signed_elsewhere and (parent is not None or days is not None):
        raise ConfigurationError("with --signed-elsewhere, who signs decides: leave --parent and --days out")
    until = end_after(days)
    with in_certificate_project(project) as (client, project_id):
        made: AcmeAuthority | InternalAuthority
        if kind == "acme":
            if directory is None:
                raise ConfigurationError(
                    "an authority of kind acme needs --directory, the URL where it begins"
                )
            key = None
            if eab_kid is not None:
                key = private_text("HMAC key", variable=OwnCredential.EAB_KEY, file=eab_key_file).strip()
            made = client.certificate_authorities.create_acme(
                name,
                directory_url=directory,
                account_email=email,
                eab_kid=eab_kid,
                eab_hmac_key=key,
                ca_certificates=None if ca_certificates is None else read_text(ca_certificates),
                terms_of_service_agreed=agree_to_terms,
                project_id=project_id,
            )
        else:
            above = None if parent is None else internal_of(client, authority_of(client, parent, project_id))
            if above is not None:
                until = end_below(above, days)
            is_root = above is None and not signed_elsewhere
            made = client.certificate_authorities.create(
                name,
                type="root" if is_root else "intermediate",
                common_name=name if common_name is None else common_name,
                organization=organization,
                ou=organizational_unit,
                country=country,
                province=state,
                locality=locality,
                key_algorithm=key_algorithm,
                max_path_length=-1 if path_length is None else path_length,
                not_after=until if is_root else None,
                project_id=project_id,
            )
            if above is not None:
                made = certify_or_remove(client, made, above, until, path_length)
    waits = f" Its request: keybearer authorities show {made.id} --csr" if signed_elsewhere else ""
    print_done(output, made, f"Authority {made.name} is {made.status}; its id is {made.id}.{waits}")


@authorities.command("certify")
def certify(
    authority: Which,
    certificate: Annotated[
        Path, typer.Option(help="PEM of its certificate, - for standard input.", metavar="FILE")
    ],
    chain: Annotated[
        Path,
        typer.Option(help="PEM of the certificates above it, the nearest first.", metavar="FILE"),
    ],
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Hand in the certificate of an authority that was signed elsewhere.

    The authority signs from then on.
    """
    with in_certificate_project(project) as (client, project_id):
        found = internal_of(client, authority_of(client, authority, project_id))
        client.certificate_authorities.import_certificate(
            found.id, certificate=read_text(certificate), certificate_chain=read_text(chain)
        )
        certified = client.certificate_authorities.get(found.id)
    print_done(output, certified, f"Authority {certified.name} is {certified.status}.")


@authorities.command("renew")
def renew(
    authority: Which,
    days: Days = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Renew the certificate of an authority. Its key stays.

    Certificates that it signed before stay valid.
    """
    with in_certificate_project(project) as (client, project_id):
        found = internal_of(client, authority_of(client, authority, project_id))
        parent_id = None if found.configuration is None else found.configuration.parent_ca_id
        parent = None if parent_id is None else client.certificate_authorities.get(parent_id)
        until = end_after(days) if parent is None else end_below(parent, days)
        renewed = client.certificate_authorities.renew_certificate(found.id, not_after=until)
    print_done(output, renewed, f"Authority {found.name} has another certificate.")


@authorities.command("enable")
def enable(authority: Which, project: CertificateProject = None, output: Output = OutputFormat.TABLE) -> None:
    """Let an authority sign again."""
    _set(authority, "active", project, output)


@authorities.command("disable")
def disable(
    authority: Which, project: CertificateProject = None, output: Output = OutputFormat.TABLE
) -> None:
    """Stop an authority from signing.

    Certificates that it signed stay valid.
    """
    _set(authority, "disabled", project, output)


@authorities.command("delete")
def delete(
    authority: Which,
    project: CertificateProject = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also if certificates that it signed are still valid.")
    ] = False,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete an authority with its key, for good.

    If certificates that it signed are still valid, you need --force. They stay valid, nobody can revoke them any
    more, and neither a list nor OCSP says which were revoked.
    """
    with in_certificate_project(project) as (client, project_id):
        found = authority_of(client, authority, project_id)
        question = f"Delete authority {found.name}, and its key?"
        deleted: AcmeAuthority | InternalAuthority
        if found.type == "acme":
            require_confirmed(question, yes=yes)
            deleted = client.certificate_authorities.delete_acme(found.id)
        else:
            require_confirmed(f"{question}{warning_of_end(client, found.id, project_id)}", yes=yes)
            deleted = client.certificate_authorities.delete(found.id, force=force)
    print_done(output, deleted, f"Authority {deleted.name} is deleted.")


def _set(authority: str, status: AuthorityStatusWord, project: str | None, output: OutputFormat) -> None:
    changed: AcmeAuthority | InternalAuthority
    with in_certificate_project(project) as (client, project_id):
        found = authority_of(client, authority, project_id)
        if found.type == "acme":
            changed = client.certificate_authorities.update_acme(found.id, status=status)
        else:
            changed = client.certificate_authorities.update(found.id, status=status)
    print_done(output, changed, f"Authority {changed.name} is {changed.status}.")


def _require_none_given(given: Mapping[str, object], kind: str) -> None:
    """Let pass if none of these options is given.

    Raises:
        ConfigurationError: one is, which the other kind of authority has.
    """
    named = [option for option, value in given.items() if value not in (None, "", False)]
    if named:
        raise ConfigurationError(f"an authority of kind {kind} takes no {', '.join(named)}")


def _fields_of(
    found: AcmeAuthority | InternalAuthority, own: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    head = [("name", found.name), ("type", found.type), ("status", found.status)]
    return [*head, *own, ("created", found.created_at), ("id", found.id)]


def _acme_fields(found: AcmeAuthority) -> list[tuple[str, str]]:
    told = found.configuration
    if told is None:
        return []
    return [
        ("directory", told.directory_url),
        ("account", told.account_url or ""),
        ("email", told.account_email or ""),
        ("bound to", told.eab_kid or ""),
        ("terms of service", told.terms_of_service or ""),
    ]


def _internal_fields(found: InternalAuthority) -> list[tuple[str, str]]:
    told = found.configuration
    if told is None:
        return []
    length = told.max_path_length
    return [
        ("place", told.type),
        ("subject", told.dn),
        ("key", told.key_algorithm),
        ("path length", "any" if length is None or length < 0 else str(length)),
        ("serial number", told.serial_number or ""),
        ("not before", told.not_before or ""),
        ("not after", told.not_after or ""),
        ("signed by", told.parent_ca_id or ""),
    ]
