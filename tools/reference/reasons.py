"""The page of conditions and reasons: what each means and what to do, as the code says it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum

from keybearer.controllers.appconnection.reasons import Reason as ConnectionReason
from keybearer.controllers.appconnection.remedies import REMEDIES as CONNECTION_REMEDIES
from keybearer.controllers.certificateprofile.reasons import REMEDIES as PROFILE_REMEDIES
from keybearer.controllers.certificateprofile.reasons import Reason as ProfileReason
from keybearer.controllers.conditions import BUDGET_USED, CLOCK_IN_SYNC, Tone, build_conditions
from keybearer.controllers.custom_resource import Turn
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.secretsync.reasons import KEY_REMEDIES
from keybearer.controllers.secretsync.reasons import REMEDIES as SYNC_REMEDIES
from keybearer.controllers.secretsync.reasons import Reason as SyncReason
from keybearer.controllers.signers.remedies import REMEDIES as SIGNER_REMEDIES
from tools.reference.markdown import NOTE, cell, code, table
from tools.reference.source import member_docs

__all__ = ["CONDITIONS", "reasons_page"]

CONDITIONS: Mapping[str, str] = {
    "Ready": "The object is as its spec says. It also stays True in `mode: Suspended`, where it was True before.",
    "Reconciling": "Something outside the object must recover. The operator tries again; you don't need to do anything.",
    "Stalled": "You must change something; the message says what. The operator tries again now and then, and at once when "
    "something changes that the object depends on.",
    "Guarded": "The guard holds a change back, because too many keys would be removed at once (only SecretSyncs).",
    BUDGET_USED: "The object caused an effect (repairs, pushes, certificates) as often as it may, and the next one waits. "
    "The message says why, and since when. It is there in addition to the others, and ends after six calm minutes, or an hour for "
    "certificates.",
    CLOCK_IN_SYNC: "False while the operator's clock differs from the service's by more than a minute; the service's "
    "clock decides. The condition is there in addition to the others, and is never True (only CertificateProfiles).",
}
_ASIDE = (BUDGET_USED, CLOCK_IN_SYNC)
"""Conditions that stand beside whatever the others say."""
_TONES = {
    Tone.READY: "all is well",
    Tone.WAITING: "it waits for something outside, and tries again",
    Tone.STALLED: "you must change something",
    Tone.HELD: "a plan waits for approval",
    Tone.PAUSED: "`mode: Suspended`, never reconciled before",
}
_TURNS = {
    Turn.USER: "",
    Turn.SERVICE_ADMINISTRATOR: "An administrator of the service: ",
    Turn.CLUSTER_ADMINISTRATOR: "An administrator of the operator: ",
    Turn.NOBODY: "",
}
_REQUESTS = {
    "{approve-plan}": "([approve-plan](labels.md#requests))",
    "{release-guard}": "([release-guard](labels.md#requests))",
    "{sync}": "([sync](labels.md#requests))",
    "{import}": "([import](labels.md#requests))",
}


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
                "These are in `status.keys[].reason`. A reason that keeps the target from being written is also the reason of "
                "`Ready`. The last good target stays.\n"
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
                "CertificateRequests of cert-manager, and CertificateSigningRequests and PodCertificateRequests of Kubernetes, get "
                "these reasons in a condition and an Event. A request that waits for its profile or for the service also gets the "
                "reason why that isn't ready.\n"
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


def _table(kind: type[StrEnum], remedies: Mapping[str, Remedy]) -> str:
    docs = member_docs(kind)
    rows = ((code(one), cell(docs[one]), cell(_general(remedies[one]) or "Nothing.")) for one in kind)
    return table(("reason", "means", "what to do"), rows)


def _general(remedy: Remedy) -> str:
    """Return a remedy with general words where the operator fills in names."""
    word, _, rest = remedy.command.partition(" ")
    request = _REQUESTS.get(word)
    command = "" if not remedy.command else f" {request}" if request else f" `{remedy.command}`"
    if request and rest:
        command += f" with `{rest}`"
    text = f"{_TURNS[remedy.turn]}{remedy.step}{command}"
    return re.sub(r"\{([a-z]+)\}", lambda found: found[1].upper(), text)
