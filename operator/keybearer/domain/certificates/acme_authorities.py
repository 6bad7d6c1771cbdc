"""Authorities of kind ACME as people make, see, change and delete them.

An account is made with the authority: what can't work is told to who asks for it, not to who needs a certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from keybearer.base.certificate_terms import AuthorityKind, AuthorityStatus
from keybearer.base.clock import Clock
from keybearer.base.ids import new_uuid
from keybearer.destinations.remote import RemoteError
from keybearer.domain.audit import EventType
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.acme_accounts import AcmeConfiguration, AcmeSessions, awaited
from keybearer.domain.certificates.authorities import require_free_name, require_room, require_unused
from keybearer.domain.certificates.authority_lookup import authority_event
from keybearer.domain.certificates.lookup import access_to, certificate_project
from keybearer.domain.errors import InvalidError
from keybearer.outbound.acme.account_key import ACCOUNT_KEY, binding_secret
from keybearer.outbound.acme.client import Binding
from keybearer.pki.certificates import parse_certificates
from keybearer.pki.errors import PkiError
from keybearer.pki.keys import generate_private_key
from keybearer.store.acme_accounts import AcmeAccount, OpenedAcmeAccount
from keybearer.store.certificate_authorities import CertificateAuthority
from keybearer.store.database import Database
from keybearer.store.unit import UnitOfWork

__all__ = ["AcmeAuthorities", "AcmeAuthorityChange", "AcmeAuthorityView", "NewAcmeAuthority"]

_SUBJECT = Subject.CERTIFICATE_AUTHORITIES


@dataclass(frozen=True, slots=True)
class NewAcmeAuthority:
    """An authority of kind ACME to be made.

    Attributes:
        eab_key_id, eab_secret: of an account that the authority knows already (RFC 8555 section 7.3.4).
        agrees_to_terms: whether its terms of service are agreed to.
    """

    project_id: str | None
    name: str
    status: AuthorityStatus
    enable_direct_issuance: bool
    configuration: AcmeConfiguration
    eab_key_id: str | None = None
    eab_secret: str | None = field(default=None, repr=False)
    agrees_to_terms: bool = False


@dataclass(frozen=True, slots=True)
class AcmeAuthorityChange:
    """What changes of an authority; None leaves a field as it is."""

    name: str | None = None
    status: AuthorityStatus | None = None
    enable_direct_issuance: bool | None = None
    ca_certificates: str | None = None


@dataclass(frozen=True, slots=True)
class AcmeAuthorityView:
    """An authority with the account that the service has there."""

    authority: CertificateAuthority
    configuration: AcmeConfiguration
    account: AcmeAccount | None


class AcmeAuthorities:
    """Decides about authorities of kind ACME.

    Every method raises NotFoundError for an authority or project that isn't there, and ForbiddenError where the
    principal may not. Nobody outside is called with a transaction open.
    """

    def __init__(self, database: Database, sessions: AcmeSessions, clock: Clock) -> None:
        self._database = database
        self._sessions = sessions
        self._clock = clock

    async def list(self, principal: Principal, project_id: str | None) -> Sequence[AcmeAuthorityView]:
        """Return the project's authorities of kind ACME, by name."""
        async with self._database.reading() as unit:
            access = await certificate_project(unit, principal, project_id, Action.READ, _SUBJECT)
            found = await unit.certificate_authorities.of_project(access.project.id, AuthorityKind.ACME)
            return [await _view(unit, one) for one in found]

    async def get(self, principal: Principal, authority_id: str) -> AcmeAuthorityView:
        """Return one of them."""
        async with self._database.reading() as unit:
            return await _view(unit, await _authority(unit, principal, authority_id, Action.READ))

    async def create(self, principal: Principal, new: NewAcmeAuthority) -> AcmeAuthorityView:
        """Make an authority, and the account there.

        Raises:
            InvalidError: the name is taken, the project has too many, the authority can't be reached or refuses the
                account, or has terms that nobody agreed to.
        """
        async with self._database.reading() as unit:
            await require_room(unit, principal, new.project_id, new.name)
        _require_certificates(new.configuration.ca_certificates)
        binding = _binding(new)
        key = generate_private_key(ACCOUNT_KEY).der()
        configuration, account_url = await self._registered(new, key, binding)
        now = self._clock.now()
        async with self._database.writing() as unit:
            project_id = await require_room(unit, principal, new.project_id, new.name)
            authority = CertificateAuthority(
                id=new_uuid(),
                project_id=project_id,
                name=new.name,
                kind=AuthorityKind.ACME,
                status=new.status,
                enable_direct_issuance=new.enable_direct_issuance,
                configuration=configuration.kept(),
                certificate_id=None,
                created_at=now,
                updated_at=now,
            )
            account = AcmeAccount(
                authority_id=authority.id,
                id=new_uuid(),
                project_id=project_id,
                url=account_url,
                eab_key_id=new.eab_key_id,
                created_at=now,
                updated_at=now,
            )
            await unit.certificate_authorities.add(authority)
            secret = None if binding is None else binding.secret
            await unit.acme_accounts.put(OpenedAcmeAccount(account, key, secret))
            await unit.audit(
                authority_event(
                    principal,
                    EventType.CREATE_CERTIFICATE_AUTHORITY,
                    authority,
                    directoryUrl=configuration.directory_url,
                    caCertificates=_fingerprints(configuration.ca_certificates),
                )
            )
        return AcmeAuthorityView(authority, configuration, account)

    async def _registered(
        self, new: NewAcmeAuthority, key: bytes, binding: Binding | None
    ) -> tuple[AcmeConfiguration, str]:
        """Return the configuration with the terms that the account was made on, and its URL."""
        configuration = new.configuration
        try:
            async with awaited(), self._sessions.open(configuration, key) as client:
                meta = (await client.directory()).meta
                if meta.terms_of_service is not None and not new.agrees_to_terms:
                    raise InvalidError(
                        f"The authority has terms of service: read {meta.terms_of_service}, and agree to them with "
                        "termsOfServiceAgreed"
                    )
                if meta.external_account_required and binding is None:
                    raise InvalidError(
                        "The authority makes accounts only for those it knows: give eabKid and eabHmacKey, which "
                        "it hands out"
                    )
                configuration = replace(configuration, terms_of_service=meta.terms_of_service)
                return configuration, await client.register(
                    email=configuration.account_email, binding=binding
                )
        except RemoteError as error:
            raise InvalidError(
                f"No account could be made at {configuration.directory_url}: {error}"
            ) from error

    async def update(
        self, principal: Principal, authority_id: str, change: AcmeAuthorityChange
    ) -> AcmeAuthorityView:
        """Change an authority; where it is and its account stay.

        Raises:
            InvalidError: the name is taken, or what it may prove itself with are no certificates.
        """
        async with self._database.writing() as unit:
            authority = await _authority(unit, principal, authority_id, Action.EDIT, for_change=True)
            if change.ca_certificates is not None:
                _require_certificates(change.ca_certificates)
            if change.name is not None and change.name != authority.name:
                await require_free_name(unit, authority.project_id, change.name)
            configuration = AcmeConfiguration.of(authority)
            if change.ca_certificates is not None:
                configuration = replace(configuration, ca_certificates=change.ca_certificates)
            changed = replace(
                authority,
                name=change.name or authority.name,
                status=change.status or authority.status,
                enable_direct_issuance=authority.enable_direct_issuance
                if change.enable_direct_issuance is None
                else change.enable_direct_issuance,
                configuration=configuration.kept(),
                updated_at=self._clock.now(),
            )
            await unit.certificate_authorities.update(changed)
            await unit.audit(
                authority_event(
                    principal,
                    EventType.UPDATE_CERTIFICATE_AUTHORITY,
                    changed,
                    status=str(changed.status),
                    enableDirectIssuance=changed.enable_direct_issuance,
                    caCertificates=_fingerprints(configuration.ca_certificates),
                )
            )
            return await _view(unit, changed)

    async def delete(self, principal: Principal, authority_id: str) -> AcmeAuthorityView:
        """Remove an authority with the key of its account; what it issued lives on, and can't be revoked here.

        Raises:
            InvalidError: a profile or a subscriber uses it.
        """
        async with self._database.writing() as unit:
            authority = await _authority(unit, principal, authority_id, Action.DELETE, for_change=True)
            await require_unused(unit, authority)
            view = await _view(unit, authority)
            await unit.certificate_authorities.delete(authority.id)
            await unit.audit(authority_event(principal, EventType.DELETE_CERTIFICATE_AUTHORITY, authority))
            return view


async def _authority(
    unit: UnitOfWork, principal: Principal, authority_id: str, action: Action, *, for_change: bool = False
) -> CertificateAuthority:
    found = await unit.certificate_authorities.get(authority_id, for_change=for_change)
    authority, _ = await access_to(
        unit,
        principal,
        found if found is not None and found.kind == AuthorityKind.ACME else None,
        "Certificate authority",
        action,
        _SUBJECT,
    )
    return authority


async def _view(unit: UnitOfWork, authority: CertificateAuthority) -> AcmeAuthorityView:
    return AcmeAuthorityView(
        authority, AcmeConfiguration.of(authority), await unit.acme_accounts.get(authority.id)
    )


def _binding(new: NewAcmeAuthority) -> Binding | None:
    if new.eab_key_id is None or new.eab_secret is None:
        return None
    try:
        return Binding(new.eab_key_id, binding_secret(new.eab_secret))
    except ValueError as error:
        raise InvalidError(f"eabHmacKey {error}") from None


def _fingerprints(pem: str) -> list[str]:
    """Return what the audit log tells of whom an authority may prove itself with."""
    return [one.fingerprint for one in parse_certificates(pem)] if pem else []


def _require_certificates(pem: str) -> None:
    if not pem:
        return
    try:
        parse_certificates(pem)
    except PkiError as error:
        raise InvalidError(f"caCertificates can't be used: {error}") from error
