"""Which project, profile, policy, authority or approval a command means, and lists that come in pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Protocol, TypeVar

import typer

from keybearer.base.errors import ConfigurationError
from keybearer.cli.connecting import connected, is_id, project_id_of
from keybearer.cli.failures import CommandError, ExitStatus, not_found
from keybearer.cli.nouns import Noun

if TYPE_CHECKING:
    from keybearer.client import (
        ApprovalRequest,
        Certificate,
        CertificateAuthority,
        CertificateMetadata,
        CertificatePolicy,
        CertificateProfile,
        Keybearer,
    )

__all__ = [
    "AUTHORITY",
    "CERTIFICATE",
    "POLICY",
    "CertificateProject",
    "Limit",
    "all_of",
    "approval_of",
    "authority_of",
    "certificate_id_of",
    "in_certificate_project",
    "metadata_of",
    "policy_of",
    "profile_of",
]

T = TypeVar("T")

CertificateProject = Annotated[
    str | None,
    typer.Option(
        "--project",
        "-p",
        envvar="KEYBEARER_PKI_PROJECT",
        help="Slug or id of the project; by default the organization's own for certificates.",
    ),
]
Limit = Annotated[int, typer.Option(help="How many at most.", min=1)]
_PAGE = 100


POLICY: Noun[CertificatePolicy] = Noun(
    "policy",
    ("NAME", "VALID AT MOST", "DESCRIPTION", "ID"),
    lambda one: (one.name, (one.validity.max if one.validity else None) or "any", one.description, one.id),
)
AUTHORITY: Noun[CertificateAuthority] = Noun(
    "authority", ("NAME", "TYPE", "STATUS", "ID"), lambda one: (one.name, one.type, one.status, one.id)
)
CERTIFICATE: Noun[Certificate] = Noun(
    "certificate",
    ("NAME", "STATUS", "EXPIRES", "SERIAL NUMBER", "ID"),
    lambda one: (one.common_name or one.alt_names, one.status, one.not_after, one.serial_number, one.id),
)


@contextmanager
def in_certificate_project(project: str | None) -> Iterator[tuple[Keybearer, str | None]]:
    """Yield a client as `connected` does, and the id of a project; None for the organization's own."""
    with connected() as client:
        yield client, None if project is None else project_id_of(client, project)


class Page(Protocol):
    """Some of what there is."""

    @property
    def total_count(self) -> int | None:
        """How many there are in all, where the service says."""


PageT_co = TypeVar("PageT_co", bound=Page, covariant=True)
PageT = TypeVar("PageT", bound=Page)


class Ask(Protocol[PageT_co]):
    """Asks for a page of a list."""

    def __call__(self, *, offset: int, limit: int) -> PageT_co:
        """Return the page from an offset, with so many items at most."""


def all_of(ask: Ask[PageT], items: Callable[[PageT], Sequence[T]], most: int | None = None) -> list[T]:
    """Return all items of a list that comes in pages, or so many at most.

    Args:
        ask: returns a page.
        items: returns what is on it.
        most: None for no bound.
    """
    found: list[T] = []
    while most is None or len(found) < most:
        wanted = _PAGE if most is None else min(_PAGE, most - len(found))
        page = ask(offset=len(found), limit=wanted)
        there = items(page)
        found += there
        if len(there) < wanted or (page.total_count is not None and len(found) >= page.total_count):
            break
    return found


def profile_of(client: Keybearer, wanted: str, project_id: str | None) -> CertificateProfile:
    """Return the profile of that slug or id."""
    if is_id(wanted):
        return client.certificate_profiles.get(wanted)
    return client.certificate_profiles.get_by_slug(wanted, project_id=project_id)


def policy_of(client: Keybearer, wanted: str, project_id: str | None) -> CertificatePolicy:
    """Return the policy of that name or id.

    Raises:
        CommandError: there is none of that name.
    """
    if is_id(wanted):
        return client.certificate_policies.get(wanted)
    found = client.certificate_policies.find(wanted, project_id=project_id)
    if found is None:
        raise POLICY.missing(wanted)
    return found


def authority_of(client: Keybearer, wanted: str, project_id: str | None) -> CertificateAuthority:
    """Return the authority of that name or id.

    Raises:
        CommandError: there is none.
    """
    return AUTHORITY.named(wanted, client.certificate_authorities.list(project_id=project_id))


def certificate_id_of(client: Keybearer, wanted: str, project_id: str | None) -> str:
    """Return the id of the certificate of that id or serial number, in hexadecimal with or without colons.

    Raises:
        CommandError: there is none of that number, or several authorities gave it to one.
    """
    if is_id(wanted):
        return wanted
    serial = wanted.replace(":", "").lower().lstrip("0")
    page = client.certificates.list(project_id=project_id, search=serial, limit=_PAGE)
    found = [one.id for one in page.certificates if one.serial_number.lower().lstrip("0") == serial]
    if not found:
        raise CERTIFICATE.missing(wanted)
    if len(found) > 1:
        raise CommandError(
            f"several certificates have the serial number {wanted}",
            ExitStatus.REFUSED,
            f"Name one by its id: {', '.join(found)}",
        )
    return found[0]


def approval_of(client: Keybearer, wanted: str, project_id: str | None) -> ApprovalRequest:
    """Return the approval of that id, or of the certificate request of that id.

    Raises:
        CommandError: no approval has to do with that id.
    """
    from keybearer.client import NotFound

    try:
        return client.approval_requests.get(wanted)
    except NotFound:
        pass
    ask = partial(client.approval_requests.list, project_id=project_id)
    for one in all_of(ask, lambda page: page.approval_requests):
        if one.certificate_request_id == wanted:
            return one
    raise not_found(
        f"nothing waits for approval that has to do with {wanted}",
        "List what does: keybearer certificates requests",
    )


def metadata_of(given: Sequence[str] | None) -> list[CertificateMetadata]:
    """Return keys and values that are given as KEY=VALUE.

    Raises:
        ConfigurationError: one is not.
    """
    from keybearer.client import CertificateMetadata

    pairs = []
    for word in given or ():
        key, equals, value = word.partition("=")
        if not (key and equals):
            raise ConfigurationError(f"--metadata {word!r} is not KEY=VALUE")
        pairs.append(CertificateMetadata(key=key, value=value))
    return pairs
