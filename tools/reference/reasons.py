"""The page of conditions and reasons: what each means and what to do, as the code says it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TypeVar

from keybearer.controllers.appconnection.reasons import Reason as ConnectionReason
from keybearer.controllers.appconnection.remedies import REMEDIES as CONNECTION_REMEDIES
from keybearer.controllers.certificateprofile.reasons import REMEDIES as PROFILE_REMEDIES
from keybearer.controllers.certificateprofile.reasons import Reason as ProfileReason
from keybearer.controllers.conditions import BUDGET_USED, CLOCK_IN_SYNC, Tone, build_conditions
from keybearer.controllers.secretsync.reasons import KEY_REMEDIES
from keybearer.controllers.secretsync.reasons import REMEDIES as SYNC_REMEDIES
from keybearer.controllers.secretsync.reasons import Reason as SyncReason
from keybearer.controllers.signers.remedies import REMEDIES as SIGNER_REMEDIES
from tools.reference.markdown import NOTE, cell, code, table
from tools.reference.source import member_docs

__all__ = ["CONDITIONS", "reasons_page"]

CONDITIONS: Mapping[str, str] = {
    "Ready": "The object is as its spec says. It also stays True in `mode: Suspended`, where it was True before.",
    "Reconciling": "Something outside the object must come right by itself; it is tried again. Nothing of you is needed.",
    "Stalled": "You have to change something; the message says what. It is looked at again at leisure, and at once when "
    "what it depends on changes.",
    "Guarded": "The guard holds a change back, because too many keys would vanish at once (only SecretSyncs).",
    BUDGET_USED: "The object caused an effect (repairs, pushes, certificates) as often as it may, and the next one waits. "
    "The message says why, and since when. It is there beside the others, and goes after six calm minutes, or an hour for "
    "certificates.",
    CLOCK_IN_SYNC: "False while the operator's clock differs from the service's by more than a minute; the service's "
    "clock decides. The condition is there beside the others, and is never True (only CertificateProfiles).",
}
_ASIDE = (BUDGET_USED, CLOCK_IN_SYNC)
"""Conditions that stand beside whatever the others say."""
_TONES = {
    Tone.READY: "all is well",
    Tone.WAITING: "it waits for something outside, and tries again",
    Tone.STALLED: "you have to change something",
    Tone.HELD: "a plan waits for approval",
    Tone.PAUSED: "`mode: Suspended`, never reconciled before",
}
_FILLED = {
    "{identity}": "IDENTITY",
    "{namespace}": "NAMESPACE",
    "{connection}": "NAME",
    "{approve-plan}": "[approve-plan](labels.md#requests)",
    "{release-guard}": "[release-guard](labels.md#requests)",
    "{sync}": "[sync](labels.md#requests)",
}


_Reason = TypeVar("_Reason", bound=StrEnum)


def reasons_page() -> str:
    """Return the page."""
    return "\n".join(
        (
            "# Conditions and reasons\n",
            NOTE + "\n",
            (
                "`kubectl get` shows `Ready`; `kubectl describe` shows the conditions with their reasons and messages. The message "
                "names the object, the field or the key; this page says what each reason means and what to do. "
                "`kubectl keybearer explain KIND/NAME` says the same for an object of yours. "
                "[Troubleshooting](../troubleshooting.md) lists symptoms and their causes.\n"
            ),
            "## Conditions\n",
            table(("type", "True means"), [(code(name), text) for name, text in CONDITIONS.items()]),
            "Programs can rely on these combinations (they are those of kstatus, which Flux, Argo CD and Helm read):\n",
            table(("when", *(code(name) for name in CONDITIONS if name not in _ASIDE)), _combinations()),
            "## SecretSync\n",
            "Reasons of identities and of the service are the same for all three kinds.\n",
            _table(SyncReason, SYNC_REMEDIES),
            "### Single keys\n",
            (
                "These are in `status.keys[].reason`. Those that keep the target from being written are the reason of `Ready` "
                "as well; the last good target stays.\n"
            ),
            table(
                ("reason", "means", "what to do", "keeps the target from being written"),
                [
                    (code(reason.value), cell(means), cell(remedy), "yes" if reason.blocking else "no")
                    for reason, (means, remedy) in KEY_REMEDIES.items()
                ],
            ),
            "## AppConnection\n",
            _table(ConnectionReason, CONNECTION_REMEDIES),
            "## CertificateProfile\n",
            _table(ProfileReason, PROFILE_REMEDIES),
            "## Requests of others\n",
            (
                "What CertificateRequests of cert-manager, CertificateSigningRequests and PodCertificateRequests of Kubernetes are "
                "answered with, in a condition and an Event. A request that waits for its profile, or for the service, is told the "
                "reason of that as well.\n"
            ),
            table(
                ("reason", "means", "what to do"),
                [
                    (code(reason), cell(means), cell(remedy or "Nothing."))
                    for reason, (means, remedy) in SIGNER_REMEDIES.items()
                ],
            ),
        )
    )


def _combinations() -> list[tuple[str, ...]]:
    rows = []
    for tone, also in (*((tone, ()) for tone in Tone), (Tone.HELD, ("Stalled", "Guarded"))):
        told = "the guard waits for release" if also else _TONES[tone]
        now = datetime(2026, 1, 1, tzinfo=UTC)
        stands = {
            one.type: one.status.value
            for one in build_conditions((), tone, "Reason", "", generation=1, now=now, also=also)
        }
        rows.append((told, *(stands.get(name, "") for name in CONDITIONS if name not in _ASIDE)))
    return rows


def _table(kind: type[_Reason], remedies: Mapping[_Reason, str]) -> str:
    docs = member_docs(kind)
    rows = (
        (code(reason.value), cell(docs[reason.value]), cell(_general(remedies[reason]) or "Nothing."))
        for reason in kind
    )
    return table(("reason", "means", "what to do"), rows)


def _general(remedy: str) -> str:
    """Return the text with general words where `keybearer explain` fills in names."""
    return re.sub(r"\{[a-z-]+\}", lambda found: _FILLED[found.group()], remedy)
