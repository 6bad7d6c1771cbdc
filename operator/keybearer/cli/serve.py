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

from keybearer.cli.destinations_from import DestinationsFrom
from keybearer.cli.loading import collector_at_rest, spare_the_collector, without
from keybearer.cli.traces import TracesEndpoint, traced

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from keybearer.base.tracing import Tracer
    from keybearer.server.run import RunningService, ServiceOptions

__all__ = ["serve"]

_DEFAULT_LISTEN = "127.0.0.1:8080"


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
            help="PEM CA certificates that hosts of app connections may be verified by, in addition to the "
            "system's."
        ),
    ] = None,
    app_endpoint: Annotated[
        list[str] | None,
        typer.Option(
            metavar="APP=URL",
            help="Where the app of connections is, cloud for example, if not at its usual place; an inner address is "
            "open to connections of that app then. Repeatable.",
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
    destinations_from: DestinationsFrom = None,
    service_account_dir: Annotated[
        Path | None,
        typer.Option(
            help="Folder with the token and ca.crt of the pod's ServiceAccount, as which the service then creates "
            "TokenReviews for Kubernetes auth without a tokenReviewerJwt."
        ),
    ] = None,
    service_account_api: Annotated[
        str, typer.Option(help="URL of the API server of this token, which is sent nowhere else.")
    ] = "https://kubernetes.default.svc",
    rate_limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CLASS=N/WINDOW",
            help="At most N requests of a class from one address within the window, for example auth=60/60s; "
            "repeatable. Classes: all, read, write, secrets, auth, creation, failed-logins (60/60s without; 401s of "
            "auth). No others without.",
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
    max_connections_per_address: Annotated[
        int,
        typer.Option(
            min=1,
            max=100_000,
            help="Of these, from one address (of IPv6: one network of 64 bits) and without an accepted token. Raise "
            "it where a proxy stands before the service.",
        ),
    ] = 64,
    probe_listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Also answer GET /api/status there, over plain HTTP: for probes of Kubernetes. Default: "
            "off.",
        ),
    ] = None,
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
    sync_look_interval: Annotated[
        float,
        typer.Option(
            min=1,
            max=604_800,
            help="Seconds between two checks of a sync's destination for changes by others. The service "
            "repairs them.",
        ),
    ] = 3600,
    audit_retention_days: Annotated[
        int, typer.Option(min=1, max=3650, help="How long the audit log keeps its lines.")
    ] = 90,
    audit_strict: Annotated[
        bool,
        typer.Option(
            "--audit-strict",
            help="Record every read of values before it is answered, and refuse the read if that fails. "
            "Default: record it within a second, up to a limit.",
        ),
    ] = False,
    public_url: Annotated[
        str | None,
        typer.Option(
            help="Where everybody reaches the service, for example http://pki.example.com. Certificates then say "
            "where lists of revoked ones, OCSP and the certificate of who signed them are found.",
        ),
    ] = None,
    metrics_listen: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve Prometheus metrics at /metrics there, over plain HTTP and without a login. Default: "
            "off.",
        ),
    ] = None,
    traces_endpoint: TracesEndpoint = None,
    log_format: Annotated[Literal["json", "text"], typer.Option(help="How to log, to stderr.")] = "json",
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Run the service: secrets, projects, machine identities, users.

    Prints one JSON line {"url": ...} once it accepts connections. The root key may also come as base64 text
    in KEYBEARER_ROOT_KEY.
    """
    with collector_at_rest(), without("rich"):
        from keybearer.base.errors import ConfigurationError
        from keybearer.base.logs import configure_logging
        from keybearer.base.own_process import forbid_inspection
        from keybearer.cli.database_options import given_database_url
        from keybearer.cli.service_options import (
            job_terms,
            metrics_listen_of,
            probe_listen_of,
            public_url_of,
            service_options,
        )
        from keybearer.destinations.shipped import catalogue_with
        from keybearer.domain.outbound import OutboundSettings
        from keybearer.server.listening import address_of_option
        from keybearer.server.rate_limits import parse_rate_limits
        from keybearer.server.run import serve as serve_until_stopped
        from keybearer.store.engines import Bounds

    forbid_inspection()  # before there is anything to see
    os.umask(0o077)  # what the data directory holds is nobody else's
    try:
        configure_logging(log_format=log_format, level=log_level)
        logging.getLogger("alembic").setLevel(logging.WARNING)  # tells of its plugins when it is imported
        own_database = given_database_url(database_url, database_url_file)
        options = replace(
            service_options(
                data_dir,
                address_of_option("--listen", listen, _DEFAULT_LISTEN),
                tls_cert,
                tls_key,
                own_database,
                root_key_file,
                bootstrap,
                bootstrap_token,
                admin_dir,
            ),
            connections_max=max_connections,
            connections_per_address=max_connections_per_address,
            probes=probe_listen_of(probe_listen),
            database_bounds=Bounds(
                pool_size=database_pool_size, statement=timedelta(seconds=database_statement_timeout)
            ),
            outbound=OutboundSettings(
                tuple(allow_outbound or ()),
                None if service_account_dir is None else service_account_dir.absolute(),
                service_account_api,
                None if outbound_ca is None else outbound_ca.absolute(),
                tuple(app_endpoint or ()),
                tuple(app_credentials or ()),
            ),
            rate_limits=parse_rate_limits(rate_limit or ()),
            job_terms=job_terms(sync_workers, sync_start_delay, sync_retry_delay, sync_look_interval),
            audit_retention=timedelta(days=audit_retention_days),
            audit_strict=audit_strict,
            public_url=public_url_of(public_url),
            metrics=metrics_listen_of(metrics_listen),
            catalogue=catalogue_with(destinations_from or ()),
        )
        with traced("keybearer-service", traces_endpoint) as tracer:
            _run(serve_until_stopped, options, tracer)
    except (ConfigurationError, ValueError) as error:
        typer.echo(f"keybearer serve: {error}", err=True)
        raise typer.Exit(2) from error


def _run(
    serve_until_stopped: Callable[
        [ServiceOptions, Callable[[RunningService], None], Callable[[str], None], Tracer | None],
        Coroutine[None, None, None],
    ],
    options: ServiceOptions,
    tracer: Tracer | None,
) -> None:
    import asyncio

    import orjson
    import uvloop

    def announce(service: RunningService) -> None:
        sys.stdout.write(orjson.dumps({"url": service.url}).decode() + "\n")
        sys.stdout.flush()

    def invite(sentence: str) -> None:
        typer.echo(f"keybearer serve: {sentence}", err=True)

    spare_the_collector()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve_until_stopped(options, announce, invite, tracer))
