"""Where secrets are: what all operations on secrets share."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Response
from keybearer.client.models import Secret

__all__ = ["ALL_SECRETS", "ONE_SECRET", "Place", "SecretAnswer"]

ALL_SECRETS = "/api/v4/secrets"
ONE_SECRET = "/api/v4/secrets/{}"
"""The v4 routes are used, as by the newer published clients; v3 differs in the project's parameter only."""


@from_wire
@dataclass(frozen=True, slots=True)
class SecretAnswer:
    """`{secret}`."""

    secret: Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A folder of an environment of a project.

    Attributes:
        project_id: the project's id (a slug is looked up by `projects.get_by_slug`).
        environment: a slug, such as `dev`.
        secret_path: the folder.
    """

    project_id: str
    environment: str
    secret_path: str = "/"

    def settle(self, secret: Secret) -> Secret:
        """Return the secret with its place filled in where the server left it out."""
        return secret.at(
            secret_path=self.secret_path, environment=self.environment, workspace=self.project_id
        )

    def read_one(self, response: Response) -> Secret:
        """Return the secret of a `{secret}` answer."""
        return self.settle(decode(response, SecretAnswer).secret)
