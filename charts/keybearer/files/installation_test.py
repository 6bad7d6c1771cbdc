"""For `helm test`: SERVICE_URL OPERATOR_URL [CA_FILE]. Says what is wrong, and ends with 1, or prints one line."""

import json
import socket
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request

_TIMEOUT_SECONDS = 15


def _read(url: str, trust: ssl.SSLContext | None = None) -> str:
    # Of http and https alone, which the chart's schema holds.
    with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS, context=trust) as answer:  # noqa: S310 - see above
        text: str = answer.read(1 << 22).decode()
        return text


def _leaders(operator_url: str) -> int:
    """Return how many replicas lead: the name of the metrics' Service has an address for each of them."""
    parts = urllib.parse.urlsplit(operator_url)
    found = socket.getaddrinfo(parts.hostname, parts.port, type=socket.SOCK_STREAM)
    hosts = {f"[{at[0]}]" if family == socket.AF_INET6 else str(at[0]) for family, _, _, _, at in found}
    return sum("\nkeybearer_leader 1.0\n" in _read(f"http://{host}:{parts.port}/metrics") for host in hosts)


def main(service_url: str, operator_url: str, ca_file: str | None = None) -> None:
    """Print that both parts work; exit with what is wrong."""
    try:
        status = _read(f"{service_url.rstrip('/')}/api/status", ssl.create_default_context(cafile=ca_file))
        if json.loads(status).get("message") != "Ok":
            sys.exit(f"{service_url} answers, but not as the secrets service does")
    except (OSError, ValueError) as error:
        sys.exit(f"the secrets service at {service_url} doesn't answer: {error}")
    try:
        leaders = _leaders(operator_url)
    except OSError as error:
        sys.exit(f"the operator at {operator_url} doesn't answer: {error}")
    if leaders != 1:
        sys.exit(f"{leaders} replicas of the operator lead; one should: look at its Lease and its log")
    sys.stdout.write("the service answers, and one operator leads\n")


main(*sys.argv[1:])
