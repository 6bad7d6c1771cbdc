"""`client.folders`."""

from __future__ import annotations

from keybearer.client.operations import folders
from keybearer.client.resources import Resource, Shell, call

__all__ = ["FoldersApi"]


class FoldersApi(Resource[Shell]):
    """`client.folders`."""

    list = call(folders.ListFolders)
    get = call(folders.GetFolder)
    create = call(folders.CreateFolder)
    update = call(folders.UpdateFolder)
    delete = call(folders.DeleteFolder)
