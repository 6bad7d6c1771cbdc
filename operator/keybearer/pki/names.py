"""Names in certificates, as plain data: subjects and subject alternative names.

What may stand in an alternative name is held here, so that a name is refused before it is signed: the forms of RFC
5280 section 4.2.1.6, and of RFC 1034 with the underscore that service names use.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

from keybearer.base.addresses import as_ipv4
from keybearer.base.certificate_terms import NameType, SubjectField
from keybearer.pki.errors import TemplateError

__all__ = [
    "MAX_ALTERNATIVE_NAMES",
    "MAX_SUBJECT_ATTRIBUTES",
    "AlternativeName",
    "Subject",
    "SubjectAttribute",
    "alternative_name",
]

MAX_ALTERNATIVE_NAMES = 100
"""Of one certificate (wire.md section 5.1)."""
MAX_SUBJECT_ATTRIBUTES = 64
"""Of one subject: 50 domain components and the rest (wire.md section 5.1)."""

_MAX_VALUE = 255
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_DNS_NAME = re.compile(rf"(?:\*\.)?{_LABEL}(?:\.{_LABEL})*")
_EMAIL = re.compile(rf"[A-Za-z0-9.!#$%&'*+/=?^_`{{|}}~-]{{1,64}}@{_LABEL}(?:\.{_LABEL})*")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+")
_PRINTED = {
    SubjectField.COMMON_NAME: "CN",
    SubjectField.ORGANIZATION: "O",
    SubjectField.ORGANIZATIONAL_UNIT: "OU",
    SubjectField.COUNTRY: "C",
    SubjectField.STATE: "ST",
    SubjectField.LOCALITY: "L",
    SubjectField.DOMAIN_COMPONENT: "DC",
}


@dataclass(frozen=True, slots=True)
class SubjectAttribute:
    """One attribute of a subject.

    Attributes:
        field: a word of `SubjectField`, one of the further words of `keybearer.pki.name_encoding`, or a dotted
            object identifier.
        value: as text.
    """

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Subject:
    """A distinguished name: its attributes in their order, the most general first."""

    attributes: tuple[SubjectAttribute, ...] = ()

    @classmethod
    def of(
        cls,
        common_name: str | None = None,
        *,
        organization: str | None = None,
        organizational_unit: str | None = None,
        country: str | None = None,
        state: str | None = None,
        locality: str | None = None,
        domain_components: Sequence[str] = (),
    ) -> Subject:
        """Return the subject of these fields; empty ones are left out."""
        listed = [
            *((SubjectField.DOMAIN_COMPONENT, component) for component in domain_components),
            (SubjectField.COUNTRY, country),
            (SubjectField.STATE, state),
            (SubjectField.LOCALITY, locality),
            (SubjectField.ORGANIZATION, organization),
            (SubjectField.ORGANIZATIONAL_UNIT, organizational_unit),
            (SubjectField.COMMON_NAME, common_name),
        ]
        return cls(tuple(SubjectAttribute(field.value, value) for field, value in listed if value))

    @property
    def common_name(self) -> str | None:
        """The last common name: the most specific one."""
        values = self.values(SubjectField.COMMON_NAME)
        return values[-1] if values else None

    def values(self, field: str) -> tuple[str, ...]:
        """Return the values of a field, in their order."""
        return tuple(attribute.value for attribute in self.attributes if attribute.field == field)

    def first(self, field: str) -> str | None:
        """Return the first value of a field."""
        return next(iter(self.values(field)), None)

    @property
    def unruled_fields(self) -> tuple[str, ...]:
        """Fields that no policy can name, each once, in their order."""
        known = frozenset(SubjectField)
        return tuple(dict.fromkeys(one.field for one in self.attributes if one.field not in known))

    def __str__(self) -> str:
        return ",".join(
            f"{_PRINTED.get(one.field, one.field)}={_escaped(one.value)}"  # type: ignore[call-overload]
            for one in reversed(self.attributes)
        )


@dataclass(frozen=True, slots=True)
class AlternativeName:
    """One subject alternative name; addresses are in their shortest form, hosts in lower case."""

    type: NameType
    value: str

    def __str__(self) -> str:
        return f"{self.type.value} {self.value}"


def alternative_name(kind: NameType, value: str) -> AlternativeName:
    """Return the name in the form in which it is signed and compared.

    Raises:
        TemplateError: the value isn't such a name.
    """
    if not 0 < len(value) <= _MAX_VALUE:
        raise TemplateError(f"a {kind.value} has 1 to {_MAX_VALUE} characters, this one has {len(value)}")
    if kind is NameType.IP_ADDRESS:
        return AlternativeName(kind, _address(value))
    if kind is NameType.DNS_NAME:
        return AlternativeName(kind, _dns_name(value))
    if kind is NameType.EMAIL:
        if not _EMAIL.fullmatch(value):
            raise TemplateError(f"the email {value!r} isn't of the form name@host, in ASCII")
        local, _, host = value.rpartition("@")
        return AlternativeName(kind, f"{local}@{host.lower()}")
    if kind is NameType.URI:
        if not _URI.fullmatch(value):
            raise TemplateError(
                f"the uri {value!r} isn't absolute, or holds characters that must be percent-encoded"
            )
        return AlternativeName(kind, value)
    if not value.isprintable():
        raise TemplateError(f"the upn {value!r} holds characters that can't be printed")
    return AlternativeName(kind, value)


def _dns_name(value: str) -> str:
    if not _DNS_NAME.fullmatch(value) or len(value) > 253:
        raise TemplateError(
            f"the dns_name {value!r} isn't a host name: labels of letters, digits and hyphens, parted by dots, "
            "perhaps a leading '*.'; names in other scripts are written as xn--"
        )
    if value.rpartition(".")[2].isdecimal():
        raise TemplateError(f"the dns_name {value!r} is no host name: its last label is a number")
    return value.lower()


def _address(value: str) -> str:
    try:
        address = ipaddress.ip_address(value)
    except ValueError as error:
        raise TemplateError(f"the ip_address {value!r} is no IPv4 or IPv6 address") from error
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        raise TemplateError(f"the ip_address {value!r} names a zone, which no certificate can")
    # Policies and constraints for IPv4 must apply to it as well.
    return str(as_ipv4(address))


def _escaped(value: str) -> str:
    """Return the value as RFC 4514 section 2.4 writes it."""
    escaped = re.sub(r'([,+"\\<>;])', r"\\\1", value).replace("\0", r"\00")
    if value[:1] in ("#", " "):
        escaped = "\\" + escaped
    if len(value) > 1 and value.endswith(" "):
        escaped = escaped[:-1] + "\\ "
    return escaped
