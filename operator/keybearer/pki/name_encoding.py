"""Names between our words and those of `cryptography`. For the other modules of this package alone."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from cryptography import x509
from cryptography.x509.oid import NameOID

from keybearer.base.certificate_terms import NameType, SubjectField
from keybearer.pki.der import UTF8_STRING, element, only_element
from keybearer.pki.errors import MalformedError, TemplateError
from keybearer.pki.names import (
    MAX_ALTERNATIVE_NAMES,
    MAX_SUBJECT_ATTRIBUTES,
    AlternativeName,
    Subject,
    SubjectAttribute,
)

__all__ = ["encoded_names", "encoded_subject", "names_of", "subject_of"]

_FIELDS: dict[str, x509.ObjectIdentifier] = {
    SubjectField.COMMON_NAME.value: NameOID.COMMON_NAME,
    SubjectField.ORGANIZATION.value: NameOID.ORGANIZATION_NAME,
    SubjectField.ORGANIZATIONAL_UNIT.value: NameOID.ORGANIZATIONAL_UNIT_NAME,
    SubjectField.COUNTRY.value: NameOID.COUNTRY_NAME,
    SubjectField.STATE.value: NameOID.STATE_OR_PROVINCE_NAME,
    SubjectField.LOCALITY.value: NameOID.LOCALITY_NAME,
    SubjectField.DOMAIN_COMPONENT.value: NameOID.DOMAIN_COMPONENT,
    "street_address": NameOID.STREET_ADDRESS,
    "postal_code": NameOID.POSTAL_CODE,
    "serial_number": NameOID.SERIAL_NUMBER,
    "email_address": NameOID.EMAIL_ADDRESS,
    "user_id": NameOID.USER_ID,
    "given_name": NameOID.GIVEN_NAME,
    "surname": NameOID.SURNAME,
    "title": NameOID.TITLE,
    "organization_identifier": NameOID.ORGANIZATION_IDENTIFIER,
}
_WORDS = {identifier: word for word, identifier in _FIELDS.items()}
_MAX_CHARACTERS = {
    # Upper bounds of RFC 5280 appendix A.1.
    SubjectField.COMMON_NAME.value: 64,
    SubjectField.ORGANIZATION.value: 64,
    SubjectField.ORGANIZATIONAL_UNIT.value: 64,
    SubjectField.STATE.value: 128,
    SubjectField.LOCALITY.value: 128,
    "serial_number": 64,
    "title": 64,
}
_MAX_OTHER_CHARACTERS = 255
_ASCII = frozenset({SubjectField.DOMAIN_COMPONENT.value, "email_address"})
_UPN = x509.ObjectIdentifier("1.3.6.1.4.1.311.20.2.3")


def encoded_subject(subject: Subject) -> x509.Name:
    """Return the subject for signing.

    Raises:
        TemplateError: a value is empty, too long, or holds characters that its field can't.
    """
    if len(subject.attributes) > MAX_SUBJECT_ATTRIBUTES:
        raise TemplateError(f"the subject has more than {MAX_SUBJECT_ATTRIBUTES} attributes")
    return x509.Name([_encoded_attribute(one) for one in subject.attributes])


def subject_of(name: x509.Name, what: str) -> Subject:
    """Return the name in our words.

    Raises:
        MalformedError: it has too many attributes, or one that is no text.
    """
    attributes = []
    for one in name:
        if not isinstance(one.value, str):
            raise MalformedError(
                f"the subject of {what} holds an attribute {one.oid.dotted_string} that is no text"
            )
        attributes.append(SubjectAttribute(_WORDS.get(one.oid) or one.oid.dotted_string, one.value))
        if len(attributes) > MAX_SUBJECT_ATTRIBUTES:
            raise MalformedError(f"the subject of {what} has more than {MAX_SUBJECT_ATTRIBUTES} attributes")
    return Subject(tuple(attributes))


def encoded_names(names: Iterable[AlternativeName]) -> list[x509.GeneralName]:
    """Return the names for signing; their values are in the form of `alternative_name`."""
    return [_encoded_name(one) for one in names]


def names_of(names: Iterable[x509.GeneralName]) -> tuple[tuple[AlternativeName, ...], tuple[str, ...]]:
    """Return the names that we have words for as they are written there, and the kinds of the others."""
    known: list[AlternativeName] = []
    others: list[str] = []
    for one in names:
        name = _name_of(one)
        if name is None:
            others.append(_kind_of(one))
        else:
            known.append(name)
        if len(known) + len(others) > MAX_ALTERNATIVE_NAMES:
            raise MalformedError(f"there are more than {MAX_ALTERNATIVE_NAMES} subject alternative names")
    return tuple(known), tuple(others)


def _encoded_attribute(attribute: SubjectAttribute) -> x509.NameAttribute[str]:
    field, value = attribute.field, attribute.value
    bound = _MAX_CHARACTERS.get(field, _MAX_OTHER_CHARACTERS)
    if not value or len(value) > bound:
        raise TemplateError(
            f"the {field} of a subject has 1 to {bound} characters, this one has {len(value)}"
        )
    if not value.isprintable():
        raise TemplateError(f"the {field} {value!r} of the subject holds characters that can't be printed")
    if field == SubjectField.COUNTRY and not (len(value) == 2 and value.isascii() and value.isalpha()):
        raise TemplateError(f"the country {value!r} of the subject isn't a code of two letters")
    if field in _ASCII and not value.isascii():
        raise TemplateError(f"the {field} {value!r} of the subject holds characters other than ASCII")
    try:
        return x509.NameAttribute(_FIELDS.get(field) or x509.ObjectIdentifier(field), value)
    except ValueError as error:
        raise TemplateError(f"the {field} {value!r} of the subject can't be written") from error


def _encoded_name(name: AlternativeName) -> x509.GeneralName:
    match name.type:
        case NameType.DNS_NAME:
            return x509.DNSName(name.value)
        case NameType.IP_ADDRESS:
            return x509.IPAddress(ipaddress.ip_address(name.value))
        case NameType.EMAIL:
            return x509.RFC822Name(name.value)
        case NameType.URI:
            return x509.UniformResourceIdentifier(name.value)
        case NameType.UPN:
            return x509.OtherName(_UPN, element(UTF8_STRING, name.value.encode()))


def _name_of(name: x509.GeneralName) -> AlternativeName | None:
    if isinstance(name, x509.DNSName):
        return AlternativeName(NameType.DNS_NAME, name.value)
    if isinstance(name, x509.IPAddress):
        return AlternativeName(NameType.IP_ADDRESS, str(name.value))
    if isinstance(name, x509.RFC822Name):
        return AlternativeName(NameType.EMAIL, name.value)
    if isinstance(name, x509.UniformResourceIdentifier):
        return AlternativeName(NameType.URI, name.value)
    if isinstance(name, x509.OtherName) and name.type_id == _UPN:
        return AlternativeName(NameType.UPN, _text_of(name.value))
    return None


def _kind_of(name: x509.GeneralName) -> str:
    if isinstance(name, x509.OtherName):
        return f"other name {name.type_id.dotted_string}"
    return {x509.DirectoryName: "directory name", x509.RegisteredID: "registered id"}.get(
        type(name), "other name"
    )


def _text_of(der: bytes) -> str:
    try:
        return only_element(UTF8_STRING, der).decode()
    except UnicodeDecodeError as error:
        raise MalformedError("a user principal name isn't UTF-8") from error
