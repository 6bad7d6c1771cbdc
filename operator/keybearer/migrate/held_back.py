"""What is not applied at once: a SecretSync that builds less, or something else, than the other operator did.

It takes over the Secret that workloads read. Applied as it is, it would take out of it what was left out of the
conversion, so it is written to plan alone until somebody has looked.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from keybearer.controllers.mode import Mode
from keybearer.controllers.secretsync.resource import SECRET_SYNC
from keybearer.migrate.findings import Effect, Finding, Notes
from keybearer.migrate.manifests import Draft

__all__ = ["held_back"]

_LOSSY: Final = frozenset({Effect.LEFT_OUT, Effect.CHANGED, Effect.ASSUMED})
_BESIDE_CONTENTS: Final = re.compile(
    r"spec|metadata(?:\..*)?"
    r"|spec\.(?:externalSecretSpec\.)?"
    r"(?:refresh\w+|resyncInterval|syncConfig|syncOptions|syncWindows|namespaceSelectors?"
    r"|tokenSecretReference|authentication\.\w+|infisicalAuthRef|rolloutRestartTargets"
    r"|target\.(?:template\.(?:metadata|type)|creationPolicy|deletionPolicy|immutable)"
    r"|destination\.(?:labels|annotations|type)"
    r"|(?:targets|managed\w+)(?:\[\d+\])?\.(?:metadata|template\.metadata|secretType|creationPolicy))"
    r"(?:[.\[](?!secretsScope).*)?",
    re.DOTALL,
)
"""Fields that have no say in which keys there are, and what they hold. Any other may, also one that nobody knows."""
_DEFAULT_STORE: Final = re.compile(r"spec\.(?:externalSecretSpec\.)?secretStoreRef")
_NAMED_MAX: Final = 3


def held_back(draft: Draft, notes: Notes) -> Draft:
    """Return the draft to plan alone, and note that, where what it writes is not all that the other operator wrote.

    Args:
        draft: of any kind; what is no SecretSync, or pushes elsewhere, stays as it is.
        notes: everything that was found of the object that it stands for.
    """
    if draft.resource is not SECRET_SYNC or "destination" in draft.spec:
        return draft
    lossy = dict.fromkeys(
        one.field
        for one in notes.findings
        if one.effect in _LOSSY and one.field and not _is_beside_contents(one)
    )
    if not lossy:
        return draft
    named = ", ".join(list(lossy)[:_NAMED_MAX])
    more = f" and {len(lossy) - _NAMED_MAX} more" if len(lossy) > _NAMED_MAX else ""
    meant = draft.spec.get("mode", Mode.APPLY.value)
    notes.step(
        "",
        "is written with mode: Plan, so that no key is taken out of a Secret that is in use",
        f"Write what is missing, look at kubectl keybearer plan, then set mode: {meant}.",
    )
    return replace(
        draft,
        spec={"mode": Mode.PLAN.value, **{name: one for name, one in draft.spec.items() if name != "mode"}},
        comment=f"Plan, not {meant}: applied, this could take keys out of the Secret that is there, or change them. "
        f"Not carried as it was: {named}{more}.",
    )


def _is_beside_contents(finding: Finding) -> bool:
    # Of a store that is guessed, all is read, or nothing and the Secret stays; one that is left out takes keys along.
    is_guessed = finding.effect is Effect.ASSUMED and _DEFAULT_STORE.fullmatch(finding.field) is not None
    return is_guessed or _BESIDE_CONTENTS.fullmatch(finding.field) is not None
