"""Environments of a project: what lists them is the answer about their project (wire.md section 2.10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.messages import Request, Response, fill
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.projects import ProjectAnswer
from keybearer.interface.environments import Environment

__all__ = ["ListEnvironments"]


@dataclass(frozen=True, slots=True)
class ListEnvironments(Operation[list[Environment]]):
    """List the environments of a project, in their order."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send: a project lists its own."""
        return Request("GET", fill("/api/v1/projects/{}", self.project_id))

    def read(self, response: Response) -> list[Environment]:
        """Return the environments in the service's order."""
        return list(decode(response, ProjectAnswer).project.environments)
