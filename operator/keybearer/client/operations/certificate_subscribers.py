"""PKI subscribers (interface.md section 4.10, wire.md section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from keybearer.client.certificate_holders import Subscriber, SubscriberBundle, SubscriberCertificate
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body, query_of
from keybearer.client.operation import Operation, Repeat
from keybearer.wire.base import WireModel

__all__ = [
    "CreateSubscriber",
    "DeleteSubscriber",
    "GetLatestBundleOfSubscriber",
    "GetSubscriber",
    "IssueForSubscriber",
    "ListSubscribers",
    "OrderForSubscriber",
    "SignForSubscriber",
    "SubscriberStatusWord",
    "UpdateSubscriber",
]

_ALL = "/api/v1/pki/subscribers"
_ONE = f"{_ALL}/{{}}"

SubscriberStatusWord = Literal["active", "disabled"]


@from_wire
@dataclass(frozen=True, slots=True)
class _SubscribersAnswer:
    """`{subscribers}`."""

    subscribers: tuple[Subscriber, ...]


class _OfProject(WireModel):
    project_id: str


class _Signed(_OfProject):
    csr: Annotated[str, Field(min_length=1)]


class _Written(_OfProject):
    """Both bodies; what isn't given isn't sent."""

    ca_id: str | None = None
    name: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    common_name: str | None = None
    status: SubscriberStatusWord | None = None
    ttl: str | None = None
    subject_alternative_names: list[str] | None = None
    key_usages: list[str] | None = None
    extended_key_usages: list[str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSubscribers(Operation[list[Subscriber]]):
    """List the subscribers of a project."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill("/api/v1/projects/{}/pki-subscribers", self.project_id))

    def read(self, response: Response) -> list[Subscriber]:
        """Return the subscribers in the service's order."""
        return list(decode(response, _SubscribersAnswer).subscribers)


@dataclass(frozen=True, slots=True)
class _Named:
    """A subscriber by its name."""

    subscriber_name: str
    project_id: str = field(kw_only=True)

    def path(self, action: str = "") -> str:
        """Return the path of the subscriber, or of something of it."""
        return fill(f"{_ONE}{action}", self.subscriber_name)

    def named(self) -> bytes:
        """Return the body that names the project alone."""
        return json_body(lambda: _OfProject(project_id=self.project_id))


class _One(Operation[Subscriber]):
    __slots__ = ()

    def read(self, response: Response) -> Subscriber:
        """Return the subscriber."""
        return decode(response, Subscriber)


@dataclass(frozen=True, slots=True)
class GetSubscriber(_Named, _One):
    """Return a subscriber by its name; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path(), query=query_of({"projectId": self.project_id}))


@dataclass(frozen=True, slots=True)
class CreateSubscriber(_One):
    """Make a subscriber, and return it.

    Attributes:
        name: lower-case letters, digits and hyphens.
        ca_id: who signs its certificates.
        ttl: how long a certificate is valid, such as `90d`.
        key_usages: spelled as in `digitalSignature`; that and `keyEncipherment` where they aren't given.
        extended_key_usages: spelled as in `serverAuth`.
    """

    name: str
    project_id: str = field(kw_only=True)
    ca_id: str = field(kw_only=True)
    common_name: str = field(kw_only=True)
    ttl: str = field(kw_only=True)
    status: SubscriberStatusWord | None = field(default=None, kw_only=True)
    subject_alternative_names: Sequence[str] | None = field(default=None, kw_only=True)
    key_usages: Sequence[str] | None = field(default=None, kw_only=True)
    extended_key_usages: Sequence[str] | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: _written(self))
        return Request("POST", _ALL, body=body)


@dataclass(frozen=True, slots=True)
class UpdateSubscriber(_Named, _One):
    """Change a subscriber, and return it; what isn't given stays."""

    name: str | None = field(default=None, kw_only=True)
    ca_id: str | None = field(default=None, kw_only=True)
    common_name: str | None = field(default=None, kw_only=True)
    ttl: str | None = field(default=None, kw_only=True)
    status: SubscriberStatusWord | None = field(default=None, kw_only=True)
    subject_alternative_names: Sequence[str] | None = field(default=None, kw_only=True)
    key_usages: Sequence[str] | None = field(default=None, kw_only=True)
    extended_key_usages: Sequence[str] | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: _written(self))
        return Request("PATCH", self.path(), body=body)


@dataclass(frozen=True, slots=True)
class DeleteSubscriber(_Named, _One):
    """Delete a subscriber, and return what it was."""

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", self.path(), body=self.named())


class _Certified(Operation[SubscriberCertificate]):
    __slots__ = ()

    def read(self, response: Response) -> SubscriberCertificate:
        """Return the certificate."""
        return decode(response, SubscriberCertificate)


@dataclass(frozen=True, slots=True)
class IssueForSubscriber(_Named, _Certified):
    """Issue a certificate for a subscriber, and return it with the key that the service made."""

    def request(self) -> Request:
        """Return what to send."""
        return Request("POST", self.path("/issue-certificate"), body=self.named())


@dataclass(frozen=True, slots=True)
class SignForSubscriber(_Named, _Certified):
    """Issue a certificate for a key that a subscriber has, and return it.

    Attributes:
        csr: PEM of a signing request.
    """

    csr: str = field(repr=False, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: _Signed(project_id=self.project_id, csr=self.csr))
        return Request("POST", self.path("/sign-certificate"), body=body)


@dataclass(frozen=True, slots=True)
class OrderForSubscriber(_Named, Operation[None]):
    """Order a certificate from an authority that takes its time; `latest_certificate_bundle` has it later.

    `BadRequest` where the authority issues at once: `issue_certificate` is for those.
    """

    def request(self) -> Request:
        """Return what to send."""
        return Request("POST", self.path("/order-certificate"), body=self.named())

    def read(self, response: Response) -> None:
        """Return nothing: the status says it all."""


@dataclass(frozen=True, slots=True)
class GetLatestBundleOfSubscriber(_Named, Operation[SubscriberBundle]):
    """Return the newest certificate of a subscriber; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        query = query_of({"projectId": self.project_id})
        return Request("GET", self.path("/latest-certificate-bundle"), query=query)

    def read(self, response: Response) -> SubscriberBundle:
        """Return the bundle."""
        return decode(response, SubscriberBundle)


def _written(asked: CreateSubscriber | UpdateSubscriber) -> _Written:
    lists = {
        "subject_alternative_names": asked.subject_alternative_names,
        "key_usages": asked.key_usages,
        "extended_key_usages": asked.extended_key_usages,
    }
    return _Written(
        project_id=asked.project_id,
        ca_id=asked.ca_id,
        name=asked.name,
        common_name=asked.common_name,
        status=asked.status,
        ttl=asked.ttl,
        **{name: list(value) for name, value in lists.items() if value is not None},
    )
