"""What is to be done about a failure: whose turn it is, the next step, and the command for it. Pure.

The place that finds a failure says it; statuses carry it as `status.diagnosis`, and programs only show it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of, text_of
from keybearer.controllers.annotations import APPROVE_PLAN, IMPORT, RELEASE_GUARD, SYNC, asking
from keybearer.controllers.custom_resource import STEP_MAX, Diagnosis, Turn

__all__ = ["AS_THE_MESSAGE_SAYS", "SHARED_REMEDIES", "Remedy", "diagnosed"]

_BRACES = re.compile(r"\{[a-z-]+\}")


@dataclass(frozen=True, slots=True)
class Remedy:
    """What is to be done about a failure.

    Attributes:
        step: a sentence; braces are filled by `diagnosed`.
        command: for that step, ready to be pasted but for words in capitals; empty where there is none.
        turn: whose turn it is.
        about: the field, or the object and its key, that must be changed; empty where the message names it.
    """

    step: str
    command: str = ""
    turn: Turn = Turn.USER
    about: str = ""


def diagnosed(
    remedy: Remedy, kind: str, namespace: str, name: str, spec: Mapping[str, JsonValue]
) -> Diagnosis:
    """Return a remedy as the status of an object has it.

    Args:
        remedy: `{namespace}`, `{identity}`, `{project}`, `{environment}`, `{path}` and `{policy}` in its texts
            become what the object and its spec name; `{approve-plan}`, `{import}`, `{release-guard}` and `{sync}`
            become the command that asks for it.
        kind: of the object.
        namespace: of the object.
        name: of the object.
        spec: of the object, as the API server has it.
    """
    words = {"{namespace}": namespace, **_named_in(spec)}
    requests = {
        f"{{{one}}}": asking(one, kind, namespace, name)
        for one in (APPROVE_PLAN, IMPORT, RELEASE_GUARD, SYNC)
    }
    # What a spec names is somebody's text, and people paste commands.
    quoted = {brace: shlex.quote(word) for brace, word in words.items()}
    command = _filled(remedy.command, {**quoted, **requests})
    return Diagnosis(
        turn=remedy.turn,
        step=_filled(remedy.step, words),
        # A part of a command would do something else.
        command=command if 0 < len(command) <= STEP_MAX else None,
        about=_filled(remedy.about, words) or None,
    )


def _named_in(spec: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return what a spec names of the service: the identity Secret, and the place of its first source."""
    source = (
        mapping_of(spec.get("source")) or mapping_of(next(iter(list_of(spec.get("sources"))), None)) or spec
    )
    policy = mapping_of(spec.get("policyRef"))
    project = text_of(source.get("projectSlug")) or text_of(source.get("projectId"))
    named = {
        "IDENTITY": text_of(mapping_of(spec.get("identityRef")).get("name")),
        "PROJECT": project,
        "ENVIRONMENT": text_of(source.get("environment")),
        "PATH": text_of(source.get("secretPath")) or "/",
        "POLICY": text_of(policy.get("name")) or text_of(policy.get("id")),
    }
    return {f"{{{word.lower()}}}": text if _is_word(text) else word for word, text in named.items()}


def _is_word(text: str) -> bool:
    """Return whether a text can be a word of a command that is pasted.

    A control character can end the line that a terminal edits, whatever quotes are around it. A program takes what
    begins with a dash for an option.
    """
    return text != "" and text.isprintable() and not text.startswith("-")


def _filled(text: str, words: Mapping[str, str]) -> str:
    return _BRACES.sub(lambda found: words.get(found[0], found[0]), text)


AS_THE_MESSAGE_SAYS = Remedy("Do what the message says.")
"""For reasons with several causes: whoever raises them says more, where there is more to say."""

SHARED_REMEDIES: Mapping[str, Remedy] = {
    "Suspended": Remedy("Set spec.mode to Apply when it should work again.", about="spec.mode"),
    "SpecInvalid": Remedy("Correct the field that the message names."),
    "ProjectNotFound": Remedy(
        "Correct the project, or give the identity a role in it.",
        "keybearer projects list",
        about="spec.projectSlug",
    ),
    "TargetRefused": Remedy("Change what the API server objects to."),
    "IdentityNotFound": Remedy(
        "Create the Secret {identity} with the credentials of a machine identity, or correct identityRef.name.",
        "kubectl -n {namespace} create secret generic {identity} --from-literal=clientId=CLIENT_ID "
        "--from-file=clientSecret=FILE",
        about="spec.identityRef.name",
    ),
    "IdentityInvalid": Remedy(
        "Correct the keys of Secret {identity} as the message says.", about="Secret {identity}"
    ),
    "UrlNotAllowed": Remedy(
        "Remove the key url from Secret {identity}, or have the operator started with --allow-service-url.",
        about="Secret {identity}, key url",
    ),
    "SharedIdentityRefused": Remedy(
        "Name an identity of your own in spec.identityRef, or have operator.sharedGrants allow this namespace.",
        about="spec.identityRef",
    ),
    "CredentialsRejected": Remedy("Put fresh credentials into Secret {identity}.", about="Secret {identity}"),
    "PermissionDenied": Remedy(
        "Give the identity a role of the project that allows this.",
        "keybearer members set CLIENT_ID_OR_NAME --project {project} --role ROLE",
        turn=Turn.SERVICE_ADMINISTRATOR,
    ),
    "ServiceUnavailable": Remedy(
        "Nothing if the service comes back: the operator tries again. Otherwise check that it runs, and its address.",
        turn=Turn.SERVICE_ADMINISTRATOR,
    ),
    "CertificateUntrusted": Remedy(
        "Put the certificate of the service's authority, as PEM, into the key caBundle of Secret {identity}.",
        about="Secret {identity}, key caBundle",
    ),
    "ServiceThrottled": Remedy(
        "Nothing: the operator tries again. If it stays so, raise spec.refreshInterval.", turn=Turn.NOBODY
    ),
    "ServiceRefused": AS_THE_MESSAGE_SAYS,
    "TimedOut": Remedy(
        "Nothing: the operator tries again. If it stays so, look at what the message names.", turn=Turn.NOBODY
    ),
    "ClusterIdUnknown": Remedy(
        "Start the operator with --cluster-id (operator.clusterId of the chart).",
        turn=Turn.CLUSTER_ADMINISTRATOR,
    ),
    "NamespaceTerminating": Remedy("Nothing: the namespace is being deleted.", turn=Turn.NOBODY),
    "ClusterUnavailable": Remedy("Nothing: the operator tries again.", turn=Turn.NOBODY),
    "InternalError": Remedy(
        "Look for the reconcile id of the message in the operator's log, and report it.",
        turn=Turn.CLUSTER_ADMINISTRATOR,
    ),
}
"""By reasons that mean the same for all kinds."""
