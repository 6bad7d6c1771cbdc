"""Which cluster this is: so that two clusters on one service don't take each other's objects for theirs."""

from __future__ import annotations

from keybearer.controllers.outcome import StalledError
from keybearer.kube.errors import ForbiddenError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import NAMESPACES, ObjectKey

__all__ = ["ClusterIdentity"]

_NAMESPACE = "kube-system"


class ClusterIdentity:
    """The id that a person gave, or the UID of kube-system, which lives as long as the cluster."""

    def __init__(self, gateway: Gateway, given: str | None) -> None:
        self._gateway = gateway
        self._known = given

    async def get(self) -> str:
        """Return the id.

        Raises:
            StalledError: none was given, and the namespace may not be read.
            KubeError: the API server can't be asked.
        """
        if self._known is None:
            try:
                body = await self._gateway.get(NAMESPACES, ObjectKey("", _NAMESPACE), metadata_only=True)
            except ForbiddenError:
                body = None
            meta = body.get("metadata") if body is not None else None
            uid = meta.get("uid") if isinstance(meta, dict) else None
            if not isinstance(uid, str) or not uid:
                raise StalledError(
                    "ClusterIdUnknown",
                    f"the operator may not read namespace {_NAMESPACE}, whose UID tells this cluster from others; "
                    "ask its administrator for --cluster-id",
                )
            self._known = uid
        return self._known
