"""What the options of `keybearer serve` mean to the service; loaded only where it is run."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from keybearer.base.errors import ConfigurationError
from keybearer.cli.own_credentials import OwnCredential
from keybearer.domain.bootstrap import AdminLogin
from keybearer.domain.server_keys import RootKeySource
from keybearer.domain.syncs.jobs import JobTerms
from keybearer.server.listening import address_of_option
from keybearer.server.probes import PROBE_OPTION, ProbeListen
from keybearer.server.run import ServiceOptions
from keybearer.server.tls import CertificateFiles

if TYPE_CHECKING:
    from keybearer.server.metrics_listener import MetricsListen

__all__ = ["job_terms", "metrics_listen_of", "probe_listen_of", "public_url_of", "service_options"]

_CLIENT_SECRET_MIN = 32
"""128 random bits in hex: kept as an unstretched digest, a client secret must be nothing one could guess."""


def service_options(
    data_dir: Path,
    address: tuple[str, int],
    tls_cert: Path | None,
    tls_key: Path | None,
    database_url: str | None,
    root_key_file: Path | None,
    bootstrap: Literal["auto", "api", "none"],
    bootstrap_token: bool,
    admin_dir: Path | None,
) -> ServiceOptions:
    """Return where the service listens and keeps things, and how an empty database begins.

    Raises:
        ConfigurationError: options don't go together, or a file can't be read.
    """
    if (tls_cert is None) != (tls_key is None):
        raise ConfigurationError("--tls-cert and --tls-key go together; give both or none")
    if not bootstrap_token and bootstrap != "api":
        raise ConfigurationError("--no-bootstrap-token needs --bootstrap api; give both, or remove it")
    if admin_dir is not None and bootstrap != "auto":
        raise ConfigurationError("--admin-dir needs --bootstrap auto; remove one of the two")
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
        host=address[0],
        port=address[1],
        root_key=root_key,
        certificate=certificate,
        database_url=database_url,
        bootstrap=bootstrap,
        bootstrap_token=bootstrap_token,
        admin=None if admin_dir is None else _admin_login(admin_dir.absolute()),
    )


def probe_listen_of(given: str | None) -> ProbeListen | None:
    """Return where probes are answered.

    Raises:
        ConfigurationError: it is no HOST:PORT.
    """
    return None if given is None else address_of_option(PROBE_OPTION, given, "127.0.0.1:8081")


def metrics_listen_of(given: str | None) -> MetricsListen | None:
    """Return where metrics are served; what makes them is loaded only where they are.

    Raises:
        ConfigurationError: it is no HOST:PORT.
    """
    if given is None:
        return None
    from keybearer.server.metrics import metrics_app
    from keybearer.server.metrics_listener import METRICS_OPTION, MetricsListen

    host, port = address_of_option(METRICS_OPTION, given, "127.0.0.1:9090")
    return MetricsListen(host, port, metrics_app)


def public_url_of(given: str | None) -> str | None:
    """Return the URL that stands in certificates.

    Raises:
        ConfigurationError: it is none that can.
    """
    if given is None:
        return None
    parts = urlsplit(given)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise ConfigurationError(
            "--public-url must be an http or https URL without query, such as http://host"
        )
    if not given.isascii() or not given.isprintable() or " " in given:
        raise ConfigurationError("--public-url must be written in ASCII, without spaces")
    return given.rstrip("/")


def job_terms(workers: int, start_delay: float, retry_delay: float, look_interval: float) -> JobTerms:
    """Return how secret syncs are run; delays and interval are in seconds."""
    terms = JobTerms(
        workers=workers,
        start_delay=timedelta(seconds=start_delay),
        look_interval=timedelta(seconds=look_interval),
    )
    return replace(terms, backoff=replace(terms.backoff, floor=timedelta(seconds=retry_delay)))


def _admin_login(folder: Path) -> AdminLogin:
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
