"""Internal authorities with their keys, and who stands above whom."""

from __future__ import annotations

from dataclasses import dataclass, field

from keybearer.base.certificate_terms import AuthorityType
from keybearer.domain.authorization import Action, Principal
from keybearer.domain.certificates.authority_lookup import internal_authority
from keybearer.domain.certificates.authority_requests import Configuration
from keybearer.domain.certificates.lookup import in_project
from keybearer.domain.certificates.signing import require_may_sign
from keybearer.domain.errors import InvalidError
from keybearer.pki.keys import PrivateKey, load_private_key
from keybearer.store.certificate_authorities import AuthorityCertificate, CertificateAuthority
from keybearer.store.unit import UnitOfWork

__all__ = ["OpenedAuthority", "opened_authority", "parent_of"]


@dataclass(frozen=True, slots=True)
class OpenedAuthority:
    """An authority with its key, and the certificates it ever had, oldest first."""

    authority: CertificateAuthority
    configuration: Configuration
    key: PrivateKey = field(repr=False)
    certificates: tuple[AuthorityCertificate, ...]

    @property
    def present(self) -> AuthorityCertificate | None:
        """The one it signs with."""
        wanted = self.authority.certificate_id
        return next((one for one in self.certificates if one.id == wanted), None)

    @property
    def next_version(self) -> int:
        """Of the certificate that comes next."""
        return max((one.version for one in self.certificates), default=0) + 1


async def opened_authority(
    unit: UnitOfWork, principal: Principal, authority_id: str, action: Action = Action.EDIT
) -> OpenedAuthority:
    """Return an internal authority with its key.

    Raises:
        NotFoundError: there is no such authority.
        ForbiddenError: the principal may not.
    """
    return await _with_key(unit, await internal_authority(unit, principal, authority_id, action))


async def parent_of(
    unit: UnitOfWork, opened: OpenedAuthority, parent_id: str | None
) -> OpenedAuthority | None:
    """Return the authority that is to sign the other one's certificate; None where it signs its own.

    Raises:
        NotFoundError: the project has no such parent.
        InvalidError: an intermediate names no parent or a root names one, or the parent can't sign it.
    """
    if opened.configuration.type is AuthorityType.ROOT:
        if parent_id is not None:
            raise InvalidError("A root certificate authority signs its own certificate: it has no parent CA")
        return None
    if parent_id is None:
        raise InvalidError("An intermediate certificate authority needs a parent CA ID")
    found = in_project(
        await unit.certificate_authorities.get(parent_id), opened.authority.project_id, "Parent CA"
    )
    if not found.is_internal:
        raise InvalidError("The parent CA is not an internal certificate authority")
    if await _stands_above(unit, opened.authority.id, found.id):
        raise InvalidError("A certificate authority can't stand above itself")
    require_may_sign(found, None)
    return await _with_key(unit, found)


async def _with_key(unit: UnitOfWork, authority: CertificateAuthority) -> OpenedAuthority:
    key = await unit.certificate_authorities.private_key(authority)
    if key is None:
        raise AssertionError("an internal certificate authority has no key")
    certificates = await unit.certificate_authorities.certificates_of(authority.id)
    return OpenedAuthority(authority, Configuration.of(authority), load_private_key(key), tuple(certificates))


async def _stands_above(unit: UnitOfWork, authority_id: str, below_id: str) -> bool:
    """Return whether the authority is the other one, or signed it, or who signed it, and so on."""
    looked_at: set[str] = set()
    waiting = [below_id]
    while waiting:
        one = waiting.pop()
        if one == authority_id:
            return True
        if one not in looked_at:
            looked_at.add(one)
            certificates = await unit.certificate_authorities.certificates_of(one)
            waiting += [each.parent_id for each in certificates if each.parent_id is not None]
    return False
