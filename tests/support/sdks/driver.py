"""Runs inside the environment of the published Python client: one JSON line in, one JSON line out.

{"connect": URL} makes a client; {"call": "secrets.list_secrets", "arguments": [], "options": {}} calls it.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from datetime import datetime
from functools import reduce
from typing import Any

from infisical_sdk import InfisicalError, InfisicalSDKClient


def main() -> None:
    client: InfisicalSDKClient | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "connect" in asked:
            # Reads would be remembered for a minute; what is tested is what the service answers.
            client = InfisicalSDKClient(host=asked["connect"], cache_ttl=None)
            answer: dict[str, object] = {"result": None}
        else:
            answer = _called(client, asked)
        sys.stdout.write(json.dumps(answer, default=_plain) + "\n")
        sys.stdout.flush()


def _called(client: InfisicalSDKClient | None, asked: dict[str, Any]) -> dict[str, object]:
    operation: Any = reduce(getattr, asked["call"].split("."), client)
    options = asked["options"]
    if "last_secret_modified" in options:
        options["last_secret_modified"] = datetime.fromisoformat(options["last_secret_modified"])
    try:
        return {"result": operation(*asked["arguments"], **options)}
    except InfisicalError as error:
        return {"error": str(error), "status": getattr(error, "status_code", None)}
    except Exception as error:  # noqa: BLE001 - whatever the client makes of an answer, the test has to know
        return {"error": f"{type(error).__name__}: {error}"}


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    raise TypeError(type(value).__name__)


main()
