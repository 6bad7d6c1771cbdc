"""What becomes of the secrets of a source on their way to keys."""

from __future__ import annotations

import base64
import json

import pytest

from support.operator_fixtures import Installation
from support.tenant import Tenant

pytestmark = pytest.mark.integration


def test_later_sources_win_and_each_clash_is_reported(tenant: Tenant) -> None:
    tenant.project.folder("/app")
    tenant.project.store({"SHARED": "cnry-common", "COMMON": "cnry-1"})
    tenant.project.store({"SHARED": "cnry-app", "APP": "cnry-2"}, path="/app")
    tenant.project.store({"SHARED": "cnry-prod", "PROD": "cnry-3"}, environment="prod")
    tenant.sync(
        "web",
        sources=[
            tenant.source(),
            tenant.source(environment="prod"),
            {"projectSlug": tenant.project.slug, "environment": "dev", "secretPath": "/app"},
        ],
    )

    status = tenant.until_ready("web")["status"]

    assert tenant.data("web") == {
        "SHARED": "cnry-app",
        "COMMON": "cnry-1",
        "APP": "cnry-2",
        "PROD": "cnry-3",
    }
    assert status["source"] == "dev:/ +2"
    clashes = [(one["key"], one["source"]) for one in status["keys"] if one.get("reason") == "Clash"]
    assert clashes == [("SHARED", "dev:/SHARED"), ("SHARED", "prod:/SHARED")]


def test_keys_are_included_excluded_and_renamed(tenant: Tenant) -> None:
    tenant.project.store(
        {
            "DB_HOST": "cnry-1",
            "DB_PASSWORD": "cnry-2",
            "DB_DEBUG": "cnry-3",
            "APP_NAME": "cnry-4",
            "OTHER": "cnry-5",
        }
    )
    keys = {
        "include": ["DB_*", "/^APP_/"],
        "exclude": ["*_DEBUG"],
        "rename": [{"from": "/DB_(.*)/", "to": r"database.\1"}, {"from": "APP_NAME", "to": "name"}],
    }
    tenant.sync("web", source=tenant.source(keys=keys))

    tenant.until_data("web", {"database.HOST": "cnry-1", "database.PASSWORD": "cnry-2", "name": "cnry-4"})


def test_single_keys_are_decoded_taken_apart_and_pinned(tenant: Tenant) -> None:
    binary = base64.b64encode(b"cnry-\x00\xff").decode()
    tenant.project.store(
        {
            "KEYSTORE": base64.b64encode(b"cnry-keystore").decode(),
            "CONFIG": json.dumps({"db": {"hosts": ["cnry-a", "cnry-b"]}, "dot.ted": "cnry-c", "n": 5432}),
            "PINNED": "cnry-first",
            "BINARY": binary,
        }
    )
    tenant.project.store({"PINNED": "cnry-second"})
    items = [
        {"key": "KEYSTORE", "as": "keystore.p12", "decode": "Base64"},
        {"key": "BINARY", "as": "binary", "decode": "Base64"},
        {"key": "CONFIG", "as": "host", "property": "db.hosts.1"},
        {"key": "CONFIG", "as": "dotted", "property": r"dot\.ted"},
        {"key": "CONFIG", "as": "port", "property": "n"},
        {"key": "PINNED", "version": 1},
    ]
    tenant.sync("web", source=tenant.source(keys={"include": [], "items": items}))
    tenant.until_ready("web")

    data = tenant.api.get("Secret", tenant.namespace, "web")["data"]

    assert {key: base64.b64decode(value) for key, value in data.items()} == {
        "keystore.p12": b"cnry-keystore",
        "binary": b"cnry-\x00\xff",
        "host": b"cnry-b",
        "dotted": b"cnry-c",
        "port": b"5432",
        "PINNED": b"cnry-first",
    }


def test_folders_below_are_read_too_where_that_is_asked_for(tenant: Tenant) -> None:
    tenant.project.folder("/app/db")
    tenant.project.folder("/elsewhere")
    tenant.project.store({"APP": "cnry-1", "TWICE": "cnry-upper"}, path="/app")
    tenant.project.store({"DB": "cnry-2", "TWICE": "cnry-lower"}, path="/app/db")
    tenant.project.store({"ELSEWHERE": "cnry-3"}, path="/elsewhere")
    tenant.sync("flat", source=tenant.source(secretPath="/app"))
    tenant.sync("deep", source=tenant.source(secretPath="/app", recursive=True))

    tenant.until_data("flat", {"APP": "cnry-1", "TWICE": "cnry-upper"})
    tenant.until_data("deep", {"APP": "cnry-1", "DB": "cnry-2", "TWICE": "cnry-lower"})
    clash = [one for one in tenant.until_ready("deep")["status"]["keys"] if one.get("reason") == "Clash"]
    assert [(one["key"], one["source"]) for one in clash] == [("TWICE", "dev:/app/TWICE")]


def test_a_secret_of_the_folder_goes_before_an_imported_one_of_its_name(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.folder("/shared")
    tenant.project.store({"ONE": "cnry-theirs", "TWO": "cnry-2"}, path="/shared")
    tenant.project.store({"ONE": "cnry-own"})
    installation.admin.client.imports.create(
        "dev", "/shared", project_id=tenant.project.id, environment="dev"
    )
    tenant.sync("web")

    tenant.until_data("web", {"ONE": "cnry-own", "TWO": "cnry-2"})
    keys = tenant.until_ready("web")["status"]["keys"]
    lost = [one for one in keys if one.get("reason") == "ImportOverridden"]
    assert [(one["key"], one["source"]) for one in lost] == [("ONE", "dev:/shared/ONE")]


def test_a_value_that_the_identity_may_not_read_is_told_and_the_last_good_secret_stays(
    tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"ONE": "cnry-1"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")

    denied = {
        "identityId": tenant.login.identity_id,
        "actions": ["read-value"],
        "environment": "dev",
        "effect": "deny",
    }
    installation.admin.send("POST", f"/api/v1/projects/{tenant.project.id}/grants", denied)
    tenant.request("web")

    tenant.until_reason("web", "ValueHidden", saying="grant that, or exclude the key")
    assert tenant.data("web") == {"ONE": "cnry-1"}


def test_references_are_replaced_unless_that_is_switched_off(tenant: Tenant) -> None:
    tenant.project.store({"HOST": "cnry-host", "URL": "https://${HOST}/cnry-"})
    tenant.sync("expanded")
    tenant.sync("plain", source=tenant.source(expandSecretReferences=False))

    tenant.until_data("expanded", {"HOST": "cnry-host", "URL": "https://cnry-host/cnry-"})
    tenant.until_data("plain", {"HOST": "cnry-host", "URL": "https://${HOST}/cnry-"})


def test_a_change_of_what_is_referred_to_arrives(tenant: Tenant) -> None:
    tenant.project.store({"HOST": "cnry-prod-1"}, environment="prod")
    tenant.project.store({"URL": "https://${prod.HOST}/"})
    tenant.sync("web", refreshInterval="1h")
    tenant.until_data("web", {"URL": "https://cnry-prod-1/"})

    tenant.project.store({"HOST": "cnry-prod-2"}, environment="prod")
    tenant.ask("web")

    assert tenant.data("web") == {"URL": "https://cnry-prod-2/"}


def test_more_keys_than_the_status_lists_are_all_written_and_counted(tenant: Tenant) -> None:
    values = {f"KEY_{number:03}": f"cnry-{number}" for number in range(150)}
    tenant.project.store(values)
    tenant.sync("web")

    status = tenant.until_ready("web")["status"]

    assert tenant.data("web") == values
    assert status["keysTotal"] == 150
    assert len(status["keys"]) == 100


@pytest.mark.parametrize("project", ["id", "slug"])
def test_a_project_is_named_by_its_id_or_its_slug(tenant: Tenant, project: str) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    named = {"projectId": tenant.project.id} if project == "id" else {"projectSlug": tenant.project.slug}

    tenant.sync("web", source={**named, "environment": "dev"})

    tenant.until_data("web", {"KEY": "cnry-1"})
