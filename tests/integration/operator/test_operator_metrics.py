"""Which objects the operator's metrics name, for alerts."""

from __future__ import annotations

import pytest

from support.operator_fixtures import Installation
from support.tenant import Tenant
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration


def test_an_object_that_is_not_ready_is_named_until_it_is_ready_or_gone(
    tenant: Tenant, installation: Installation
) -> None:
    def named(name: str) -> bool:
        labels = f'kind="SecretSync",name="{name}",namespace="{tenant.namespace}"'
        return labels in installation.operator.metrics()

    tenant.project.store({"KEY": "cnry-1"})
    for name in ("mended", "deleted"):
        tenant.sync(name, identityRef={"name": "missing"})
        tenant.until_reason(name, "IdentityNotFound")
        assert named(name)

    tenant.edit("mended", identityRef={"name": "keybearer-identity"})
    tenant.until_ready("mended")
    assert not named("mended")
    tenant.delete("deleted")
    tenant.until_gone("SecretSync", "deleted")
    eventually(lambda: not named("deleted"), awaited="a metric that forgets what is gone")
