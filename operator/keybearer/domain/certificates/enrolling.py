"""How certificates of a profile are asked for: what is kept of each way, of a profile or within an application.

Only the API is served. The configurations of EST, ACME and SCEP are kept for clients that set them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import JsonValue

from keybearer.base.certificate_terms import EnrollmentType
from keybearer.base.ids import ProjectId, new_uuid
from keybearer.store.enrollments import Enrollment
from keybearer.store.unit import UnitOfWork

__all__ = ["EnrollmentTerms", "put_enrollment"]

_BINDING_BYTES = 32


@dataclass(frozen=True, slots=True)
class EnrollmentTerms:
    """One way as it is asked for; what is secret of it apart."""

    kind: EnrollmentType
    settings: Mapping[str, JsonValue]
    secret: str | None = field(default=None, repr=False)


async def put_enrollment(
    unit: UnitOfWork,
    project_id: ProjectId,
    profile_id: str,
    application_id: str | None,
    terms: EnrollmentTerms,
    present: Iterable[Enrollment],
    now: datetime,
) -> Enrollment:
    """Store one way in place of what there was of its kind, under the id that it had.

    A secret that isn't given stays; the key of an ACME account binding is made here.
    """
    before = next((one for one in present if one.kind == terms.kind), None)
    secret = terms.secret
    if secret is None and before is not None:
        secret = await unit.enrollments.secret(before)
    if secret is None and terms.kind is EnrollmentType.ACME:
        secret = secrets.token_urlsafe(_BINDING_BYTES)
    enrollment = Enrollment(
        id=new_uuid() if before is None else before.id,
        project_id=project_id,
        profile_id=profile_id,
        application_id=application_id,
        kind=terms.kind,
        settings=terms.settings,
        created_at=now if before is None else before.created_at,
        updated_at=now,
    )
    await unit.enrollments.put(enrollment, secret)
    return enrollment
