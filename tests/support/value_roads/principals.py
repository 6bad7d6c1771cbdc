"""The places whose values are asked for, and who asks: each role, with what grants allow and deny it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = [
    "FOREIGN",
    "HIDDEN_FROM_MANY",
    "OFFICE",
    "OPEN",
    "ORGANIZATION_ADMIN",
    "PLACES",
    "PROD",
    "TEAM",
    "WALKERS",
    "GrantedPart",
    "Place",
    "Walker",
]


@dataclass(frozen=True)
class Place:
    """A folder whose values are marked.

    Attributes:
        name: part of the mark of each value in it.
        project: `shop` and `office` are of one organization, `foreign` is of another.
    """

    name: str
    project: str
    environment: str
    path: str

    @property
    def reference(self) -> str:
        """The inner part of a reference to its secret VALUE, from within its project."""
        return f"{self.environment}{self.path.replace('/', '.')}.VALUE"


OPEN = Place("open", "shop", "dev", "/pub")
TEAM = Place("team", "shop", "dev", "/team/hidden")
PROD = Place("prod", "shop", "prod", "/vault")
OFFICE = Place("office", "office", "prod", "/safe")
FOREIGN = Place("foreign", "foreign", "prod", "/safe")
PLACES = (OPEN, TEAM, PROD, OFFICE, FOREIGN)
HIDDEN_FROM_MANY = (TEAM, PROD, OFFICE, FOREIGN)


@dataclass(frozen=True)
class GrantedPart:
    """A grant in the project `shop`; by default it denies all that can be done to secrets, folders and imports."""

    environment: str
    path: str
    effect: str = "deny"
    actions: tuple[str, ...] = ("read", "read-value", "create", "edit", "delete")
    subjects: tuple[str, ...] = ("secrets", "secret-folders", "secret-imports")

    @property
    def body(self) -> dict[str, object]:
        """The body that makes it, but for whose it is."""
        actions = [one for one in self.actions if one != "read-value" or "secrets" in self.subjects]
        return {
            "effect": self.effect,
            "subjects": list(self.subjects),
            "actions": actions,
            "environment": self.environment,
            "secretPath": self.path,
        }


@dataclass(frozen=True)
class Walker:
    """Somebody who tries every road.

    Attributes:
        reads: places whose values the roles and grants let it read directly: written by hand, and held against
            direct reads by a test.
        is_user: a person, not a machine identity.
        is_foreign: the admin of the other organization.
        is_tried_first: walks in each run of the tests; the others do in the deep ones.
    """

    name: str
    reads: frozenset[Place]
    organization_role: str = "member"
    roles: Mapping[str, str] = field(default_factory=dict)
    grants: tuple[GrantedPart, ...] = ()
    is_user: bool = False
    is_foreign: bool = False
    is_tried_first: bool = False

    def __str__(self) -> str:
        return self.name.replace(",", "").replace(" ", "-")

    @property
    def hidden(self) -> frozenset[Place]:
        """Places whose values it must not get by any road."""
        return frozenset(PLACES) - self.reads


_READ = ("read", "read-value")
_ALL_PROD, _ALL_TEAM = GrantedPart("prod", "/**"), GrantedPart("dev", "/team/**")
_NO_VALUES = GrantedPart("*", "/team/**", actions=("read-value",), subjects=("secrets",))
_NO_READING = tuple(
    GrantedPart(environment, path, actions=_READ, subjects=("secrets",))
    for environment, path in (("prod", "/**"), ("dev", "/team/**"))
)
_MEMBER = {"shop": "member"}
ORGANIZATION_ADMIN = Walker("admin of the organization", frozenset({OPEN, TEAM, PROD, OFFICE}), "admin")
WALKERS: tuple[Walker, ...] = (
    ORGANIZATION_ADMIN,
    Walker("admin of the project", frozenset({OPEN, TEAM, PROD}), "no-access", {"shop": "admin"}),
    Walker("member", frozenset({OPEN, TEAM, PROD}), "member", _MEMBER),
    Walker("viewer", frozenset({OPEN, TEAM, PROD}), "member", {"shop": "viewer"}),
    Walker("no access", frozenset(), "member", {"shop": "no-access"}),
    Walker("member of the organization alone", frozenset()),
    Walker("nobody", frozenset(), "no-access"),
    Walker(
        "no access, one path allowed",
        frozenset({OPEN}),
        "no-access",
        {"shop": "no-access"},
        (GrantedPart("dev", "/pub/**", "allow", _READ, ("secrets",)),),
        is_tried_first=True,
    ),
    Walker(
        "no access, names allowed",
        frozenset(),
        "no-access",
        {"shop": "no-access"},
        (GrantedPart("*", "/**", "allow", ("read",)),),
    ),
    Walker("member, prod denied", frozenset({OPEN, TEAM}), "member", _MEMBER, (_ALL_PROD,)),
    Walker("member, a path denied", frozenset({OPEN, PROD}), "member", _MEMBER, (_ALL_TEAM,)),
    Walker(
        "member, both denied",
        frozenset({OPEN}),
        "no-access",
        _MEMBER,
        (_ALL_PROD, _ALL_TEAM),
    ),
    Walker(
        "member, values denied",
        frozenset({OPEN}),
        "member",
        _MEMBER,
        (_NO_VALUES, GrantedPart("prod", "/vault", actions=("read-value",), subjects=("secrets",))),
        is_tried_first=True,
    ),
    Walker(
        "member, reading of secrets denied",
        frozenset({OPEN}),
        "member",
        _MEMBER,
        _NO_READING,
    ),
    Walker(
        "viewer who writes in one path",
        frozenset({OPEN}),
        "member",
        {"shop": "viewer"},
        (
            *_NO_READING,
            GrantedPart("dev", "/pub/**", "allow", ("create", "edit", "delete")),
        ),
    ),
    Walker(
        "admin of one project, member of another",
        frozenset({OPEN, TEAM, OFFICE}),
        "member",
        {"shop": "member", "office": "admin"},
        (_ALL_PROD,),
    ),
    Walker("user, both denied", frozenset({OPEN}), "member", _MEMBER, (_ALL_PROD, _ALL_TEAM), is_user=True),
    Walker(
        "admin of another organization", frozenset({FOREIGN}), "admin", is_foreign=True, is_tried_first=True
    ),
)
"""Every role there is; those of whom something is hidden have rights beside it that might lead around the denial."""
