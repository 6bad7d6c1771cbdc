"""`keybearer certificates verify`: whether a certificate can be trusted, judged here."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.certificate_terms import ExtendedKeyUsage
from keybearer.base.clock import format_instant, parse_instant
from keybearer.base.errors import ConfigurationError
from keybearer.cli.certificate_files import chain_text
from keybearer.cli.certificate_finding import CertificateProject, authority_of, in_certificate_project
from keybearer.cli.failures import CommandError
from keybearer.cli.output import Output, OutputFormat, note, print_found
from keybearer.cli.private_input import read_text
from keybearer.pki.errors import ChainError

if TYPE_CHECKING:
    from keybearer.pki.certificates import Certificate

__all__ = ["verified_path", "verify"]


def verify(
    file: Annotated[
        Path,
        typer.Argument(
            help="The certificate in PEM, and those that came with it; - is standard input.",
            allow_dash=True,
            metavar="FILE",
        ),
    ],
    ca: Annotated[
        str | None, typer.Option(help="Trust this authority of the service: name or id.", metavar="AUTHORITY")
    ] = None,
    ca_file: Annotated[
        Path | None,
        typer.Option(help="Trust the certificates of this file; nothing is asked for.", metavar="FILE"),
    ] = None,
    usage: Annotated[
        list[ExtendedKeyUsage] | None,
        typer.Option(help="Usage that it must have, such as server_auth; repeatable.", metavar="USAGE"),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Then, such as 2026-01-02T03:04:05Z; by default now.", metavar="INSTANT"),
    ] = None,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Verify that a certificate can be trusted.

    Checks that an authority signed it, that it is valid, and that it fits its use, but not whether it was revoked.
    The last line is the verdict. Status 1 means that it can't be trusted; the reason is shown.
    """
    if (ca is None) == (ca_file is None):
        raise ConfigurationError("say whom to trust: --ca AUTHORITY or --ca-file FILE")
    presented = read_text(file)
    anchors = read_text(ca_file) if ca_file is not None else _texts_of(ca or "", project)
    try:
        path = verified_path(presented, anchors, _instant(at), tuple(usage or ()))
    except ChainError as error:
        raise CommandError(f"not trusted: {error}") from error
    rows = [
        (_named(one), one.serial, format_instant(one.not_before), format_instant(one.not_after))
        for one in path
    ]
    names = ("subject", "serial_number", "not_before", "not_after")
    content = [dict(zip(names, row, strict=True)) for row in rows]
    columns = ("SUBJECT", "SERIAL NUMBER", "FROM", "UNTIL")
    print_found(output, content, columns, rows)
    leaf = path[0]
    note(f"Trusted: certificate {leaf.serial} leads to {_named(path[-1])}, and is valid until {rows[0][-1]}.")


def _named(certificate: Certificate) -> str:
    """Return the subject; the alternative names of a certificate that has no subject."""
    names = ", ".join(map(str, certificate.alternative_names))
    return str(certificate.subject) or names or "(no subject)"


def verified_path(
    presented: str, anchors: str, now: datetime, usages: tuple[ExtendedKeyUsage, ...]
) -> tuple[Certificate, ...]:
    """Return the path from the first certificate of a text to one of those that are trusted.

    Raises:
        PkiError: there is none; the message says what is wrong.
    """
    from keybearer.pki.certificates import parse_certificates
    from keybearer.pki.chains import verify_chain

    leaf, *others = parse_certificates(presented)
    return verify_chain(leaf, others, parse_certificates(anchors), now, usages=usages)


def _texts_of(ca: str, project: str | None) -> str:
    """Return the certificates that an authority has and had."""
    with in_certificate_project(project) as (client, project_id):
        found = authority_of(client, ca, project_id)
        listed = client.certificate_authorities.list_certificates(found.id)
    return "".join(chain_text(one.certificate, None) for one in listed)


def _instant(text: str | None) -> datetime:
    if text is None:
        return datetime.now(UTC)
    try:
        return parse_instant(text)
    except ValueError as error:
        raise ConfigurationError(f"--at {text!r}: {error}") from error
