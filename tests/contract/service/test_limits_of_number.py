"""How many of a kind there may be: as many as the limit says, and not one more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from keybearer.wire.limits import CERTIFICATE_OBJECTS_MAX, IMPORTS_PER_FOLDER_MAX
from support.databases import OwnDatabase
from support.pki_house import PKI, pki_of
from support.service_fixtures import Client, Starter

pytestmark = pytest.mark.every_database

# Rows after the first are copies of it, made by the database: a thousand requests would tell nothing more.
COPIED_IMPORTS = """WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
    INSERT INTO secret_imports (id, folder_id, environment_id, path, position,
    is_replication, version, created_at, updated_at) SELECT {uuid}, folder_id, environment_id, path || i, i,
    is_replication, version, created_at, updated_at FROM secret_imports, n"""
COPIED_TAGS = """WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
    INSERT INTO tags (id, project_id, slug, name, color, created_at, updated_at)
    SELECT {uuid}, project_id, slug || i, name, color, created_at, updated_at FROM tags, n"""
# Of each kind of certificates: what names one, and what else is copied.
CERTIFICATE_KINDS = {
    "certificate_policies": ("name", "description, rules"),
    "certificate_authorities": (
        "name",
        "kind, status, enable_direct_issuance, configuration, certificate_id, private_key",
    ),
    "certificate_profiles": (
        "slug",
        "policy_id, authority_id, description, issuer_type, enrollment_type, external_configs, defaults",
    ),
    "certificate_applications": ("name", "description"),
    "pki_subscribers": (
        "name",
        "authority_id, common_name, status, ttl, subject_alternative_names, key_usages, extended_key_usages",
    ),
}
COPIED_OF_CERTIFICATES = """WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
    INSERT INTO {table} (id, project_id, {name}, {rest}, created_at, updated_at)
    SELECT {uuid}, project_id, {name} || '-' || i, {rest}, created_at, updated_at FROM {table}, n"""
UUIDS = {
    "sqlite": "substr('00000000-0000-4000-8000-000000000000', 1, 36 - length(i)) || i",
    "postgresql": "gen_random_uuid()::text",
}


@dataclass(frozen=True)
class Kind:
    """What there may be only so many of."""

    word: str
    most: int
    path: str
    body: Mapping[str, Any]
    present: int = 0
    copies: str = ""

    def add(
        self, admin: Client, names: Mapping[str, str], number: int, *, status: int = 200
    ) -> dict[str, Any]:
        """Ask for one more."""
        names = {**names, "n": f"more-{number}"}
        body = {key: _filled(value, names) for key, value in self.body.items()}
        return admin.json("POST", self.path.format_map(names), status=status, json=body)


KINDS = (
    Kind(
        "imports",
        IMPORTS_PER_FOLDER_MAX,
        "/api/v2/secret-imports",
        {"projectId": "{project}", "environment": "dev", "import": {"environment": "dev", "path": "/{n}"}},
        copies=COPIED_IMPORTS,
    ),
    Kind("tags", 1000, "/api/v1/projects/{project}/tags", {"slug": "{n}"}, copies=COPIED_TAGS),
    Kind("environments", 200, "/api/v1/projects/{project}/environments", {"name": "{n}", "slug": "{n}"}, 3),
    Kind(
        "grants",
        100,
        "/api/v1/projects/{project}/grants",
        {"identityId": "{identity}", "actions": ["read"], "environment": "dev", "secretPath": "/{n}"},
    ),
    Kind(
        "client secrets",
        100,
        "/api/v1/auth/universal-auth/identities/{identity}/client-secrets",
        {"description": "{n}"},
        present=1,
    ),
)


def _filled(value: object, names: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return value.format_map(names)
    if isinstance(value, dict):
        return {key: _filled(inner, names) for key, inner in value.items()}
    return value


def test_there_are_only_so_many_of_a_kind(
    start: Starter, own_database: OwnDatabase, database_kind: str, tmp_path: Path
) -> None:
    service = start(tmp_path / "data")
    admin, project = service.admin_client(), service.create_project()
    identity = service.create_identity(roles={project.id: "viewer"})
    names = {"project": project.id, "identity": identity.identity_id}
    for kind in KINDS:
        present = kind.present
        if kind.copies:
            kind.add(admin, names, 0)
            present = kind.most - 2
            statement = kind.copies.format(count=present, uuid=UUIDS[database_kind])
            own_database.execute(service.data_dir, statement)
        for number in range(present, kind.most):
            kind.add(admin, names, number)
        refusal = kind.add(admin, names, kind.most, status=400)["message"]
        assert kind.word in refusal
        assert str(kind.most) in refusal.replace(",", "")
    service.stop()


def test_a_project_has_only_so_many_objects_of_certificates(
    start: Starter, own_database: OwnDatabase, database_kind: str, tmp_path: Path
) -> None:
    service = start(tmp_path / "data")
    pki = pki_of(service)
    # It waits for its certificate, so that nothing is done about the copies of it.
    authority = pki.authority("a", notAfter=None)["id"]
    policy = pki.policy(name="p")["id"]
    paths = {
        "certificate policies": (f"{PKI}/certificate-policies", {}),
        "certificate authorities": (
            f"{PKI}/ca/internal",
            {"configuration": {"type": "root", "commonName": "c", "keyAlgorithm": "EC_prime256v1"}},
        ),
        "certificate profiles": (
            f"{PKI}/certificate-profiles",
            {"certificatePolicyId": policy, "caId": authority},
        ),
        "applications": (f"{PKI}/applications", {}),
        "PKI subscribers": ("/api/v1/pki/subscribers", {"caId": authority, "commonName": "c", "ttl": "1d"}),
    }

    def add(word: str, name: str, *, status: int = 200) -> dict[str, Any]:
        path, rest = paths[word]
        body = {"projectId": pki.project_id, "name": name, "slug": name, **rest}
        return pki.client.json("POST", path, status=status, json=body)

    for word in ("certificate profiles", "applications", "PKI subscribers"):
        add(word, "first")
    for table, (name, rest) in CERTIFICATE_KINDS.items():
        copied = COPIED_OF_CERTIFICATES.format(
            table=table, name=name, rest=rest, count=CERTIFICATE_OBJECTS_MAX - 1, uuid=UUIDS[database_kind]
        )
        own_database.execute(service.data_dir, copied)
    for word in paths:
        add(word, "the-last")
        refusal = add(word, "one-too-many", status=400)["message"]
        assert refusal == f"A project has at most {CERTIFICATE_OBJECTS_MAX} {word}"
    service.stop()
