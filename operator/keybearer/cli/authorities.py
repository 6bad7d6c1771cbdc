"""`keybearer authorities`: who signs certificates."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.certificate_terms import KeyAlgorithm
from keybearer.cli.acme_authorities import AcmeTerms, create_acme, fields_of_acme, require_none_given
from keybearer.cli.authorities_below import (
    certify_or_remove,
    end_after,
    end_below,
    internal_of,
    warning_of_end,
)
from keybearer.cli.certificate_files import chain_text
from keybearer.cli.certificate_finding import CertificateProject, authority_of, project_of
from keybearer.cli.connecting import connected
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_exactly,
    print_found,
    require_confirmed,
)

if TYPE_CHECKING:
    from keybearer.client import AcmeAuthority, CertificateAuthority, InternalAuthority, Keybearer
    from keybearer.client.operations.authority_terms import AuthorityStatusWord

__all__ = ["authorities"]

authorities = typer.Typer(
    help="Make authorities that sign certificates.", no_args_is_help=True, rich_markup_mode=None
)


class Kind(StrEnum):
    """Where the key of an authority is."""

    INTERNAL = "internal"
    ACME = "acme"


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
    with connected() as client:
        found = client.certificate_authorities.list(project_id=project_of(client, project))
    print_found(
        output,
        found,
        ("NAME", "TYPE", "STATUS", "ID"),
        [(one.name, one.type, one.status, one.id) for one in found],
    )


@authorities.command("show")
def show(
    authority: Which,
    pem: Annotated[
        bool, typer.Option("--pem", help="Its certificate alone, with those that vouch for it.")
    ] = False,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Show an authority. Never shows its key."""
    with connected() as client:
        found = authority_of(client, authority, project_of(client, project))
        if pem:
            told = client.certificate_authorities.get_certificate(found.id)
            print_exactly(chain_text(told.certificate, told.certificate_chain))
            return
        if found.type == "acme":
            elsewhere = client.certificate_authorities.get_acme(found.id)
            print_found(output, elsewhere, ("FIELD", "CONTENT"), fields_of_acme(elsewhere))
            return
        if found.type == "internal":
            shown = client.certificate_authorities.get(found.id)
            print_found(output, shown, ("FIELD", "CONTENT"), _fields_of(shown))
            return
    rows = [("name", found.name), ("type", found.type), ("status", found.status), ("id", found.id)]
    print_found(output, found, ("FIELD", "CONTENT"), rows)


@authorities.command("create")
def create(
    name: Annotated[str, typer.Argument(help="Lower-case letters, digits and hyphens.")],
    parent: Annotated[
        str | None,
        typer.Option(
            help="Name or id of the authority that signs it; without, it signs itself.", metavar="AUTHORITY"
        ),
    ] = None,
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
        typer.Option(help="How many authorities may stand below it; any number by default.", min=0),
    ] = None,
    days: Days = None,
    kind: Annotated[
        Kind, typer.Option(help="internal (default), or acme: one elsewhere that speaks ACME.")
    ] = Kind.INTERNAL,
    directory: Annotated[
        str | None, typer.Option(help="Of kind acme: URL of its directory.", metavar="URL")
    ] = None,
    email: Annotated[str | None, typer.Option(help="Of kind acme: whom it may write to.")] = None,
    agree_to_terms: Annotated[
        bool, typer.Option("--agree-to-terms", help="Of kind acme: agree to its terms of service.")
    ] = False,
    eab_kid: Annotated[
        str | None,
        typer.Option("--eab-kid", help="Of kind acme: key id that it handed out.", metavar="KID"),
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
            help="Of kind acme: PEM certificates that its server may prove itself with, beside the system's.",
            metavar="FILE",
        ),
    ] = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Make an authority, ready to sign.

    A root, with --parent one that another authority signs, or with --kind acme an account at one elsewhere. What
    has a parent ends before it, or with it.
    """
    terms = AcmeTerms(directory, email, eab_kid, eab_key_file, ca_certificates, agree_to_terms)
    ours = {
        "--parent": parent,
        "--common-name": common_name,
        "--organization": organization,
        "--unit": organizational_unit,
        "--country": country,
        "--state": state,
        "--locality": locality,
        "--path-length": path_length,
    }
    require_none_given(ours if kind is Kind.ACME else terms.given, kind.value)
    until = end_after(days)
    with connected() as client:
        project_id = project_of(client, project)
        if kind is Kind.ACME:
            account = create_acme(client, name, terms, project_id)
            print_done(
                output, account, f"Authority {account.name} is {account.status}; its id is {account.id}."
            )
            return
        above = None if parent is None else internal_of(client, authority_of(client, parent, project_id))
        if above is not None:
            until = end_below(above, days)
        made = client.certificate_authorities.create(
            name,
            type="root" if above is None else "intermediate",
            common_name=name if common_name is None else common_name,
            organization=organization,
            ou=organizational_unit,
            country=country,
            province=state,
            locality=locality,
            key_algorithm=key_algorithm.value,
            max_path_length=-1 if path_length is None else path_length,
            not_after=until if above is None else None,
            project_id=project_id,
        )
        if above is not None:
            made = certify_or_remove(client, made, above, until, path_length)
    print_done(output, made, f"Authority {made.name} is {made.status}; its id is {made.id}.")


@authorities.command("renew")
def renew(
    authority: Which,
    days: Days = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Give an authority another certificate for the key it has.

    What it signed before stays valid.
    """
    with connected() as client:
        found = internal_of(client, authority_of(client, authority, project_of(client, project)))
        parent_id = None if found.configuration is None else found.configuration.parent_ca_id
        until = (
            end_after(days)
            if parent_id is None
            else end_below(client.certificate_authorities.get(parent_id), days)
        )
        renewed = client.certificate_authorities.renew_certificate(found.id, not_after=until)
    print_done(output, renewed, f"Authority {found.name} has another certificate.")


@authorities.command("enable")
def enable(authority: Which, project: CertificateProject = None, output: Output = OutputFormat.TABLE) -> None:
    """Let an authority sign again."""
    with connected() as client:
        found = authority_of(client, authority, project_of(client, project))
        changed = _set(client, found, "active")
    print_done(output, changed, f"Authority {changed.name} is {changed.status}.")


@authorities.command("disable")
def disable(
    authority: Which, project: CertificateProject = None, output: Output = OutputFormat.TABLE
) -> None:
    """Have an authority sign nothing.

    What it signed stays valid.
    """
    with connected() as client:
        found = authority_of(client, authority, project_of(client, project))
        changed = _set(client, found, "disabled")
    print_done(output, changed, f"Authority {changed.name} is {changed.status}.")


@authorities.command("delete")
def delete(
    authority: Which,
    project: CertificateProject = None,
    force: Annotated[
        bool, typer.Option("--force", help="Also one that signed what is still valid, authorities or others.")
    ] = False,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete an authority with its key, for good.

    One that signed what is still valid is refused without --force: that stays valid, nobody can revoke any of it from
    then on, and no list and no OCSP tells what was revoked.
    """
    with connected() as client:
        project_id = project_of(client, project)
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


def _set(
    client: Keybearer, found: CertificateAuthority, status: AuthorityStatusWord
) -> AcmeAuthority | InternalAuthority:
    if found.type == "acme":
        return client.certificate_authorities.update_acme(found.id, status=status)
    return client.certificate_authorities.update(found.id, status=status)


def _fields_of(found: InternalAuthority) -> list[tuple[str, str]]:
    rows = [("name", found.name), ("type", found.type), ("status", found.status)]
    told = found.configuration
    if told is not None:
        length = told.max_path_length
        rows += [
            ("place", told.type),
            ("subject", told.dn),
            ("key", told.key_algorithm),
            ("path length", "any" if length is None or length < 0 else str(length)),
            ("serial number", told.serial_number or ""),
            ("not before", told.not_before or ""),
            ("not after", told.not_after or ""),
            ("signed by", told.parent_ca_id or ""),
        ]
    return [*rows, ("created", found.created_at), ("id", found.id)]
