"""What the tests of whole syncs share: `keybearer serve` with its engine, and a strict cloud that it pushes to."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from keybearer.destinations.cloud_credentials import AccessKeyCredentials
from support.canary import Canary
from support.databases import new_database
from support.pushed import Pushed
from support.remotes.moto import CloudFixture, CloudProxy
from support.remotes.moto import moto as moto  # noqa: PLC0414 - a fixture
from support.service_fixtures import ServiceProcess, start_service
from tools.local.moto import Moto


@pytest.fixture(scope="session")
def proxy(moto: Moto) -> Iterator[CloudProxy]:
    """Yield what stands before the cloud; one for all, since the service is told of it at its start."""
    with CloudProxy(moto) as running:
        yield running


@pytest.fixture(scope="session")
def pushing_service(
    database_kind: str,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    proxy: CloudProxy,
) -> Iterator[ServiceProcess]:
    """Yield a service whose cloud is the one on loopback, and that doesn't wait for long."""
    directory: Path = tmp_path_factory.mktemp("pushing") / "data"
    flags = ("--app-endpoint", f"cloud={proxy.url}", "--sync-start-delay", "0", "--sync-retry-delay", "0.1")
    running = start_service(directory, *flags, database_url=new_database(database_kind, request).url)
    yield running
    assert running.stop() == 0


@pytest.fixture
def account(moto: Moto, proxy: CloudProxy) -> Iterator[CloudFixture]:
    """Yield an empty account on a good day; all that was asked of it must be as the vendor describes it."""
    moto.ask("fresh")
    proxy.get_well()
    key = moto.ask("user", name="keybearer", actions=["*"], partition="aws")
    yield CloudFixture(moto, proxy, AccessKeyCredentials.model_validate(key))
    proxy.get_well()
    assert not proxy.issues


@pytest.fixture
def pushed(pushing_service: ServiceProcess, account: CloudFixture, canary: Canary) -> Pushed:
    """Return a project with a connection to the account; the service's log is searched for values afterwards."""
    pushing_service.show_log_to(canary)
    return Pushed.new(pushing_service, account, path=f"/{secrets.token_hex(4)}/")
