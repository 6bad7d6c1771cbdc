"""`keybearer identities kubernetes-auth` and `ldap-auth`: further ways for an identity to log in.

What the service keeps for them (a reviewer's token, the password of a bind) comes from a file, standard input or a
hidden prompt, and is shown nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import connected
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_found,
    require_confirmed,
)
from keybearer.cli.own_credentials import OwnCredential
from keybearer.cli.private_input import private_text, read_text

if TYPE_CHECKING:
    from keybearer.client import AllowedField, KubernetesAuthSettings, LdapAuthSettings

__all__ = ["kubernetes_auth", "ldap_auth"]

kubernetes_auth = typer.Typer(
    help="Let ServiceAccounts of a cluster log in as an identity.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
ldap_auth = typer.Typer(
    help="Let people of a directory log in as an identity.", no_args_is_help=True, rich_markup_mode=None
)

IdentityId = Annotated[str, typer.Argument(help="Id of the identity.")]
CaFile = Annotated[
    Path | None, typer.Option(help="PEM certificates that the service is to trust there.", dir_okay=False)
]
TokenTtl = Annotated[int | None, typer.Option(help="Seconds a token lives; 0 for no end.", min=0)]
TokenMaxTtl = Annotated[int | None, typer.Option(help="Seconds to which it may be renewed.", min=0)]
TokenUses = Annotated[int | None, typer.Option(help="Requests a token is good for; 0 for any number.", min=0)]
TrustedIps = Annotated[
    list[str] | None,
    typer.Option("--trusted-ip", help="Where tokens may be used: address or range; repeatable."),
]


@kubernetes_auth.command("attach")
def attach_kubernetes_auth(
    identity_id: IdentityId,
    host: Annotated[str, typer.Option(help="Address of the API server, such as https://10.0.0.1:6443.")],
    ca_file: CaFile = None,
    reviewer_token_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the token that the service asks the API server with; - is standard input. Without, "
            "it asks with the token that logs in.",
            allow_dash=True,
        ),
    ] = None,
    namespace: Annotated[
        list[str] | None, typer.Option(help="Namespaces that may log in; * is a wildcard; repeatable.")
    ] = None,
    service_account: Annotated[
        list[str] | None, typer.Option(help="ServiceAccounts that may log in; repeatable.")
    ] = None,
    audience: Annotated[str | None, typer.Option(help="What tokens must be for.")] = None,
    token_ttl: TokenTtl = None,
    token_max_ttl: TokenMaxTtl = None,
    token_uses: TokenUses = None,
    trusted_ip: TrustedIps = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Let ServiceAccounts of a cluster log in as an identity.

    Without --namespace and --service-account, every ServiceAccount of the cluster may.
    """
    reviewer = None if reviewer_token_file is None else read_text(reviewer_token_file).strip()
    with connected() as client:
        made = client.identities.kubernetes_auth.attach(
            identity_id,
            kubernetes_host=host,
            ca_cert=_pem(ca_file),
            token_reviewer_jwt=reviewer,
            allowed_namespaces=_parted(namespace),
            allowed_names=_parted(service_account),
            allowed_audience=audience,
            access_token_ttl=token_ttl,
            access_token_max_ttl=token_max_ttl,
            access_token_num_uses_limit=token_uses,
            access_token_trusted_ips=_given(trusted_ip),
        )
    print_done(
        output, asdict(made), f"ServiceAccounts of {made.kubernetes_host} may log in as {identity_id}."
    )


@kubernetes_auth.command("show")
def show_kubernetes_auth(identity_id: IdentityId, output: Output = OutputFormat.TABLE) -> None:
    """Show which ServiceAccounts may log in as an identity."""
    with connected() as client:
        found = client.identities.kubernetes_auth.get(identity_id)
    rows = [
        ("host", found.kubernetes_host),
        ("namespaces", found.allowed_namespaces or "all"),
        ("service accounts", found.allowed_names or "all"),
        ("audience", found.allowed_audience or "any"),
        ("certificates", _trust(found.ca_cert)),
    ]
    _print(output, found, rows)


@kubernetes_auth.command("remove")
def remove_kubernetes_auth(
    identity_id: IdentityId, yes: Yes = False, output: Output = OutputFormat.TABLE
) -> None:
    """Let no ServiceAccount log in as an identity any more.

    The tokens that they got end at once.
    """
    require_confirmed(f"Take Kubernetes auth from identity {identity_id}?", yes=yes)
    with connected() as client:
        removed = client.identities.kubernetes_auth.detach(identity_id)
    print_done(output, asdict(removed), f"ServiceAccounts can no longer log in as {identity_id}.")


@ldap_auth.command("attach")
def attach_ldap_auth(
    identity_id: IdentityId,
    url: Annotated[str, typer.Option(help="Address of the directory, such as ldaps://ldap.example.com.")],
    bind_dn: Annotated[str, typer.Option(help="Who looks people up there.")],
    search_base: Annotated[str, typer.Option(help="Below what people are.")],
    bind_password_file: Annotated[
        Path | None,
        typer.Option(help="File with the password of --bind-dn; - is standard input.", allow_dash=True),
    ] = None,
    search_filter: Annotated[
        str | None,
        typer.Option(help="How they are found; {{username}} is the name given. Default: (uid={{username}})."),
    ] = None,
    ca_file: CaFile = None,
    require: Annotated[
        list[str] | None,
        typer.Option(
            help="Only people with this attribute: NAME=VALUE, of values parted by commas any; repeatable, and "
            "then all must hold."
        ),
    ] = None,
    token_ttl: TokenTtl = None,
    token_max_ttl: TokenMaxTtl = None,
    token_uses: TokenUses = None,
    trusted_ip: TrustedIps = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Let people of a directory log in as an identity.

    The password of --bind-dn comes from a file, KEYBEARER_BIND_PASSWORD or a prompt without echo; never from an
    argument, which others could see.
    """
    fields = _fields(require or ())
    certificates = _pem(ca_file)
    password = private_text("bind password", variable=OwnCredential.BIND_PASSWORD, file=bind_password_file)
    with connected() as client:
        made = client.identities.ldap_auth.attach(
            identity_id,
            url=url,
            bind_dn=bind_dn,
            bind_pass=password,
            search_base=search_base,
            search_filter=search_filter,
            ldap_ca_certificate=certificates,
            allowed_fields=fields or None,
            access_token_ttl=token_ttl,
            access_token_max_ttl=token_max_ttl,
            access_token_num_uses_limit=token_uses,
            access_token_trusted_ips=_given(trusted_ip),
        )
    print_done(output, asdict(made), f"People of {made.url} may log in as {identity_id}.")


@ldap_auth.command("show")
def show_ldap_auth(identity_id: IdentityId, output: Output = OutputFormat.TABLE) -> None:
    """Show which people may log in as an identity."""
    with connected() as client:
        found = client.identities.ldap_auth.get(identity_id)
    rows = [
        ("url", found.url),
        ("bind dn", found.bind_dn),
        ("search base", found.search_base),
        ("search filter", found.search_filter),
        ("required", "; ".join(f"{field.key}={field.value}" for field in found.allowed_fields) or "nothing"),
        ("certificates", _trust(found.ldap_ca_certificate)),
    ]
    _print(output, found, rows)


@ldap_auth.command("remove")
def remove_ldap_auth(identity_id: IdentityId, yes: Yes = False, output: Output = OutputFormat.TABLE) -> None:
    """Let nobody of the directory log in any more.

    The tokens that they got end at once.
    """
    require_confirmed(f"Take LDAP auth from identity {identity_id}?", yes=yes)
    with connected() as client:
        removed = client.identities.ldap_auth.detach(identity_id)
    print_done(output, asdict(removed), f"People of {removed.url} can no longer log in as {identity_id}.")


@ldap_auth.command("unlock")
def unlock_ldap_auth(identity_id: IdentityId, output: Output = OutputFormat.TABLE) -> None:
    """End lockouts of those who gave wrong passwords."""
    with connected() as client:
        ended = client.identities.ldap_auth.clear_lockouts(identity_id)
    print_done(output, {"ended": ended}, f"Lockouts that ended: {ended}.")


def _print(
    output: OutputFormat, found: KubernetesAuthSettings | LdapAuthSettings, rows: list[tuple[str, str]]
) -> None:
    terms = [
        ("token ttl", _seconds(found.access_token_ttl)),
        ("token max ttl", _seconds(found.access_token_max_ttl)),
        ("token uses", str(found.access_token_num_uses_limit or "any number")),
        ("tokens used from", ", ".join(one.ip_address for one in found.access_token_trusted_ips)),
    ]
    print_found(output, found, ("FIELD", "CONTENT"), [*rows, *terms])


def _fields(given: Iterable[str]) -> tuple[AllowedField, ...]:
    from keybearer.client import AllowedField

    pairs = [text.partition("=") for text in given]
    for name, _, value in pairs:
        if not (name and value):
            raise CommandError(f"--require {name!r} is no NAME=VALUE", ExitStatus.USAGE)
    return tuple(AllowedField(key=name, value=value) for name, _, value in pairs)


def _pem(file: Path | None) -> str | None:
    return None if file is None else read_text(file)


def _parted(given: list[str] | None) -> str | None:
    return ",".join(given) if given else None


def _given(addresses: list[str] | None) -> tuple[str, ...] | None:
    return tuple(addresses) if addresses else None


def _trust(pem: str) -> str:
    return "given" if pem else "the system's"


def _seconds(seconds: int) -> str:
    return f"{seconds} s" if seconds else "no end"
