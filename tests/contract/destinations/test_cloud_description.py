"""What is sent to the cloud is held against the vendor's own description: that what is wrong is found."""

from __future__ import annotations

from typing import Any

import pytest

from tools.local.moto import Moto

JSON = "application/x-amz-json-1.1"
FORM = "application/x-www-form-urlencoded"
PUT = {"Name": "/app/ONE", "Value": "cnry-1", "Type": "SecureString", "Overwrite": True}
CREATE = {"Name": "ONE", "SecretString": "cnry-1", "ClientRequestToken": "0" * 32}
WHO = {"Action": "GetCallerIdentity", "Version": "2011-06-15"}
TAG = {"Key": "team", "Value": "a"}


def issues(
    moto: Moto,
    service: str,
    operation: str,
    body: dict[str, Any],
    *,
    target: str | None = None,
    content_type: str | None = None,
) -> list[str]:
    """Return what is found in a request."""
    prefix = {"ssm": "AmazonSSM.", "secretsmanager": "secretsmanager."}.get(service)
    usual = "" if prefix is None else f"{prefix}{operation}"
    found: list[str] = moto.ask(
        "described",
        service=service,
        operation=operation,
        body=dict(body),
        target=usual if target is None else target,
        content_type=content_type or (FORM if prefix is None else JSON),
    )
    return found


@pytest.mark.parametrize(
    ("service", "operation", "body"),
    [
        ("ssm", "PutParameter", PUT),
        ("ssm", "DeleteParameters", {"Names": ["/app/ONE"]}),
        ("secretsmanager", "CreateSecret", {**CREATE, "Tags": [TAG]}),
        ("secretsmanager", "DeleteSecret", {"SecretId": "ONE", "RecoveryWindowInDays": 30}),
        ("sts", "GetCallerIdentity", WHO),
    ],
)
def test_what_is_right_passes(moto: Moto, service: str, operation: str, body: dict[str, Any]) -> None:
    assert issues(moto, service, operation, body) == []


@pytest.mark.parametrize(
    ("service", "operation", "body", "told"),
    [
        ("ssm", "PutParameters", PUT, "there is no PutParameters"),
        ("ssm", "PutParameter", {**PUT, "KeyID": "a"}, "KeyID"),
        ("ssm", "PutParameter", {"Name": "/app/ONE"}, "Value"),
        ("ssm", "PutParameter", {**PUT, "Value": 1}, "Value"),
        ("ssm", "PutParameter", {**PUT, "Overwrite": "true"}, "Overwrite"),
        ("ssm", "PutParameter", {**PUT, "Type": "Secure"}, "none of"),
        ("ssm", "PutParameter", {**PUT, "Name": "a" * 2049}, "size of 2049"),
        ("ssm", "PutParameter", {**PUT, "Tags": [{**TAG, "Color": "red"}]}, "Color"),
        ("ssm", "PutParameter", {**PUT, "Tags": [{"Key": "team"}]}, "Value"),
        ("ssm", "PutParameter", {**PUT, "Tags": [{"Key": "a?", "Value": ""}]}, "doesn't match"),
        ("ssm", "DeleteParameters", {"Names": [f"/app/{number}" for number in range(11)]}, "size of 11"),
        ("ssm", "DeleteParameters", {"Names": []}, "Names"),
        ("ssm", "GetParametersByPath", {"Path": "/app/", "MaxResults": 11}, "size of 11"),
        ("ssm", "GetParametersByPath", {"Path": "/app/", "MaxResults": True}, "MaxResults"),
        ("secretsmanager", "CreateSecret", {**CREATE, "SecretString": "v" * 65_537}, "size of 65537"),
        ("secretsmanager", "CreateSecret", {**CREATE, "ClientRequestToken": "short"}, "ClientRequestToken"),
        ("secretsmanager", "CreateSecret", {**CREATE, "secretString": "v"}, "secretString"),
        ("secretsmanager", "DeleteSecret", {"SecretId": "ONE", "RecoveryWindowInDays": "30"}, "Recovery"),
        ("sts", "GetCallerIdentity", {**WHO, "Name": "a"}, "Name"),
        ("sts", "GetCallerIdentity", {"Action": "GetCallerIdentity"}, "another version"),
    ],
)
def test_what_is_wrong_is_found(
    moto: Moto, service: str, operation: str, body: dict[str, Any], told: str
) -> None:
    assert told in "; ".join(issues(moto, service, operation, body))


def test_another_service_or_type_of_content_is_found(moto: Moto) -> None:
    assert issues(moto, "ssm", "PutParameter", PUT, target="secretsmanager.PutParameter")
    assert issues(moto, "ssm", "PutParameter", PUT, content_type="application/json")
    assert issues(moto, "sts", "GetCallerIdentity", WHO, content_type=JSON)
