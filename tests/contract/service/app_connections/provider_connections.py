"""Connections to the identity provider, made or refused under names of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from support.remotes.identity_provider import IdentityProviderCopy
from support.service_fixtures import Client

__all__ = ["ALL", "IDP", "UNKNOWN", "Connections"]

ALL = "/api/v1/app-connections"
IDP = f"{ALL}/idp"
UNKNOWN = "00000000-0000-4000-8000-000000000000"


@dataclass
class Connections:
    """Makes connections to the identity provider, by names of their own."""

    client: Client
    idp: IdentityProviderCopy

    def body(self, **more: object) -> dict[str, Any]:
        return {
            "name": f"c-{uuid4()}",
            "method": "client-credentials",
            "credentials": self.idp.credentials(),
            **more,
        }

    def make(self, *, status: int = 200, path: str = IDP, **more: object) -> dict[str, Any]:
        answer = self._post(status, path, more)
        return answer["appConnection"] if status == 200 else answer

    def _post(self, status: int, path: str, more: Mapping[str, object]) -> dict[str, Any]:
        return self.client.json("POST", path, status=status, json={**self.body(), **more})

    def refuse(
        self, given: Mapping[str, object] | None = None, **more: object
    ) -> list[tuple[list[str | int], str]]:
        """Return place and text of each issue."""
        return [
            (issue["path"], issue["message"])
            for issue in self._post(422, IDP, {**(given or {}), **more})["message"]
        ]
