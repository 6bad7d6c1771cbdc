"""Checks of the service that the person is logged in to: address, TLS, clock and token."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from keybearer.base.clock import SystemClock
from keybearer.cli.connecting import address_of, new_client
from keybearer.cli.doctor.findings import Finding, fine, not_checked, trouble
from keybearer.client import ClientError, TransportError, Unauthenticated

if TYPE_CHECKING:
    from keybearer.cli.connecting import CurrentLogin
    from keybearer.client import Keybearer

__all__ = ["check_service"]

_SKEW_MAX = timedelta(seconds=30)
_ENDS_SOON = timedelta(days=14)
_SECONDS = 5.0


def check_service(login: CurrentLogin | None) -> Iterator[Finding]:
    """Yield whether the service answers, whether its certificate and clock are right, and whether the login works."""
    if login is None:
        yield not_checked("service", "nobody is logged in", "keybearer login --url URL")
        return
    url = address_of(login.url)
    with new_client(
        login.url, login.credentials, ca_file=login.ca_file, allow_insecure_http=login.allow_insecure_http
    ) as client:
        before = SystemClock().now()
        try:
            there = client.status.clock()
        except TransportError as error:
            command = "export KEYBEARER_CA_FILE=FILE" if error.is_untrusted else f"curl -v {url}/api/status"
            yield trouble("service", str(error), command)
            return
        except ClientError as error:
            yield trouble("service", f"{url} answers, but not as the service: {error}", "keybearer whoami")
            return
        yield fine("service", f"{url} answers")
        yield _clock(there, before, SystemClock().now())
        if url.startswith("https://"):
            yield _certificate(url, login.ca_file)
        yield _login(client)


def _clock(there: datetime | None, before: datetime, after: datetime) -> Finding:
    if there is None:
        return not_checked("service", "its answers have no Date, so its clock is unknown")
    # The date has whole seconds.
    ahead = max(there - after, before - there - timedelta(seconds=1), timedelta())
    if ahead > _SKEW_MAX:
        return trouble(
            "service",
            f"the clocks of the service and of this machine differ by {ahead.total_seconds():.0f} s, so tokens and "
            "certificates end too early or too late",
            "timedatectl status",
        )
    return fine("service", "its clock is right, compared with this machine's")


def _certificate(url: str, ca_file: str | None) -> Finding:
    """Return when its certificate ends; that it is trusted, the request before has shown."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 443
    trust = ssl.create_default_context(
        cadata=None if ca_file is None else Path(ca_file).read_bytes().decode("ascii", "replace")
    )
    try:
        with (
            socket.create_connection((host, port), timeout=_SECONDS) as plain,
            trust.wrap_socket(plain, server_hostname=host) as secured,
        ):
            ends_text = (secured.getpeercert() or {}).get("notAfter")
    except OSError as error:
        return not_checked("service", f"its certificate can't be looked at: {type(error).__name__}")
    ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(ends_text)), UTC)
    left = ends - SystemClock().now()
    by = "the system's authorities" if ca_file is None else ca_file
    told = f"its certificate is trusted by {by} and ends on {ends.date()}"
    if left < _ENDS_SOON:
        return trouble("service", f"{told}, in {left.days} days", "openssl x509 -noout -enddate -in FILE")
    return fine("service", told)


def _login(client: Keybearer) -> Finding:
    try:
        client.auth.check()
    except Unauthenticated:
        return trouble("service", "your login is not valid any more", "keybearer login")
    except ClientError as error:
        return trouble("service", f"your login can't be checked: {error}", "keybearer whoami")
    return fine("service", "your login is valid")
