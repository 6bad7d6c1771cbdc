"""What applying a manifest would lead to, as far as the cluster alone can tell. Pure; shows no value of any field.

Which keys would change only the operator can tell, for only it reads the source: by `mode: Plan`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from keybearer.cli.kubectl.field_changes import changed_fields
from keybearer.cli.kubectl.foreseen_of_profile import foresee_profile
from keybearer.cli.kubectl.foreseen_of_sync import foresee_sync
from keybearer.cli.kubectl.foresight import Around, Foresight
from keybearer.cli.kubectl.steps import Action, Step
from keybearer.controllers.appconnection.resource import AppConnectionSpec
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.json_reading import mapping_of, text_of
from keybearer.controllers.secretsync.resource import SecretSyncSpec

__all__ = ["Spec", "foresee", "read_spec", "secrets_needed", "targets_named"]

Spec = SecretSyncSpec | AppConnectionSpec | CertificateProfileSpec
_SPECS: Mapping[str, type[Spec]] = {
    "SecretSync": SecretSyncSpec,
    "AppConnection": AppConnectionSpec,
    "CertificateProfile": CertificateProfileSpec,
}
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_IMMUTABLE = {
    "AppConnection": ("app", "method", "projectId", "projectSlug"),
    "CertificateProfile": ("policyRef", "caRef", "issuerType"),
}


def read_spec(body: Mapping[str, JsonValue]) -> Spec:
    """Return the spec of an object of ours.

    Raises:
        ValidationError: it can't be read, or breaks a rule.
    """
    return _SPECS[text_of(body.get("kind"))].model_validate(body.get("spec") or {})


def secrets_needed(spec: Spec) -> tuple[str, ...]:
    """Return the names of the Secrets that must be there."""
    names = [] if spec.identity_ref is None else [spec.identity_ref.name]
    if isinstance(spec, AppConnectionSpec):
        names += [one.value_from.secret_key_ref.name for one in spec.credentials.values() if one.value_from]
    return tuple(dict.fromkeys(names))


def targets_named(name: str, spec: Spec) -> tuple[tuple[str, str], ...]:
    """Return kind and name of each object that would be written."""
    if isinstance(spec, SecretSyncSpec):
        return ((spec.target.kind.value, spec.target_name(name)),) if spec.writes_target else ()
    if isinstance(spec, CertificateProfileSpec):
        return tuple(("Secret", one.target_name) for one in spec.certificates)
    return ()


def foresee(
    before: Mapping[str, JsonValue] | None, after: Mapping[str, JsonValue], spec: Spec, around: Around
) -> list[Step]:
    """Return what would be done: the object itself first, then what the operator would do about it.

    Args:
        before: the object as it is; None where it doesn't exist.
        after: as the API server would store it.
        spec: of `after`.
        around: what is beside it.
    """
    known = Foresight(before, after, around)
    changed = _changed(known)
    if before is None:
        steps = [Step(known.subject, Action.CREATE)]
    elif changed:
        steps = [Step(known.subject, Action.CHANGE, ", ".join(changed))]
    else:
        return [Step(known.subject, Action.KEEP, "as the manifest says already")]
    steps += _against(known, spec)
    if any(step.action is Action.REFUSE for step in steps):
        return steps
    if isinstance(spec, SecretSyncSpec):
        return [*steps, *foresee_sync(known, spec)]
    if isinstance(spec, CertificateProfileSpec):
        return [*steps, *foresee_profile(known, spec)]
    told = "the service tries the credentials with the app first"
    return [*steps, Step(f"connection {spec.remote_name(known.name)}", steps[0].action, told)]


def _changed(known: Foresight) -> list[str]:
    if known.before is None:
        return []
    was = mapping_of(known.before.get("metadata"))
    found = list(changed_fields(known.before.get("spec"), known.after.get("spec")))
    for part in ("labels", "annotations"):
        before, after = mapping_of(was.get(part)), mapping_of(known.meta.get(part))
        found += changed_fields(_without_bookkeeping(before), _without_bookkeeping(after), f"metadata.{part}")
    return found


def _against(known: Foresight, spec: Spec) -> Iterator[Step]:
    """Yield what the operator would stop at before it does anything."""
    for name in sorted(known.around.missing):
        is_identity = spec.identity_ref is not None and spec.identity_ref.name == name
        reason = "IdentityNotFound" if is_identity else "CredentialsNotFound"
        yield Step(known.subject, Action.REFUSE, f"{reason}: there is no Secret {name} in the namespace")
    was, new = known.spec_before, known.spec_after
    for one in _IMMUTABLE.get(known.kind, ()) if known.before is not None else ():
        if was.get(one) != new.get(one):
            yield Step(known.subject, Action.REFUSE, f"ImmutableField: spec.{one} can't be changed")


def _without_bookkeeping(marks: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return labels or annotations without what kubectl keeps there for itself."""
    return {name: value for name, value in marks.items() if name != _LAST_APPLIED}
