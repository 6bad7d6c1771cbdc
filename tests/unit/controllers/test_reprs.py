"""No dataclass shows a value in its repr: it could end in a log line, an Event or a traceback.

Every dataclass of the operator's strand is looked at, so a field that is added tomorrow is too.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
import re
from collections.abc import Iterator

import keybearer.base
import keybearer.client
import keybearer.controllers
import keybearer.wire
from support.rows import listed

_CAN_HOLD_VALUES = re.compile(
    r"\b(bytes|JsonValue|JsonObject|_Json|Mapping|MutableMapping|dict|Any|object)\b"
)
_SOUNDS_LIKE_A_VALUE = re.compile(
    r"value|secret|token|password|credential|jwt|payload|patch|body|data|content|key_bytes"
)
_IS_TEXT = re.compile(r"\bstr\b|_Text\b")
_NAMES_ONLY = re.compile(
    r".*(secret_names?|secret_path|secret_key|secret_ids?|token_type|trusted_ips|fingerprint|credentials_hash)$"
)
"""Text fields that sound like values and are names or addresses; a fingerprint is a keyed MAC."""

_HARMLESS = {
    "client.call.Call.route": "a table's route, the same for all",
    "controllers.target.restart.WantedRestart.value": "a name and a keyed fingerprint or a serial number",
    "controllers.objects.ObservedObject.spec_json": "a manifest holds no values, only names",
    "controllers.objects.ObservedObject.status_json": "a status holds no values, only names",
    "controllers.reconciler.Kind.remedies": "sentences by reason",
    "controllers.identity.ServicePolicy.default_ca_pem": "certificates are public",
    "controllers.certificateprofile.secret_contents.Keyring.attempts": "revisions and instants; its keys are hidden",
    "controllers.issuance.service.Order.metadata": "ids, by which a request is found again",
    "controllers.secretsync.destination_plan._Ground.spec_json": "a manifest holds no values, only names",
    "client.certificates.AltName.value": "names in certificates are public",
    "client.certificates.CertificateMetadata.value": "words by which a request is found again",
    "controllers.sources.state.SourceState.subscribers": "keys and intervals",
    "controllers.instant._Follower.sources": "queries, which hold names",
    "controllers.certificate_metrics.CertificateFacts.secret": "the name of one",
    "client.actors.AuditActor.metadata": "the audit log holds names, never values",
    "client.actors.AuditEvent.metadata": "the audit log holds names, never values",
    "controllers.secretsync.payload._TypeDemand.fits": "a function",
}


def _dataclasses() -> Iterator[type]:
    for package in (keybearer.base, keybearer.wire, keybearer.client, keybearer.controllers):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            module = importlib.import_module(found.name)
            for member in vars(module).values():
                if (
                    isinstance(member, type)
                    and dataclasses.is_dataclass(member)
                    and member.__module__ == found.name
                ):
                    yield member


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}".removeprefix("keybearer.")


def _is_suspect(field: dataclasses.Field[object]) -> bool:
    annotation = field.type if isinstance(field.type, str) else repr(field.type)
    if _CAN_HOLD_VALUES.search(annotation):
        return True
    is_text = _IS_TEXT.search(annotation) is not None
    return is_text and bool(_SOUNDS_LIKE_A_VALUE.search(field.name)) and not _NAMES_ONLY.match(field.name)


def test_no_field_that_can_hold_values_is_shown() -> None:
    shown = {
        f"{_name(kind)}.{field.name}"
        for kind in _dataclasses()
        for field in dataclasses.fields(kind)
        if field.repr and _is_suspect(field)
    }
    unexplained = sorted(shown - _HARMLESS.keys())
    assert not unexplained, f"add repr=False, or say here why they are harmless:{listed(unexplained)}"


def test_the_search_sees_the_classes_that_hold_values_and_no_exception_is_left_over() -> None:
    by_name = {
        _name(kind): {field.name: field for field in dataclasses.fields(kind)} for kind in _dataclasses()
    }

    hidden = {
        f"{kind}.{name}"
        for kind, fields in by_name.items()
        for name, field in fields.items()
        if not field.repr
    }
    assert {
        "controllers.listing.SourceSecret.value",
        "controllers.target.desired.DesiredTarget.body",
        "controllers.secretsync.payload.Payload.data",
        "controllers.identity.ServiceIdentity.credentials",
        "controllers.references._Kept.data",
        "client.models.Secret.secret_value",
        "client.session.HeldToken.text",
    } <= hidden
    known = {f"{kind}.{name}" for kind, fields in by_name.items() for name in fields}
    gone = sorted(_HARMLESS.keys() - known)
    assert not gone, f"these are no more, remove their exceptions:{listed(gone)}"
