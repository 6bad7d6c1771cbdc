"""`client.app_connections`."""

from __future__ import annotations

from keybearer.client.operations import allowed_use, app_connection_writes, app_connections
from keybearer.client.resources import Resource, Shell, call

__all__ = ["AppConnectionsApi"]


class AppConnectionsApi(Resource[Shell]):
    """`client.app_connections`: credentials for remotes, that syncs push with."""

    list = call(app_connections.ListAppConnections)
    available = call(app_connections.ListAvailableAppConnections)
    options = call(app_connections.ListAppConnectionOptions)
    get = call(app_connections.GetAppConnection)
    get_by_name = call(app_connections.GetAppConnectionByName)
    create = call(app_connection_writes.CreateAppConnection)
    update = call(app_connection_writes.UpdateAppConnection)
    delete = call(app_connections.DeleteAppConnection)
    rotate_credentials = call(app_connections.RotateAppConnection)
    usage = call(app_connections.GetAppConnectionUsage)
    get_allowed_use = call(allowed_use.GetAllowedUse)
    change_allowed_use = call(allowed_use.ChangeAllowedUse)
