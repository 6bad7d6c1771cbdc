"""The table of routes, and what is derived from it: no part of the program forgets one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from keybearer.client import Keybearer
from keybearer.client.resources import Method, Resource
from keybearer.interface.route import Route, path_fields
from keybearer.interface.shapes import Envelope, content_field, content_of, strict, wire_names
from keybearer.interface.table import TABLE
from keybearer.server.rate_limits import RequestClass, class_of
from support.described import described_here
from support.rows import each_row

WITHOUT_A_METHOD = {"GetEnvironmentAnywhere"}
"""Routes that the client library doesn't offer."""

each_route = each_row("route", TABLE, ids=lambda route: route.name)


def answers() -> list[type[Any]]:
    return [path.answer for route in TABLE for path in route.served()]


def made_from_commands(resource: type[Resource[Any]]) -> Iterator[object]:
    for _, member in inspect.getmembers_static(resource):
        if isinstance(member, Method):
            yield member.takes


def test_each_path_is_made_of_fields_of_the_command() -> None:
    for route in TABLE:
        names = {field.name for field in fields(route.command)}
        assert set(path_fields(route)) <= names
        for path in route.served():
            assert sorted(re.findall(r"{(\w+)}", path.path)) == sorted(path_fields(route)), path.path


def test_no_two_routes_are_served_at_one_path_or_have_one_name() -> None:
    served = [(route.method, path.path) for route in TABLE for path in route.served()]
    assert len(set(served)) == len(served)
    assert len({route.name for route in TABLE}) == len(TABLE)


def test_each_envelope_has_one_field_for_what_it_holds() -> None:
    for answer in answers():
        if issubclass(answer, Envelope):
            assert content_field(answer) in wire_names(answer)


def test_another_form_of_an_answer_holds_the_same() -> None:
    for route in TABLE:
        if route.also_answered is not None:
            assert content_of(route.also_answered) == content_of(route.answer)


def test_the_service_describes_each_route_at_each_path() -> None:
    paths = described_here()["paths"]
    for route in TABLE:
        for path in route.served():
            described = paths[path.path][route.method.lower()]
            assert described["summary"] == path.summary
            schema = described["responses"]["200"]["content"]["application/json"]["schema"]
            assert schema == {"$ref": f"#/components/schemas/{strict(path.answer).__name__}"}
            named = [one["name"] for one in described.get("parameters", []) if one["in"] == "path"]
            assert sorted(named) == sorted(path_fields(route))
            assert ("security" in described) != route.is_open


def test_the_client_has_a_method_for_each_route() -> None:
    with Keybearer("http://127.0.0.1:1") as client:
        groups = [getattr(client, name) for name in dir(client) if not name.startswith("_")]
        taken = {
            one for group in groups if isinstance(group, Resource) for one in made_from_commands(type(group))
        }
    missing = {route.name for route in TABLE if route.command not in taken}
    assert missing == WITHOUT_A_METHOD


@each_route
def test_requests_of_a_route_are_counted_by_what_they_do(route: Route[..., Any, Any]) -> None:
    expected = RequestClass.READ if route.method == "GET" else RequestClass.WRITE
    for path in route.served():
        assert class_of(route.method, re.sub(r"{\w+}", "1", path.path)) is expected
