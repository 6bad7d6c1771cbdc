"""Runs inside moto's environment: serves the cloud on loopback, and answers questions, one JSON line each.

The first line that it prints tells the port. {"fresh": true} forgets everything; {"user": {...}} and {"role": {...}}
make who may call; {"sign": {...}} is the vendor's own signer; {"described": {...}} holds a request against the
vendor's description of its services; the others look at what is held and change it, as people do by hand. It ends
with its standard input.
"""

from __future__ import annotations

import gzip
import json
import logging
import re
import sys
import threading
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

import botocore
import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.model import ServiceModel
from botocore.validate import ParamValidator
from moto import settings
from moto.core.authorization import ActionAuthenticatorMixin
from moto.iam.models import iam_backends
from moto.moto_api._internal.models import moto_api_backend
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.secretsmanager.models import secretsmanager_backends
from moto.server import ThreadedMotoServer
from moto.ssm.models import ssm_backends

_ACCOUNT = "123456789012"
_VERSIONS = {"ssm": "2014-11-06", "secretsmanager": "2017-10-17", "sts": "2011-06-15", "iam": "2010-05-08"}
_FORMS = ("sts", "iam")
_TURN = threading.Lock()


def main() -> None:
    """Serve until standard input ends."""
    logging.disable(logging.CRITICAL)
    DomainDispatcherApplication.__call__ = _in_turn(DomainDispatcherApplication.__call__)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    _answer({"port": server.get_host_and_port()[1]})
    asked = {
        "fresh": _fresh,
        "user": _user,
        "role": _role,
        "keys": _keys,
        "sign": _sign,
        "described": _described,
        "parameters": _parameters,
        "put_parameter": _put_parameter,
        "secrets": _secrets,
        "put_secret": _put_secret,
        "schedule_deletion": _schedule_deletion,
        "untag_secrets": _untag_secrets,
    }
    for line in sys.stdin:
        ((question, given),) = json.loads(line).items()
        with _TURN:
            answer = asked[question](given)
        _answer(answer)


def _in_turn(serve: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """Serve one request at a time, and none while a question looks at what requests change."""

    def served(*given: object) -> Iterable[bytes]:
        with _TURN:
            return serve(*given)

    return served


def _answer(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _fresh(_: object) -> None:
    moto_api_backend.reset()
    # From now on signatures and rights are checked.
    ActionAuthenticatorMixin.request_count = 0
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0


def _user(given: dict[str, Any]) -> dict[str, str]:
    """Make a user who may do `actions`, in the partition, and return the access key: a new one unless it is given."""
    backend = iam_backends[_ACCOUNT][given["partition"]]
    name = given["name"]
    backend.create_user(_region(given), name)
    backend.put_user_policy(name, "all", _policy(given["actions"]))
    key = backend.create_access_key(user_name=name)
    if "key" in given:
        key.access_key_id = given["key"]["accessKeyId"]
        key.secret_access_key = given["key"]["secretAccessKey"]
    return {"accessKeyId": key.access_key_id, "secretAccessKey": key.secret_access_key}


def _role(given: dict[str, Any]) -> str:
    """Make a role that trusts who names the external id, and return its ARN."""
    backend = iam_backends[_ACCOUNT][given["partition"]]
    trust = {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"AWS": "*"},
                "Action": "sts:AssumeRole",
                "Condition": {"StringEquals": {"sts:ExternalId": given["externalId"]}},
            }
        ],
    }
    role = backend.create_role(given["name"], json.dumps(trust), "/", None, "", [], "3600")
    backend.put_role_policy(given["name"], "all", _policy(given["actions"]))
    return str(role.arn)


def _keys(given: dict[str, Any]) -> list[str]:
    """Return the access keys of a user."""
    found = iam_backends[_ACCOUNT][given["partition"]].list_access_keys(given["name"])
    return [key.access_key_id for key in found]


def _parameters(given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the parameters of a region by their whole names."""
    backend = ssm_backends[_ACCOUNT][given["region"]]
    found = {}
    for name in list(backend._parameters):  # noqa: SLF001 - moto has no list of names
        one = backend.get_parameter(name)
        if one is not None:
            shown = one.response_object(decrypt=True, region=given["region"])
            tags = backend.list_tags_for_resource("Parameter", name)
            found[shown["Name"]] = {
                "value": shown["Value"],
                "type": shown["Type"],
                "version": shown["Version"],
                "keyId": one.keyid,
                "tags": dict(tags),
            }
    return found


def _put_parameter(given: dict[str, Any]) -> None:
    backend = ssm_backends[_ACCOUNT][given["region"]]
    backend.put_parameter(
        name=given["name"],
        description="",
        value=given["value"],
        parameter_type=given.get("type", "SecureString"),
        allowed_pattern="",
        keyid=given.get("keyId", "alias/aws/ssm"),
        overwrite=True,
        tags=[],
        data_type="text",
        tier=None,
        policies=None,
    )
    backend.add_tags_to_resource("Parameter", given["name"], given.get("tags", {}))


def _secrets(given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the secrets of a region, those to be deleted as well."""
    found = {}
    for secret in secretsmanager_backends[_ACCOUNT][given["region"]].secrets.values():
        current = secret.versions[secret.default_version_id] if secret.versions else {}
        found[secret.name] = {
            "value": current.get("secret_string"),
            "version": secret.default_version_id,
            "keyId": secret.kms_key_id,
            "tags": {tag["Key"]: tag["Value"] for tag in secret.tags or ()},
            "isToBeDeleted": secret.is_deleted(),
        }
    return found


def _put_secret(given: dict[str, Any]) -> None:
    backend = secretsmanager_backends[_ACCOUNT][given["region"]]
    values = {"secret_string": given.get("value"), "secret_binary": given.get("binary")}
    if given["name"] in backend.secrets:
        backend.update_secret(given["name"], client_request_token=str(uuid4()), **values)
        return
    tags = [{"Key": key, "Value": value} for key, value in given.get("tags", {}).items()]
    backend.create_secret(
        given["name"],
        **values,
        description="",
        tags=tags,
        kms_key_id=given.get("keyId"),
        client_request_token=None,
        replica_regions=[],
        force_overwrite=False,
    )


def _schedule_deletion(given: dict[str, Any]) -> None:
    secretsmanager_backends[_ACCOUNT][given["region"]].delete_secret(
        given["name"], recovery_window_in_days=7, force_delete_without_recovery=False
    )


def _untag_secrets(given: dict[str, Any]) -> None:
    for secret in secretsmanager_backends[_ACCOUNT][given["region"]].secrets.values():
        secret.tags = []


def _region(given: dict[str, Any]) -> str:
    return "us-gov-west-1" if given["partition"] == "aws-us-gov" else "us-east-1"


def _policy(actions: list[str]) -> str:
    statement = {"Effect": "Allow", "Action": actions, "Resource": "*"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def _sign(given: dict[str, Any]) -> dict[str, str]:
    """Return the headers that the vendor's signer sends."""
    botocore.auth.get_current_datetime = lambda: datetime.fromisoformat(given["at"])
    request = AWSRequest(given["method"], given["url"], given["headers"], given["content"].encode())
    key = Credentials(given["accessKeyId"], given["secretAccessKey"], given["sessionToken"])
    botocore.auth.SigV4Auth(key, given["service"], given["region"]).add_auth(request)
    return dict(request.headers.items())


@cache
def _service(name: str) -> dict[str, Any]:
    file = Path(botocore.__file__).parent / "data" / name / _VERSIONS[name] / "service-2.json.gz"
    described: dict[str, Any] = json.loads(gzip.decompress(file.read_bytes()))
    return described


def _described(given: dict[str, Any]) -> list[str]:
    """Return what the vendor's description has against the request; [] for a good one.

    The vendor's own validator knows members, types, what is required and the smallest sizes; `_issues` adds what the
    vendor's servers hold besides: the largest sizes, patterns and enumerations.
    """
    service = _service(given["service"])
    operation = service["operations"].get(given["operation"])
    if operation is None:
        return [f"there is no {given['operation']}"]
    shapes, shape = service["shapes"], operation["input"]["shape"]
    body = given["body"]
    if given["service"] in _FORMS:
        version, action = body.pop("Version", None), body.pop("Action", None)
        if version != _VERSIONS[given["service"]] or action != given["operation"]:
            return ["another version, or another operation"]
        body = {name: _of_form(shapes, shape, name, text) for name, text in body.items()}
        kind = "application/x-www-form-urlencoded"
    else:
        about = service["metadata"]
        kind = f"application/x-amz-json-{about['jsonVersion']}"
        if given["target"] != f"{about['targetPrefix']}.{given['operation']}":
            return [f"{given['target']} is no operation of {about['targetPrefix']}"]
    found = _issues(shapes, shape, body, "")
    if given["content_type"].partition(";")[0] != kind:
        found.append(f"the body is {given['content_type']}, not {kind}")
    model = ServiceModel(service, given["service"]).operation_model(given["operation"]).input_shape
    report = ParamValidator().validate(body, model)
    return [*found, report.generate_report()] if report.has_errors() else found


def _of_form(shapes: dict[str, Any], shape: str, name: str, text: str) -> str | int:
    """Return a field as what it stands for: a form has texts alone."""
    member = shapes[shape]["members"].get(name)
    is_number = member is not None and shapes[member["shape"]]["type"] == "integer"
    return int(text) if is_number else text


_KINDS: dict[str, Any] = {
    "structure": dict,
    "list": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "long": int,
    "double": (int, float),
    "map": dict,
}


def _issues(shapes: dict[str, Any], name: str, value: Any, at: str) -> list[str]:  # noqa: ANN401 - JSON
    shape = shapes[name]
    is_flag = isinstance(value, bool)
    if not isinstance(value, _KINDS[shape["type"]]) or is_flag != (shape["type"] == "boolean"):
        return [f"{at} is no {shape['type']}"]
    found = _issues_within(shapes, shape, value, at)
    size = len(value) if isinstance(value, (str, list, dict)) else value
    if not is_flag and not shape.get("min", size) <= size <= shape.get("max", size):
        found.append(f"{at} has a size of {size}, not {shape.get('min')} to {shape.get('max')}")
    if "enum" in shape and value not in shape["enum"]:
        found.append(f"{at} is none of {shape['enum']}")
    if "pattern" in shape and not re.search(_plain(shape["pattern"]), value):
        found.append(f"{at} doesn't match {shape['pattern']}")
    return found


def _issues_within(shapes: dict[str, Any], shape: dict[str, Any], value: Any, at: str) -> list[str]:  # noqa: ANN401 - JSON
    found: list[str] = []
    if shape["type"] == "structure":
        members = shape["members"]
        found += [f"{at}.{member} is unknown" for member in value.keys() - members.keys()]
        found += [f"{at}.{member} is missing" for member in shape.get("required", ()) if member not in value]
        for member in value.keys() & members.keys():
            found += _issues(shapes, members[member]["shape"], value[member], f"{at}.{member}")
    if shape["type"] == "list":
        for index, one in enumerate(value):
            found += _issues(shapes, shape["member"]["shape"], one, f"{at}[{index}]")
    if shape["type"] == "map":
        for key, one in value.items():
            found += _issues(shapes, shape["key"]["shape"], key, f"{at}, a key")
            found += _issues(shapes, shape["value"]["shape"], one, f"{at}[{key}]")
    return found


def _plain(pattern: str) -> str:
    # The description writes classes of Unicode, which `re` has only all together.
    return pattern.replace(r"\p{L}\p{Z}\p{N}", r"\w ")


if __name__ == "__main__":
    main()
