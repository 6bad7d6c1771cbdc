"""`client.users`."""

from __future__ import annotations

from keybearer.client.operations import users
from keybearer.client.resources import Resource, Shell, call

__all__ = ["UsersApi"]


class UsersApi(Resource[Shell]):
    """`client.users`."""

    me = call(users.GetMe)
    list = call(users.ListUsers)
    get = call(users.GetUser)
    create = call(users.CreateUser)
    update = call(users.UpdateUser)
    delete = call(users.DeleteUser)
    change_password = call(users.ChangePassword)
