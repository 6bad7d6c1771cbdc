"""What `keybearer authorities` does with authorities elsewhere that speak ACME."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from keybearer.base.errors import ConfigurationError
from keybearer.cli.own_credentials import OwnCredential
from keybearer.cli.private_input import private_text, read_text

if TYPE_CHECKING:
    from keybearer.client import AcmeAuthority, Keybearer

__all__ = ["AcmeTerms", "create_acme", "fields_of_acme", "require_none_given"]


@dataclass(frozen=True, slots=True)
class AcmeTerms:
    """What is said of an authority on the command line; the secret of the binding is in a file or a variable."""

    directory: str | None
    email: str | None = None
    eab_kid: str | None = None
    eab_key_file: Path | None = None
    ca_certificates: Path | None = None
    agree_to_terms: bool = False

    @property
    def given(self) -> Mapping[str, object]:
        """Each by its option, None or False where it isn't given."""
        return {
            "--directory": self.directory,
            "--email": self.email,
            "--eab-kid": self.eab_kid,
            "--eab-key-file": self.eab_key_file,
            "--ca-certificates": self.ca_certificates,
            "--agree-to-terms": self.agree_to_terms,
        }


def create_acme(client: Keybearer, name: str, terms: AcmeTerms, project_id: str | None) -> AcmeAuthority:
    """Make the authority, with an account there.

    Raises:
        ConfigurationError: it isn't said where it is.
    """
    if terms.directory is None:
        raise ConfigurationError("an authority of kind acme needs --directory, the URL where it begins")
    key = None
    if terms.eab_kid is not None:
        key = private_text("HMAC key", variable=OwnCredential.EAB_KEY, file=terms.eab_key_file).strip()
    return client.certificate_authorities.create_acme(
        name,
        directory_url=terms.directory,
        account_email=terms.email,
        eab_kid=terms.eab_kid,
        eab_hmac_key=key,
        ca_certificates=None if terms.ca_certificates is None else read_text(terms.ca_certificates),
        terms_of_service_agreed=terms.agree_to_terms,
        project_id=project_id,
    )


def require_none_given(given: Mapping[str, object], kind: str) -> None:
    """Let pass what none of these options is given with.

    Raises:
        ConfigurationError: one is, which the other kind of authority has.
    """
    named = [option for option, value in given.items() if value not in (None, "", False)]
    if named:
        raise ConfigurationError(f"an authority of kind {kind} takes no {', '.join(named)}")


def fields_of_acme(found: AcmeAuthority) -> list[tuple[str, str]]:
    """Return what a table shows of one."""
    rows = [("name", found.name), ("type", found.type), ("status", found.status)]
    told = found.configuration
    if told is not None:
        rows += [
            ("directory", told.directory_url),
            ("account", told.account_url or ""),
            ("email", told.account_email or ""),
            ("bound to", told.eab_kid or ""),
            ("terms of service", told.terms_of_service or ""),
        ]
    return [*rows, ("created", found.created_at), ("id", found.id)]
