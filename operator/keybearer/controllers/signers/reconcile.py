"""One run for one request: decide, ask the service, judge what came, and one write of the object's status.

Every step may be cut off between any two lines and run again from the top: the request is looked for in the service
by the object's UID before it is made there, so that it is made once.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from keybearer.base.certificate_terms import RevocationReason
from keybearer.base.clock import Clock
from keybearer.base.logs import get_logger
from keybearer.controllers.cluster_identity import ClusterIdentity
from keybearer.controllers.issuance.service import (
    REQUEST_REFUSED,
    CertificateService,
    IssuedCertificate,
    OpenedService,
    OrderAnswer,
)
from keybearer.controllers.issuance.timing import poll_interval, time_there
from keybearer.controllers.outcome import ObjectGoneError, ReconcileError, StalledError
from keybearer.controllers.signers.answers import build_delivery, build_refusal, judge_delivery
from keybearer.controllers.signers.asked import SOURCES, Asked
from keybearer.controllers.signers.conformance import judge_certificate, read_request
from keybearer.controllers.signers.decide import (
    Admit,
    Await,
    Fetch,
    LeaveAlone,
    Review,
    build_order,
    first_step,
    gone,
    judge_profile,
    judge_request,
    judge_view,
    known_request,
    marks_of,
    needs_profile,
    not_allowed,
    not_conformant,
    refused_by_service,
)
from keybearer.controllers.signers.profiles import Profile, Profiles
from keybearer.controllers.signers.review import build_review
from keybearer.controllers.signers.store import OpenRequests
from keybearer.controllers.signers.teller import Teller
from keybearer.controllers.signers.verdict import Delivery, End, Verdict
from keybearer.controllers.underway import UnknownOrders
from keybearer.controllers.work import Lane, Trigger, WorkItem, WorkKey
from keybearer.controllers.workers import RunResult
from keybearer.kube.errors import ConflictError, InvalidError, KubeError, LeaseLostError, NotFoundError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import CERTIFICATE_PROFILES, JsonObject, ObjectKey, Resource
from keybearer.pki.signing_requests import SigningRequest

__all__ = ["SignerReconciler"]

_log = get_logger(__name__)

_AT_ONCE: Final = timedelta(milliseconds=100)
_NOT_SHOWN_YET: Final = timedelta(seconds=1)
_MAY_NOT_SIGN: Final = ("spec.signerName",)
"""How the API server says that we lack the verb `sign` on a pod's signer: the certificate is as good as any."""


class SignerReconciler:
    """Brings requests for certificates to their end.

    Args:
        clock: for instants.
        gateway: the API server.
        requests: the open ones.
        profiles: those that sign.
        cluster: which cluster's requests these are.
        teller: told of what becomes of them.
        served: says in which version a resource is served.
        trigger: puts a key on the queue.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        gateway: Gateway,
        requests: OpenRequests,
        profiles: Profiles,
        cluster: ClusterIdentity,
        teller: Teller,
        served: Callable[[Resource], Resource],
        trigger: Trigger,
    ) -> None:
        self._clock = clock
        self._gateway = gateway
        self._requests = requests
        self._profiles = profiles
        self._cluster = cluster
        self._teller = teller
        self._served = served
        self._trigger = trigger
        requests.on_closed.append(self._forget)
        self._orders = UnknownOrders(clock)
        self._waiting_since: dict[str, float] = {}
        self._open: dict[str, str] = {}
        self._abandoned: dict[WorkKey, list[tuple[ObjectKey, str]]] = {}

    async def reconcile(self, item: WorkItem, reconcile_id: str) -> RunResult:
        """Run once.

        Raises:
            LeaseLostError: another replica leads; nothing more may be written.
        """
        await self._abandon(item.key)
        asked = self._requests.get(item.key)
        if asked is None:
            return RunResult()
        try:
            return await self._sign(asked)
        except LeaseLostError:
            raise
        except ConflictError:
            return await self._look_again(asked)
        except NotFoundError:
            self._requests.drop(asked.kind, asked.object)
            return RunResult()
        except KubeError as error:
            _log.warning("request_not_answered", error=str(error), kind=asked.kind, reconcile_id=reconcile_id)
            return RunResult(failed=True)

    async def _sign(self, asked: Asked) -> RunResult:
        held_back = await self._held_back(asked)
        if isinstance(held_back, RunResult):
            return held_back
        request = held_back or read_request(asked)
        if isinstance(request, Verdict):
            return await self._refuse(asked, request)
        try:
            profile = self._profiles.require(asked.profile)
            opened = await self._profiles.service(profile)
            return await self._serve(asked, request, profile, opened)
        except ObjectGoneError:
            # The profile's own first run follows its identity, or the profile is gone just now.
            return RunResult(requeue_after=_NOT_SHOWN_YET)
        except ReconcileError as error:
            return await self._refuse(asked, Verdict(End.PENDING, error.reason, error.message))

    async def _serve(
        self, asked: Asked, request: SigningRequest, profile: Profile, opened: OpenedService
    ) -> RunResult:
        service = opened.service
        ordered = await self._ordered(asked, profile, opened)
        answer = await self._fetched(asked, ordered, service) if isinstance(ordered, OrderAnswer) else ordered
        match answer:
            case IssuedCertificate():
                judged = judge_certificate(asked, request, answer, self._time(service))
                return await self._deliver(asked, judged, answer, service)
            case Verdict():
                return await self._refuse(asked, answer)
            case timedelta():
                return RunResult(requeue_after=answer)

    async def _held_back(self, asked: Asked) -> Verdict | RunResult | None:
        """Return why the request doesn't go to the service, or None where it does."""
        step = first_step(asked)
        match step:
            case LeaveAlone():
                return RunResult()
            case Verdict():
                return step
            case Review(requester):
                if not await self._gateway.review_access(build_review(requester, asked.profile)):
                    return not_allowed(asked, requester)
            case Admit():
                pass
        view = self._profiles.view(asked.profile)
        if view is None and await self._exists(asked.profile):
            return RunResult(requeue_after=_NOT_SHOWN_YET)  # the watch of profiles is on its way
        return judge_view(asked, view)

    async def _exists(self, profile: ObjectKey) -> bool:
        body = await self._gateway.get(CERTIFICATE_PROFILES, profile, metadata_only=True)
        return body is not None

    async def _ordered(
        self, asked: Asked, profile: Profile, opened: OpenedService
    ) -> OrderAnswer | Verdict | timedelta:
        """Return the request of the service, made if need be; a verdict; or how long to wait before it is made."""
        service, project_id = opened.service, opened.project_id
        service_id = profile.view.service_id or ""
        marks = marks_of(asked, await self._cluster.get())
        known = known_request(await service.requests_of(marks, service_id, project_id))
        if known is not None:
            return OrderAnswer(known)
        wait = self._orders.missed(asked.uid, inherited=asked.inherited)
        if wait is not None:
            return wait
        defaults = None
        if needs_profile(asked):
            there = await service.find_profile(
                profile_id=service_id, slug=profile.issuing.slug, project_id=project_id
            )
            if there is None:
                return Verdict(
                    End.PENDING, "ProfileNotReady", f"the service has no profile {profile.issuing.slug}"
                )
            verdict = judge_profile(asked, there)
            if verdict is not None:
                return verdict
            defaults = there.defaults
        order = build_order(asked, profile.view, defaults, marks, self._time(service))
        self._gateway.require_lead()  # the service can't know which of two replicas leads
        self._orders.begun(asked.uid)
        try:
            answer = await service.issue(order)
        except StalledError as error:
            self._orders.ended(asked.uid)
            if error.reason == REQUEST_REFUSED:
                return refused_by_service(asked, error.message)
            raise
        self._orders.ended(asked.uid)
        return answer

    async def _fetched(
        self, asked: Asked, answer: OrderAnswer, service: CertificateService
    ) -> IssuedCertificate | Verdict | timedelta:
        step = judge_request(asked, answer.request)
        match step:
            case Fetch(certificate_id):
                self._open.pop(asked.uid, None)
                issued = answer.issued or await service.bundle(certificate_id)
                return issued or gone(asked, answer.request)
            case Await(verdict):
                self._open[asked.uid] = answer.request.id
                await self._refuse(asked, verdict)
                since = self._waiting_since.setdefault(asked.uid, self._clock.monotonic())
                waited = timedelta(seconds=self._clock.monotonic() - since)
                return poll_interval(waited)
            case Verdict():
                return step

    async def _deliver(
        self, asked: Asked, judged: Delivery | str, issued: IssuedCertificate, service: CertificateService
    ) -> RunResult:
        now = self._time(service)
        problem = judged if isinstance(judged, str) else judge_delivery(asked, judged, now)
        if isinstance(judged, Delivery) and problem is None:
            try:
                await self._write(asked, build_delivery(asked, judged, now))
            except InvalidError as error:
                if error.fields == _MAY_NOT_SIGN:
                    raise
                problem = f"the API server doesn't take it: {error}"
            else:
                self._teller.issued(asked, judged)
                self._close(asked)
                return RunResult()
        message = f"certificate {issued.certificate_id} is not handed over: {problem}"
        try:
            await service.revoke(issued.certificate_id, RevocationReason.CESSATION_OF_OPERATION)
        except StalledError as error:
            message = f"{message}; it could not be revoked: {error.message}"
        return await self._refuse(asked, not_conformant(asked, message))

    async def _refuse(self, asked: Asked, verdict: Verdict) -> RunResult:
        """Tell why there is no certificate; come again only where there may be one."""
        status = build_refusal(asked, verdict, self._clock.now())
        if status is not None:
            await self._write(asked, status)
        if verdict.end is End.PENDING:
            self._teller.waits(asked, verdict)
            return RunResult(failed=True)
        self._teller.refused(asked, verdict)
        self._close(asked)
        return RunResult()

    def _time(self, service: CertificateService) -> datetime:
        """Return the present by which certificates are ordered and judged."""
        return time_there(self._clock.now(), service.clock_ahead)

    async def _write(self, asked: Asked, status: JsonObject) -> None:
        await self._gateway.merge_patch(
            self._served(SOURCES[asked.kind]),
            asked.object,
            {"status": status},
            uid=asked.uid,
            resource_version=asked.resource_version,
            subresource="status",
        )

    async def _look_again(self, asked: Asked) -> RunResult:
        """Somebody else wrote the object since the watch showed it: go on from what it is now."""
        body = await self._gateway.get(self._served(SOURCES[asked.kind]), asked.object)
        if body is None:
            self._requests.drop(asked.kind, asked.object)
            return RunResult()
        self._requests.take_in(asked.kind, asked.object, body, listed=True)
        return RunResult(requeue_after=_AT_ONCE)

    async def _abandon(self, key: WorkKey) -> None:
        """Cancel what nobody waits for any more, so that nobody is asked to approve it."""
        for profile, request_id in self._abandoned.pop(key, ()):
            self._gateway.require_lead()
            try:
                opened = await self._profiles.service(self._profiles.require(profile))
                await opened.service.cancel(request_id)
            except LeaseLostError:
                raise
            except (ObjectGoneError, ReconcileError, KubeError) as error:
                _log.warning(
                    "request_not_cancelled", request=request_id, profile=str(profile), error=str(error)
                )

    def _close(self, asked: Asked) -> None:
        """It has its answer: nothing of it is to be cancelled."""
        self._open.pop(asked.uid, None)
        self._requests.drop(asked.kind, asked.object)

    def _forget(self, asked: Asked) -> None:
        request_id = self._open.pop(asked.uid, None)
        if request_id is not None:  # its object went before the service has decided
            self._abandoned.setdefault(asked.key, []).append((asked.profile, request_id))
            self._trigger(asked.key, Lane.REFRESH)
        self._orders.forget(asked.uid)
        self._waiting_since.pop(asked.uid, None)
        self._teller.forget(asked.uid)
