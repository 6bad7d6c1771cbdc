"""`keybearer certificates issue` and `fetch`: from a name to a certificate and its key in files."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage, RequestStatus
from keybearer.base.errors import ConfigurationError
from keybearer.cli.certificate_files import (
    CertFile,
    CertificateFiles,
    Force,
    KeyFile,
    chain_text,
    fresh_key,
)
from keybearer.cli.certificate_finding import (
    CertificateProject,
    in_certificate_project,
    metadata_of,
    profile_of,
)
from keybearer.cli.connecting import connected
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import Output, OutputFormat, note, print_exactly, print_json, spinner
from keybearer.cli.private_input import read_text
from keybearer.cli.waiting import wait_until_over

if TYPE_CHECKING:
    from keybearer.client import (
        CertificateAttributes,
        CertificateIssuance,
        CertificateRequestState,
        Keybearer,
    )

__all__ = ["fetch", "issue", "signing_request", "wait_for"]

_POLL_SECONDS = 2.0
_FINAL = frozenset(status.value for status in RequestStatus if status.is_final)
_PATIENCE_SECONDS = 600

Name = Annotated[
    list[str] | None,
    typer.Option("--name", help="For this host name, address, URI or mailbox; repeatable.", metavar="NAME"),
]
Usage = Annotated[
    list[ExtendedKeyUsage] | None,
    typer.Option(
        "--usage", help="What it is for, such as server_auth, client_auth; repeatable.", metavar="USAGE"
    ),
]
KeyUsages = Annotated[
    list[KeyUsage] | None,
    typer.Option(
        "--key-usage", help="What its key is for, such as digital_signature; repeatable.", metavar="USAGE"
    ),
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until it is issued, failed or rejected.")]
Timeout = Annotated[int, typer.Option(help="Seconds to wait at most.", min=1)]
ShowKey = Annotated[bool, typer.Option("--show-key", help="Print the private key as well.")]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A certificate as commands show it; the key only where that was asked for."""

    certificate_request_id: str
    status: str
    message: str = ""
    certificate_id: str | None = None
    serial_number: str | None = None
    certificate: str | None = None
    certificate_chain: str | None = None
    private_key: str | None = field(default=None, repr=False)


def issue(
    profile: Annotated[str, typer.Option(help="Slug or id of the profile.", metavar="PROFILE")],
    name: Name = None,
    common_name: Annotated[str | None, typer.Option(help="The name in its subject.")] = None,
    organization: Annotated[str | None, typer.Option(help="In its subject.")] = None,
    organizational_unit: Annotated[str | None, typer.Option("--unit", help="In its subject.")] = None,
    country: Annotated[str | None, typer.Option(help="In its subject: two capital letters.")] = None,
    state: Annotated[str | None, typer.Option(help="In its subject.")] = None,
    locality: Annotated[str | None, typer.Option(help="In its subject.")] = None,
    usage: Usage = None,
    key_usage: KeyUsages = None,
    ttl: Annotated[
        str | None,
        typer.Option(help="How long it is valid, such as 90d or 12h; by default as the profile says."),
    ] = None,
    csr: Annotated[
        Path | None,
        typer.Option(
            help="A signing request in PEM (- is standard input) in place of a fresh key.", metavar="FILE"
        ),
    ] = None,
    key_algorithm: Annotated[
        KeyAlgorithm | None,
        typer.Option(
            help="Of the fresh key, such as EC_prime256v1 (default), RSA_2048.", metavar="ALGORITHM"
        ),
    ] = None,
    server_key: Annotated[
        bool,
        typer.Option(
            "--server-key",
            help="The service makes the key, keeps it, and can renew the certificate automatically.",
        ),
    ] = False,
    cert_file: CertFile = None,
    key_file: KeyFile = None,
    show_key: ShowKey = False,
    force: Force = False,
    metadata: Annotated[
        list[str] | None, typer.Option(help="Metadata for searches; repeatable.", metavar="KEY=VALUE")
    ] = None,
    application: Annotated[str | None, typer.Option(help="Id of the application it is for.")] = None,
    wait: Wait = False,
    timeout: Timeout = _PATIENCE_SECONDS,
    project: CertificateProject = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Request a certificate.

    The key is made here and never leaves this machine, unless --server-key or --csr says otherwise. It is stored
    before the request, so that it isn't lost if the certificate comes later.
    """
    from keybearer.client import AltName, CertificateAttributes

    asked = CertificateAttributes(
        common_name=common_name,
        organization=organization,
        organizational_unit=organizational_unit,
        country=country,
        state=state,
        locality=locality,
        alt_names=[AltName(value=one) for one in name] if name else None,
        key_usages=key_usage or None,
        extended_key_usages=usage or None,
    )
    if csr is None:
        if key_file is None and not show_key and not server_key:
            raise ConfigurationError("say --key-file FILE, where the fresh key goes, or --show-key")
    elif server_key or key_file is not None or show_key:
        raise ConfigurationError("with --csr there is no key to be made, kept or shown")
    elif asked != CertificateAttributes():
        raise ConfigurationError("what the certificate is to say stands in the signing request of --csr")
    files = CertificateFiles(cert_file, key_file, force=force)
    files.require_free()
    request = key = None
    attributes = CertificateAttributes(ttl=ttl)
    if server_key:
        attributes = replace(asked, key_algorithm=key_algorithm, ttl=ttl)
    elif csr is not None:
        request = read_text(csr)
    else:
        request, key = signing_request(asked, key_algorithm or KeyAlgorithm.EC_P256)
    pairs = metadata_of(metadata)
    with in_certificate_project(project) as (client, project_id):
        profile_id = profile_of(client, profile, project_id).id
        with fresh_key(key_file, key):
            made = client.certificates.issue(
                profile_id, csr=request, attributes=attributes, application_id=application, metadata=pairs
            )
        outcome = _outcome_of(made)
        if made.certificate is None and wait:
            outcome = _awaited(client, outcome, timeout)
    _tell(
        outcome, files, outcome.private_key or key, written=key is not None, show_key=show_key, output=output
    )


def fetch(
    request: Annotated[str, typer.Argument(help="Id of the request.", metavar="REQUEST")],
    cert_file: CertFile = None,
    key_file: KeyFile = None,
    show_key: ShowKey = False,
    force: Force = False,
    wait: Wait = False,
    timeout: Timeout = _PATIENCE_SECONDS,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Get the certificate of a request that was approved or validated.

    The key comes with it only if the service made it.
    """
    files = CertificateFiles(cert_file, key_file, force=force)
    files.require_free()
    with connected() as client:
        outcome = _awaited(client, _Outcome(request, RequestStatus.PENDING), timeout if wait else 0)
    _tell(outcome, files, outcome.private_key, written=False, show_key=show_key, output=output)


def signing_request(asked: CertificateAttributes, algorithm: KeyAlgorithm) -> tuple[str, str]:
    """Return a signing request and the fresh key that it is for, both in PEM.

    Raises:
        PkiError: a name can't stand in a certificate, or no such key can be made.
    """
    from keybearer.pki.keys import generate_private_key
    from keybearer.pki.names import Subject, alternative_name
    from keybearer.pki.signing_requests import build_signing_request
    from keybearer.wire.certificates.names import guessed_name_type

    key = generate_private_key(algorithm)
    subject = Subject.of(
        asked.common_name,
        organization=asked.organization,
        organizational_unit=asked.organizational_unit,
        country=asked.country,
        state=asked.state,
        locality=asked.locality,
    )
    names = [one.value for one in asked.alt_names or ()]
    request = build_signing_request(
        key,
        subject,
        alternative_names=[alternative_name(guessed_name_type(name), name) for name in names],
        key_usages=frozenset(map(KeyUsage, asked.key_usages or ())),
        extended_key_usages=tuple(map(ExtendedKeyUsage, asked.extended_key_usages or ())),
    )
    return request, key.pem()


def wait_for(
    request_id: str,
    read: Callable[[], CertificateRequestState],
    tell: Callable[[str], None],
    *,
    patience: timedelta,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> CertificateRequestState:
    """Return the request once it is over, however it ended; the arguments are those of `wait_until_over`.

    Raises:
        CommandError: it isn't over after that time; it goes on by itself.
    """
    return wait_until_over(
        f"request {request_id}",
        read(),
        read,
        lambda state: None if state.status in _FINAL else state.status,
        tell,
        f"keybearer certificates fetch {request_id}",
        patience=patience,
        every_seconds=_POLL_SECONDS,
        sleep=sleep,
        monotonic=monotonic,
    )


def _outcome_of(made: CertificateIssuance) -> _Outcome:
    issued = made.certificate
    if issued is None:
        return _Outcome(made.certificate_request_id, made.status or RequestStatus.PENDING, made.message)
    return _Outcome(
        made.certificate_request_id,
        made.status or RequestStatus.ISSUED,
        made.message,
        issued.certificate_id,
        issued.serial_number,
        issued.certificate,
        issued.certificate_chain,
        issued.private_key,
    )


def _awaited(client: Keybearer, begun: _Outcome, patience_seconds: int) -> _Outcome:
    """Return how a request stands once it is over, or after so long."""
    read = partial(client.certificate_requests.get, begun.certificate_request_id)
    if patience_seconds:
        with spinner() as tell:
            state = wait_for(
                begun.certificate_request_id, read, tell, patience=timedelta(seconds=patience_seconds)
            )
    else:
        state = read()
    chain = state.certificate_chain
    if state.certificate_id is not None and chain is None:
        chain = client.certificates.get_chain(state.certificate_id).certificate_chain
    return _Outcome(
        begun.certificate_request_id,
        state.status,
        state.error_message or "",
        state.certificate_id,
        state.serial_number,
        state.certificate,
        chain,
        state.private_key,
    )


def _tell(
    outcome: _Outcome,
    files: CertificateFiles,
    key: str | None,
    *,
    written: bool,
    show_key: bool,
    output: OutputFormat,
) -> None:
    """Write and print what came of a request: texts for people, all of it for programs; `written` is a key before."""
    text = None
    if outcome.certificate is not None:
        (replace(files, key_file=None) if written else files).write(
            outcome.certificate, outcome.certificate_chain, key
        )
        text = chain_text(outcome.certificate, outcome.certificate_chain)
    shown = replace(outcome, private_key=key if show_key else None)
    if output is OutputFormat.JSON:
        print_json(shown)
    else:
        print_exactly(("" if files.cert_file else text or "") + (shown.private_key or ""))
    if outcome.status in (RequestStatus.FAILED, RequestStatus.REJECTED):
        why = f": {outcome.message}" if outcome.message else ""
        raise CommandError(
            f"request {outcome.certificate_request_id} is {outcome.status}{why}", ExitStatus.REFUSED
        )
    if output is OutputFormat.TABLE:
        note(
            f"Request {outcome.certificate_request_id} is {outcome.status}. "
            f"Get it later: keybearer certificates fetch {outcome.certificate_request_id}"
            if text is None
            else f"Certificate {outcome.certificate_id} is issued{files.told()}."
        )
