"""The places at the cloud: a path of parameters, single secrets, and one secret for all keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial

from support.remotes.moto import CloudCall, CloudFixture
from support.upgrade.place import Json, OldPlace

__all__ = ["CLOUD_KEY", "cloud_places"]

CLOUD_KEY = {"accessKeyId": "AKIAEXAMPLE", "secretAccessKey": "cnry-key-of-the-cloud"}
"""Of the user who may do everything there."""
_CHANGES = ("Put", "Create", "Update", "Delete", "Add", "Remove", "Tag", "Untag", "Restore")
_PATH, _MANY = "/shop/", "shop-of-many-keys"


def cloud_places(cloud: CloudFixture) -> Iterator[OldPlace]:
    """Yield the three places of one region."""
    place = partial(OldPlace, app="cloud", method="access-key", credentials=CLOUD_KEY)
    region = {"region": "eu-west-1"}

    def changes_of(picks: Callable[[CloudCall], bool]) -> Callable[[], int]:
        return lambda: sum(call.operation.startswith(_CHANGES) and picks(call) for call in cloud.proxy.calls)

    def restore_parameters(held: Json) -> None:
        for name, one in held.items():
            cloud.put_parameter(name, one["value"], type=one["type"], keyId=one["keyId"], tags=one["tags"])

    yield place(
        title="parameters",
        destination="cloud-parameter-store",
        config={**region, "path": _PATH},
        options={"tags": [{"key": "team", "value": "shop"}]},
        values=lambda: {name.removeprefix(_PATH): value for name, value in cloud.parameter_values().items()},
        put=lambda name, value: cloud.put_parameter(f"{_PATH}{name}", value),
        changes=changes_of(lambda call: call.service == "ssm"),
        left=cloud.parameters,
        restore=restore_parameters,
    )

    def restore_secrets(held: Json) -> None:
        for name, one in held.items():
            cloud.put_secret(name, one["value"], keyId=one["keyId"], tags=one["tags"])

    yield place(
        title="secrets",
        destination="cloud-secrets-manager",
        config={**region, "mappingBehavior": "one-to-one"},
        options={"keySchema": "one-{{secretKey}}"},
        values=lambda: {name: value for name, value in cloud.secret_values().items() if name != _MANY},
        put=cloud.put_secret,
        changes=changes_of(lambda call: call.service == "secretsmanager" and not _is_of_many(call)),
        left=lambda: {name: one for name, one in cloud.secrets().items() if name != _MANY},
        restore=restore_secrets,
    )

    def keys() -> Json:
        found: Json = json.loads(cloud.secret_values().get(_MANY, "{}"))
        return found

    yield place(
        title="many",
        destination="cloud-secrets-manager",
        config={**region, "mappingBehavior": "many-to-one", "secretName": _MANY},
        values=keys,
        put=lambda name, value: cloud.put_secret(_MANY, json.dumps({**keys(), name: value})),
        changes=changes_of(_is_of_many),
        left=keys,
        restore=lambda held: cloud.put_secret(_MANY, json.dumps(held)),
    )


def _is_of_many(call: CloudCall) -> bool:
    return _MANY in (call.body.get("SecretId"), call.body.get("Name"))
