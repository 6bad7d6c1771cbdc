"""From configurations of enrollment to what the domain keeps: what is secret of them apart."""

from __future__ import annotations

from pydantic import JsonValue

from keybearer.base.certificate_terms import EnrollmentType
from keybearer.domain.certificates.enrolling import EnrollmentTerms
from keybearer.wire.certificates.enrollment import AcmeConfig, ApiConfig, EstConfig, ScepConfig

__all__ = ["terms_of"]

_SECRETS = {EnrollmentType.EST: "passphrase", EnrollmentType.SCEP: "challenge_password"}


def terms_of(
    kind: EnrollmentType, config: EstConfig | ApiConfig | AcmeConfig | ScepConfig
) -> EnrollmentTerms:
    """Return the configuration as it is kept: without its secret, which is kept sealed."""
    secret = _SECRETS.get(kind)
    settings: dict[str, JsonValue] = config.model_dump(
        mode="json", by_alias=True, exclude=None if secret is None else {secret}
    )
    return EnrollmentTerms(kind, settings, None if secret is None else getattr(config, secret))
