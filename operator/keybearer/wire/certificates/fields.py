"""Fields that bodies about certificates share; enumerations are read in all spellings (wire.md 5.1 and 5.5)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema

from keybearer.base.certificate_terms import (
    EXTENDED_KEY_USAGES_BY_SPELLING,
    KEY_ALGORITHMS_BY_SPELLING,
    KEY_USAGES_BY_SPELLING,
    SIGNATURE_ALGORITHMS_BY_SPELLING,
    ExtendedKeyUsage,
    KeyAlgorithm,
    KeyUsage,
    SignatureAlgorithm,
)
from keybearer.wire.base import WHOLE, QueryFlag
from keybearer.wire.certificates.lifetimes import parse_ttl
from keybearer.wire.limits import CERTIFICATE_CSR_MAX, CERTIFICATE_PAGE_MAX, CERTIFICATE_TTL_MAX

__all__ = [
    "AnyExtendedKeyUsage",
    "AnyKeyAlgorithm",
    "AnyKeyUsage",
    "AnySignatureAlgorithm",
    "Csr",
    "GivenDate",
    "Limit",
    "Offset",
    "OptionalConfidential",
    "OptionalProject",
    "QueryLimit",
    "QueryOffset",
    "RemoveRoots",
    "SpelledExtendedKeyUsage",
    "SpelledKeyAlgorithm",
    "SpelledKeyUsage",
    "SpelledSignatureAlgorithm",
    "Ttl",
]

_Word = TypeVar("_Word", bound=StrEnum)


def _reader(words: Mapping[str, _Word]) -> BeforeValidator:
    """Return what reads any spelling; of others the parser says which there are."""
    return BeforeValidator(lambda given: words.get(given, given) if isinstance(given, str) else given)


def _spelling(words: Mapping[str, _Word]) -> Any:  # noqa: ANN401 - a type that is made while it runs
    """Return the type of a word that is kept in the spelling it was given in."""

    def judge(given: str) -> str:
        if given not in words:
            msg = f"Input should be one of {', '.join(dict.fromkeys(words))}"
            raise ValueError(msg)
        return given

    schema = {"type": "string", "enum": list(dict.fromkeys(words))}
    return Annotated[str, AfterValidator(judge), WithJsonSchema(schema)]


AnyKeyUsage = Annotated[KeyUsage, _reader(KEY_USAGES_BY_SPELLING)]
AnyExtendedKeyUsage = Annotated[ExtendedKeyUsage, _reader(EXTENDED_KEY_USAGES_BY_SPELLING)]
AnyKeyAlgorithm = Annotated[KeyAlgorithm, _reader(KEY_ALGORITHMS_BY_SPELLING)]
AnySignatureAlgorithm = Annotated[SignatureAlgorithm, _reader(SIGNATURE_ALGORITHMS_BY_SPELLING)]

SpelledKeyUsage = _spelling(KEY_USAGES_BY_SPELLING)
SpelledExtendedKeyUsage = _spelling(EXTENDED_KEY_USAGES_BY_SPELLING)
SpelledKeyAlgorithm = _spelling(KEY_ALGORITHMS_BY_SPELLING)
SpelledSignatureAlgorithm = _spelling(SIGNATURE_ALGORITHMS_BY_SPELLING)


def _read_date(given: object) -> object:
    if isinstance(given, datetime):
        return given
    if not isinstance(given, str) or len(given) > _DATE_MAX:
        raise ValueError(_NO_DATE)
    text = given.strip()
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = read(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            continue
    raise ValueError(_NO_DATE)


_DATE_MAX = 64
_NO_DATE = "Invalid date format"
GivenDate = Annotated[
    datetime, BeforeValidator(_read_date), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""ISO 8601, or as mails write it; without an offset it is UTC, and a day begins at midnight."""


def _judge_ttl(given: str) -> str:
    parse_ttl(given)
    return given


Ttl = Annotated[str, Field(max_length=CERTIFICATE_TTL_MAX), AfterValidator(_judge_ttl)]
"""A lifetime as `parse_ttl` reads it; kept as it was written."""

Csr = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=CERTIFICATE_CSR_MAX, pattern=r"\S")
]
"""A certificate signing request in PEM."""

OptionalConfidential = Annotated[str | None, Field(repr=False)]
"""A text that never shows in a repr, or none."""

OptionalProject = str | None
"""A project; without one it is the organization's own for certificates (wire.md section 5)."""

RemoveRoots = QueryFlag
"""Whether the last certificate of the chain is left out; a text may stand for it (wire.md section 5.1)."""

Offset = Annotated[int, Field(ge=0, le=2**31 - 1), WHOLE]
Limit = Annotated[int, Field(ge=1, le=CERTIFICATE_PAGE_MAX), WHOLE]
QueryOffset = Annotated[int, Field(ge=0, le=2**31 - 1)]
QueryLimit = Annotated[int, Field(ge=1, le=CERTIFICATE_PAGE_MAX)]
