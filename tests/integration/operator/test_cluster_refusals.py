"""The API server can't decide about writes, or lets nothing new into a namespace that is being deleted."""

from __future__ import annotations

import pytest

from support.admission import kept_namespace, webhook_down
from support.certificate_objects import certificate, open_certificates
from support.connection_objects import open_connections
from support.operator_fixtures import Installation
from support.secretsync_objects import condition, message_of
from support.tenant import Tenant
from tools.local.kube_api import Body

pytestmark = pytest.mark.integration


def _waits(told: Body) -> bool:
    return (condition(told, "Reconciling") or {}).get("status") == "True"


def test_a_webhook_that_is_down_is_named_what_was_written_stays_and_its_return_heals(
    tenant: Tenant, installation: Installation
) -> None:
    certificates, connections = (
        open_certificates(tenant, installation),
        open_connections(tenant, installation),
    )
    connections.create("store")
    connections.until_reason("store", "CredentialsNotFound")
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    certificates.create("site", certificate("front"))
    tenant.until_ready("web")
    certificates.until_reason("site", "Issued")
    before = certificates.data("front")
    path = f"/api/v1/app-connections/external-infisical?projectId={tenant.project.id}"

    with webhook_down(installation.cluster.plane, tenant, "secrets", "appconnections") as name:
        tenant.project.store({"KEY": "cnry-2"})
        tenant.request("web")
        certificates.edit("site", certificates=[certificate("front"), certificate("back")])
        connections.keep_login()
        for kind, which in (
            ("SecretSync", "web"),
            ("CertificateProfile", "site"),
            ("AppConnection", "store"),
        ):
            told = tenant.until_reason(which, "ClusterUnavailable", saying=name, kind=kind)
            assert "does not answer; it is tried again" in message_of(told)
            assert _waits(told)
        assert tenant.data("web") == {"KEY": "cnry-1"}
        assert message_of(tenant.get("web")).endswith("; the last good target stays")
        assert certificates.data("front") == before
        assert certificates.tenant.secret("back") is None
        # Without its mark nobody would take it back.
        assert installation.admin.send("GET", path)["appConnections"] == []

    tenant.until_data("web", {"KEY": "cnry-2"})
    tenant.until_ready("web")
    certificates.until_reason("site", "Issued")
    assert certificates.data("front") == before
    connections.until_reason("store", "Connected")


def test_a_namespace_that_is_being_deleted_is_told_where_something_is_missing(
    tenant: Tenant, installation: Installation
) -> None:
    certificates = open_certificates(tenant, installation)
    tenant.project.store({"KEY": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.sync("other", refreshInterval="1h")
    # Nothing of it is in the service's keeping, so that it ends though its identity has ended before.
    certificates.create("site", certificate("front"), onDelete="Retain")
    for name in ("web", "other"):
        tenant.until_ready(name)
    certificates.until_reason("site", "Issued")

    with kept_namespace(installation.cluster.plane, tenant):
        tenant.api.delete("Namespace", "", tenant.namespace)
        for name in ("web", "front"):
            tenant.api.delete("Secret", tenant.namespace, name)
        for kind, which in (("SecretSync", "web"), ("CertificateProfile", "site")):
            told = tenant.until_reason(which, "NamespaceTerminating", kind=kind)
            assert "the namespace is being deleted" in message_of(told)
            assert _waits(told)
        # What is there is still kept right: pods of the namespace may use it to their end.
        tenant.project.store({"KEY": "cnry-2"})
        tenant.until_data("other", {"KEY": "cnry-2"})

    tenant.until_gone("SecretSync", "web")
    tenant.until_gone("CertificateProfile", "site")
