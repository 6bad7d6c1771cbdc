"""Where the service's metrics are served, apart from requests: who reads the ones needn't reach the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp

from keybearer.server.context import ServiceContext
from keybearer.server.rate_limits import RateLimits
from keybearer.server.request_tallies import RequestTallies
from keybearer.store.tallies import StoreTallies

__all__ = ["METRICS_OPTION", "MetricsListen"]

METRICS_OPTION = "--metrics-listen"


@dataclass(frozen=True, slots=True)
class MetricsListen:
    """Where metrics are served, and what makes the application that serves them."""

    host: str
    port: int
    make: Callable[[ServiceContext, StoreTallies, RequestTallies, RateLimits | None], ASGIApp]
