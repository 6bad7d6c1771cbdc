"""Both clients against a real service: projects and who may use them."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from contract.client.house import Client, House, close, of
from keybearer.client import (
    AllowedField,
    BadRequest,
    ChangedSecret,
    InvalidArgument,
    NewSecret,
    NotFound,
    PermissionDenied,
    SecretMetadata,
    Unauthenticated,
    UniversalAuth,
    UserAuth,
)

PASSWORD = "cnry-correct horse battery"


@pytest.fixture
def admin(house: House) -> Client:
    return house.client(house.admin)


def an_email() -> str:
    return f"user-{secrets.token_hex(4)}@example.com"


async def test_a_project_is_changed_protected_and_deleted(admin: Client) -> None:
    project = await of(admin.projects.create("Shop", has_delete_protection=True))
    renamed = await of(admin.projects.update(project.id, name="Store", description="d"))
    assert (renamed.name, renamed.description, renamed.slug) == ("Store", "d", project.slug)
    with pytest.raises(BadRequest):
        await of(admin.projects.delete(project.id))
    await of(admin.projects.update(project.id, has_delete_protection=False))
    assert (await of(admin.projects.delete(project.id))).id == project.id
    with pytest.raises(NotFound):
        await of(admin.projects.get(project.id))


async def test_environments_are_listed_found_changed_and_deleted(house: House, client: Client) -> None:
    project_id = house.project.id
    made = await of(client.environments.create("Quality", "qa", project_id=project_id, position=1))
    listed = await of(client.environments.list(project_id=project_id))
    assert [one.slug for one in listed] == ["qa", "dev", "staging", "prod"]
    assert await of(client.environments.get(made.id, project_id=project_id)) == made
    assert (await of(client.environments.get_by_slug("qa", project_id=project_id))).id == made.id
    changed = await of(client.environments.update(made.id, slug="test", project_id=project_id))
    assert (changed.slug, changed.name) == ("test", "Quality")
    await of(client.environments.delete(made.id, project_id=project_id))
    with pytest.raises(NotFound):
        await of(client.environments.get(made.id, project_id=project_id))


async def test_imports_bring_what_direct_secrets_and_earlier_blocks_do_not_hide(
    house: House, client: Client
) -> None:
    for name in ("one", "two"):
        await of(client.folders.create(name, **house.place))
    for key, path in (("A", "/"), ("A", "/one"), ("B", "/one"), ("B", "/two"), ("C", "/two")):
        await of(client.secrets.create(key, f"cnry-{key}{path}", secret_path=path, **house.place))
    first = await of(client.imports.create("dev", "/one", **house.place))
    second = await of(client.imports.create("dev", "/two", **house.place))
    assert [one.id for one in await of(client.imports.list(**house.place))] == [first.id, second.id]
    found = await of(client.secrets.list(**house.place))
    assert [(one.secret_key, one.secret_path) for one in found if one.secret_key != "B"] == [
        ("A", "/"),
        ("C", "/two"),
    ]
    assert [
        one.secret_key for one in await of(client.secrets.list(include_imports=False, **house.place))
    ] == ["A"]
    moved = await of(client.imports.update(second.id, position=1, **house.place))
    assert moved.position == 1
    assert (await of(client.imports.get(second.id))).import_path == "/two"
    await of(client.imports.delete(first.id, **house.place))
    assert [one.id for one in await of(client.imports.list(**house.place))] == [second.id]


async def test_tags_select_secrets(house: House, client: Client) -> None:
    tag = await of(client.tags.create("red", name="Red", color="#f00", project_id=house.project.id))
    await of(client.secrets.create("A", "cnry-1", tag_ids=(tag.id,), **house.place))
    await of(client.secrets.create("B", "cnry-2", **house.place))
    (found,) = await of(client.secrets.list(tag_slugs=("red",), **house.place))
    assert (found.secret_key, [one.slug for one in found.tags]) == ("A", ["red"])
    assert await of(client.tags.list(project_id=house.project.id)) == [tag]
    assert await of(client.tags.get(tag.id, project_id=house.project.id)) == tag
    assert await of(client.tags.get_by_slug("red", project_id=house.project.id)) == tag
    await of(client.tags.delete(tag.id, project_id=house.project.id))
    assert await of(client.tags.list(project_id=house.project.id)) == []


async def test_a_batch_is_all_or_none(house: House, client: Client) -> None:
    metadata = (SecretMetadata(key="team", value="a"),)
    made = await of(
        client.secrets.create_many(
            (NewSecret("A", "cnry-1", metadata=metadata), NewSecret("B", "cnry-2")), **house.place
        )
    )
    assert [(one.secret_key, one.version, one.secret_path) for one in made] == [("A", 1, "/"), ("B", 1, "/")]
    with pytest.raises(NotFound):
        await of(
            client.secrets.update_many(
                (ChangedSecret("A", "cnry-3"), ChangedSecret("NONE", "cnry-4")), **house.place
            )
        )
    assert (await of(client.secrets.get("A", **house.place))).secret_value == "cnry-1"
    upserted = await of(
        client.secrets.update_many(
            (ChangedSecret("A", "cnry-3"), ChangedSecret("C", "cnry-4")), mode="upsert", **house.place
        )
    )
    assert [(one.secret_key, one.version) for one in upserted] == [("A", 2), ("C", 1)]
    await of(client.secrets.delete_many(("A", "B", "C"), **house.place))
    assert await of(client.secrets.list(**house.place)) == []


async def test_secrets_are_copied_moved_and_remembered(house: House, client: Client) -> None:
    made = await of(client.secrets.create("A", "cnry-1", **house.place))
    await of(client.secrets.update("A", secret_value="cnry-2", **house.place))
    versions = await of(client.secrets.versions(made.id))
    assert [(one.version, one.secret_value) for one in versions] == [(2, "cnry-2"), (1, "cnry-1")]
    there: dict[str, Any] = {
        "project_id": house.project.id,
        "source_environment": "dev",
        "destination_environment": "prod",
    }
    (copy,) = await of(client.secrets.duplicate((made.id,), **there))
    assert (copy.secret_value, copy.environment) == ("cnry-2", "prod")
    assert copy.id != made.id
    with pytest.raises(BadRequest):
        await of(client.secrets.move((made.id,), **there))
    await of(client.secrets.move((made.id,), should_overwrite=True, **there))
    assert await of(client.secrets.list(**house.place)) == []


async def test_a_secret_is_found_by_its_id(house: House, client: Client) -> None:
    made = await of(client.secrets.create("A", "cnry-1", **house.place))
    assert (await of(client.secrets.get_by_id(made.id))).secret_value == "cnry-1"


async def test_metadata_and_reminders_are_kept(house: House, client: Client) -> None:
    await of(
        client.secrets.create(
            "A",
            "cnry-1",
            metadata=(SecretMetadata(key="team", value="a"),),
            secret_reminder_note="rotate",
            secret_reminder_repeat_days=30,
            **house.place,
        )
    )
    read = await of(client.secrets.get("A", **house.place))
    assert ([(one.key, one.value) for one in read.secret_metadata], read.secret_reminder_note) == (
        [("team", "a")],
        "rotate",
    )
    assert read.secret_reminder_repeat_days == 30
    await of(
        client.secrets.update(
            "A", secret_value="cnry-2", new_metadata=(SecretMetadata(key="team", value="b"),), **house.place
        )
    )
    again = await of(client.secrets.get("A", **house.place))
    assert [(one.key, one.value) for one in again.secret_metadata] == [("team", "b")]


async def test_an_identity_lives_from_create_to_delete(house: House, admin: Client) -> None:
    (organization,) = await of(admin.organizations.list())
    assert (await of(admin.organizations.get(organization.id))).slug == organization.slug
    identity = await of(admin.identities.create("ci", organization_id=organization.id))
    assert identity.role == "no-access"
    settings = await of(
        admin.identities.universal_auth.attach(
            identity.id, access_token_ttl=600, access_token_max_ttl=1200, lockout_threshold=5
        )
    )
    assert (settings.access_token_ttl, settings.access_token_max_ttl, settings.lockout_threshold) == (
        600,
        1200,
        5,
    )
    await of(admin.identities.universal_auth.update(identity.id, access_token_ttl=60))
    assert (await of(admin.identities.universal_auth.get(identity.id))).access_token_ttl == 60
    made = await of(admin.identities.client_secrets.create(identity.id, description="d", num_uses_limit=7))
    assert "client_secret='" not in repr(made)
    (listed,) = await of(admin.identities.client_secrets.list(identity.id))
    assert (listed.description, listed.client_secret_num_uses_limit) == ("d", 7)
    assert made.client_secret.startswith(listed.client_secret_prefix)
    await of(
        admin.memberships.put_identity(identity.id, project_id=house.project.id, roles=("viewer", "member"))
    )
    members = await of(admin.memberships.list_identities(project_id=house.project.id))
    assert {role.role for one in members if one.identity_id == identity.id for role in one.roles} == {
        "viewer",
        "member",
    }
    reader = house.client(UniversalAuth(settings.client_id, made.client_secret))
    assert await of(reader.secrets.list(**house.place)) == []
    await of(admin.memberships.remove_identity(identity.id, project_id=house.project.id))
    with pytest.raises((PermissionDenied, NotFound)):
        await of(reader.secrets.list(**house.place))
    revoked = await of(admin.identities.client_secrets.revoke(identity.id, listed.id))
    assert revoked.is_client_secret_revoked
    assert (await of(admin.identities.client_secrets.get(identity.id, listed.id))).is_client_secret_revoked
    with pytest.raises(Unauthenticated):
        await of(house.client().auth.universal_auth.login(settings.client_id, made.client_secret))
    assert (await of(admin.identities.update(identity.id, name="cd"))).name == "cd"
    assert "cd" in {one.name for one in await of(admin.identities.list())}
    await of(admin.identities.universal_auth.detach(identity.id))
    await of(admin.identities.delete(identity.id))
    with pytest.raises(NotFound):
        await of(admin.identities.get(identity.id))


async def test_kubernetes_auth_is_attached_changed_and_detached(admin: Client) -> None:
    (organization,) = await of(admin.organizations.list())
    identity = await of(admin.identities.create("of a cluster", organization_id=organization.id))
    auth = admin.identities.kubernetes_auth
    made = await of(
        auth.attach(
            identity.id,
            kubernetes_host="https://api.example.com",
            token_reviewer_jwt="cnry-reviewer",
            allowed_namespaces="team-*",
            access_token_ttl=600,
            access_token_trusted_ips=("10.0.0.0/8",),
        )
    )
    assert (made.identity_id, made.kubernetes_host) == (identity.id, "https://api.example.com")
    assert (made.allowed_namespaces, made.access_token_ttl) == ("team-*", 600)
    assert [one.ip_address for one in made.access_token_trusted_ips] == ["10.0.0.0/8"]
    assert await of(auth.get(identity.id)) == made
    changed = await of(auth.update(identity.id, allowed_names="web", allowed_audience="keybearer"))
    assert (changed.allowed_names, changed.allowed_audience, changed.allowed_namespaces) == (
        "web",
        "keybearer",
        "team-*",
    )
    # The reviewer's token is never sent to a host that it was not given for.
    with pytest.raises(BadRequest, match="tokenReviewerJwt"):
        await of(auth.update(identity.id, kubernetes_host="https://other.example.com"))
    moved = await of(
        auth.update(identity.id, kubernetes_host="https://other.example.com", token_reviewer_jwt="")
    )
    assert moved.kubernetes_host == "https://other.example.com"
    await of(auth.update(identity.id, kubernetes_host="https://third.example.com"))
    assert (await of(auth.detach(identity.id))).identity_id == identity.id
    with pytest.raises(NotFound):
        await of(auth.get(identity.id))


async def test_ldap_auth_is_attached_changed_and_detached(admin: Client) -> None:
    (organization,) = await of(admin.organizations.list())
    identity = await of(admin.identities.create("of a directory", organization_id=organization.id))
    auth = admin.identities.ldap_auth
    made = await of(
        auth.attach(
            identity.id,
            url="ldaps://ldap.example.com",
            bind_dn="cn=reader,dc=example",
            bind_pass="cnry-reader",
            search_base="dc=example",
            allowed_fields=(AllowedField(key="l", value="Basel"),),
            lockout_threshold=5,
        )
    )
    assert (made.bind_dn, made.search_filter, made.lockout_threshold) == (
        "cn=reader,dc=example",
        "(uid={{username}})",
        5,
    )
    assert made.allowed_fields == (AllowedField(key="l", value="Basel"),)
    assert "cnry-" not in str(made)
    assert await of(auth.get(identity.id)) == made
    changed = await of(auth.update(identity.id, search_filter="(cn={{username}})", allowed_fields=()))
    assert (changed.search_filter, changed.allowed_fields) == ("(cn={{username}})", ())
    with pytest.raises(BadRequest, match="bindPass"):
        await of(auth.update(identity.id, url="ldaps://other.example.com"))
    moved = await of(auth.update(identity.id, url="ldaps://other.example.com", bind_pass="cnry-other"))
    assert moved.url == "ldaps://other.example.com"
    assert await of(auth.clear_lockouts(identity.id)) == 0
    assert (await of(auth.detach(identity.id))).identity_id == identity.id
    with pytest.raises(NotFound):
        await of(auth.clear_lockouts(identity.id))


async def test_a_lockout_of_universal_auth_is_ended(house: House, admin: Client) -> None:
    who = house.service.create_identity(lockoutThreshold=1)
    with pytest.raises(Unauthenticated):
        await of(house.client().auth.universal_auth.login(who.client_id, "cnry-wrong"))
    with pytest.raises(Unauthenticated):
        await of(house.client().auth.universal_auth.login(who.client_id, who.client_secret))
    assert await of(admin.identities.universal_auth.clear_lockouts(who.identity_id)) == 1
    await of(house.client().auth.universal_auth.login(who.client_id, who.client_secret))


async def test_people_log_in_have_roles_and_secrets_of_their_own(house: House, admin: Client) -> None:
    email = an_email()
    user = await of(admin.users.create(email, PASSWORD, first_name="Ada"))
    assert (user.email, user.role, user.first_name) == (email, "member", "Ada")
    (member,) = await of(
        admin.memberships.put_users((email,), project_id=house.project.id, roles=("member",))
    )
    assert (member.user.email, [role.role for role in member.roles]) == (email, ["member"])
    ada = house.client()
    await of(ada.auth.user.login(email, PASSWORD))
    assert (await of(ada.users.me())).id == user.id
    await of(ada.secrets.create("A", "cnry-shared", **house.place))
    await of(ada.secrets.create("A", "cnry-own", type="personal", **house.place))
    (own,) = await of(ada.secrets.list(include_personal_overrides=True, **house.place))
    assert (own.secret_value, own.type) == ("cnry-own", "personal")
    assert (await of(ada.secrets.get("A", type="personal", **house.place))).secret_value == "cnry-own"
    assert (await of(ada.secrets.get("A", **house.place))).secret_value == "cnry-shared"
    with pytest.raises(BadRequest, match="Must be user"):
        await of(admin.secrets.create("A", "cnry-x", type="personal", **house.place))
    changed = await of(
        admin.memberships.update_user(member.id, project_id=house.project.id, roles=("viewer",))
    )
    assert [role.role for role in changed.roles] == ["viewer"]
    assert member.id in {
        one.id for one in await of(admin.memberships.list_users(project_id=house.project.id))
    }
    await of(admin.memberships.remove_user(member.id, project_id=house.project.id))
    assert (await of(admin.users.update(user.id, last_name="L"))).last_name == "L"
    assert user.id in {one.id for one in await of(admin.users.list())}
    await of(ada.users.change_password(PASSWORD, f"{PASSWORD} 2"))
    again = house.client(UserAuth(email, f"{PASSWORD} 2", (await of(admin.organizations.list()))[0].id))
    assert (await of(again.users.me())).email == email
    await of(admin.users.delete(user.id))
    with pytest.raises(NotFound):
        await of(admin.users.get(user.id))


async def test_a_machine_is_no_user(admin: Client) -> None:
    with pytest.raises(PermissionDenied, match="Only users"):
        await of(admin.users.me())


async def test_a_grant_opens_a_part_of_a_project_and_is_taken_away(house: House, admin: Client) -> None:
    project_id = house.project.id
    await of(admin.secrets.create("A", "cnry-1", **house.place))
    who = house.service.create_identity(roles={project_id: "no-access"})
    reader = house.client(UniversalAuth(who.client_id, who.client_secret))
    with pytest.raises(PermissionDenied):
        await of(reader.secrets.get("A", **house.place))
    grant = await of(
        admin.grants.create(
            who.identity_id, actions=("read", "read-value"), environment="dev", project_id=project_id
        )
    )
    assert (grant.effect, grant.secret_path, set(grant.actions)) == ("allow", "/**", {"read", "read-value"})
    assert (await of(reader.secrets.get("A", **house.place))).secret_value == "cnry-1"
    assert await of(admin.grants.get(grant.id, project_id=project_id)) == grant
    assert await of(admin.grants.list(project_id=project_id, identity_id=who.identity_id)) == [grant]
    await of(admin.grants.update(grant.id, actions=("read",), project_id=project_id))
    (hidden,) = await of(reader.secrets.list(**house.place))
    assert hidden.secret_value_hidden
    assert "cnry-" not in hidden.secret_value
    await of(admin.grants.delete(grant.id, project_id=project_id))
    assert await of(admin.grants.list(project_id=project_id)) == []


async def test_the_audit_log_tells_who_did_what_without_values(house: House, admin: Client) -> None:
    made = await of(admin.secrets.create("A", "cnry-1", **house.place))
    (line,) = await of(
        admin.audit_logs.list(project_id=house.project.id, event_types=("create-secret",), limit=1)
    )
    assert (line.event.type, line.project_id) == ("create-secret", house.project.id)
    assert made.secret_key in str(line.event.metadata)
    assert "cnry-" not in str(line)
    assert line.actor.type == "identity"


async def test_a_token_that_is_kept_outlives_its_client(house: House) -> None:
    first = house.client()
    with pytest.raises(InvalidArgument, match="log in first"):
        first.auth.keep_access_token()
    await of(first.auth.universal_auth.login(house.who.client_id, house.who.client_secret))
    token = first.auth.keep_access_token()
    await close(first)
    second = house.client()
    second.auth.set_access_token(token)
    await of(second.auth.check())
