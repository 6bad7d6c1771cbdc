"""Sockets to listen on."""

from __future__ import annotations

import socket

from keybearer.base.errors import ConfigurationError

__all__ = ["address_of_option", "listening"]

_PORT_MAX = 65_535


def address_of_option(option: str, given: str, example: str) -> tuple[str, int]:
    """Return host and port of an option's HOST:PORT; without a host it is every address.

    Raises:
        ConfigurationError: it is none.
    """
    host, colon, port = given.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > _PORT_MAX:
        raise ConfigurationError(f"{option} {given!r} is no HOST:PORT; write for example {example}")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - `:8080` asks for every address


def listening(option: str, host: str, port: int) -> socket.socket:
    """Return a socket that listens at the address: who connects before anybody serves waits, and isn't refused.

    Raises:
        ConfigurationError: it can't be; the option is named.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen()
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise ConfigurationError(
            f"can't listen on {host}:{port}: {error.strerror}; choose another {option}"
        ) from error
    return listener
