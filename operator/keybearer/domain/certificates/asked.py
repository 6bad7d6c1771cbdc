"""What a certificate is to hold: put together from attributes or a signing request, and the profile's defaults.

A field that the request leaves out takes the profile's default, one that is null clears it (wire.md section 5.1).
With a signing request its content stands in for attributes: of these only the lifetime, `basicConstraints` and what
is cleared counts then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from pydantic import JsonValue

from keybearer.base.certificate_terms import (
    ExtendedKeyUsage,
    KeyAlgorithm,
    KeyUsage,
    NameType,
    SignatureAlgorithm,
    SubjectField,
)
from keybearer.base.clock import format_instant
from keybearer.base.validity import USUAL_DATING, Dating
from keybearer.domain.errors import InvalidError
from keybearer.pki.names import AlternativeName, Subject, SubjectAttribute, alternative_name
from keybearer.pki.signing_requests import SigningRequest
from keybearer.wire.certificates.attributes import BasicConstraints, CertificateAttributes
from keybearer.wire.certificates.lifetimes import parse_ttl
from keybearer.wire.certificates.profiles import GivenProfileDefaults

__all__ = ["BACKDATING", "Asked", "Validity", "asked_of_attributes", "asked_of_request", "validity_of"]

BACKDATING = USUAL_DATING.backdate
"""How much earlier than now certificates begin that don't say when: clocks of others are behind."""
_DEFAULT_KEY = KeyAlgorithm.RSA_2048
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Asked:
    """The content of a certificate, before the policy was asked.

    Attributes:
        key_usages: None where nobody said anything: then what fits the key and the policy.
        extended_key_usages: None likewise.
        signature_algorithm: None: what fits the key that signs.
        lifetime: from the instant of issuance on, unless `not_after` is given.
    """

    subject: Subject
    alternative_names: tuple[AlternativeName, ...]
    key_algorithm: KeyAlgorithm
    key_usages: frozenset[KeyUsage] | None = None
    extended_key_usages: tuple[ExtendedKeyUsage, ...] | None = None
    is_ca: bool = False
    path_length: int | None = None
    signature_algorithm: SignatureAlgorithm | None = None
    lifetime: timedelta | None = None
    not_before: datetime | None = None
    not_after: datetime | None = None

    @property
    def alt_names(self) -> str | None:
        """The alternative names as lists show them; None where there are none."""
        return ",".join(name.value for name in self.alternative_names) or None

    def written(self) -> dict[str, JsonValue]:
        """Return it as it is kept beside a request."""
        return {
            "subject": [[one.field, one.value] for one in self.subject.attributes],
            "altNames": [[name.type.value, name.value] for name in self.alternative_names],
            "keyAlgorithm": self.key_algorithm.value,
            "keyUsages": None if self.key_usages is None else [one.value for one in sorted(self.key_usages)],
            "extendedKeyUsages": None if self.extended_key_usages is None else list(self.extended_key_usages),
            "isCA": self.is_ca,
            "pathLength": self.path_length,
            "signatureAlgorithm": self.signature_algorithm,
            "lifetime": None if self.lifetime is None else self.lifetime / timedelta(milliseconds=1),
            "notBefore": None if self.not_before is None else self.not_before.isoformat(),
            "notAfter": None if self.not_after is None else self.not_after.isoformat(),
        }

    @classmethod
    def read(cls, kept: Mapping[str, JsonValue]) -> Asked:
        """Return what `written` wrote."""
        usages, extended = _texts(kept["keyUsages"]), _texts(kept["extendedKeyUsages"])
        lifetime, signature, path_length = kept["lifetime"], kept["signatureAlgorithm"], kept["pathLength"]
        return cls(
            subject=Subject(tuple(SubjectAttribute(*pair) for pair in _pairs(kept["subject"]))),
            alternative_names=tuple(
                AlternativeName(NameType(kind), value) for kind, value in _pairs(kept["altNames"])
            ),
            key_algorithm=KeyAlgorithm(str(kept["keyAlgorithm"])),
            key_usages=None if usages is None else frozenset(map(KeyUsage, usages)),
            extended_key_usages=None if extended is None else tuple(map(ExtendedKeyUsage, extended)),
            is_ca=bool(kept["isCA"]),
            path_length=path_length if isinstance(path_length, int) else None,
            signature_algorithm=None if signature is None else SignatureAlgorithm(str(signature)),
            lifetime=timedelta(milliseconds=lifetime) if isinstance(lifetime, (int, float)) else None,
            not_before=_instant(kept["notBefore"]),
            not_after=_instant(kept["notAfter"]),
        )


@dataclass(frozen=True, slots=True)
class Validity:
    """When a certificate is valid; `lifetime` is what was asked for, without the backdating."""

    not_before: datetime
    not_after: datetime
    lifetime: timedelta


def asked_of_attributes(attributes: CertificateAttributes, defaults: GivenProfileDefaults) -> Asked:
    """Return what attributes ask for where the service makes the key.

    Raises:
        TemplateError: an alternative name isn't one of its kind.
    """
    said = attributes.model_fields_set

    def chosen(name: str, given: _T | None, default: _T | None) -> _T | None:
        return given if name in said else default

    names = chosen("alt_names", attributes.alt_names, defaults.subject_alt_names)
    usages = chosen("key_usages", attributes.key_usages or (), defaults.key_usages)
    extended = chosen(
        "extended_key_usages", attributes.extended_key_usages or (), defaults.extended_key_usages
    )
    constraints = chosen("basic_constraints", attributes.basic_constraints, defaults.basic_constraints)
    return Asked(
        subject=Subject.of(
            chosen("common_name", attributes.common_name, defaults.common_name),
            organization=chosen("organization", attributes.organization, defaults.organization),
            organizational_unit=chosen(
                "organizational_unit", attributes.organizational_unit, defaults.organizational_unit
            ),
            country=chosen("country", attributes.country, defaults.country),
            state=chosen("state", attributes.state, defaults.state),
            locality=chosen("locality", attributes.locality, defaults.locality),
            domain_components=chosen(
                "domain_components", attributes.domain_components, defaults.domain_components
            )
            or (),
        ),
        alternative_names=_distinct(alternative_name(name.kind, name.value) for name in names or ()),
        key_algorithm=chosen("key_algorithm", attributes.key_algorithm, defaults.key_algorithm)
        or _DEFAULT_KEY,
        key_usages=None if usages is None else frozenset(usages),
        extended_key_usages=None if extended is None else tuple(dict.fromkeys(extended)),
        is_ca=constraints is not None and constraints.is_ca,
        path_length=None if constraints is None or not constraints.is_ca else constraints.path_length,
        signature_algorithm=chosen(
            "signature_algorithm", attributes.signature_algorithm, defaults.signature_algorithm
        ),
        lifetime=_lifetime(attributes, defaults),
        not_before=attributes.not_before,
        not_after=attributes.not_after,
    )


def asked_of_request(
    request: SigningRequest, attributes: CertificateAttributes, defaults: GivenProfileDefaults
) -> Asked:
    """Return what a signing request asks for.

    Raises:
        TemplateError: an alternative name isn't one of its kind.
        InvalidError: it asks for names or usages that can't be signed.
    """
    _require_signable(request)
    cleared = {name for name in attributes.model_fields_set if getattr(attributes, name) is None}

    def default(name: str, value: _T | None) -> _T | None:
        return None if name in cleared else value

    names = request.alternative_names
    if not names:
        listed = default("alt_names", defaults.subject_alt_names) or ()
        names = tuple(AlternativeName(name.kind, name.value) for name in listed)
    usages = request.key_usages
    if usages is None:
        listed_usages = () if "key_usages" in cleared else defaults.key_usages
        usages = None if listed_usages is None else frozenset(listed_usages)
    extended: Sequence[ExtendedKeyUsage] | None = request.extended_key_usages
    if not extended:
        extended = () if "extended_key_usages" in cleared else defaults.extended_key_usages
    is_ca, path_length = _authority_of(
        request, attributes, default("basic_constraints", defaults.basic_constraints)
    )
    return Asked(
        subject=_filled(request.subject, defaults, cleared),
        alternative_names=_distinct(alternative_name(name.type, name.value) for name in names),
        key_algorithm=request.public_key.algorithm,
        key_usages=usages,
        extended_key_usages=None if extended is None else tuple(dict.fromkeys(extended)),
        is_ca=is_ca,
        path_length=path_length,
        signature_algorithm=default("signature_algorithm", defaults.signature_algorithm),
        lifetime=_lifetime(attributes, defaults),
        not_before=attributes.not_before,
        not_after=attributes.not_after,
    )


def validity_of(asked: Asked, now: datetime, dating: Dating | None) -> Validity:
    """Return when a certificate that is issued now is valid.

    Args:
        asked: what was asked for.
        now: the instant.
        dating: how far from now it may begin; None where it isn't issued yet, so that nobody knows.

    Raises:
        InvalidError: nobody said how long, it would be over already, or begin too long ago or too far ahead.
    """
    begin = now if asked.not_before is None else asked.not_before
    if asked.not_after is not None:
        end = asked.not_after
    elif asked.lifetime is None:
        raise InvalidError(
            "TTL is required: give ttl or notAfter, or set ttlDays among the defaults of the certificate profile"
        )
    else:
        try:
            end = begin + asked.lifetime
        except OverflowError:
            raise InvalidError("The certificate would be valid beyond the year 9999") from None
    if end <= begin:
        raise InvalidError("notBefore must be earlier than notAfter")
    if end <= now:
        raise InvalidError("The certificate would have expired already: notAfter is in the past")
    if asked.not_before is not None and dating is not None:
        _require_near(asked.not_before, now, dating)
    not_before = now - BACKDATING if asked.not_before is None else asked.not_before
    return Validity(not_before, end, end - begin)


def _require_near(begin: datetime, now: datetime, dating: Dating) -> None:
    """Let pass a beginning near now: certificates for later outlive who asked for them, and the policy."""
    earliest, latest = now - dating.backdate, now + dating.postdate
    if not earliest <= begin <= latest:
        raise InvalidError(
            f"notBefore must lie between {format_instant(earliest)} and {format_instant(latest)}, unless "
            "validity.maxBackdate and validity.maxPostdate of the certificate policy say more: leave notBefore out, "
            "and give ttl"
        )


def _require_signable(request: SigningRequest) -> None:
    if request.other_names:
        raise InvalidError(
            f"The CSR asks for alternative names of kinds that can't be signed: {', '.join(request.other_names)}"
        )
    if request.other_usages:
        raise InvalidError(
            f"The CSR asks for extended key usages that can't be signed: {', '.join(request.other_usages)}"
        )


def _filled(subject: Subject, defaults: GivenProfileDefaults, cleared: set[str]) -> Subject:
    """Return the subject of a signing request with the defaults of what it doesn't hold."""
    fields: Mapping[SubjectField, str | None] = {
        SubjectField.COUNTRY: defaults.country,
        SubjectField.STATE: defaults.state,
        SubjectField.LOCALITY: defaults.locality,
        SubjectField.ORGANIZATION: defaults.organization,
        SubjectField.ORGANIZATIONAL_UNIT: defaults.organizational_unit,
        SubjectField.COMMON_NAME: defaults.common_name,
    }
    added = {
        field: value
        for field, value in fields.items()
        if value and not subject.values(field) and field.value not in cleared
    }
    components = () if "domain_components" in cleared else defaults.domain_components or ()
    if subject.values(SubjectField.DOMAIN_COMPONENT):
        components = ()
    if not added and not components:
        return subject
    common_name = added.pop(SubjectField.COMMON_NAME, None)
    return Subject(
        (
            *(SubjectAttribute(SubjectField.DOMAIN_COMPONENT.value, one) for one in components),
            *(SubjectAttribute(field.value, value) for field, value in added.items()),
            *subject.attributes,
            # The most general first.
            *(
                ()
                if common_name is None
                else (SubjectAttribute(SubjectField.COMMON_NAME.value, common_name),)
            ),
        )
    )


def _authority_of(
    request: SigningRequest, attributes: CertificateAttributes, default: BasicConstraints | None
) -> tuple[bool, int | None]:
    given = attributes.basic_constraints
    if given is None and request.is_ca is not None:
        return request.is_ca, request.path_length if request.is_ca else None
    given = given or default
    return (False, None) if given is None or not given.is_ca else (True, given.path_length)


def _lifetime(attributes: CertificateAttributes, defaults: GivenProfileDefaults) -> timedelta | None:
    if attributes.ttl is not None:
        return parse_ttl(attributes.ttl)
    if attributes.not_after is not None or defaults.ttl_days is None:
        return None
    return timedelta(days=defaults.ttl_days)


def _distinct(names: Iterable[AlternativeName]) -> tuple[AlternativeName, ...]:
    return tuple(dict.fromkeys(names))


def _texts(kept: JsonValue) -> list[str] | None:
    return [str(one) for one in kept] if isinstance(kept, list) else None


def _pairs(kept: JsonValue) -> list[tuple[str, str]]:
    return (
        [(str(one[0]), str(one[1])) for one in kept if isinstance(one, list)]
        if isinstance(kept, list)
        else []
    )


def _instant(kept: JsonValue) -> datetime | None:
    return datetime.fromisoformat(kept) if isinstance(kept, str) else None
