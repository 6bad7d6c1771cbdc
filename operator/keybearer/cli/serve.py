"""`keybearer serve`: the embedded service."""

from __future__ import annotations

import logging
import os
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keybearer.cli.own_credentials import OwnCredential

if TYPE_CHECKING:
    from keybearer.domain.bootstrap import AdminLogin
    from keybearer.domain.syncs.jobs import JobTerms
    from keybearer.server.run import ServiceOptions

__all__ = ["serve"]

_DEFAULT_LISTEN = "127.0.0.1:8080"
_CLIENT_SECRET_MIN = 32
"""128 random bits in hex: kept as an unstretched digest, a client secret must be nothing one could guess."""


def serve(
    data_dir: Annotated[
        Path, typer.Option(help="Where the service keeps its database and key; used by one process.")
    ],
    listen: Annotated[str, typer.Option(help="HOST:PORT; port 0 takes a free one.")] = _DEFAULT_LISTEN,
    tls_cert: Annotated[
        Path | None, typer.Option(help="PEM chain, leaf first; read again when it changes.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM private key of the certificate.")] = None,
    database_url: Annotated[
        str | None,
        typer.Option(
            help="postgresql://... without a password; SQLite in the data directory without. With a password it "
            "comes from a file, or from KEYBEARER_DATABASE_URL."
        ),
    ] = None,
    database_url_file: Annotated[
        Path | None, typer.Option(help="File that holds the database's URL; for one with a password.")
    ] = None,
    database_pool_size: Annotated[
        int,
        typer.Option(
            min=1,
            max=200,
            help="Connections to PostgreSQL for reading, and as many for writing; two more listen and check lists.",
        ),
    ] = 4,
    database_statement_timeout: Annotated[
        float, typer.Option(min=1, max=3600, help="Seconds one statement on PostgreSQL may take.")
    ] = 20,
    root_key_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the root key, mode 0600; DATA_DIR/root.key, made at the first start, without."
        ),
    ] = None,
    bootstrap: Annotated[
        Literal["auto", "api", "none"],
        typer.Option(
            help="For an empty database. auto: make an admin and write DATA_DIR/admin.json. "
            "api: let POST /api/v1/admin/bootstrap make the first user, with the token printed on stderr."
        ),
    ] = "auto",
    bootstrap_token: Annotated[
        bool,
        typer.Option(
            help="Ask for that token; without it whoever comes first is the admin. For test suites that send "
            "none, on a network of their own."
        ),
    ] = True,
    admin_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder with the files clientId and clientSecret, which that admin gets; no admin.json then."
        ),
    ] = None,
    allow_outbound: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CIDR|HOST[:PORT]",
            help="A loopback, private or otherwise inner address that hosts of app connections, and Kubernetes and "
            "LDAP hosts of identities, may have; repeatable. None are allowed without.",
        ),
    ] = None,
    outbound_ca: Annotated[
        Path | None,
        typer.Option(
            help="PEM CA certificates that hosts of app connections may be verified by, beside the system's."
        ),
    ] = None,
    app_endpoint: Annotated[
        list[str] | None,
        typer.Option(
            metavar="APP=URL",
            help="Where the app of connections is, cloud for example, if not at its usual place; may be an inner "
            "address. Repeatable.",
        ),
    ] = None,
    app_credentials: Annotated[
        list[str] | None,
        typer.Option(
            metavar="APP=FILE",
            help="JSON file with what the service itself has at an app, for methods of connections that rest on it; "
            "repeatable.",
        ),
    ] = None,
    service_account_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder with the token and ca.crt of the pod's ServiceAccount, as which the service then creates "
            "TokenReviews for Kubernetes auth without a tokenReviewerJwt."
        ),
    ] = None,
    service_account_api: Annotated[
        str, typer.Option(help="URL of the API server that this token is for; only there it is sent.")
    ] = "https://kubernetes.default.svc",
    rate_limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLASS=N/WINDOW",
            help="At most N requests of a class from one address within the window, for example auth=60/60s; "
            "repeatable. Classes: all, read, write, secrets, auth, creation. No limits without.",
        ),
    ] = None,
    max_connections: Annotated[
        int,
        typer.Option(
            min=10,
            max=100_000,
            help="Connections at the same time, event streams included; more are answered 503. Each needs a file "
            "descriptor.",
        ),
    ] = 900,
    sync_workers: Annotated[
        int, typer.Option(min=1, max=200, help="Secret syncs that this process runs at the same time.")
    ] = 10,
    sync_start_delay: Annotated[
        float,
        typer.Option(
            min=0, max=60, help="Seconds a change waits for others, so that secret syncs carry many at once."
        ),
    ] = 1,
    sync_retry_delay: Annotated[
        float,
        typer.Option(
            min=0.1,
            max=600,
            help="Seconds until a secret sync is tried again; twice as long after each failure.",
        ),
    ] = 3,
    audit_retention_days: Annotated[
        int, typer.Option(min=1, max=3650, help="How long the audit log keeps its lines.")
    ] = 90,
    audit_strict: Annotated[
        bool,
        typer.Option(
            "--audit-strict",
            help="Write every reading of values down before it is answered, and refuse it where that fails. "
            "Without, within a second and up to a bound.",
        ),
    ] = False,
    log_format: Annotated[Literal["json", "text"], typer.Option(help="How to log, to stderr.")] = "json",
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Run the service: secrets, projects, machine identities, users.

    Prints one JSON line {"url": ...} once it accepts connections. The root key may also come as base64 text
    in KEYBEARER_ROOT_KEY.
    """
    from keybearer.base.errors import ConfigurationError
    from keybearer.base.logs import configure_logging
    from keybearer.base.own_process import forbid_inspection
    from keybearer.cli.database_options import given_database_url
    from keybearer.domain.outbound import OutboundSettings
    from keybearer.server.rate_limits import parse_rate_limits
    from keybearer.store.engines import Bounds

    forbid_inspection()  # before there is anything to see
    os.umask(0o077)  # what the data directory holds is nobody else's
    try:
        configure_logging(log_format=log_format, level=log_level)
        logging.getLogger("alembic").setLevel(logging.WARNING)  # tells of its plugins when it is imported
        options = _options(
            data_dir,
            listen,
            tls_cert,
            tls_key,
            given_database_url(database_url, database_url_file),
            root_key_file,
            bootstrap,
            bootstrap_token,
            admin_dir,
        )
        options = replace(options, connections_max=max_connections)
        bounds = Bounds(pool_size=database_pool_size, statement=timedelta(seconds=database_statement_timeout))
        account = None if service_account_dir is None else service_account_dir.absolute()
        outbound = OutboundSettings(
            tuple(allow_outbound or ()),
            account,
            service_account_api,
            None if outbound_ca is None else outbound_ca.absolute(),
            tuple(app_endpoint or ()),
            tuple(app_credentials or ()),
        )
        retention = timedelta(days=audit_retention_days)
        limits = parse_rate_limits(rate_limit or ())
        options = replace(options, outbound=outbound, audit_retention=retention, rate_limits=limits)
        terms = _job_terms(sync_workers, sync_start_delay, sync_retry_delay)
        _run(replace(options, database_bounds=bounds, audit_strict=audit_strict, job_terms=terms))
    except (ConfigurationError, ValueError) as error:
        typer.echo(f"keybearer serve: {error}", err=True)
        raise typer.Exit(2) from error


def _options(
    data_dir: Path,
    listen: str,
    tls_cert: Path | None,
    tls_key: Path | None,
    database_url: str | None,
    root_key_file: Path | None,
    bootstrap: Literal["auto", "api", "none"],
    bootstrap_token: bool,
    admin_dir: Path | None,
) -> ServiceOptions:
    from keybearer.base.errors import ConfigurationError
    from keybearer.domain.server_keys import RootKeySource
    from keybearer.server.run import ServiceOptions
    from keybearer.server.tls import CertificateFiles

    host, colon, port = listen.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65_535:
        raise ConfigurationError(f"--listen {listen!r} is no HOST:PORT; write for example {_DEFAULT_LISTEN}")
    if (tls_cert is None) != (tls_key is None):
        raise ConfigurationError("--tls-cert and --tls-key go together; give both or none")
    if not bootstrap_token and bootstrap != "api":
        raise ConfigurationError("--no-bootstrap-token says something of --bootstrap api only; give both")
    if admin_dir is not None and bootstrap != "auto":
        raise ConfigurationError(
            "--admin-dir says something of --bootstrap auto only; leave one of the two out"
        )
    directory = data_dir.absolute()
    certificate = None
    if tls_cert is not None and tls_key is not None:
        certificate = CertificateFiles(tls_cert.absolute(), tls_key.absolute())
    root_key = RootKeySource(
        file=directory / "root.key" if root_key_file is None else root_key_file.absolute(),
        text=os.environ.get(OwnCredential.ROOT_KEY),
        may_create=root_key_file is None,
    )
    return ServiceOptions(
        data_dir=directory,
        host=host.strip("[]") or "0.0.0.0",  # noqa: S104 - `:8080` asks for every address
        port=int(port),
        root_key=root_key,
        certificate=certificate,
        database_url=database_url,
        bootstrap=bootstrap,
        bootstrap_token=bootstrap_token,
        admin=None if admin_dir is None else _admin_login(admin_dir.absolute()),
    )


def _job_terms(workers: int, start_delay: float, retry_delay: float) -> JobTerms:
    from keybearer.domain.syncs.jobs import JobTerms

    terms = JobTerms(workers=workers, start_delay=timedelta(seconds=start_delay))
    return replace(terms, backoff=replace(terms.backoff, floor=timedelta(seconds=retry_delay)))


def _admin_login(folder: Path) -> AdminLogin:
    from keybearer.base.errors import ConfigurationError
    from keybearer.domain.bootstrap import AdminLogin

    try:
        client_id, client_secret = (
            (folder / name).read_text(encoding="utf-8").strip() for name in ("clientId", "clientSecret")
        )
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"--admin-dir: clientId or clientSecret in {folder} can't be read"
        ) from error
    if not client_id or len(client_secret) < _CLIENT_SECRET_MIN:
        raise ConfigurationError(
            f"--admin-dir: {folder} needs a clientId, and a clientSecret of at least {_CLIENT_SECRET_MIN} "
            "random characters"
        )
    return AdminLogin(client_id, client_secret)


def _run(options: ServiceOptions) -> None:
    import asyncio

    import orjson
    import uvloop

    from keybearer.cli.collector import spare_the_collector
    from keybearer.server.run import serve as serve_until_stopped

    def announce(url: str) -> None:
        sys.stdout.write(orjson.dumps({"url": url}).decode() + "\n")
        sys.stdout.flush()

    def invite(sentence: str) -> None:
        typer.echo(f"keybearer serve: {sentence}", err=True)

    spare_the_collector()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve_until_stopped(options, announce, invite))
