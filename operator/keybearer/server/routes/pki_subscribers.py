"""PKI subscribers (interface.md section 4.10, wire.md section 6); usages in their legacy spelling."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyUsage
from keybearer.domain.certificates.certificates import Bundle
from keybearer.domain.certificates.subscriber_issuance import SubscriberCertificate as IssuedForSubscriber
from keybearer.domain.certificates.subscribers import NewSubscriber, SubscriberChange
from keybearer.server.answers import json_response
from keybearer.server.auth import AuthenticatedRoute, principal_of
from keybearer.server.certificate_rendering import bundle_json
from keybearer.server.context import context_of
from keybearer.server.queries import parameters_of, query_of
from keybearer.server.routing import new_router
from keybearer.store.pki_subscribers import PkiSubscriber
from keybearer.wire.base import write_instant
from keybearer.wire.certificates.subscribers import (
    CreateSubscriber,
    OrderedCertificate,
    SignForSubscriber,
    Subscriber,
    SubscriberBundle,
    SubscriberCertificate,
    SubscriberList,
    SubscriberProject,
    SubscriberSigned,
    UpdateSubscriber,
    legacy_extended_key_usages,
    legacy_key_usages,
)

__all__ = ["router"]

router = new_router("PKI subscribers", AuthenticatedRoute)
_ALL = "/api/v1/pki/subscribers"
_ONE = f"{_ALL}/{{subscriber_name}}"


@router.post(_ALL, response_model=Subscriber, summary="Create a PKI subscriber")
async def create(request: Request, body: CreateSubscriber) -> Response:
    new = NewSubscriber(
        authority_id=str(body.ca_id),
        name=body.name,
        common_name=body.common_name,
        status=body.status,
        ttl=body.ttl,
        names=tuple(body.subject_alternative_names),
        key_usages=tuple(dict.fromkeys(body.key_usages)),
        extended_key_usages=tuple(dict.fromkeys(body.extended_key_usages)),
    )
    subscribers = context_of(request).pki_subscribers
    return _answer(await subscribers.create(principal_of(request), body.project_id, new))


@router.get(
    _ONE,
    response_model=Subscriber,
    openapi_extra=parameters_of(SubscriberProject),
    summary="Get a PKI subscriber",
)
async def get(request: Request, subscriber_name: str) -> Response:
    project_id = query_of(request, SubscriberProject).project_id
    subscribers = context_of(request).pki_subscribers
    return _answer(await subscribers.get(principal_of(request), project_id, subscriber_name))


@router.patch(_ONE, response_model=Subscriber, summary="Change a PKI subscriber")
async def update(request: Request, subscriber_name: str, body: UpdateSubscriber) -> Response:
    change = SubscriberChange(
        authority_id=None if body.ca_id is None else str(body.ca_id),
        name=body.name,
        common_name=body.common_name,
        status=body.status,
        ttl=body.ttl,
        subject_alternative_names=_texts(body.subject_alternative_names),
        key_usages=_texts(body.key_usages),
        extended_key_usages=_texts(body.extended_key_usages),
    )
    subscribers = context_of(request).pki_subscribers
    return _answer(await subscribers.update(principal_of(request), body.project_id, subscriber_name, change))


@router.delete(_ONE, response_model=Subscriber, summary="Delete a PKI subscriber")
async def delete(request: Request, subscriber_name: str, body: SubscriberProject) -> Response:
    subscribers = context_of(request).pki_subscribers
    return _answer(await subscribers.delete(principal_of(request), body.project_id, subscriber_name))


@router.get(
    "/api/v1/projects/{project_id}/pki-subscribers",
    response_model=SubscriberList,
    summary="List the PKI subscribers of a project",
)
async def list_all(request: Request, project_id: str) -> Response:
    found = await context_of(request).pki_subscribers.list(principal_of(request), project_id)
    return json_response({"subscribers": [_subscriber_json(one) for one in found]})


@router.post(
    f"{_ONE}/issue-certificate",
    response_model=SubscriberCertificate,
    summary="Issue a certificate for a PKI subscriber",
)
async def issue(request: Request, subscriber_name: str, body: SubscriberProject) -> Response:
    issued = await context_of(request).subscriber_issuance.issue(
        principal_of(request), body.project_id, subscriber_name
    )
    return json_response({**_issued_json(issued), "privateKey": issued.private_key})


@router.post(
    f"{_ONE}/sign-certificate",
    response_model=SubscriberSigned,
    summary="Sign a certificate request of a PKI subscriber",
)
async def sign(request: Request, subscriber_name: str, body: SignForSubscriber) -> Response:
    issued = await context_of(request).subscriber_issuance.sign(
        principal_of(request), body.project_id, subscriber_name, body.csr
    )
    return json_response(_issued_json(issued))


@router.post(
    f"{_ONE}/order-certificate",
    response_model=OrderedCertificate,
    summary="Order a certificate for a PKI subscriber",
)
async def order(request: Request, subscriber_name: str, body: SubscriberProject) -> Response:
    await context_of(request).subscriber_issuance.order(
        principal_of(request), body.project_id, subscriber_name
    )
    return json_response({"message": "Successfully placed order for certificate"})


@router.get(
    f"{_ONE}/latest-certificate-bundle",
    response_model=SubscriberBundle,
    openapi_extra=parameters_of(SubscriberProject),
    summary="Get the newest certificate of a PKI subscriber",
)
async def get_latest(request: Request, subscriber_name: str) -> Response:
    project_id = query_of(request, SubscriberProject).project_id
    bundle = await context_of(request).subscriber_issuance.latest(
        principal_of(request), project_id, subscriber_name
    )
    return json_response(_bundle_json(bundle))


def _answer(subscriber: PkiSubscriber) -> Response:
    return json_response(_subscriber_json(subscriber))


def _subscriber_json(subscriber: PkiSubscriber) -> dict[str, object]:
    return {
        "id": subscriber.id,
        "projectId": subscriber.project_id,
        "caId": subscriber.authority_id,
        "name": subscriber.name,
        "commonName": subscriber.common_name,
        "status": subscriber.status,
        "ttl": subscriber.ttl,
        "subjectAlternativeNames": subscriber.subject_alternative_names,
        "keyUsages": legacy_key_usages([KeyUsage(usage) for usage in subscriber.key_usages]),
        "extendedKeyUsages": legacy_extended_key_usages(
            [ExtendedKeyUsage(usage) for usage in subscriber.extended_key_usages]
        ),
        "createdAt": write_instant(subscriber.created_at),
        "updatedAt": write_instant(subscriber.updated_at),
    }


def _issued_json(issued: IssuedForSubscriber) -> dict[str, object]:
    certificate = issued.certificate
    return {
        "certificate": certificate.certificate,
        "issuingCaCertificate": issued.issuing,
        "certificateChain": certificate.chain,
        "serialNumber": certificate.serial_number,
    }


def _bundle_json(bundle: Bundle) -> dict[str, object]:
    return {**bundle_json(bundle), "certificateChain": bundle.certificate.chain}


def _texts(given: list[str] | list[KeyUsage] | list[ExtendedKeyUsage] | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(dict.fromkeys(str(one) for one in given))
