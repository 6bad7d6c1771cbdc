"""The app `cloud`: an account of the cloud, by an access key or by a role that the service assumes (wire.md 4.2)."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints

from keybearer.wire.base import Confidential
from keybearer.wire.credentials import Credentials, trimmed
from keybearer.wire.instance_url import InstanceUrl
from keybearer.wire.strict import BlankIsAbsent

__all__ = ["AccessKeyCredentials", "AssumeRoleCredentials"]

_ROLE_ARN = r"^arn:aws[a-z-]*:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]{1,576}$"
_ROLE_ARN_MAX = 2048

_Trimmed = trimmed(256, r"^[!-~]+$")


class AccessKeyCredentials(Credentials):
    """A key of a user of the account."""

    access_key_id: Annotated[str, _Trimmed]
    secret_access_key: Annotated[Confidential, _Trimmed]


class AssumeRoleCredentials(Credentials):
    """A role that trusts the account of the service, with the id of the organization as external id."""

    role_arn: Annotated[
        str, StringConstraints(strip_whitespace=True, max_length=_ROLE_ARN_MAX, pattern=_ROLE_ARN)
    ]
    sts_endpoint: Annotated[InstanceUrl | None, BlankIsAbsent] = None
