"""Sockets to listen on."""

from __future__ import annotations

import socket

import pytest

from keybearer.base.errors import ConfigurationError
from keybearer.server.listening import listening


def test_who_connects_before_anybody_serves_is_not_refused() -> None:
    with listening("--listen", "127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        pass


def test_an_address_that_others_listen_at_is_refused_with_its_option() -> None:
    with listening("--listen", "127.0.0.1", 0) as other:
        port = other.getsockname()[1]
        with pytest.raises(
            ConfigurationError, match=rf"can't listen on 127\.0\.0\.1:{port}: .*another --listen"
        ):
            listening("--listen", "127.0.0.1", port)
