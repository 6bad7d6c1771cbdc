"""`keybearer operator`: reads settings once, from flags and mounted files, and runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from keybearer.base.errors import ConfigurationError, KeybearerError
from keybearer.base.token_claims import claims_of
from keybearer.cli.cluster import Kubeconfig, kubeconfig_of
from keybearer.cli.destinations_from import DestinationsFrom
from keybearer.cli.failures import place_of
from keybearer.cli.loading import bare, collector_at_rest, spare_the_collector, without
from keybearer.cli.traces import TracesEndpoint, traced

if TYPE_CHECKING:
    from keybearer.controllers.catalogue import CatalogueOf

__all__ = ["operator"]

_POD_TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")


def operator(
    namespace: Annotated[
        list[str] | None, typer.Option(help="Serve this namespace only; repeatable. Default: all.")
    ] = None,
    service_url: Annotated[
        str | None, typer.Option(help="The secrets service for identities that name no url.")
    ] = None,
    service_ca_file: Annotated[
        Path | None, typer.Option(help="PEM certificates to trust for it.", dir_okay=False)
    ] = None,
    allow_service_url: Annotated[
        list[str] | None, typer.Option(help="Another service that identities may name; repeatable.")
    ] = None,
    allow_insecure_http: Annotated[
        bool, typer.Option("--allow-insecure-http", help="Allow services with plain http beyond loopback.")
    ] = False,
    api_audience: Annotated[
        list[str] | None,
        typer.Option(help="An audience of the API server, for which no token is minted; repeatable."),
    ] = None,
    identity_dir: Annotated[
        Path | None,
        typer.Option(
            help="Shared identity: a folder with the files clientId and clientSecret.", file_okay=False
        ),
    ] = None,
    shared_grants: Annotated[
        Path | None,
        typer.Option(help="YAML list: which namespaces may read what through it.", dir_okay=False),
    ] = None,
    allow_target_type: Annotated[
        list[str] | None, typer.Option(help="A further type of Secret to write; repeatable.")
    ] = None,
    destinations_from: DestinationsFrom = None,
    cluster_id: Annotated[
        str | None,
        typer.Option(
            help="Distinguishes this cluster from others on the same "
            "service. Default: the UID of kube-system."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(help="Reconciles at the same time.", min=1, max=256)] = 32,
    resync_interval: Annotated[
        float,
        typer.Option(
            min=1,
            max=86_400,
            help="Seconds between two comparisons of the watched objects with complete lists. It reads no sources: "
            "spec.refreshInterval says how often that is done.",
        ),
    ] = 300,
    lease_namespace: Annotated[
        str | None, typer.Option(help="Where the Lease is. Default: the operator's namespace.")
    ] = None,
    lease_name: Annotated[str, typer.Option(help="Name of the Lease.")] = "keybearer-operator",
    leader_election: Annotated[
        bool, typer.Option("--leader-election/--no-leader-election", help="Hold a Lease while working.")
    ] = True,
    metrics_listen: Annotated[
        str, typer.Option(help="HOST:PORT of /healthz, /readyz and /metrics.")
    ] = "127.0.0.1:8081",
    traces_endpoint: TracesEndpoint = None,
    kubeconfig: Kubeconfig = None,
    log_format: Annotated[
        Literal["json", "text"] | None,
        typer.Option(help="How to log, to stderr. Default: text in a terminal."),
    ] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Run the operator: reconcile custom resources into Secrets until SIGTERM."""
    with collector_at_rest(), without("rich"), bare("kubernetes", "kubernetes.aio"):
        import uvloop
        from pydantic import ValidationError

        from keybearer.base.logs import configure_logging
        from keybearer.base.own_process import forbid_inspection
        from keybearer.controllers.custom_resource import describe_invalid
        from keybearer.controllers.process import run_operator
        from keybearer.controllers.settings import OperatorSettings
        from keybearer.controllers.shared_identity import read_grants

    forbid_inspection()  # before there is anything to see
    try:
        configure_logging(
            log_format=log_format or ("text" if sys.stderr.isatty() else "json"), level=log_level
        )
        if identity_dir is not None and service_url is None:
            raise ConfigurationError(
                "--identity-dir needs --service-url: the shared identity has no url of its own"
            )
        settings = OperatorSettings(
            namespaces=tuple(namespace or ()),
            service_url=service_url,
            service_ca_pem=service_ca_file.read_bytes() if service_ca_file is not None else None,
            allowed_service_urls=frozenset(allow_service_url or ()),
            allow_insecure_http=allow_insecure_http,
            api_audiences=frozenset(api_audience or ()) | _pod_audiences(),
            shared_client_id=_mounted(identity_dir, "clientId"),
            shared_client_secret=_mounted(identity_dir, "clientSecret"),
            shared_grants=read_grants(shared_grants.read_text()) if shared_grants is not None else (),
            cluster_id=cluster_id,
            workers=workers,
            resync_interval=timedelta(seconds=resync_interval),
            leader_election=leader_election,
            lease_namespace=lease_namespace,
            lease_name=lease_name,
            metrics_listen=metrics_listen,
            allowed_target_types=frozenset(allow_target_type or ()),
            # Last: what was said on the command line is told of before what is missing on the machine.
            kubeconfig=kubeconfig_of(kubeconfig),
        )
        catalogue = _catalogue_with(destinations_from)
    except ValidationError as error:
        raise ConfigurationError(describe_invalid(error, root="settings")) from error
    except OSError as error:
        raise ConfigurationError(f"{error.filename} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError("one of the files is no text in UTF-8") from error
    except ValueError as error:
        raise ConfigurationError(str(error)) from error
    spare_the_collector()
    try:
        with traced("keybearer-operator", traces_endpoint) as tracer:
            uvloop.run(run_operator(settings, tracer, catalogue))
    except ConfigurationError:
        raise
    except KeybearerError as error:
        _give_up(str(error))
    except BaseExceptionGroup as group:
        _give_up("; ".join(_told(error) for error in _leaves(group)))


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error


def _told(error: BaseException) -> str:
    """Say what went wrong, and for a fault of ours where; the text of a stranger's error could quote a value."""
    if isinstance(error, KeybearerError):
        return f"{type(error).__name__}: {error}"
    return place_of(error)


def _give_up(why: str) -> None:
    from keybearer.base.logs import get_logger

    get_logger(__name__).error("operator_failed", error=why)
    raise typer.Exit(1)


def _catalogue_with(packages: list[str] | None) -> CatalogueOf:
    """Return the operator's catalogue; what packages ship is loaded now, all else by the first who needs it."""
    from keybearer.controllers.catalogue import own_catalogue

    if not packages:
        return own_catalogue
    from keybearer.destinations.shipped import catalogue_with

    catalogue = catalogue_with(packages)
    return lambda: catalogue


def _mounted(folder: Path | None, name: str) -> str | None:
    if folder is None:
        return None
    try:
        text = (folder / name).read_text().strip()
    except OSError as error:
        raise ConfigurationError(
            f"--identity-dir: {folder / name} can't be read: {error.strerror}"
        ) from error
    if not text:
        raise ConfigurationError(f"--identity-dir: {folder / name} is empty")
    return text


def _pod_audiences() -> frozenset[str]:
    """Return the audiences of the pod's own token, which are the API server's; none outside a pod."""
    try:
        claims = claims_of(_POD_TOKEN.read_text())
    except FileNotFoundError:
        return frozenset()
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{_POD_TOKEN} is no token of a ServiceAccount") from error
    audiences = claims.get("aud")
    named = audiences if isinstance(audiences, list) else [audiences]
    return frozenset(one for one in named if isinstance(one, str) and one)
