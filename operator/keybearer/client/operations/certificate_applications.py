"""Applications, and the profiles attached to them (wire.md section 5.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from keybearer.client.certificate_enrollments import (
    AcmeEnrollment,
    ApiEnrollment,
    EstEnrollment,
    ScepEnrollment,
)
from keybearer.client.certificate_holders import (
    Application,
    ApplicationEnrollment,
    ApplicationPage,
    ApplicationProfile,
)
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body, query_of
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.certificate_bodies import (
    AcmeBody,
    ApiBody,
    EstBody,
    ScepBody,
    given_of,
    secrets_of,
    without_none,
)
from keybearer.client.operations.certificate_listings import PageOfProject
from keybearer.wire.base import WireModel

__all__ = [
    "AttachProfiles",
    "CreateApplication",
    "DeleteApplication",
    "DetachProfile",
    "GetApplication",
    "GetApplicationByName",
    "GetApplicationEnrollment",
    "ListApplicationProfiles",
    "ListApplications",
    "RemoveApplicationEnrollment",
    "SetApplicationEnrollment",
    "UpdateApplication",
]

_ALL = "/api/v1/cert-manager/applications"
_ONE = f"{_ALL}/{{}}"
_PROFILES = f"{_ONE}/profiles"
_ENROLLMENT = f"{_PROFILES}/{{}}/enrollment"

EnrollmentTerms = ApiEnrollment | EstEnrollment | AcmeEnrollment | ScepEnrollment
_WAYS: dict[type[EnrollmentTerms], tuple[str, type[WireModel]]] = {
    ApiEnrollment: ("api", ApiBody),
    EstEnrollment: ("est", EstBody),
    AcmeEnrollment: ("acme", AcmeBody),
    ScepEnrollment: ("scep", ScepBody),
}


@from_wire
@dataclass(frozen=True, slots=True)
class _ApplicationAnswer:
    """`{application}`."""

    application: Application


@from_wire
@dataclass(frozen=True, slots=True)
class _ProfilesAnswer:
    """`{profiles}`."""

    profiles: tuple[ApplicationProfile, ...]


class _Written(WireModel):
    """Both bodies; what isn't given isn't sent."""

    project_id: str | None = None
    name: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    description: str | None = None
    profile_ids: list[str] | None = None


class _Attached(WireModel):
    profile_ids: Annotated[list[str], Field(min_length=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListApplications(PageOfProject[ApplicationPage]):
    """List applications.

    Attributes:
        project_id: None for the organization's own project for certificates.
        offset, limit: of those found, leave out so many, and return so many, 1 to 100.
        search: stands in the name.
    """

    def request(self) -> Request:
        """Return what to send."""
        return self.asked(_ALL)

    def read(self, response: Response) -> ApplicationPage:
        """Return the page."""
        return decode(response, ApplicationPage)


class _One(Operation[Application]):
    __slots__ = ()

    def read(self, response: Response) -> Application:
        """Return the application."""
        return decode(response, _ApplicationAnswer).application


@dataclass(frozen=True, slots=True)
class GetApplication(_One):
    """Return an application by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    application_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.application_id))


@dataclass(frozen=True, slots=True)
class GetApplicationByName(_One):
    """Return an application by its name; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    name: str
    project_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        query = query_of({"projectId": self.project_id})
        return Request("GET", fill(f"{_ALL}/by-name/{{}}", self.name), query=query)


@dataclass(frozen=True, slots=True)
class CreateApplication(_One):
    """Make an application, and return it.

    Attributes:
        name: lower-case letters, digits and hyphens.
        profile_ids: those to attach to it.
        project_id: None for the organization's own project for certificates.
    """

    name: str
    description: str | None = field(default=None, kw_only=True)
    profile_ids: Sequence[str] = field(default=(), kw_only=True)
    project_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: _Written(
                project_id=self.project_id,
                name=self.name,
                description=self.description,
                profile_ids=list(self.profile_ids) or None,
            )
        )
        return Request("POST", _ALL, body=body)


@dataclass(frozen=True, slots=True)
class UpdateApplication(_One):
    """Change an application, and return it; what isn't given stays. An empty description takes it away."""

    application_id: str
    name: str | None = field(default=None, kw_only=True)
    description: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        changes = without_none({"name": self.name, "description": self.description}.items())
        if self.description == "":
            changes["description"] = None
        body = json_body(lambda: _Written(**changes), nulls=True)
        return Request("PATCH", fill(_ONE, self.application_id), body=body)


@dataclass(frozen=True, slots=True)
class DeleteApplication(_One):
    """Delete an application, and return what it was."""

    application_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_ONE, self.application_id))


@dataclass(frozen=True, slots=True)
class _Profiles(Operation[list[ApplicationProfile]]):
    application_id: str

    def read(self, response: Response) -> list[ApplicationProfile]:
        """Return the profiles in the service's order."""
        return list(decode(response, _ProfilesAnswer).profiles)


@dataclass(frozen=True, slots=True)
class ListApplicationProfiles(_Profiles):
    """List the profiles attached to an application."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_PROFILES, self.application_id))


@dataclass(frozen=True, slots=True)
class AttachProfiles(_Profiles):
    """Attach profiles to an application, and return those that are attached to it."""

    profile_ids: Sequence[str]

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: _Attached(profile_ids=list(self.profile_ids)))
        return Request("POST", fill(_PROFILES, self.application_id), body=body)


@dataclass(frozen=True, slots=True)
class DetachProfile(Operation[None]):
    """Detach a profile from an application."""

    application_id: str
    profile_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(f"{_PROFILES}/{{}}", self.application_id, self.profile_id))

    def read(self, response: Response) -> None:
        """Return nothing: the status says it all."""


@dataclass(frozen=True, slots=True)
class _Enrollment(Operation[ApplicationEnrollment]):
    application_id: str
    profile_id: str

    def path(self, action: str = "") -> str:
        """Return the path of how certificates are asked for, or of one way."""
        return fill(f"{_ENROLLMENT}{action}", self.application_id, self.profile_id)

    def read(self, response: Response) -> ApplicationEnrollment:
        """Return how it is set; of a change, that way alone."""
        return decode(response, ApplicationEnrollment)


@dataclass(frozen=True, slots=True)
class GetApplicationEnrollment(_Enrollment):
    """Return how an application asks for certificates of a profile."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path())


@dataclass(frozen=True, slots=True)
class SetApplicationEnrollment(_Enrollment):
    """Let an application ask for certificates of a profile in a way, and return how that is set.

    Attributes:
        terms: the way, by its kind.
    """

    terms: EnrollmentTerms

    def request(self) -> Request:
        """Return what to send."""
        way, model = _WAYS[type(self.terms)]
        given: dict[str, Any] = given_of(self.terms)
        return Request("PUT", self.path(f"/{way}"), body=json_body(lambda: model(**given)))

    def confidential(self) -> tuple[str, ...]:
        """Return the password of the way."""
        return secrets_of(
            self.terms if isinstance(self.terms, EstEnrollment) else None,
            self.terms if isinstance(self.terms, ScepEnrollment) else None,
        )


@dataclass(frozen=True, slots=True)
class RemoveApplicationEnrollment(_Enrollment):
    """Let an application no longer ask for certificates of a profile in a way."""

    way: Literal["api", "est", "acme", "scep"]

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(f"{_ENROLLMENT}/{{}}", self.application_id, self.profile_id, self.way))
