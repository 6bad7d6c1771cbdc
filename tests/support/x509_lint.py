"""What pkilint says of certificates, lists of revoked ones and OCSP answers: violations of what RFCs demand."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Any

import validators
from pkilint import loader, pkix
from pkilint.bin import lint_pkix_signer_signee_cert_chain as chain_lint
from pkilint.pkix import certificate, crl, extension, name, ocsp
from pkilint.validation import ValidationFindingSeverity

__all__ = ["violations", "violations_of_answer", "violations_of_list", "violations_of_pair"]


def violations(der: bytes) -> list[str]:
    """Return what is wrong with a certificate."""
    document = loader.RFC5280CertificateDocumentLoader().load_der_document(der)
    return _errors(_certificate_lint().validate(document.root))


def violations_of_pair(issuer: bytes, signed: bytes) -> list[str]:
    """Return what is wrong between a certificate and that of who issued it."""
    load = loader.RFC5280CertificateDocumentLoader().load_der_document
    documents: dict[str, Any] = {}
    for key, der in (("issuer", issuer), ("subject", signed)):
        documents[key] = load(der, "test", key, documents)
        chain_lint.create_decoder_validation_container().validate(documents[key].root)
    return [
        *_errors(chain_lint.create_issuer_validation_container().validate(documents["issuer"].root)),
        *_errors(chain_lint.create_subject_validation_container().validate(documents["subject"].root)),
    ]


def violations_of_list(der: bytes) -> list[str]:
    """Return what is wrong with a list of revoked certificates."""
    document = loader.RFC5280CertificateListDocumentLoader().load_der_document(der)
    return _errors(_list_lint().validate(document.root))


def violations_of_answer(der: bytes) -> list[str]:
    """Return what is wrong with an OCSP answer."""
    document = loader.RFC6960OCSPResponseDocumentLoader().load_der_document(der)
    return _errors(_answer_lint().validate(document.root))


@cache
def _certificate_lint() -> Any:  # noqa: ANN401 - pkilint carries no types
    return certificate.create_pkix_certificate_validator_container(
        certificate.create_decoding_validators(name.ATTRIBUTE_TYPE_MAPPINGS, extension.EXTENSION_MAPPINGS),
        [
            certificate.create_issuer_validator_container([]),
            certificate.create_validity_validator_container(),
            certificate.create_subject_validator_container([]),
            certificate.create_extensions_validator_container([]),
            certificate.create_spki_validator_container([]),
        ],
    )


@cache
def _list_lint() -> Any:  # noqa: ANN401 - pkilint carries no types
    return crl.create_pkix_crl_validator_container(
        [
            pkix.create_attribute_decoder(name.ATTRIBUTE_TYPE_MAPPINGS),
            pkix.create_extension_decoder(extension.EXTENSION_MAPPINGS),
        ],
        [
            crl.create_issuer_validator_container([]),
            crl.create_validity_validator_container([]),
            crl.create_extensions_validator_container([]),
        ],
    )


@cache
def _answer_lint() -> Any:  # noqa: ANN401 - pkilint carries no types
    return ocsp.create_pkix_ocsp_response_validator_container(
        [
            ocsp.create_response_decoder(),
            pkix.create_attribute_decoder(name.ATTRIBUTE_TYPE_MAPPINGS),
            pkix.create_extension_decoder(extension.EXTENSION_MAPPINGS),
        ],
        [],
    )


def _errors(results: Iterable[Any]) -> list[str]:
    return [
        f"{found.finding.code}: {found.message}"
        for result in results
        for found in result.finding_descriptions
        if found.finding.severity <= ValidationFindingSeverity.ERROR
        and not _is_about_a_wildcard(found)
        and not _is_about_a_scheme(found)
    ]


def _is_about_a_wildcard(found: Any) -> bool:  # noqa: ANN401 - pkilint carries no types
    """Return whether a host name is only wrong in that its first label is `*`.

    RFC 5280 section 4.2.1.6 leaves wildcards to others, RFC 9525 section 6.3 has them.
    """
    code = found.finding.code
    return bool(code == "pkix.invalid_domain_name_syntax" and re.search(r'"\*\.[a-z0-9.-]+"$', found.message))


def _is_about_a_scheme(found: Any) -> bool:  # noqa: ANN401 - pkilint carries no types
    """Return whether a URI is only wrong in that its scheme is SPIFFE's: the linter knows those of the web."""
    if found.finding.code != "pkix.invalid_uri_syntax":
        return False
    rest = re.search(r'"spiffe(://.+)"$', found.message)
    return rest is not None and validators.url(f"https{rest[1]}") is True
