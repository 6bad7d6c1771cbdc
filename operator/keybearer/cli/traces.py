"""Whether traces are made, as the options and the variables of OpenTelemetry say; and where, if so."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from keybearer.base.errors import ConfigurationError

if TYPE_CHECKING:
    from keybearer.base.tracing import Tracer

__all__ = ["TracesEndpoint", "traced"]

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")

TracesEndpoint = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Send OpenTelemetry traces there by OTLP over HTTP, for example http://collector:4318/v1/traces. Or set "
        "OTEL_EXPORTER_OTLP_ENDPOINT; the other variables OTEL_* count too. None are sent without.",
    ),
]


@contextmanager
def traced(service_name: str, endpoint: str | None) -> Iterator[Tracer | None]:
    """Yield what makes spans, if traces are asked for, and send the last of them in the end.

    Args:
        service_name: who tells, unless the variables say otherwise.
        endpoint: of the option.

    Raises:
        ConfigurationError: they are asked for in a way that can't be.
    """
    if not _is_asked_for(endpoint):
        yield None
        return
    try:
        from keybearer.base.opentelemetry import OpenTelemetry
    except ImportError as error:
        raise ConfigurationError(
            "traces are asked for, and what sends them is not installed: pip install 'keybearer[otel]', or unset "
            "--traces-endpoint and OTEL_EXPORTER_OTLP_ENDPOINT"
        ) from error
    tracer = OpenTelemetry(service_name, endpoint=endpoint)
    try:
        yield tracer
    finally:
        tracer.close()


def _is_asked_for(endpoint: str | None) -> bool:
    given = _first(_ENDPOINTS) if endpoint is None else endpoint
    if not given or _first(("OTEL_SDK_DISABLED",)).lower() == "true":
        return False
    exporter = _first(("OTEL_TRACES_EXPORTER",)) or "otlp"
    if endpoint is None and exporter == "none":
        return False
    if exporter not in {"otlp", "none"}:
        raise ConfigurationError(f"OTEL_TRACES_EXPORTER is {exporter!r}; only otlp and none are known")
    protocol = _first(_PROTOCOLS) or "http/protobuf"
    if protocol != "http/protobuf":
        raise ConfigurationError(f"{_PROTOCOLS[1]} is {protocol!r}; only http/protobuf is spoken")
    parts = urlsplit(given)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise ConfigurationError(
            "the endpoint of traces must be an http or https URL, such as http://collector:4318/v1/traces"
        )
    return True


def _first(names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := os.environ.get(name, "").strip())), "")
