"""The few messages of LDAP (RFC 4511) that a login needs, between values and BER."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyasn1.codec.ber import decoder, encoder
from pyasn1.error import PyAsn1Error
from pyasn1.type import namedtype, tag, univ

from keybearer.outbound.errors import OutboundFailedError
from keybearer.outbound.ldap_filter import (
    Combined,
    Comparison,
    Extensible,
    Filter,
    Negated,
    Presence,
    Substrings,
)

__all__ = [
    "SUCCESS",
    "Entry",
    "Other",
    "Result",
    "bind_request",
    "message_length",
    "read_message",
    "search_request",
    "start_tls_request",
    "unbind_request",
]

SUCCESS = 0
_START_TLS = b"1.3.6.1.4.1.1466.20037"
_VERSION = 3
_WHOLE_SUBTREE = 2
_NEVER_DEREFERENCE = 0
_NO_ATTRIBUTES = "1.1"
_COMPARISONS = {"=": 3, ">=": 5, "<=": 6, "~=": 8}
_UNREADABLE = (
    PyAsn1Error,
    ValueError,
    LookupError,
    ArithmeticError,
    TypeError,
    AttributeError,
    RecursionError,
)
"""The decoder has an error of its own, and lets others through where lengths or tags make no sense."""
_SEQUENCE_BYTE = 0x30
_LONG_FORM = 0x80


@dataclass(frozen=True, slots=True)
class Result:
    """How an operation ended; the server's own words stay out, they may repeat names."""

    code: int


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry that a search found; attributes by their names in small letters."""

    dn: str
    attributes: Mapping[str, Sequence[bytes]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Other:
    """Something that a login doesn't need: a referral of a search, which is not followed."""


def _tagged(kind: int, number: int, *, constructed: bool) -> tag.Tag:
    shape = tag.tagFormatConstructed if constructed else tag.tagFormatSimple
    return tag.Tag(kind, shape, number)


def _context(number: int, *, constructed: bool = False) -> tag.Tag:
    return _tagged(tag.tagClassContext, number, constructed=constructed)


def _application(number: int, *, constructed: bool = True) -> tag.Tag:
    return _tagged(tag.tagClassApplication, number, constructed=constructed)


def _octets(content: bytes, implicit: tag.Tag | None = None) -> univ.OctetString:
    octets = univ.OctetString(content)
    return octets if implicit is None else octets.subtype(implicitTag=implicit)


def _constructed(implicit: tag.Tag | None, *encoded: bytes) -> bytes:
    """Return elements that are encoded already inside one constructed element."""
    outer = univ.SequenceOf(componentType=univ.Any())
    if implicit is not None:
        outer = outer.subtype(implicitTag=implicit)
    outer.extend(encoded)
    return bytes(encoder.encode(outer))


def _der(element: object) -> bytes:
    return bytes(encoder.encode(element))


def bind_request(message_id: int, dn: str, password: str) -> bytes:
    """Return a simple bind. An empty DN or password would ask for somebody else: nobody.

    Raises:
        ValueError: one of them is empty; RFC 4513 section 5.1.2 says why a client must not send that.
    """
    if not dn or not password:
        raise ValueError("a bind needs a DN and a password")
    operation = _constructed(
        _application(0),
        _der(univ.Integer(_VERSION)),
        _der(_octets(dn.encode())),
        _der(_octets(password.encode(), _context(0))),
    )
    return _message(message_id, operation)


def search_request(
    message_id: int, base: str, search: Filter, attributes: Sequence[str], *, size_limit: int, seconds: int
) -> bytes:
    """Return a search of the whole subtree of a base that follows no alias."""
    wanted = [_der(_octets(name.encode())) for name in attributes or [_NO_ATTRIBUTES]]
    operation = _constructed(
        _application(3),
        _der(_octets(base.encode())),
        _der(univ.Enumerated(_WHOLE_SUBTREE)),
        _der(univ.Enumerated(_NEVER_DEREFERENCE)),
        _der(univ.Integer(size_limit)),
        _der(univ.Integer(seconds)),
        _der(univ.Boolean(False)),  # noqa: FBT003 - ASN.1's own; typesOnly
        _filter(search),
        _constructed(None, *wanted),
    )
    return _message(message_id, operation)


def start_tls_request(message_id: int) -> bytes:
    """Return the request to begin TLS (RFC 4511 section 4.14)."""
    return _message(message_id, _constructed(_application(23), _der(_octets(_START_TLS, _context(0)))))


def unbind_request(message_id: int) -> bytes:
    """Return the good-bye, which nobody answers."""
    return _message(message_id, _der(univ.Null("").subtype(implicitTag=_application(2, constructed=False))))


def message_length(head: bytes) -> tuple[int, int] | None:
    """Return how many bytes the first message has before its content and within it; None if too few have arrived.

    Raises:
        OutboundFailedError: it begins like no message.
    """
    if len(head) < 2:
        return None
    if head[0] != _SEQUENCE_BYTE:
        raise OutboundFailedError("the directory answers something that is not LDAP")
    if head[1] < _LONG_FORM:
        return 2, head[1]
    size = head[1] - _LONG_FORM
    if not 0 < size <= 4:
        raise OutboundFailedError("the directory answers something that is not LDAP")
    if len(head) < 2 + size:
        return None
    return 2 + size, int.from_bytes(head[2 : 2 + size], "big")


def read_message(encoded: bytes) -> tuple[int, Result | Entry | Other]:
    """Return a message's id, and what of it matters.

    Raises:
        OutboundFailedError: it is no message, or none that answers a bind, a search or StartTLS.
    """
    try:
        message, rest = decoder.decode(encoded, asn1Spec=_MESSAGE)
        operation = message["protocolOp"]
        name = operation.getName()
        content = operation.getComponent()
        if rest:
            raise OutboundFailedError("the directory answers something that is not LDAP")
        message_id = int(message["messageID"])
        if name == "entry":
            attributes = {
                bytes(item["type"]).decode().lower(): tuple(bytes(value) for value in item["vals"])
                for item in content["attributes"]
            }
            return message_id, Entry(bytes(content["objectName"]).decode(), attributes)
        return message_id, Other() if name == "reference" else Result(int(content["resultCode"]))
    except _UNREADABLE as error:
        raise OutboundFailedError("the directory answers something that is not LDAP") from error


def _message(message_id: int, operation: bytes) -> bytes:
    return _constructed(None, _der(univ.Integer(message_id)), operation)


def _filter(node: Filter) -> bytes:
    match node:
        case Combined(kind, parts):
            number = 0 if kind == "&" else 1
            return _constructed(_context(number, constructed=True), *(_filter(part) for part in parts))
        case Negated(part):
            return _constructed(_context(2, constructed=True), _filter(part))
        case Comparison(kind, attribute, value):
            implicit = _context(_COMPARISONS[kind], constructed=True)
            return _constructed(implicit, _der(_octets(attribute.encode())), _der(_octets(value)))
        case Presence(attribute):
            return _der(_octets(attribute.encode(), _context(7)))
        case Substrings():
            return _substrings(node)
        case Extensible(attribute, rule, value, dn_attributes):
            named = [(1, rule.encode()), (2, attribute.encode()), (3, value)]
            pieces = [_der(_octets(text, _context(number))) for number, text in named if text or number == 3]
            if dn_attributes:
                pieces.append(_der(univ.Boolean(True).subtype(implicitTag=_context(4))))  # noqa: FBT003 - ASN.1's own
            return _constructed(_context(9, constructed=True), *pieces)


def _substrings(node: Substrings) -> bytes:
    named = [(0, node.initial), *((1, part) for part in node.middle), (2, node.final)]
    parts = [_der(_octets(text, _context(number))) for number, text in named if text]
    return _constructed(
        _context(4, constructed=True), _der(_octets(node.attribute.encode())), _constructed(None, *parts)
    )


def _response(number: int, *more: namedtype.NamedType) -> univ.Sequence:
    answer: univ.Sequence = univ.Sequence(
        componentType=namedtype.NamedTypes(
            namedtype.NamedType("resultCode", univ.Enumerated()),
            namedtype.NamedType("matchedDN", univ.OctetString()),
            namedtype.NamedType("diagnosticMessage", univ.OctetString()),
            namedtype.OptionalNamedType(
                "referral",
                univ.SequenceOf(componentType=univ.OctetString()).subtype(
                    implicitTag=_context(3, constructed=True)
                ),
            ),
            *more,
        )
    ).subtype(implicitTag=_application(number))
    return answer


def _optional(name: str, number: int) -> namedtype.OptionalNamedType:
    return namedtype.OptionalNamedType(name, univ.OctetString().subtype(implicitTag=_context(number)))


_ATTRIBUTE = univ.Sequence(
    componentType=namedtype.NamedTypes(
        namedtype.NamedType("type", univ.OctetString()),
        namedtype.NamedType("vals", univ.SetOf(componentType=univ.OctetString())),
    )
)
_ENTRY = univ.Sequence(
    componentType=namedtype.NamedTypes(
        namedtype.NamedType("objectName", univ.OctetString()),
        namedtype.NamedType("attributes", univ.SequenceOf(componentType=_ATTRIBUTE)),
    )
).subtype(implicitTag=_application(4))
_REFERENCE = univ.SequenceOf(componentType=univ.OctetString()).subtype(implicitTag=_application(19))
_OPERATION = univ.Choice(
    componentType=namedtype.NamedTypes(
        namedtype.NamedType("bound", _response(1, _optional("serverSaslCreds", 7))),
        namedtype.NamedType("entry", _ENTRY),
        namedtype.NamedType("done", _response(5)),
        namedtype.NamedType("reference", _REFERENCE),
        namedtype.NamedType(
            "extended", _response(24, _optional("responseName", 10), _optional("responseValue", 11))
        ),
    )
)
_CONTROL = univ.Sequence(
    componentType=namedtype.NamedTypes(
        namedtype.NamedType("controlType", univ.OctetString()),
        namedtype.DefaultedNamedType("criticality", univ.Boolean(False)),  # noqa: FBT003 - ASN.1's own
        namedtype.OptionalNamedType("controlValue", univ.OctetString()),
    )
)
_MESSAGE = univ.Sequence(
    componentType=namedtype.NamedTypes(
        namedtype.NamedType("messageID", univ.Integer()),
        namedtype.NamedType("protocolOp", _OPERATION),
        namedtype.OptionalNamedType(
            "controls",
            univ.SequenceOf(componentType=_CONTROL).subtype(implicitTag=_context(0, constructed=True)),
        ),
    )
)
