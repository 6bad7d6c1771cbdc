"""`keybearer identities kubernetes-auth` and `ldap-auth`: further ways for an identity to log in.

What the service keeps for them (a reviewer's token, the password of a bind) comes from a file, standard input or a
hidden prompt, and is shown nowhere.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.clock import SystemClock
from keybearer.cli.connecting import connected, is_id
from keybearer.cli.failures import CommandError, failure_of, misused, nothing_to_change
from keybearer.cli.identity_finding import WhichIdentity, identity_id_of, patch_of_identity_id
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import Output, OutputFormat, Yes, note, print_done, print_fields, require_confirmed
from keybearer.cli.own_credentials import OwnCredential
from keybearer.cli.private_input import private_text, read_text
from keybearer.cli.reviewers import HOW_TO_MAKE, OWN_API, warnings_about

if TYPE_CHECKING:
    from keybearer.client import AllowedField, KubernetesAuthSettings, LdapAuthSettings

__all__ = ["kubernetes_auth", "ldap_auth"]

kubernetes_auth = new_group("Let ServiceAccounts of a cluster log in as an identity.")
ldap_auth = new_group("Let people of a directory log in as an identity.")

_REVIEWERS: Mapping[str, str] = {
    "stored-token": "the reviewer's token that the service keeps",
    "service-account": "the service's own ServiceAccount",
    "login-token": "the token that logs in (no reviewer's token is set)",
}
"""By `token_reviewer` of the settings."""

_OF_LOGINS = frozenset({"host", "namespaces", "service accounts", "audience"})
"""Changes that say who may log in."""

Namespaces = Annotated[
    list[str] | None,
    typer.Option("--namespace", help="Namespaces that may log in; * is a wildcard; repeatable."),
]
ServiceAccounts = Annotated[
    list[str] | None, typer.Option("--service-account", help="ServiceAccounts that may log in; repeatable.")
]
Audience = Annotated[str | None, typer.Option(help="The audience that tokens must have.")]
CaFile = Annotated[
    Path | None, typer.Option(help="PEM certificates that the service trusts there.", dir_okay=False)
]
TokenTtl = Annotated[int | None, typer.Option(help="Seconds a token lives; 0 for no end.", min=0)]
TokenMaxTtl = Annotated[int | None, typer.Option(help="Seconds up to which it can be renewed.", min=0)]
TokenUses = Annotated[
    int | None, typer.Option(help="How many requests a token allows; 0 for any number.", min=0)
]
TrustedIps = Annotated[
    list[str] | None,
    typer.Option("--trusted-ip", help="Where tokens may be used: address or range; repeatable."),
]


@kubernetes_auth.command("attach")
def attach_kubernetes_auth(
    identity: WhichIdentity,
    host: Annotated[str, typer.Option(help="Address of the API server, such as https://10.0.0.1:6443.")],
    ca_file: CaFile = None,
    reviewer_token_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the token that the service asks the API server with; - is standard input. Logins of the "
            "operator need it, unless the service reviews tokens itself (embeddedService.tokenReviews of the chart). "
            "Without it, the token that logs in must be one for the API server and may create TokenReviews.",
            allow_dash=True,
        ),
    ] = None,
    namespace: Namespaces = None,
    service_account: ServiceAccounts = None,
    audience: Audience = None,
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
        identity_id = identity_id_of(client, identity)
        with _client_id_told(identity, identity_id):
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
    print_done(output, made, f"ServiceAccounts of {made.kubernetes_host} may log in as {identity}.")
    _warn(made, reviewer)


@kubernetes_auth.command("update")
def update_kubernetes_auth(
    identity: WhichIdentity,
    host: Annotated[
        str | None, typer.Option(help="Address of the API server, such as https://10.0.0.1:6443.")
    ] = None,
    ca_file: CaFile = None,
    reviewer_token_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the token that the service asks the API server with; - is standard input. With --host or "
            "--ca-file, give it again if one is set: it is sent nowhere else unasked.",
            allow_dash=True,
        ),
    ] = None,
    no_reviewer_token: Annotated[
        bool, typer.Option("--no-reviewer-token", help="Remove the reviewer's token.")
    ] = False,
    namespace: Namespaces = None,
    service_account: ServiceAccounts = None,
    audience: Audience = None,
    token_ttl: TokenTtl = None,
    token_max_ttl: TokenMaxTtl = None,
    token_uses: TokenUses = None,
    trusted_ip: TrustedIps = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Change Kubernetes auth of an identity: only what you give.

    To replace the reviewer's token, give only --reviewer-token-file.

    New rules of who may log in count from the next login: an access token from before works until it ends. To end
    these tokens at once, remove Kubernetes auth and attach it again. Changed token options apply to them, too.
    """
    if reviewer_token_file is not None and no_reviewer_token:
        raise misused("--reviewer-token-file and --no-reviewer-token exclude each other")
    reviewer = "" if no_reviewer_token else None
    if reviewer_token_file is not None:
        reviewer = read_text(reviewer_token_file).strip()
        if not reviewer:
            raise misused(f"{reviewer_token_file} is empty", HOW_TO_MAKE)
    certificates = _pem(ca_file)
    given = {
        "host": host,
        "certificates": certificates,
        "reviewer's token": reviewer,
        "namespaces": namespace,
        "service accounts": service_account,
        "audience": audience,
        "token ttl": token_ttl,
        "token max ttl": token_max_ttl,
        "token uses": token_uses,
        "tokens used from": trusted_ip,
    }
    changed = [name for name, value in given.items() if value is not None and value != []]
    if not changed:
        raise nothing_to_change("The options: --help")
    with connected() as client:
        made = client.identities.kubernetes_auth.update(
            identity_id_of(client, identity),
            kubernetes_host=host,
            ca_cert=certificates,
            token_reviewer_jwt=reviewer,
            allowed_namespaces=_parted(namespace),
            allowed_names=_parted(service_account),
            allowed_audience=audience,
            access_token_ttl=token_ttl,
            access_token_max_ttl=token_max_ttl,
            access_token_num_uses_limit=token_uses,
            access_token_trusted_ips=_given(trusted_ip),
        )
    print_done(output, made, f"Changed of Kubernetes auth of {identity}: {', '.join(changed)}.")
    if not _OF_LOGINS.isdisjoint(changed):
        note(
            "The new rules count from the next login. An access token from before works until it ends, and can be "
            f"renewed {_limit(made.access_token_max_ttl)}. To end all of them at once, remove Kubernetes auth, then "
            "attach it again with all its options: keybearer identities kubernetes-auth remove "
            f"{shlex.quote(identity)}"
        )
    _warn(made, reviewer)


@kubernetes_auth.command("show")
def show_kubernetes_auth(identity: WhichIdentity, output: Output = OutputFormat.TABLE) -> None:
    """Show which ServiceAccounts may log in, and who reviews their tokens."""
    with connected() as client:
        found = client.identities.kubernetes_auth.get(identity_id_of(client, identity))
    rows = [
        ("host", found.kubernetes_host),
        ("namespaces", found.allowed_namespaces or "all"),
        ("service accounts", found.allowed_names or "all"),
        ("audience", found.allowed_audience or "any"),
        ("tokens reviewed with", _reviewer(found)),
        ("certificates", _trust(found.ca_cert)),
    ]
    _print(output, found, rows)


@kubernetes_auth.command("remove")
def remove_kubernetes_auth(
    identity: WhichIdentity, yes: Yes = False, output: Output = OutputFormat.TABLE
) -> None:
    """Remove Kubernetes auth from an identity.

    Tokens of such logins end at once.
    """
    require_confirmed(f"Take Kubernetes auth from identity {identity}?", yes=yes)
    with connected() as client:
        removed = client.identities.kubernetes_auth.detach(identity_id_of(client, identity))
    print_done(output, removed, f"ServiceAccounts can no longer log in as {identity}.")


@ldap_auth.command("attach")
def attach_ldap_auth(
    identity: WhichIdentity,
    url: Annotated[str, typer.Option(help="Address of the directory, such as ldaps://ldap.example.com.")],
    bind_dn: Annotated[str, typer.Option(help="DN that the service searches with.")],
    search_base: Annotated[str, typer.Option(help="DN below which people are.")],
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
            identity_id_of(client, identity),
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
    print_done(output, made, f"People of {made.url} may log in as {identity}.")


@ldap_auth.command("show")
def show_ldap_auth(identity: WhichIdentity, output: Output = OutputFormat.TABLE) -> None:
    """Show which people may log in as an identity."""
    with connected() as client:
        found = client.identities.ldap_auth.get(identity_id_of(client, identity))
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
def remove_ldap_auth(identity: WhichIdentity, yes: Yes = False, output: Output = OutputFormat.TABLE) -> None:
    """Remove LDAP auth from an identity.

    Tokens of such logins end at once.
    """
    require_confirmed(f"Take LDAP auth from identity {identity}?", yes=yes)
    with connected() as client:
        removed = client.identities.ldap_auth.detach(identity_id_of(client, identity))
    print_done(output, removed, f"People of {removed.url} can no longer log in as {identity}.")


@ldap_auth.command("unlock")
def unlock_ldap_auth(identity: WhichIdentity, output: Output = OutputFormat.TABLE) -> None:
    """End the lockouts after wrong passwords."""
    with connected() as client:
        ended = client.identities.ldap_auth.clear_lockouts(identity_id_of(client, identity))
    print_done(output, {"ended": ended}, f"Lockouts that ended: {ended}.")


@contextmanager
def _client_id_told(given: str, identity_id: str) -> Iterator[None]:
    """Say of a client id that an identity Secret takes another id, whether the block works or is refused."""
    from keybearer.client import ServiceError

    if given == identity_id or not is_id(given):
        yield
        return
    told = f"{given} is the client id of the identity, and its id is {identity_id}"
    patch = patch_of_identity_id(identity_id)
    next_step = f"If an identity Secret has the client id as identityId, correct it: {patch}"
    try:
        yield
    except ServiceError as error:
        failure = failure_of(error)
        raise CommandError(
            f"{failure}; {told}", failure.status, f"{failure.next_step}\n  {next_step}".strip()
        ) from error
    note(f"{told}. {next_step}")


def _warn(made: KubernetesAuthSettings, reviewer: str | None) -> None:
    """Say which logins can't work, or not for long."""
    if reviewer:
        for warning in warnings_about(reviewer, SystemClock().now()):
            note(warning)
    elif made.allowed_audience and made.token_reviewer == "login-token":
        note(
            f"No token for the audience {made.allowed_audience} can log in: the service doesn't review tokens of "
            f"{made.kubernetes_host} with its own ServiceAccount, and has no reviewer's token. Give "
            f"one: keybearer identities kubernetes-auth update IDENTITY --reviewer-token-file FILE. {HOW_TO_MAKE}"
        )
    elif made.allowed_audience and not made.token_reviewer and made.kubernetes_host.rstrip("/") != OWN_API:
        note(
            f"Without --reviewer-token-file, no token for the audience {made.allowed_audience} can log in, unless "
            f"the service reviews tokens of {made.kubernetes_host} itself. If it doesn't, give it a reviewer's "
            f"token: keybearer identities kubernetes-auth update IDENTITY --reviewer-token-file FILE. {HOW_TO_MAKE}"
        )


def _print(
    output: OutputFormat, found: KubernetesAuthSettings | LdapAuthSettings, rows: list[tuple[str, str]]
) -> None:
    terms = [
        ("token ttl", _seconds(found.access_token_ttl)),
        ("token max ttl", _seconds(found.access_token_max_ttl)),
        ("token uses", str(found.access_token_num_uses_limit or "any number")),
        ("tokens used from", ", ".join(one.ip_address for one in found.access_token_trusted_ips)),
    ]
    print_fields(output, found, [*rows, *terms])


def _fields(given: Iterable[str]) -> tuple[AllowedField, ...]:
    from keybearer.client import AllowedField

    pairs = [text.partition("=") for text in given]
    for name, _, value in pairs:
        if not (name and value):
            raise misused(f"--require {name!r} is no NAME=VALUE")
    return tuple(AllowedField(key=name, value=value) for name, _, value in pairs)


def _pem(file: Path | None) -> str | None:
    return None if file is None else read_text(file)


def _parted(given: list[str] | None) -> str | None:
    return ",".join(given) if given else None


def _given(addresses: list[str] | None) -> tuple[str, ...] | None:
    return tuple(addresses) if addresses else None


def _reviewer(found: KubernetesAuthSettings) -> str:
    return _REVIEWERS.get(found.token_reviewer, "the service doesn't say")


def _trust(pem: str) -> str:
    return "given" if pem else "the system's"


def _limit(max_ttl: int) -> str:
    return f"until {max_ttl} s after its login" if max_ttl else "without end"


def _seconds(seconds: int) -> str:
    return f"{seconds} s" if seconds else "no end"
