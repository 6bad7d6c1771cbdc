"""What the operator would do about a CertificateProfile, as far as the cluster alone can tell. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from keybearer.cli.kubectl.field_changes import by_name, changed_fields
from keybearer.cli.kubectl.foresight import Foresight
from keybearer.cli.kubectl.steps import Action, Step
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.json_reading import mapping_of, text_of

__all__ = ["foresee_profile"]


def foresee_profile(known: Foresight, spec: CertificateProfileSpec) -> Iterator[Step]:
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
    owner = known.around.owners.get(("Secret", secret))
    if owner is not None and owner != known.uid and not (adopt and not owner):
        return Step(
            subject, Action.REFUSE, f"TargetConflict: Secret {secret} exists and isn't of this object"
        )
    if changed:
        told = f"issued anew where something else is asked for: {', '.join(changed)}"
        return Step(subject, Action.CHANGE, told)
    return Step(subject, Action.ISSUE, f"into Secret {secret}")
