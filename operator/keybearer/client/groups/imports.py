"""`client.imports`: what a folder takes from others of its project."""

from __future__ import annotations

from keybearer.client.resources import Resource, Shell, ask
from keybearer.interface import imports

__all__ = ["ImportsApi"]


class ImportsApi(Resource[Shell]):
    """`client.imports`: what a folder takes from others of its project."""

    list = ask(imports.LIST)
    get = ask(imports.GET)
    create = ask(imports.CREATE)
    update = ask(imports.UPDATE)
    delete = ask(imports.DELETE)
