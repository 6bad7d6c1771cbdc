"""A scenario for each change of each field: it is changed, the operator makes of it what it can, and it is undone.

Whatever the field was, the process lives, the last good Secret stays, and nothing is tried hotly; once the spec is
as it was, all is as if it had never been changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus

from tools.bench.errors import RefusedError
from tools.explore.fields import FieldChange, changes_of
from tools.explore.scenarios import CATALOGUE, Scenario
from tools.explore.scene import CONNECTION, Scene

__all__ = ["FIELDS"]

_OF_PUSHES = frozenset(
    {
        "destination",
        "connectionRef",
        "destinationConfig",
        "syncOptions",
        "syncName",
        "isAutoSyncEnabled",
        "destinationDeletionPolicy",
    }
)
"""Fields of a SecretSync that say where it pushes to."""
_MOVES_TARGET = re.compile(
    r"target\.(name|kind)$|destination$|certificates$|certificates\.\[\]\.(name|secretName)$"
)
"""With these the Secret goes, as it should."""
_FOR_GOOD = {("SecretSync", ("target", "immutable"), "True")}
"""What can't be undone: Kubernetes lets no Secret become mutable again."""
_REFUSED = (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY)
_QUIET_SECONDS = 1.0
_BASES = {
    "SecretSync": ("fields of SecretSync", "web", ("web",)),
    "AppConnection": ("fields of AppConnection", CONNECTION, ()),
    "CertificateProfile": ("fields of CertificateProfile", "web", ("tls", "web.certificate-keys")),
}
_BASE_OF_PUSHES = "fields of a pushing SecretSync"


def _scenario(change: FieldChange) -> Scenario:
    like, stem, keeps = _BASES[change.kind]
    if change.kind == "SecretSync" and change.path[0] in _OF_PUSHES:
        like, keeps = _BASE_OF_PUSHES, ()
    if _MOVES_TARGET.match(".".join(change.path)):
        keeps = ()

    async def act(scene: Scene) -> None:
        body = scene.find(change.kind, stem)
        spec = {} if body is None else body["spec"]
        try:
            await scene.replace_spec(change.kind, stem, change.applied_to(spec))
        except RefusedError as error:
            if error.status not in _REFUSED:
                raise
            return  # the schema refuses it: the operator is never shown it
        await scene.until_looked_at(stem, change.kind)
        await scene.until_quiet(_QUIET_SECONDS)
        await scene.replace_spec(change.kind, stem, spec)
        await scene.until_ready(stem, change.kind)

    return replace(CATALOGUE[like], name=str(change), act=act, keeps=keeps, like=like)


def _all() -> Mapping[str, Scenario]:
    changes = (change for kind in _BASES for change in changes_of(kind))
    found = (_scenario(one) for one in changes if (one.kind, one.path, str(one.value)) not in _FOR_GOOD)
    return {one.name: one for one in found}


FIELDS: Mapping[str, Scenario] = _all()
"""By name, in the order of the schemas."""
