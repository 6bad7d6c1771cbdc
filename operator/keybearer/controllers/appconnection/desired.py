"""From a manifest and the Secrets it names to the connection that it describes. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from keybearer.base.nearest import did_you_mean
from keybearer.controllers.appconnection.plan import DesiredConnection, RotationTerms
from keybearer.controllers.appconnection.reasons import Reason
from keybearer.controllers.appconnection.resource import AppConnectionSpec
from keybearer.controllers.custom_resource import describe_invalid
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.ownership import mark_of
from keybearer.controllers.remedy import Remedy
from keybearer.wire.base import SLUG_PATTERN
from keybearer.wire.credentials import Method
from keybearer.wire.vocabulary import Vocabulary, canonical_app

if TYPE_CHECKING:
    from keybearer.destinations.catalogue import Catalogue

__all__ = ["ConnectionKind", "build_connection", "kind_of"]

_SLUG = re.compile(SLUG_PATTERN[1:-1])
_NAME_MAX = 64


@dataclass(frozen=True, slots=True)
class ConnectionKind:
    """App and method in interface.md's words, and what they ask for."""

    app: str
    method: str
    model: Method


def kind_of(spec: AppConnectionSpec, catalogue: Catalogue) -> ConnectionKind:
    """Return what kind of connection a manifest describes.

    Raises:
        StalledError: no connection can be made to such an app, or not by such a method.
    """
    app, _ = canonical_app(spec.app)
    model = catalogue.app(app)
    if model is None:
        names = sorted(Vocabulary.PUBLISHED.app(one.name) for one in catalogue.apps)
        raise StalledError(
            Reason.UNKNOWN_APP,
            f"spec.app {spec.app} is none of {', '.join(names)}; if a package ships it, start the operator with "
            f"--destinations-from and the name of that package{did_you_mean(spec.app, names)}",
        )
    method = model.methods.get(spec.method)
    if method is None:
        known = ", ".join(sorted(model.methods))
        raise StalledError(
            Reason.UNKNOWN_APP,
            f"spec.method {spec.method} is none that {model.title} takes: {known}"
            f"{did_you_mean(spec.method, model.methods)}",
            remedy=Remedy("Correct spec.method.", "keybearer connections options", about="spec.method"),
        )
    _require_hidden(spec, method)
    return ConnectionKind(app, spec.method, method)


def build_connection(
    seen: ObservedObject,
    spec: AppConnectionSpec,
    kind: ConnectionKind,
    credentials: Mapping[str, str],
    *,
    project_id: str | None,
    cluster_id: str,
    fingerprinter: Fingerprinter,
) -> DesiredConnection:
    """Return the connection that a manifest describes.

    Args:
        seen: the AppConnection.
        spec: its spec.
        kind: of the connection.
        credentials: their fields, those of Secrets as well.
        project_id: of the project that it names; None where it names none.
        cluster_id: of this cluster.
        fingerprinter: for the credentials.

    Raises:
        StalledError: fields are missing, unknown or of a wrong form, or the name is none that the service takes.
    """
    name = spec.remote_name(seen.key.name)
    if not _SLUG.fullmatch(name) or len(name) > _NAME_MAX:
        raise StalledError(
            Reason.SPEC_INVALID,
            f"the service takes no connection named {name}: set spec.name to small letters, digits and single "
            f"hyphens, {_NAME_MAX} at most",
        )
    try:
        kind.model.given.model_validate(dict(credentials))
    except ValidationError as error:
        raise StalledError(
            Reason.CREDENTIALS_INVALID, describe_invalid(error, root="spec.credentials")
        ) from None
    terms = spec.rotation
    return DesiredConnection(
        name=name,
        app=kind.app,
        method=kind.method,
        credentials=credentials,
        fingerprint=fingerprinter.of_mappings("app connection", (kind.app, kind.method), credentials),
        description=spec.description,
        mark=mark_of(cluster_id, seen.uid),
        project_id=project_id,
        rotation=None
        if terms is None
        else RotationTerms(terms.rotation_interval, terms.rotate_at_utc.hours, terms.rotate_at_utc.minutes),
        adopts=spec.adopt,
    )


def _require_hidden(spec: AppConnectionSpec, method: Method) -> None:
    """Let pass a manifest that writes nothing in clear but what the service shows anyway.

    Raises:
        StalledError: it holds a field that is secret; the message names the field alone.
    """
    secret = {field.alias or name for name, field in method.given.model_fields.items() if not field.repr}
    for name, source in sorted(spec.credentials.items()):
        if source.value is not None and name in secret and name not in method.shown:
            raise StalledError(
                Reason.CREDENTIALS_INVALID,
                f"spec.credentials.{name} is secret: put it into a Secret, give valueFrom.secretKeyRef instead of "
                "value, and make a new one at the app, as this one has been seen by whoever reads manifests",
            )
