"""Roles by their words on the wire. Apart from the models: the command line shows them without loading those."""

from __future__ import annotations

from typing import Literal

__all__ = ["OrganizationRoleSlug", "ProjectRoleSlug"]

OrganizationRoleSlug = Literal["admin", "member", "no-access"]
ProjectRoleSlug = Literal["admin", "member", "viewer", "no-access"]
