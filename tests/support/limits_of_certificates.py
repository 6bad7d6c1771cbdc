"""The limits of certificates and PKI subscribers, by hand from wire.md sections 5 and 6 and docs/interface.md.

Most requests name a project, a profile or an authority that isn't there: what is within its limits is answered so,
and nothing is made. What is no PEM is told so before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from support.limit_cases import KEY_SIGN, Limit, World, items, number, text

__all__ = ["LIMITS_OF_CERTIFICATES"]

_UNKNOWN = "11111111-2222-4333-8444-555555555555"
_PKI = "/api/v1/cert-manager"
_ISSUE = f"POST {_PKI}/certificates"
_SEARCH = f"POST {_PKI}/certificates/certificate-requests/search"
_IMPORT = f"POST {_PKI}/certificates/import-certificate"
_AUTHORITIES = f"{_PKI}/ca/internal"
_ELSEWHERE = f"{_PKI}/ca/acme"
_POLICIES = f"{_PKI}/certificate-policies"
_PROFILES = f"{_PKI}/certificate-profiles"
_APPLICATIONS = f"{_PKI}/applications"
_APPROVAL = f"{_PKI}/approval-policies"
_SUBSCRIBERS = "/api/v1/pki/subscribers"
_LATER = "2099-01-01T00:00:00Z"
_Body = Mapping[str, Any]


def _ascii(length: int) -> str:
    return "a" * length


def _ttl(length: int) -> str:
    """Return an hour in so many characters, or the shortest there is."""
    return "1" + "h".rjust(max(length, 2) - 1)


def _url(length: int) -> str:
    """Return a URL of so many characters, or the shortest there is."""
    return "http://a".ljust(length, "a")


def _directory(length: int) -> str:
    """Return the URL of a directory in so many characters, or the shortest there is."""
    return "https://a/".ljust(length, "a")


def _email(length: int) -> str:
    return "@a".rjust(max(length, 3), "a")


def _id(_: World, index: int) -> str:
    return str(UUID(int=index + 1, version=4))


def _ids(length: int) -> list[str]:
    return [str(UUID(int=index + 1, version=4)) for index in range(length)]


def _repeated(item: Any, count: int) -> list[Any]:  # noqa: ANN401 - JSON
    return [item] * count


def _joined(length: int) -> list[str]:
    """Return texts that have so many characters when commas join them."""
    return [part for part in (("a" * 100 + ",") * (length // 101 + 1))[:length].split(",") if part]


def _names(length: int) -> list[_Body]:
    """Return names that have so many characters together."""
    return [{"type": "dns_name", "value": name} for name in _joined(length)]


def _inside(path: str, value: object, rest: _Body) -> _Body:
    """Return a body with a value at a path such as `defaults.keyUsages`; what stands beside it stays."""
    name, _, below = path.partition(".")
    if not below:
        return {**rest, name: value}
    return {**rest, name: _inside(below, value, rest.get(name, {}))}


def _of(
    operation: str,
    path: str,
    low: int,
    high: int,
    *constants: str,
    rest: _Body,
    make: Callable[[int], Any] | None = None,
    taken: int = 404,
    field: str | None = None,
) -> Limit:
    """Return the limit of a field at a path in the body."""
    written = make or (lambda length: KEY_SIGN * length)
    return Limit(
        operation,
        field or path.rpartition(".")[2],
        low,
        high,
        lambda _, measure: _inside(path, written(measure), rest),
        constants,
        taken,
    )


def _number(operation: str, path: str, low: int, high: int, *, rest: _Body) -> Limit:
    """Return the limit of a number at a path in the body."""
    return Limit(
        operation,
        path.rpartition(".")[2],
        low,
        high,
        lambda _, value: _inside(path, value, rest),
        taken=404,
        is_number=True,
    )


_SUBJECT_TEXTS = ("commonName", "organization", "organizationalUnit", "country", "state", "locality")


def _contents(operation: str, part: str, names: str, rest: _Body) -> Iterator[Limit]:
    """Yield the limits of what a certificate holds, as it is asked for or as a profile's default."""
    of = partial(_of, operation, rest=rest)
    for name in _SUBJECT_TEXTS:
        yield of(f"{part}.{name}", 0, 255, "CERTIFICATE_SUBJECT_TEXT_MAX")
    components = f"{part}.domainComponents"
    yield of(components, 0, 50, "CERTIFICATE_DOMAIN_COMPONENTS_MAX", make=partial(_repeated, "a"))
    yield of(components, 1, 255, "CERTIFICATE_SUBJECT_TEXT_MAX", make=lambda length: ["a" * length])
    yield of(components, 0, 255, "CERTIFICATE_SUBJECT_TEXT_MAX", make=_joined)
    usages = {"keyUsages": "digital_signature", "extendedKeyUsages": "server_auth"}
    for name, usage in usages.items():
        yield of(f"{part}.{name}", 0, 20, "CERTIFICATE_USAGES_MAX", make=partial(_repeated, usage))
    alt = f"{part}.{names}"
    name_of = {"type": "dns_name", "value": "a"}
    yield of(alt, 0, 100, "CERTIFICATE_ALT_NAMES_MAX", make=partial(_repeated, name_of))
    yield of(alt, 0, 4096, "CERTIFICATE_ALT_NAMES_TEXT_MAX", make=_names)
    yield of(alt, 1, 255, field="value", make=lambda length: [{"type": "dns_name", "value": "a" * length}])
    yield _number(operation, f"{part}.basicConstraints.pathLength", 0, 255, rest=rest)


_ASKED = {"profileId": _UNKNOWN}
_ISSUING = (
    *_contents(_ISSUE, "attributes", "altNames", _ASKED),
    _of(_ISSUE, "attributes.ttl", 0, 32, "CERTIFICATE_TTL_MAX", rest=_ASKED, make=_ttl),
    # An empty one counts as absent.
    _of(_ISSUE, "csr", 0, 4096, "CERTIFICATE_CSR_MAX", rest=_ASKED),
    _of(_ISSUE, "metadata", 0, 100, "METADATA_MAX_ITEMS", rest=_ASKED, make=partial(_repeated, {"key": "k"})),
    _of(_ISSUE, "metadata", 1, 255, rest=_ASKED, make=lambda length: [{"key": "k" * length}], field="key"),
    _of(
        _ISSUE,
        "metadata",
        0,
        1020,
        rest=_ASKED,
        make=lambda length: [{"key": "k", "value": KEY_SIGN * length}],
        field="value",
    ),
    _number(f"PATCH {_PKI}/certificates/{_UNKNOWN}/config", "renewBeforeDays", 1, 30, rest={}),
)

_BROUGHT = {"projectId": _UNKNOWN, "certificatePem": "c", "privateKeyPem": "k"}
_brought = partial(_of, _IMPORT, rest=_BROUGHT)
_IMPORTING = (
    _brought("certificatePem", 1, 65_536, "CERTIFICATE_CHAIN_MAX", make=_ascii),
    _brought("privateKeyPem", 0, 65_536, "CERTIFICATE_CHAIN_MAX", make=_ascii),
    _brought("chainPem", 0, 65_536, "CERTIFICATE_CHAIN_MAX", make=_ascii),
    _brought("friendlyName", 1, 255),
)


def _project(world: World) -> _Body:
    return {"projectId": world.pki.project_id}


_LISTS = (
    f"{_PKI}/certificates",
    _POLICIES,
    _PROFILES,
    f"{_PROFILES}/{{certificate_profile}}/certificates",
    _APPLICATIONS,
    f"{_PKI}/certificates/certificate-requests",
)
_SEARCHING = (
    number(_SEARCH, "limit", 1, 100, "CERTIFICATE_PAGE_MAX", rest=_project),
    number(_SEARCH, "offset", 0, 2**31 - 1, rest=_project),
    text(_SEARCH, "search", 0, 255, rest=_project),
    items(_SEARCH, "profileIds", 0, 100, item=_id, rest=_project),
    items(
        _SEARCH, "metadata", 0, 100, "METADATA_MAX_ITEMS", item=lambda _, i: {"key": f"k{i}"}, rest=_project
    ),
    *(
        limit
        for path in (*_LISTS, f"{_PKI}/approval-requests")
        for limit in (
            number(f"GET {path}", "limit", 1, 100, "CERTIFICATE_PAGE_MAX", rest=_project),
            number(f"GET {path}", "offset", 0, 2**31 - 1, rest=_project),
        )
    ),
    *(text(f"GET {path}", "search", 0, 255, rest=_project) for path in _LISTS),
    text(
        f"GET {_PKI}/certificates/certificate-requests",
        "profileIds",
        0,
        100,
        rest=_project,
        make=lambda length: ",".join(_ids(length)),
    ),
)


_ROOT = {"type": "root", "commonName": "c"}
_NEW_AUTHORITY = {"projectId": _UNKNOWN, "name": "a", "configuration": _ROOT}
_BOTH_AUTHORITIES: tuple[tuple[str, _Body], ...] = (
    (f"POST {_AUTHORITIES}", _NEW_AUTHORITY),
    (f"PATCH {_AUTHORITIES}/{_UNKNOWN}", {}),
)
_NEW_ELSEWHERE = {
    "projectId": _UNKNOWN,
    "name": "a",
    "configuration": {"directoryUrl": "https://a", "eabKid": "k", "eabHmacKey": "h"},
}
_AUTHORITY_ELSEWHERE = (
    *(
        limit
        for operation, rest in (
            (f"POST {_ELSEWHERE}", _NEW_ELSEWHERE),
            (f"PATCH {_ELSEWHERE}/{_UNKNOWN}", {}),
        )
        for limit in (
            _of(operation, "name", 1, 64, "CERTIFICATE_AUTHORITY_NAME_MAX", rest=rest, make=_ascii),
            _of(
                operation,
                "configuration.caCertificates",
                0,
                65_536,
                "CERTIFICATE_CHAIN_MAX",
                rest=rest,
                make=_ascii,
            ),
        )
    ),
    *(
        _of(
            f"POST {_ELSEWHERE}",
            f"configuration.{name}",
            1,
            1024,
            "ACME_BINDING_TEXT_MAX",
            rest=_NEW_ELSEWHERE,
            make=_ascii,
        )
        for name in ("eabKid", "eabHmacKey")
    ),
    _of(
        f"POST {_ELSEWHERE}",
        "configuration.directoryUrl",
        0,
        1024,
        "ACME_URL_MAX",
        rest=_NEW_ELSEWHERE,
        make=_directory,
    ),
    _of(f"POST {_ELSEWHERE}", "configuration.accountEmail", 0, 254, rest=_NEW_ELSEWHERE, make=_email),
)
_SIGN = f"POST {_AUTHORITIES}/{_UNKNOWN}/sign-intermediate"
_SIGNED = {"csr": "c", "notAfter": _LATER}
_CERTIFY = f"POST {_AUTHORITIES}/{_UNKNOWN}/certificate"
_BRING = f"POST {_AUTHORITIES}/{_UNKNOWN}/import-certificate"
_AUTHORITY = (
    *(
        limit
        for operation, rest in _BOTH_AUTHORITIES
        for limit in (
            _of(operation, "name", 1, 64, "CERTIFICATE_AUTHORITY_NAME_MAX", rest=rest, make=_ascii),
            _of(operation, "configuration.friendlyName", 0, 255, "CERTIFICATE_SUBJECT_TEXT_MAX", rest=rest),
            _of(
                operation,
                "configuration.crlDistributionPointUrls",
                0,
                10,
                rest=rest,
                make=partial(_repeated, "http://a"),
            ),
            _of(
                operation,
                "configuration.crlDistributionPointUrls",
                0,
                1024,
                rest=rest,
                make=lambda length: [_url(length)],
            ),
        )
    ),
    *(
        _of(
            f"POST {_AUTHORITIES}",
            f"configuration.{name}",
            0,
            255,
            "CERTIFICATE_SUBJECT_TEXT_MAX",
            rest=_inside("configuration.country", "DE", _NEW_AUTHORITY),
        )
        for name in ("commonName", "organization", "ou", "province", "locality")
    ),
    _number(f"POST {_AUTHORITIES}", "configuration.maxPathLength", -1, 255, rest=_NEW_AUTHORITY),
    _number(_SIGN, "maxPathLength", -1, 255, rest=_SIGNED),
    _number(_CERTIFY, "maxPathLength", -1, 255, rest={"notAfter": _LATER}),
    _of(_SIGN, "csr", 1, 4096, "CERTIFICATE_CSR_MAX", rest=_SIGNED),
    _of(_BRING, "certificate", 1, 65_536, "CERTIFICATE_CHAIN_MAX", rest={}, make=_ascii),
    _of(
        _BRING,
        "certificateChain",
        0,
        65_536,
        "CERTIFICATE_CHAIN_MAX",
        rest={"certificate": "c"},
        make=_ascii,
    ),
)

_RULES = ("allowed", "required", "denied")


def _rules(operation: str, rest: _Body) -> Iterator[Limit]:
    """Yield the limits of the rules of a policy."""
    of = partial(_of, operation, rest=rest)
    most = "CERTIFICATE_POLICY_VALUES_MAX"
    for rule in _RULES:
        for part, kind in (("subject", "common_name"), ("sans", "dns_name")):
            yield of(part, 0, 200, most, make=partial(_values, kind, rule), field=rule)
            yield of(
                part,
                1,
                255,
                "CERTIFICATE_SUBJECT_TEXT_MAX",
                make=partial(_value, kind, rule),
                field=rule,
            )
        for part, usage in (("keyUsages", "digital_signature"), ("extendedKeyUsages", "server_auth")):
            yield of(f"{part}.{rule}", 0, 200, most, make=partial(_repeated, usage))
    yield of("algorithms.signature", 0, 200, most, make=partial(_repeated, "RSA-SHA256"))
    yield of("algorithms.keyAlgorithm", 0, 200, most, make=partial(_repeated, "RSA_2048"))
    yield _number(operation, "basicConstraints.maxPathLength", -1, 255, rest=rest)


def _values(kind: str, rule: str, count: int) -> list[_Body]:
    return [{"type": kind, rule: ["a"] * count}]


def _value(kind: str, rule: str, length: int) -> list[_Body]:
    return [{"type": kind, rule: [KEY_SIGN * length]}]


_NEW_POLICY = {"projectId": _UNKNOWN, "name": "p"}
_NEW_APPLICATION = {"projectId": _UNKNOWN, "name": "a"}
_NEW_PROFILE = {"projectId": _UNKNOWN, "certificatePolicyId": _UNKNOWN, "caId": _UNKNOWN, "slug": "s"}
_NAMED: tuple[tuple[str, str, _Body], ...] = (
    (f"POST {_POLICIES}", "name", _NEW_POLICY),
    (f"PATCH {_POLICIES}/{_UNKNOWN}", "name", {}),
    (f"POST {_APPLICATIONS}", "name", _NEW_APPLICATION),
    (f"PATCH {_APPLICATIONS}/{_UNKNOWN}", "name", {}),
    (f"POST {_PROFILES}", "slug", _NEW_PROFILE),
    (f"PATCH {_PROFILES}/{_UNKNOWN}", "slug", {}),
)
_EST = {"disableBootstrapCaValidation": True, "passphrase": "cnry-passphrase"}


def _profile(operation: str, rest: _Body) -> Iterator[Limit]:
    """Yield the limits of a profile beside its name."""
    of = partial(_of, operation, rest=rest)
    yield from _contents(operation, "defaults", "subjectAltNames", rest)
    yield _number(operation, "defaults.ttlDays", 1, 36_500, rest=rest)
    yield of("externalConfigs.template", 0, 255, "CERTIFICATE_NAME_MAX")
    with_est = partial(_of, operation, rest={**rest, "estConfig": _EST})
    yield with_est("estConfig.passphrase", 1, 255)
    yield with_est("estConfig.caChain", 0, 65_536, "CERTIFICATE_CHAIN_MAX", make=_ascii)
    yield of("scepConfig.challengePassword", 0, 255)
    yield _number(operation, "apiConfig.renewBeforeDays", 1, 30, rest=rest)


def _enrollment(kind: str) -> str:
    return f"PUT {_APPLICATIONS}/{_UNKNOWN}/profiles/{_UNKNOWN}/enrollment/{kind}"


_ATTACHED = (
    _of(
        f"POST {_APPLICATIONS}",
        "profileIds",
        0,
        100,
        "CERTIFICATE_PAGE_MAX",
        rest=_NEW_APPLICATION,
        make=_ids,
    ),
    _of(f"POST {_APPLICATIONS}/{_UNKNOWN}/profiles", "profileIds", 1, 100, rest={}, make=_ids),
    _of(_enrollment("est"), "passphrase", 1, 255, rest=_EST),
    _of(_enrollment("est"), "caChain", 0, 65_536, rest=_EST, make=_ascii),
    _of(_enrollment("scep"), "challengePassword", 0, 255, rest={}),
    _number(_enrollment("api"), "renewBeforeDays", 1, 30, rest={}),
)


def _approval(operation: str, rest: _Body) -> Iterator[Limit]:
    """Yield the limits of an approval policy."""
    of = partial(_of, operation, rest=rest)
    yield of("name", 1, 255, "CERTIFICATE_NAME_MAX")
    yield of("approverIds", 0, 100, "CERTIFICATE_APPROVERS_MAX", make=_ids)
    yield of("bypassIdentityIds", 0, 100, "CERTIFICATE_APPROVERS_MAX", make=_ids)
    yield of("requestTtl", 0, 32, "CERTIFICATE_TTL_MAX", make=_ttl)
    yield _number(operation, "requiredApprovals", 1, 100, rest=rest)


_NEW_SUBSCRIBER = {
    "projectId": _UNKNOWN,
    "caId": _UNKNOWN,
    "name": "s",
    "commonName": "c",
    "ttl": "1d",
}


def _subscriber(operation: str, rest: _Body) -> Iterator[Limit]:
    """Yield the limits of a subscriber."""
    of = partial(_of, operation, rest=rest)
    names = "subjectAlternativeNames"
    yield of("name", 1, 64, "CERTIFICATE_AUTHORITY_NAME_MAX", make=_ascii)
    yield of("commonName", 1, 255, "CERTIFICATE_SUBJECT_TEXT_MAX")
    yield of("ttl", 0, 32, "CERTIFICATE_TTL_MAX", make=_ttl)
    yield of(names, 0, 100, "CERTIFICATE_ALT_NAMES_MAX", make=partial(_repeated, "a"))
    yield of(names, 1, 255, "CERTIFICATE_SUBJECT_TEXT_MAX", make=lambda length: ["a" * length])
    yield of("keyUsages", 0, 20, "CERTIFICATE_USAGES_MAX", make=partial(_repeated, "digitalSignature"))
    yield of("extendedKeyUsages", 0, 20, "CERTIFICATE_USAGES_MAX", make=partial(_repeated, "serverAuth"))


LIMITS_OF_CERTIFICATES = (
    *_ISSUING,
    *_IMPORTING,
    *_SEARCHING,
    *_AUTHORITY,
    *_AUTHORITY_ELSEWHERE,
    *_rules(f"POST {_POLICIES}", _NEW_POLICY),
    *_rules(f"PATCH {_POLICIES}/{_UNKNOWN}", {}),
    *(
        limit
        for operation, name, rest in _NAMED
        for limit in (
            _of(operation, name, 1, 255, "CERTIFICATE_NAME_MAX", rest=rest, make=_ascii),
            _of(operation, "description", 0, 1000, "CERTIFICATE_DESCRIPTION_MAX", rest=rest),
        )
    ),
    *_profile(f"POST {_PROFILES}", _NEW_PROFILE),
    *_profile(f"PATCH {_PROFILES}/{_UNKNOWN}", {}),
    *_ATTACHED,
    *_approval(f"POST {_APPROVAL}", {"profileId": _UNKNOWN}),
    *_approval(f"PATCH {_APPROVAL}/{_UNKNOWN}", {}),
    *(
        _of(f"POST {_PKI}/approval-requests/{_UNKNOWN}/{word}", "comment", 0, 1000, rest={})
        for word in ("approve", "reject")
    ),
    *_subscriber(f"POST {_SUBSCRIBERS}", _NEW_SUBSCRIBER),
    *_subscriber(f"PATCH {_SUBSCRIBERS}/not-there", {"projectId": _UNKNOWN}),
    _of(
        f"POST {_SUBSCRIBERS}/not-there/sign-certificate",
        "csr",
        1,
        3000,
        "SUBSCRIBER_CSR_MAX",
        rest={"projectId": _UNKNOWN},
    ),
)
