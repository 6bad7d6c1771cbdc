"""How certificates of a profile are asked for: configurations of each way (wire.md sections 5.4 and 5.7).

The configurations of EST, ACME and SCEP are kept and answered; the protocols themselves are not served.
"""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from keybearer.wire.base import WHOLE, Flag
from keybearer.wire.bodies import BodyModel
from keybearer.wire.limits import CERTIFICATE_CHAIN_MAX
from keybearer.wire.strict import NonEmpty

__all__ = ["AcmeConfig", "ApiConfig", "EstConfig", "ScepConfig"]


class EstConfig(BodyModel):
    """Enrollment by EST."""

    disable_bootstrap_ca_validation: Flag = False
    passphrase: Annotated[NonEmpty, Field(max_length=255, repr=False)]
    ca_chain: Annotated[str, Field(max_length=CERTIFICATE_CHAIN_MAX)] | None = None

    @model_validator(mode="after")
    def _judge(self) -> Self:
        if not self.disable_bootstrap_ca_validation and not self.ca_chain:
            msg = "A CA chain is required unless bootstrap CA validation is disabled"
            raise ValueError(msg)
        return self


class ApiConfig(BodyModel):
    """Enrollment by the API; certificates may renew by themselves."""

    auto_renew: Flag = False
    renew_before_days: Annotated[int, Field(ge=1, le=30), WHOLE] | None = None


class AcmeConfig(BodyModel):
    """Enrollment by ACME."""

    skip_dns_ownership_verification: Flag = False
    skip_eab_binding: Flag = False


class ScepConfig(BodyModel):
    """Enrollment by SCEP."""

    challenge_password: Annotated[str | None, Field(max_length=255, repr=False)] = None
    include_ca_cert_in_response: Flag = True
    allow_cert_based_renewal: Flag = True
