"""`client.imports`: what a folder takes from others of its project."""

from __future__ import annotations

from keybearer.client.operations import imports
from keybearer.client.resources import Resource, Shell, call

__all__ = ["ImportsApi"]


class ImportsApi(Resource[Shell]):
    """`client.imports`: what a folder takes from others of its project."""

    list = call(imports.ListImports)
    get = call(imports.GetImport)
    create = call(imports.CreateImport)
    update = call(imports.UpdateImport)
    delete = call(imports.DeleteImport)
