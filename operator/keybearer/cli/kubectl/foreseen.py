"""What applying a manifest would lead to, as far as the cluster alone can tell. Pure; shows no value of any field.

Which keys would change only the operator can tell, for only it reads the source: by `mode: Plan`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import JsonValue

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.cli.kubectl.field_changes import by_name, changed_fields
from keybearer.cli.kubectl.foresight import Around, Foresight
from keybearer.cli.kubectl.steps import Action, Step
from keybearer.controllers.appconnection.resource import AppConnectionSpec
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.mode import Mode
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.target.spec import CreationPolicy

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
        return [*steps, *_foresee_sync(known, spec)]
    if isinstance(spec, CertificateProfileSpec):
        return [*steps, *_foresee_profile(known, spec)]
    told = "the service tries the credentials with the app first"
    return [*steps, Step(f"connection {spec.remote_name(known.name)}", steps[0].action, told)]


def _foresee_sync(known: Foresight, spec: SecretSyncSpec) -> Iterator[Step]:
    """Yield what the operator would do about a SecretSync of that spec."""
    held = known.held_back(spec.mode, "which keys")
    if held is not None:
        yield held
        if spec.mode is Mode.PLAN and spec.writes_target:
            yield from _of_anothers_target(known, spec)
        return
    if spec.writes_target:
        yield from _of_target(known, spec)
    if spec.destination is not None:
        when = "at once" if spec.is_auto_sync_enabled else "on request"
        yield Step(f"destination {spec.destination}", Action.PUSH, f"the service pushes the folder, {when}")


def _of_target(known: Foresight, spec: SecretSyncSpec) -> Iterator[Step]:
    kind, name = spec.target.kind.value, spec.target_name(known.name)
    subject = f"{kind} {known.namespace}/{name}"
    merges = spec.target.creation_policy is CreationPolicy.MERGE
    if (kind, name) in known.around.unknown:
        yield Step(subject, Action.WAIT, "you may not look whether it is there")
    elif (kind, name) not in known.around.owners:
        told = "TargetMissing: creationPolicy Merge needs one that exists"
        yield Step(subject, Action.REFUSE, told) if merges else Step(subject, Action.CREATE)
    else:
        owner = known.around.owners[kind, name]
        is_ours = bool(owner) and owner == known.uid
        if is_ours and spec.mode is Mode.CREATE_ONCE:
            yield Step(subject, Action.KEEP, "mode is CreateOnce, and it is there")
        elif is_ours or merges:
            told = "which keys only the operator can tell: set mode: Plan to see them before"
            yield Step(subject, Action.CHANGE, told)
        elif (kind, name) in known.around.controllers:
            yield from _of_anothers_target(known, spec)
        elif spec.target.adopt and not owner:
            yield Step(subject, Action.CHANGE, "it is taken over: adopt is set")
        else:
            whose = "another object of ours" if owner else "somebody else"
            yield Step(subject, Action.REFUSE, f"TargetConflict: it exists and belongs to {whose}")
    yield from _of_old_target(known, kind, name)


def _of_anothers_target(known: Foresight, spec: SecretSyncSpec) -> Iterator[Step]:
    """Yield that the operator leaves a target alone that something else than our custom resources owns."""
    kind, name = spec.target.kind.value, spec.target_name(known.name)
    owner = known.around.controllers.get((kind, name))
    if owner is not None and spec.target.creation_policy is CreationPolicy.OWNER:
        told = (
            f"TargetConflict: it belongs to {owner}; stop what works for that, then free the {kind} from it"
        )
        yield Step(f"{kind} {known.namespace}/{name}", Action.REFUSE, told)


def _of_old_target(known: Foresight, kind: str, name: str) -> Iterator[Step]:
    written = mapping_of(mapping_of((known.before or {}).get("status")).get("target"))
    old = (text_of(written.get("kind")), text_of(written.get("name")))
    if all(old) and old != (kind, name):
        told = "once the other is written, what is ours of it goes"
        yield Step(f"{old[0]} {known.namespace}/{old[1]}", Action.REMOVE, told)


def _foresee_profile(known: Foresight, spec: CertificateProfileSpec) -> Iterator[Step]:
    """Yield what the operator would do about a CertificateProfile of that spec."""
    held = known.held_back(spec.mode, "it")
    if held is not None:
        yield held
        return
    if known.before is None and not spec.existing:
        yield Step(f"profile {spec.remote_slug(known.name)}", Action.CREATE, "in the service")
    before = by_name(known.spec_before.get("certificates")) or {}
    after = by_name(known.spec_after.get("certificates")) or {}
    for one in spec.certificates:
        subject = f"certificate {one.name}"
        was = before.get(one.name)
        changed = list(changed_fields(was, after.get(one.name), one.name))
        if was is not None and not changed:
            continue
        yield _of_certificate(
            known, subject, one.target_name, adopt=one.adopt, changed=changed if was else []
        )
    for name, was in before.items():
        if name not in after:
            secret = text_of(mapping_of(was).get("secretName")) or name
            revoked = mapping_of(was).get("revokeOnDelete") is True
            told = f"Secret {secret} is deleted{', and it is revoked' if revoked else ''}"
            yield Step(f"certificate {name}", Action.REMOVE, told)


def _of_certificate(
    known: Foresight, subject: str, secret: str, *, adopt: bool, changed: Sequence[str]
) -> Step:
    if ("Secret", secret) in known.around.unknown:
        return Step(subject, Action.WAIT, f"you may not look whether Secret {secret} is there")
    controller = known.around.controllers.get(("Secret", secret))
    if controller is not None:
        told = f"TargetConflict: Secret {secret} belongs to {controller}"
        return Step(subject, Action.REFUSE, told)
    owner = known.around.owners.get(("Secret", secret))
    if owner is not None and owner != known.uid and not (adopt and not owner):
        return Step(
            subject, Action.REFUSE, f"TargetConflict: Secret {secret} exists and isn't of this object"
        )
    if changed:
        told = f"issued anew where something else is asked for: {', '.join(changed)}"
        return Step(subject, Action.CHANGE, told)
    return Step(subject, Action.ISSUE, f"into Secret {secret}")


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
