"""Authorities below others: how long they may be valid, made whole or not at all, and what the end of one means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from keybearer.base.clock import parse_instant
from keybearer.base.errors import ConfigurationError, KeybearerError
from keybearer.cli.output import note

if TYPE_CHECKING:
    from keybearer.client import CertificateAuthority, InternalAuthority, Keybearer

__all__ = ["certify_or_remove", "end_after", "end_below", "internal_of", "warning_of_end"]

_DEFAULT_DAYS = 3650


def internal_of(client: Keybearer, found: CertificateAuthority) -> InternalAuthority:
    """Return all that the service tells of an authority whose key it has.

    Raises:
        ConfigurationError: it hasn't.
    """
    if found.type != "internal":
        raise ConfigurationError(
            f"authority {found.name} is of type {found.type}: its key is elsewhere, and so are its renewals and the "
            "authorities below it"
        )
    return client.certificate_authorities.get(found.id)


def end_after(days: int | None) -> datetime:
    """Return the end of a certificate that begins now; None is ten years.

    Raises:
        ConfigurationError: it lies beyond all calendars.
    """
    wanted = _DEFAULT_DAYS if days is None else days
    try:
        return datetime.now(UTC).replace(microsecond=0) + timedelta(days=wanted)
    except OverflowError as error:
        raise ConfigurationError(f"--days {wanted} lies beyond the year 9999") from error


def end_below(parent: InternalAuthority, days: int | None) -> datetime:
    """Return the end of a certificate that this authority signs now: by default ten years, or its own end.

    Raises:
        ConfigurationError: it has none to sign with, or the certificate would outlive it.
    """
    told = None if parent.configuration is None else parent.configuration.not_after
    if told is None:
        raise ConfigurationError(
            f"authority {parent.name} has no certificate yet, so that it can't sign: it is {parent.status}"
        )
    last, wanted = parse_instant(told), end_after(days)
    if wanted <= last:
        return wanted
    if days is not None:
        raise ConfigurationError(
            f"--days {days} is longer than authority {parent.name} lives, which ends at {told}: leave --days out "
            f"to end with it, or renew {parent.name} first"
        )
    return last


def certify_or_remove(
    client: Keybearer,
    made: InternalAuthority,
    parent: InternalAuthority,
    not_after: datetime,
    path_length: int | None,
) -> InternalAuthority:
    """Have the parent sign a new authority, and return it as it is then; without its certificate it doesn't stay.

    Raises:
        ClientError: the service refuses or can't be asked.
    """
    try:
        client.certificate_authorities.issue_certificate(
            made.id,
            parent_ca_id=parent.id,
            not_after=not_after,
            max_path_length=-1 if path_length is None else path_length,
        )
    except BaseException:
        _remove(client, made)
        raise
    return client.certificate_authorities.get(made.id)


def warning_of_end(client: Keybearer, authority_id: str, project_id: str | None) -> str:
    """Return what is said of deleting an authority that others stand below; nothing where none do."""
    found = client.certificate_authorities.list_internal(project_id=project_id)
    names = [
        one.name
        for one in found
        if one.configuration is not None and one.configuration.parent_ca_id == authority_id
    ]
    if not names:
        return ""
    told = ", ".join(names)
    return f" It signed for {told}: what these sign stays valid, and none of them could be revoked any more."


def _remove(client: Keybearer, made: InternalAuthority) -> None:
    try:
        client.certificate_authorities.delete(made.id)
    except KeybearerError as error:
        # What kept the certificate from it is told as the reason; this is what is left to do.
        note(
            f"Authority {made.name} is left without a certificate ({error}): keybearer authorities delete {made.id}"
        )
