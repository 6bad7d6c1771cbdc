"""What a check of `keybearer doctor` found, and what all checks look at."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.controllers.objects import named_identity
from keybearer.kube.errors import ForbiddenError, InvalidError
from keybearer.kube.resources import ObjectKey

if TYPE_CHECKING:
    from keybearer.cli.connecting import CurrentLogin
    from keybearer.cli.installation import Operator
    from keybearer.cli.kubectl.cluster import Cluster
    from keybearer.kube.resources import JsonObject

__all__ = ["OPTIONS_SHOWN", "Finding", "Verdict", "View", "fine", "not_checked", "trouble", "within_rights"]

OPTIONS_SHOWN = "kubectl get deployments -A -l app.kubernetes.io/part-of=keybearer -o yaml"


class Verdict(StrEnum):
    """How a check ended; the order is that of the report."""

    TROUBLE = "trouble"
    NOT_CHECKED = "not checked"
    FINE = "fine"


@dataclass(frozen=True, slots=True)
class Finding:
    """A line of the report.

    Attributes:
        check: operator, crds, release, service, identities, rights, leases or objects.
        message: what was found. Never holds a value.
        command: the next one; empty if there is none.
    """

    verdict: Verdict
    check: str
    message: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """What the checks look at.

    Attributes:
        operators: that are visible.
        operators_known: whether Deployments could be listed in all namespaces.
        operator_namespace: where to look if they can't.
        objects: of our kinds, that could be listed.
        login: of the person; None if nobody is logged in.
        tries_logins: whether credentials of identities are tried at the service.
        same_service: the person is logged in at the operator's service, at another address.
    """

    cluster: Cluster
    operators: Sequence[Operator]
    operators_known: bool
    operator_namespace: str
    objects: Sequence[JsonObject]
    login: CurrentLogin | None
    tries_logins: bool
    same_service: bool

    def identity_users(self) -> Mapping[ObjectKey, Sequence[JsonObject]]:
        """Return the objects that name each identity Secret, ordered by the key of the Secret."""
        found: dict[ObjectKey, list[JsonObject]] = {}
        for body in self.objects:
            name = named_identity(body)
            if name:
                namespace = text_of(mapping_of(body.get("metadata")).get("namespace"))
                found.setdefault(ObjectKey(namespace, name), []).append(body)
        return {key: found[key] for key in sorted(found)}


def fine(check: str, message: str) -> Finding:
    """Return that a check is fine."""
    return Finding(Verdict.FINE, check, message)


def trouble(check: str, message: str, command: str = "") -> Finding:
    """Return what is wrong, and the next command."""
    return Finding(Verdict.TROUBLE, check, message, command)


def not_checked(check: str, message: str, command: str = "") -> Finding:
    """Return why a check was not possible: that is not the same as fine."""
    return Finding(Verdict.NOT_CHECKED, check, message, command)


async def within_rights(
    check: str, right: str, findings: Callable[[], AsyncIterator[Finding]]
) -> AsyncIterator[Finding]:
    """Yield the findings; if a right is missing, or a name is not valid, say so instead of the rest.

    Raises:
        KubeError: the API server can't be asked.
    """
    try:
        async for one in findings():
            yield one
    except ForbiddenError:
        yield not_checked(check, f"you may not {right}", f"kubectl auth can-i {right} -A")
    except InvalidError as error:
        # Options of a Deployment are not checked by the API server.
        yield trouble(check, str(error), OPTIONS_SHOWN)
