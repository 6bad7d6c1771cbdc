from __future__ import annotations

from itertools import product

import pytest

from keybearer.base.ids import IdentityId, OrganizationId
from keybearer.domain.access import effective_roles
from keybearer.domain.authorization import (
    Action,
    OrganizationRole,
    Principal,
    ProjectRole,
    Subject,
    Where,
    allows,
    denied,
    require_organization,
)
from keybearer.domain.errors import ForbiddenError
from support.rows import listed

A, V, C, E, D = Action.READ, Action.READ_VALUE, Action.CREATE, Action.EDIT, Action.DELETE
ALL = {A, C, E, D}
NOTHING: set[Action] = set()
READ = {A}
CERTIFICATES: dict[Subject, set[Action]] = {
    Subject.CERTIFICATE_PROFILES: ALL,
    Subject.CERTIFICATE_APPLICATIONS: ALL,
    Subject.CERTIFICATES: {*ALL, Action.ISSUE, Action.RENEW, Action.REVOKE, Action.READ_PRIVATE_KEY},
    Subject.CERTIFICATE_REQUESTS: ALL,
}
GOVERNED = (
    Subject.CERTIFICATE_AUTHORITIES,
    Subject.CERTIFICATE_POLICIES,
    Subject.CERTIFICATE_APPROVALS,
    Subject.PKI_SUBSCRIBERS,
)

ROLES: dict[ProjectRole, dict[Subject, set[Action]]] = {
    ProjectRole.ADMIN: {
        **dict.fromkeys(Subject, ALL),
        Subject.SECRETS: {*ALL, V},
        Subject.APP_CONNECTIONS: {*ALL, Action.CONNECT},
        **CERTIFICATES,
        Subject.CERTIFICATE_POLICIES: {*ALL, Action.BIND},
        Subject.CERTIFICATE_APPROVALS: {*ALL, Action.APPROVE},
        Subject.PKI_SUBSCRIBERS: {*ALL, Action.ISSUE},
    },
    ProjectRole.MEMBER: {
        Subject.SECRETS: {*ALL, V},
        Subject.FOLDERS: ALL,
        Subject.IMPORTS: ALL,
        Subject.ENVIRONMENTS: ALL,
        Subject.TAGS: ALL,
        Subject.PROJECT: {A},
        Subject.MEMBERS: {A},
        Subject.GRANTS: NOTHING,
        Subject.AUDIT_LOGS: NOTHING,
        Subject.IDENTITIES: NOTHING,
        Subject.ENCRYPTION_KEYS: NOTHING,
        Subject.APP_CONNECTIONS: {A, Action.CONNECT},
        Subject.SECRET_SYNCS: ALL,
        **CERTIFICATES,
        **dict.fromkeys(GOVERNED, READ),
        Subject.PKI_SUBSCRIBERS: {A, Action.ISSUE},
    },
    ProjectRole.VIEWER: {
        Subject.SECRETS: {A, V},
        Subject.FOLDERS: {A},
        Subject.IMPORTS: {A},
        Subject.ENVIRONMENTS: {A},
        Subject.TAGS: {A},
        Subject.PROJECT: {A},
        Subject.MEMBERS: {A},
        Subject.GRANTS: NOTHING,
        Subject.AUDIT_LOGS: NOTHING,
        Subject.IDENTITIES: NOTHING,
        Subject.ENCRYPTION_KEYS: NOTHING,
        Subject.APP_CONNECTIONS: {A},
        Subject.SECRET_SYNCS: {A},
        **dict.fromkeys((*CERTIFICATES, *GOVERNED), READ),
    },
    ProjectRole.NO_ACCESS: dict.fromkeys(Subject, NOTHING),
}


def test_the_table_speaks_of_every_role_and_subject() -> None:
    assert ROLES.keys() == set(ProjectRole)
    assert all(rules.keys() == set(Subject) for rules in ROLES.values())


def principal(role: str) -> Principal:
    return Principal(IdentityId("i"), OrganizationId("o"), role, 1, "t")


def test_a_role_allows_exactly_its_rules() -> None:
    expected = {
        (role, action, subject)
        for role, rules in ROLES.items()
        for subject, actions in rules.items()
        for action in actions
    }
    found = {
        (role, action, subject)
        for role, action, subject in product(ProjectRole, Action, Subject)
        if allows([role], action, subject)
    }
    wrong = [f"{' '.join(rule)} is allowed" for rule in sorted(found - expected)]
    wrong += [f"{' '.join(rule)} is not allowed" for rule in sorted(expected - found)]
    assert not wrong, listed(wrong)


def test_roles_add_up() -> None:
    roles = [ProjectRole.NO_ACCESS, ProjectRole.VIEWER, ProjectRole.MEMBER]
    assert allows(roles, Action.DELETE, Subject.SECRETS)


def test_no_roles_and_unknown_roles_allow_nothing() -> None:
    assert not any(allows(roles, A, subject) for roles in ([], ["owner"]) for subject in Subject)


def test_a_refusal_names_rule_and_place() -> None:
    refusal = denied(Action.EDIT, Subject.SECRETS, Where("dev", "/a"))
    assert str(refusal) == "You are not allowed to edit on secrets"
    denial = refusal.denial
    assert denial is not None
    assert (denial.action, denial.subject, denial.environment, denial.path) == (
        "edit",
        "secrets",
        "dev",
        "/a",
    )


@pytest.mark.parametrize(
    ("role", "action", "subject", "allowed"),
    [
        pytest.param("admin", Action.DELETE, Subject.IDENTITIES, True, id="an admin deletes identities"),
        pytest.param("admin", Action.CREATE, Subject.PROJECT, True, id="an admin makes projects"),
        pytest.param("member", Action.CREATE, Subject.PROJECT, True, id="a member makes projects"),
        pytest.param("member", Action.READ, Subject.IDENTITIES, False, id="a member sees no identities"),
        pytest.param("no-access", Action.CREATE, Subject.PROJECT, False, id="no-access makes nothing"),
        pytest.param("unheard-of", Action.READ, Subject.PROJECT, False, id="an unknown role does nothing"),
    ],
)
def test_the_organizations_role_decides_about_identities_and_new_projects(
    role: str, action: Action, subject: Subject, *, allowed: bool
) -> None:
    if allowed:
        require_organization(principal(role), action, subject)
    else:
        with pytest.raises(ForbiddenError):
            require_organization(principal(role), action, subject)


def test_an_admin_of_the_organization_is_admin_of_every_project() -> None:
    assert effective_roles(principal(OrganizationRole.ADMIN), None) == ("admin",)
    assert effective_roles(principal(OrganizationRole.ADMIN), ("viewer",)) == ("admin",)


def test_everybody_else_is_what_the_project_says() -> None:
    assert effective_roles(principal(OrganizationRole.MEMBER), None) == ()
    assert effective_roles(principal(OrganizationRole.NO_ACCESS), ("viewer",)) == ("viewer",)
