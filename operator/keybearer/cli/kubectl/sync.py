"""`kubectl keybearer sync`: asks the operator to do it now, by annotation, and waits for how it ends."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.cli.failures import CommandError, ExitStatus, misused
from keybearer.cli.kubectl.cluster import (
    MANAGER,
    AllNamespaces,
    Cluster,
    Context,
    Kubeconfig,
    Namespace,
    Place,
    Words,
    bodies_of,
    run,
)
from keybearer.cli.kubectl.standing import Health, Standing, renewal_of, standing_of
from keybearer.cli.kubectl.targets import targets_of
from keybearer.cli.output import Output, OutputFormat, Styled, note, print_found, spinner

if TYPE_CHECKING:
    from keybearer.kube.resources import JsonObject, ObjectKey, Resource

__all__ = ["Asked", "Request", "ask", "ends", "sync"]

_LOOK_EVERY_SECONDS = 0.5
_REQUEST = "keybearer.dev/request"
_REQUESTED_AT = "keybearer.dev/requestedAt"


class Request(StrEnum):
    """What the operator is asked for."""

    SYNC = "sync"
    RENEW = "renew"
    APPROVE_PLAN = "approve-plan"
    RELEASE_GUARD = "release-guard"
    REMOVE_FOREIGN = "remove-foreign"


_OF = {
    Request.SYNC: ("SecretSync", "AppConnection", "CertificateProfile"),
    Request.RENEW: ("CertificateProfile",),
    Request.APPROVE_PLAN: ("SecretSync",),
    Request.RELEASE_GUARD: ("SecretSync",),
    Request.REMOVE_FOREIGN: ("SecretSync",),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """An object that was asked.

    Attributes:
        at: the annotation's value, which the status repeats when it is answered.
        uid: an object of the same name that came since was never asked.
    """

    resource: Resource
    key: ObjectKey
    uid: str
    at: str
    request: Request

    def __str__(self) -> str:
        return f"{self.resource.kind} {self.key}"


def sync(
    words: Words = None,
    namespace: Namespace = None,
    everywhere: AllNamespaces = False,
    request: Annotated[
        Request, typer.Option("--request", help="sync, renew, approve-plan, release-guard or remove-foreign.")
    ] = Request.SYNC,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until it is done, and say how it ended.")
    ] = False,
    timeout: Annotated[float, typer.Option(help="Seconds to wait.", min=1, max=3600)] = 120,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Have the operator read, write, push or issue now.

    KIND means all objects of the namespace, KIND/NAME one object. With --wait, status 0 means that all are ready or
    planned. Status 1 means that an object needs somebody, and 6 that one isn't done after --timeout. Status 8 means
    that all are ready, but a certificate wasn't renewed.

    Sets the annotations keybearer.dev/request and requestedAt. You only need the right to patch the object.
    """
    if not words:
        raise misused("name a kind, or objects: KIND, KIND NAME or KIND/NAME")
    targets = targets_of(words)
    misfits = sorted({one.kind for one in targets} - set(_OF[request]))
    if misfits:
        raise misused(f"{request} is nothing for a {misfits[0]}")

    async def work(cluster: Cluster) -> tuple[list[Asked], list[Standing] | None]:
        bodies = await bodies_of(cluster, targets, everywhere=everywhere)
        asked = [await ask(cluster, body, request) for body in bodies if not _is_going(body)]
        if len(asked) < len(bodies):
            note(f"Not asked, for they are being deleted: {len(bodies) - len(asked)}.")
        return asked, await ends(cluster, asked, timeout) if wait else None

    asked, ended = run(Place(kubeconfig, context, namespace), work)
    if not asked:
        note("There is nothing to ask.")
    if ended is None:
        for one in asked:
            note(f"{one} was asked: {request}. kubectl keybearer status shows what comes of it.")
        if output is OutputFormat.JSON:
            print_found(output, [{"kind": one.resource.kind, **asdict(one.key)} for one in asked], (), ())
        return
    _tell(ended, output)


def _tell(ended: Sequence[Standing], output: OutputFormat) -> None:
    colours = {Health.CURRENT: "green", Health.FAILED: "red"}
    rows = [
        (
            one.kind,
            one.name,
            Styled(one.reason, colours.get(one.health, "yellow")),
            " ".join(one.message.split()),
        )
        for one in ended
    ]
    print_found(output, [asdict(one) for one in ended], ("KIND", "NAME", "OUTCOME", "MESSAGE"), rows)
    unwanted = [one for one in ended if one.health is not Health.CURRENT and not one.is_planned]
    if unwanted:
        is_ready = all(one.ready == "True" for one in unwanted)
        raise typer.Exit(ExitStatus.NOT_AS_WANTED if is_ready else ExitStatus.FAILED)


def _is_going(body: JsonObject) -> bool:
    return "deletionTimestamp" in mapping_of(body.get("metadata"))


async def ask(cluster: Cluster, body: JsonObject, request: Request) -> Asked:
    """Write the annotations.

    Raises:
        KubeError: the API server refuses.
    """
    from keybearer.controllers.kinds import RESOURCES
    from keybearer.kube.resources import ObjectKey

    resource, key = RESOURCES[str(body.get("kind"))], ObjectKey.of(body)
    uid = text_of(mapping_of(body.get("metadata")).get("uid"))
    asked = Asked(resource, key, uid, datetime.now(UTC).isoformat(), request)
    annotations: JsonObject = {_REQUEST: str(request), _REQUESTED_AT: asked.at}
    await cluster.gateway.merge_patch(
        resource, key, {"metadata": {"annotations": annotations}}, uid=asked.uid, manager=MANAGER
    )
    return asked


async def ends(cluster: Cluster, asked: Sequence[Asked], timeout_seconds: float) -> list[Standing]:
    """Return how each stands once it was answered and is at rest.

    Raises:
        CommandError: time is up, or an object is gone.
        KubeError: the API server refuses, and will again.
    """
    import asyncio

    from keybearer.kube.errors import KubeError

    deadline = time.monotonic() + timeout_seconds
    done: dict[Asked, Standing] = {}
    latest: dict[Asked, str] = {}
    unseen: set[Asked] = set()
    with spinner() as say:
        while True:
            for one in asked:
                if one in done:
                    continue
                try:
                    standing, answered = await _look(cluster, one)
                except KubeError as error:
                    if not error.is_retryable:
                        raise
                    latest[one] = str(error)
                    continue
                latest[one] = standing.message if answered else "the operator has not answered yet"
                unseen = unseen | {one} if standing.is_unseen else unseen - {one}
                if answered and _is_at_rest(standing):
                    done[one] = standing
            left = [one for one in asked if one not in done]
            if not left:
                return [done[one] for one in asked]
            if time.monotonic() > deadline:
                raise CommandError(
                    f"after {timeout_seconds:g} s, {left[0]} isn't done: {latest[left[0]]}",
                    ExitStatus.UNAVAILABLE,
                    _step_after(left[0], unseen=left[0] in unseen),
                )
            say(f"{left[0]}: {latest[left[0]]}")
            await asyncio.sleep(_LOOK_EVERY_SECONDS)


def _step_after(one: Asked, *, unseen: bool) -> str:
    if not unseen:
        return "It goes on by itself; kubectl keybearer explain says what is in its way."
    return (
        f"No operator has looked at it. Check that one runs and serves namespace {one.key.namespace}: "
        "keybearer doctor"
    )


async def _look(cluster: Cluster, one: Asked) -> tuple[Standing, bool]:
    body = await cluster.gateway.get(one.resource, one.key)
    if body is None or mapping_of(body.get("metadata")).get("uid") != one.uid:
        raise CommandError(f"{one} is gone", ExitStatus.NOT_FOUND)
    answer = mapping_of(body.get("status")).get("lastHandledRequestedAt")
    standing = renewal_of(body) if one.request is Request.RENEW else standing_of(body)
    return standing, answer == one.at


def _is_at_rest(standing: Standing) -> bool:
    """Tell whether nothing more comes of it by itself: what is held waits for a decision, not for time."""
    at_rest = standing.health in (Health.CURRENT, Health.FAILED)
    return at_rest or standing.is_held or standing.is_suspended
