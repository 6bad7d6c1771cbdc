"""What the person who migrates decides: where in the service the contents of another store are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from keybearer.base.errors import ConfigurationError
from keybearer.wire.limits import PROJECT_SLUG_MAX, PROJECT_SLUG_MIN

__all__ = [
    "IssuerPlace",
    "Place",
    "Settings",
    "UnusedMapping",
    "project_slug_of",
    "read_issuers",
    "read_places",
    "slug_of",
]

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_ENVIRONMENT = re.compile(r"[a-z0-9]+([_-]+[a-z0-9]+)*")
_PATH = re.compile(r"(/[A-Za-z0-9_-]+)*")
_PROFILE = re.compile(r"[a-z0-9-]+")
_NO_SLUG = re.compile(r"[^a-z0-9]+")
_SLUG_MAX = 64
_OBJECT_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
EVERY = "*"

DEFAULT_IDENTITY = "keybearer-identity"
DEFAULT_ENVIRONMENT = "prod"


@dataclass(frozen=True, slots=True)
class Place:
    """A folder of the service.

    Attributes:
        project_slug: of the project.
        environment: its slug.
        path: of the folder, from the root; `/` for the root itself.
    """

    project_slug: str
    environment: str
    path: str = "/"

    def __str__(self) -> str:
        """Return it as options write it."""
        return f"{self.project_slug}/{self.environment}{self.path.rstrip('/')}"


@dataclass(frozen=True, slots=True)
class IssuerPlace:
    """A profile of the service; without a project, one of the organization's project for certificates."""

    profile: str
    project_slug: str | None = None


_Found = TypeVar("_Found", Place, IssuerPlace)


@dataclass(frozen=True, slots=True)
class UnusedMapping:
    """A mapping that nothing was found by.

    Attributes:
        option: that gave it.
        name: what it stands for.
        asked: names that the manifests have in its place.
    """

    option: str
    name: str
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Settings:
    """What the conversion goes by.

    Attributes:
        stores: places by name of a store, by `NAMESPACE/NAME`, or `*` for all others.
        secrets: places by name of a Kubernetes Secret whose contents are pushed elsewhere, likewise.
        issuers: profiles by name of an issuer, likewise.
        identity: the Secret that `identityRef` names where the manifests name none that will do.
        adopt: whether targets may take over the Secrets that the other operator wrote.
        connections: whether stores that are only read become AppConnections, by which the service can import from
            them.
        asked: what was looked up while converting: option, namespace and name, in that order.
    """

    stores: Mapping[str, Place] = field(default_factory=dict)
    secrets: Mapping[str, Place] = field(default_factory=dict)
    issuers: Mapping[str, IssuerPlace] = field(default_factory=dict)
    identity: str = DEFAULT_IDENTITY
    adopt: bool = True
    connections: bool = False
    asked: dict[tuple[str, str, str], None] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not _OBJECT_NAME.fullmatch(self.identity) or len(self.identity) > 253:
            raise ConfigurationError(f"--identity: {self.identity!r} is no name of a Secret")

    def store(self, namespace: str, name: str) -> Place | None:
        """Return where the contents of a store are; None where nobody said."""
        return self._find("--map-store", self.stores, namespace, name)

    def names_store(self, namespace: str, name: str) -> bool:
        """Tell whether a store is mapped by its own name, not as one of all others."""
        return _key_of(self.stores, namespace, name) not in (None, EVERY)

    def names_issuer(self, namespace: str, name: str) -> bool:
        """Tell whether an issuer is mapped by its own name, not as one of all others."""
        return _key_of(self.issuers, namespace, name) not in (None, EVERY)

    def secret(self, namespace: str, name: str) -> Place | None:
        """Return where the contents of a Kubernetes Secret are; None where nobody said."""
        return self._find("--map-secret", self.secrets, namespace, name)

    def issuer(self, namespace: str, name: str) -> IssuerPlace | None:
        """Return which profile replaces an issuer; None if nobody said."""
        return self._find("--map-issuer", self.issuers, namespace, name)

    @property
    def unused(self) -> tuple[UnusedMapping, ...]:
        """Mappings that nothing was found by; `*` is for all others, of which there may be none."""
        given = (("--map-store", self.stores), ("--map-secret", self.secrets), ("--map-issuer", self.issuers))
        found: list[UnusedMapping] = []
        for option, places in given:
            asked = [(namespace, name) for kind, namespace, name in self.asked if kind == option]
            used = {_key_of(places, namespace, name) for namespace, name in asked}
            names = tuple(dict.fromkeys(name for _, name in asked if name))
            found += [UnusedMapping(option, key, names) for key in places if key != EVERY and key not in used]
        return tuple(found)

    def _find(self, option: str, places: Mapping[str, _Found], namespace: str, name: str) -> _Found | None:
        self.asked[option, namespace, name] = None
        key = _key_of(places, namespace, name)
        return None if key is None else places[key]


def _key_of(places: Mapping[str, object], namespace: str, name: str) -> str | None:
    """Return the mapping that stands for a name: the narrowest that is given."""
    return next((key for key in (f"{namespace}/{name}", name, EVERY) if key in places), None)


def read_places(option: str, given: Iterable[str]) -> dict[str, Place]:
    """Return the places of options such as `vault=webshop/prod/apps`.

    Raises:
        ConfigurationError: one is none; the text names the option.
    """
    places: dict[str, Place] = {}
    for text in given:
        name, equals, place = text.partition("=")
        project, _, rest = place.partition("/")
        environment, _, path = rest.partition("/")
        folder = f"/{path.strip('/')}" if path.strip("/") else ""
        is_whole = bool(equals and name) and _SLUG.fullmatch(project) and _ENVIRONMENT.fullmatch(environment)
        if not is_whole or not _PATH.fullmatch(folder) or name in places:
            raise ConfigurationError(
                f"{option}: {text!r} is no NAME=PROJECT/ENVIRONMENT or NAME=PROJECT/ENVIRONMENT/PATH, each name once"
            )
        _check_length(option, text, project)
        places[name] = Place(project, environment, folder or "/")
    return places


def read_issuers(option: str, given: Iterable[str]) -> dict[str, IssuerPlace]:
    """Return the profiles of options such as `internal-ca=shop-pki/web`.

    Raises:
        ConfigurationError: one is none; the text names the option.
    """
    places: dict[str, IssuerPlace] = {}
    for text in given:
        name, equals, place = text.partition("=")
        project, slash, profile = place.rpartition("/")
        is_whole = bool(equals and name) and _PROFILE.fullmatch(profile)
        if not is_whole or (slash and not _SLUG.fullmatch(project)) or name in places:
            raise ConfigurationError(
                f"{option}: {text!r} is no NAME=PROFILE or NAME=PROJECT/PROFILE, each name once"
            )
        if project:
            _check_length(option, text, project)
        places[name] = IssuerPlace(profile, project or None)
    return places


def _check_length(option: str, text: str, project: str) -> None:
    """Raise ConfigurationError for a slug that no project can have: the report would have commands that fail."""
    if not PROJECT_SLUG_MIN <= len(project) <= PROJECT_SLUG_MAX:
        raise ConfigurationError(
            f"{option}: project {project!r} of {text!r} must have {PROJECT_SLUG_MIN} to {PROJECT_SLUG_MAX} "
            "characters, as the slug of every project has"
        )


def project_slug_of(name: str) -> str:
    """Return a name as the slug of a project, which the service takes from 5 characters to 36."""
    slug = slug_of(name)[:PROJECT_SLUG_MAX].strip("-")
    return slug if len(slug) >= PROJECT_SLUG_MIN else f"{slug}-secrets"


def slug_of(name: str, *, fallback: str = "secrets") -> str:
    """Return a name as a slug: small letters, digits and single hyphens."""
    return _NO_SLUG.sub("-", name.lower())[:_SLUG_MAX].strip("-") or fallback
