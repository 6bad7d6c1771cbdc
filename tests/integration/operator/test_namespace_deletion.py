"""A namespace that is deleted takes along what its objects made in the service, though its Secrets go first."""

from __future__ import annotations

import pytest

from support.left_behind import open_leaving
from support.operator_fixtures import Installation
from support.tenant import Tenant

pytestmark = pytest.mark.integration


def test_a_deleted_namespace_takes_along_what_it_made_in_the_service(
    tenant: Tenant, installation: Installation
) -> None:
    far = installation.far
    leaving = open_leaving(tenant, installation.admin, far.admin, far.process.url)
    leaving.fill()
    start = installation.operator.log_size()

    tenant.api.delete("Namespace", "", tenant.namespace)

    leaving.until_clean()
    assert '"cleanup_abandoned"' not in installation.operator.log(start)
